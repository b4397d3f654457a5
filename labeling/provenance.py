"""What made a row, and what its numbers depend on beside their arguments: code, libraries, processor."""

import platform
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from cache.key import key, source_digest
from labeling.settings import Settings

CODE = ("dynamics", "indicators", "labeling")  # the packages whose source decides what a row says
LIBRARIES = ("chaostruth", "numba", "llvmlite", "numpy", "scipy", "sympy", "networkx", "python-flint")

# taken as the process begins: what is edited while it runs must not give its name to results of what was loaded
_CODE_DIGEST = source_digest([Path(str(files(package))) for package in CODE])


def code_digest() -> str:
    """A digest of all source and data that decides what a row says: it tells rows of different code apart."""
    return _CODE_DIGEST


@cache
def _version() -> str:
    return version("chaostruth")


def provenance(settings: Settings) -> dict[str, Any]:
    """Which version, code, settings and seed made a row."""
    return made_by(settings.provenance(), settings.seed)


def made_by(settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """The provenance of what other settings than those of a label made."""
    return {"version": _version(), "code": code_digest(), "settings": settings, "seed": seed}


@cache
def made_with() -> dict[str, str]:
    """Code, language, libraries and processor, which together decide every bit of a result."""
    return {
        "code": code_digest(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        **{name: version(name) for name in LIBRARIES},
        "processor": f"{platform.machine()} {llvm.get_host_cpu_name()}",
        "its features": key(llvm.get_host_cpu_features().flatten()),
    }


@cache
def identity() -> str:
    """One name for this code with these libraries on this processor: other results are none of ours."""
    return key(made_with())
