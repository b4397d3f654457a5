"""The rules of the house, read off the source text."""

import ast
import tomllib
from functools import cache
from pathlib import Path

import pytest

from dynamics.kernel import STEP_FASTMATH

ROOT = Path(__file__).parent.parent
ORDER = ["dynamics", "indicators", "labeling", "bench", "cli"]  # imports only point to the left
OURS = [*ORDER, "cache"]
FILES = sorted(path for package in OURS for path in (ROOT / package).rglob("*.py"))
IDS = [str(path.relative_to(ROOT)) for path in FILES]
COMPILERS = {"njit", "jit", "vectorize", "guvectorize", "stencil", "cfunc"}


@cache
def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(path):
    """(module, name) of everything that a file imports, at any depth; name is empty for a whole module."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import"
            yield from ((node.module, alias.name) for alias in node.names)


def modules(path):
    """Dotted names of our own modules that a file imports."""
    for module, name in imports(path):
        if module.split(".")[0] in OURS:
            is_module = name and (ROOT / module.replace(".", "/") / f"{name}.py").exists()
            yield f"{module}.{name}" if is_module else module


def test_the_packages_are_those_of_the_wheel():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"]
    assert {name.split(".")[0] for name in listed} == set(OURS)
    assert set(listed) == {str(path.parent.relative_to(ROOT)).replace("/", ".") for path in FILES}
    assert len(FILES) > 20


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_only_the_kernel_module_compiles(path):
    if path == ROOT / "dynamics" / "kernel.py":
        assert ("numba", "njit") in imports(path)
        return
    taken = {name for module, name in imports(path) if module.split(".")[0] == "numba"}
    assert not taken & COMPILERS
    used = {n.attr for n in ast.walk(tree(path)) if isinstance(n, ast.Attribute)}
    assert not used & {"njit", "guvectorize", "cfunc"}


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_imports_only_point_down(path):
    package = path.relative_to(ROOT).parts[0]
    allowed = {"cache"} if package == "cache" else {"cache", *ORDER[: ORDER.index(package) + 1]}
    found = set(modules(path))
    assert {module.split(".")[0] for module in found} <= allowed
    if package == "indicators":
        assert {module for module in found if module.startswith("dynamics")} <= {"dynamics.kernel"}


def test_some_imports_do_point_down():
    """The walk sees imports at all: those that are known to be there."""
    assert "dynamics.system" in modules(ROOT / "dynamics" / "codegen.py")
    assert "cache.store" in modules(ROOT / "dynamics" / "codegen.py")
    assert "indicators.lyapunov" in modules(ROOT / "labeling" / "evidence.py")


def undocumented(node, inside=""):
    for child in node.body:
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and not child.name.startswith("_"):
            if ast.get_docstring(child) is None:
                yield f"{inside}{child.name}"
            if isinstance(child, ast.ClassDef):
                yield from undocumented(child, f"{child.name}.")


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_public_names_have_docstrings(path):
    assert list(undocumented(tree(path))) == []
    assert path.name == "__init__.py" or ast.get_docstring(tree(path))


def test_a_missing_docstring_is_seen():
    source = "def f(): pass\ndef _g(): pass\nclass A:\n    '''Doc.'''\n    def h(self): pass\n"
    assert list(undocumented(ast.parse(source))) == ["f", "A.h"]


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_cac_07_no_kernel_has_threads_of_its_own(path):
    """A race in a loop of numba's need not show on one machine; so there is no such loop, in text or in a string."""
    names = {n.attr for n in ast.walk(tree(path)) if isinstance(n, ast.Attribute)}
    names |= {n.id for n in ast.walk(tree(path)) if isinstance(n, ast.Name)}
    names |= {name for _, name in imports(path)}
    texts = [n.value for n in ast.walk(tree(path)) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    assert "prange" not in names
    assert not any("prange" in text or "parallel=" in text or "'parallel'" in text for text in texts)
    assert not any(
        keyword.arg == "parallel" for n in ast.walk(tree(path)) if isinstance(n, ast.Call) for keyword in n.keywords
    )


def test_cac_08_fast_arithmetic_keeps_what_is_not_a_number():
    """Of numba's fast-math flags those four that leave NaN and infinity their meaning."""
    assert {"contract", "reassoc", "nsz", "arcp"} == STEP_FASTMATH
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.keyword) and node.arg == "fastmath":
                assert not (isinstance(node.value, ast.Constant) and node.value.value), path
