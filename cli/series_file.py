"""A measured series from a file: text, CSV or .npy, or one clear sentence about what is wrong with it."""

import csv
import re
import sys
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

from cli.options import MAX_DIGITS, UsageError, fault_of
from dynamics.nearest import did_you_mean, shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_BYTES = 1_000_000_000
DELIMITERS = ("\t", ";", ",")
COMMENT = "#"
MISSING = ("", "-", "?", "na", "n/a", "none", "null")
NUMPY = b"\x93NUMPY"
PACKED = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip, as .npz and .xlsx are",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True)
class Table:
    """Rows of cells with the numbers of their lines; names are those of the header, or empty."""

    source: str
    names: list[str]
    rows: list[tuple[int, list[str]]]


def read_series(place: str, column: str | None) -> "tuple[NDArray[np.float64], str | None]":
    """The series in a file, or on standard input for `-`, and the name of its column, or its index, if it has several.

    `column` is a name in the header, or an index from 0; a name wins.
    """
    source = "standard input" if place == "-" else place
    content = _content(place, source)
    if not content.strip():
        raise UsageError(f"{source} is empty; a series of numbers is needed, one value a line")
    if content.startswith(NUMPY):
        return _from_array(content, source, column)
    return _from_table(_table(_text(content, source), source), column)


def _content(place: str, source: str) -> bytes:
    try:
        if place == "-":
            content = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            if Path(place).is_dir():
                raise UsageError(f"{source} is a folder; a file is needed")
            with Path(place).open("rb") as file:
                content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise UsageError(f"there is no file {shown(place)}") from None
    except (OSError, ValueError) as error:
        why = fault_of(error) if isinstance(error, OSError) else str(error)
        raise UsageError(f"{shown(source)} cannot be read: {why}") from None
    if len(content) > MOST_BYTES:
        raise UsageError(f"{source} has more than {MOST_BYTES} bytes; pass a shorter stretch of the series")
    return content


# arrays


def _from_array(content: bytes, source: str, column: str | None) -> "tuple[NDArray[np.float64], str | None]":
    values = _array(content, source)
    if values.ndim not in (1, 2) or values.size == 0:
        raise UsageError(f"{source} has shape {values.shape}; (N,) is needed, or (N, columns) with --column")
    name = None
    if values.ndim == 1 and column not in (None, "0"):
        raise UsageError(f"{source} is one series without columns; leave out --column")
    if values.ndim == 2:
        chosen = _chosen(source, [], values.shape[1], list(range(values.shape[1])), column)
        name, values = str(chosen), values[:, chosen]
    return _checked(values, source), name


def _array(content: bytes, source: str) -> "NDArray[Any]":
    """The array of a .npy file; its header is held against the size of the file before anything is made room for."""
    import numpy as np
    from numpy.lib import format as npy

    file = BytesIO(content)
    try:
        version = npy.read_magic(file)
        header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = header(file)
    except (ValueError, KeyError, SyntaxError, TypeError, TokenError) as error:
        raise UsageError(f"{source} is no valid .npy file: {str(error).splitlines()[0][:200]}") from None
    if dtype.hasobject:
        raise UsageError(f"{source} holds Python objects, which are never unpickled; save an array of real numbers")
    if dtype.kind not in "biuf":
        kind = "complex numbers" if dtype.kind == "c" else f"values of type {shown(str(dtype))}"
        raise UsageError(f"{source} holds {kind}; real numbers are needed, for example the real part")
    size = dtype.itemsize
    for length in shape:
        size *= length
    if size != len(content) - file.tell():
        raise UsageError(f"{source} is cut off or damaged: {size} bytes of values are announced, not there")
    file.seek(0)
    values: NDArray[Any] = np.load(file, allow_pickle=False)
    return values


def _checked(values: "NDArray[Any]", source: str) -> "NDArray[np.float64]":
    from indicators.series import checked_series

    try:
        return checked_series(values)
    except ValueError as error:
        raise UsageError(f"{source}: {error}") from None


# text


