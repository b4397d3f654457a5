"""Tables that a run measures, and the marks in a page of docs/ between which they stand."""

from collections.abc import Sequence
from pathlib import Path

MARK = "<!-- measured -->"


def with_table(page: str, table: Sequence[str]) -> str:
    """The text of a page with these lines between its two marks."""
    before, first, rest = page.partition(MARK)
    _, second, after = rest.partition(MARK)
    if not (first and second):
        raise ValueError(f"the page has no two marks {MARK}")
    return "\n".join([f"{before}{MARK}", "", *table, "", f"{MARK}{after}"])


def put(path: Path, table: Sequence[str]) -> None:
    """Write a table into the page at a path."""
    path.write_text(with_table(path.read_text(encoding="utf-8"), table), encoding="utf-8")
