"""What a result depends on, as one short name that is the same in every process."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

LENGTH = 40  # hexadecimal digits, of 64


def key(*values: Any) -> str:
    """A digest of values: numbers, text, arrays, functions by name, containers and dataclasses of these.

    It depends on values and types alone. A pickle would not do: its bytes tell whether two equal objects are one.
    Whatever else is asked for raises TypeError, since an address or a default `repr` would be another in each process.
    """
    return hashlib.sha256(b"".join(_pieces(values))).hexdigest()[:LENGTH]


def _pieces(value: Any) -> Iterator[bytes]:
    kind = type(value)
    if value is None or kind in (bool, int, float, complex, str, bytes):
        yield f"{kind.__name__}:{value!r};".encode()
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield f"array:{value.dtype.str}{value.shape};".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, np.generic) and not value.dtype.hasobject:
        yield f"scalar:{value.dtype.str}:".encode() + value.tobytes()
    elif isinstance(value, FunctionType):
        yield f"function:{value.__module__}.{value.__qualname__};".encode()
    elif is_dataclass(value) and not isinstance(value, type):
        yield f"{kind.__module__}.{kind.__qualname__}{{".encode()
        for field in fields(value):
            yield from _pieces(field.name)
            yield from _pieces(getattr(value, field.name))
        yield b"}"
    elif isinstance(value, Mapping):
        yield b"{"
        for name in value:  # in their own order: that of a state's variables is part of a system
            yield from _pieces(name)
            yield from _pieces(value[name])
        yield b"}"
    elif isinstance(value, Sequence) and kind in (list, tuple):
        yield kind.__name__.encode() + b"["
        for item in value:
            yield from _pieces(item)
        yield b"]"
    else:
        raise TypeError(f"a {kind.__name__} cannot be part of a cache key")


def source_digest(folders: Sequence[Path], suffixes: Sequence[str] = (".py", ".toml")) -> str:
    """A digest of all source and data in folders: names and contents, not times."""
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(p for p in folder.rglob("*") if p.suffix in suffixes):
            digest.update(f"{folder.name}/{path.relative_to(folder).as_posix()}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