def _text(content: bytes, source: str) -> str:
    packed = next((name for start, name in PACKED.items() if content.startswith(start)), None)
    if packed is not None:
        raise UsageError(f"{source} is compressed, {packed}; unpack it and pass the text or the .npy file")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise UsageError(f"{source} is UTF-16; save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UsageError(f"{source}, line {line}: this is no UTF-8 text; CSV, text or .npy is needed") from None
    line = text[: text.find("\0")].count("\n") + 1
    if "\0" in text:
        raise UsageError(f"{source}, line {line}: this is binary, not text; CSV, text or .npy is needed")
    return text


def _table(text: str, source: str) -> Table:
    """Cells of all lines but blank ones and comments, with or without a header."""
    lines = [(i, line) for i, line in enumerate(text.splitlines(), 1) if line.strip() and line.strip()[0] != COMMENT]
    if not lines:
        raise UsageError(f"{source} has comments and blank lines only; a series of numbers is needed")
    mark = next((mark for mark in DELIMITERS if mark in lines[-1][1]), None)
    rows = [(i, _cells(line, mark, f"{source}, line {i}")) for i, line in lines]
    header = _is_header([cells for _, cells in rows[:2]])
    names = rows[0][1] if header else []
    width = len(rows[-1][1]) if header and len(rows) > 1 else len(rows[0][1])
    if header and len(names) != width:
        raise UsageError(f"{source}, line {lines[0][0]}: the header has {len(names)} names, the rows {width} cells")
    if header:
        rows = rows[1:]
    if not rows:
        raise UsageError(
            f"{source}, line {lines[0][0]}: {shown(lines[0][1].strip())} is no number, and no more follows"
        )
    for i, cells in rows:
        if len(cells) != width:
            raise UsageError(
                f"{source}, line {i}: {len(cells)} cells where others have {width}; each row needs as many"
            )
    return Table(source, names, rows)


def _is_header(rows: list[list[str]]) -> bool:
    """Whether the first row has no number at all, or a word over a number; a mark for a missing value is no word."""
    first, second = rows[0], rows[1] if len(rows) > 1 else []
    if not any(NUMBER.fullmatch(cell) for cell in first):
        return True
    words = [not NUMBER.fullmatch(cell) and cell.lower() not in MISSING for cell in first]
    return any(word and NUMBER.fullmatch(below) for word, below in zip(words, second, strict=False))


def _cells(line: str, mark: str | None, where: str) -> list[str]:
    if mark is None:
        return line.split()
    try:
        (cells,) = csv.reader([line], delimiter=mark, skipinitialspace=True, strict=True)
    except (csv.Error, ValueError) as error:
        raise UsageError(f"{where}: {error}; cells are needed that begin and end in this line") from None
    return [cell.strip() for cell in cells]


def _from_table(table: Table, column: str | None) -> "tuple[NDArray[np.float64], str | None]":
    import numpy as np

    first = table.rows[0][1]
    numeric = [i for i, cell in enumerate(first) if NUMBER.fullmatch(cell)] if len(first) > 1 else [0]
    chosen = _chosen(table.source, table.names, len(first), numeric, column)
    named = len(first) > 1 or bool(table.names)
    name = (table.names[chosen] if table.names else str(chosen)) if named else None
    where = f", column {shown(name)}" if name is not None else ""
    values = [_number(cells[chosen], f"{table.source}, line {i}{where}") for i, cells in table.rows]
    return np.array(values), name


def _chosen(source: str, names: list[str], width: int, numeric: list[int], column: str | None) -> int:
    """The index of the column that is meant; without `column` there must be one numeric column only."""
    if column is None:
        if len(numeric) == 1:
            return numeric[0]
        if not numeric:
            raise UsageError(f"{source} has no numeric column; its columns are {_listed(names, list(range(width)))}")
        raise UsageError(
            f"{source} has {len(numeric)} numeric columns, {_listed(names, numeric)}; choose one by --column"
        )
    if column in names:
        if names.count(column) > 1:
            raise UsageError(f"{source} has {names.count(column)} columns {shown(column)}; choose one by its index")
        return names.index(column)
    if column.isascii() and column.isdigit() and len(column) <= MAX_DIGITS and int(column) < width:
        return int(column)
    raise UsageError(
        f"--column: {source} has no column {shown(column)}; its columns are "
        f"{_listed(names, list(range(width)))}{did_you_mean(column, names)}"
    )


def _listed(names: list[str], which: list[int]) -> str:
    some = [f"{i} ({shown(names[i])})" if names else str(i) for i in which]
    return ", ".join(some if len(some) <= 12 else [*some[:8], "..", some[-1]])


def _number(cell: str, where: str) -> float:
    if not NUMBER.fullmatch(cell):
        raise UsageError(f"{where}: {_trouble(cell)}")
    value = float(cell)
    if value - value != 0.0:
        fault = "overflows" if cell.lstrip("+-")[0].isdigit() or cell[0] == "." else "is not finite"
        raise UsageError(f"{where}: {shown(cell)} {fault}; finite numbers below 1.8e308 are needed, without gaps")
    return value


def _trouble(cell: str) -> str:
    if not cell:
        return "the cell is empty; a number is needed in each row, without gaps"
    if re.fullmatch(r"[+-]?\d+,\d+", cell):
        return f"{shown(cell)} has a decimal comma; write {shown(cell.replace(',', '.'))}"
    if cell[-1] in "ij)" and any(c.isdigit() for c in cell):
        return f"{shown(cell)} is complex or no number; a real number is needed, for example the real part"
    return f"{shown(cell)} is no number; a real number such as -1.5e3 is needed"
