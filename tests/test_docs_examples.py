"""Every example of the pages that begin, and of the README, runs; tests/examples.py says how pages mark them."""

from itertools import pairwise
from pathlib import Path

import pytest
from examples import KEYS, ROOT, alike, blocks, check_syntax, run

PAGES = ("README.md", "docs/tutorial.md", "docs/howto.md", "docs/explanation.md")
LANGUAGES = {"console", "python", "text", "toml", "json"}


def text(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


@pytest.mark.parametrize("page", PAGES)
def test_examples(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(text(page)) == []


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if any("slow" in one.keys for one in blocks(text(page)))])
def test_slow_examples(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(text(page), slow=True) == []


@pytest.mark.parametrize("page", PAGES)
def test_no_example_is_passed_over(page: str) -> None:
    """Every block is of a kind that is run or written, and none stands indented, where it would not be seen."""
    found = blocks(text(page))
    assert text(page).count("\n```") == 2 * len(found)
    assert text(page).count("<!-- ") == sum(bool(one.keys) for one in found)
    assert {one.language for one in found} <= LANGUAGES
    assert {key for one in found for key in one.keys} <= KEYS
    assert {one.language for one, after in pairwise(found) if after.language == "text"} <= {"python"}
    assert [one.line for one in found if one.language in ("toml", "json") and "file" not in one.keys] == []
    assert [line for line in text(page).splitlines() if line.startswith("    ") and "bench " in line] == []


@pytest.mark.parametrize(("shown", "real", "same"), [
    ("a  b\n", "a b", True),
    ("a b\n", "a c", False),
    ("a\n", "a\nb", False),
    ("a\n...\n", "a\nb", True),
    ("...\nb\n", "a\nb", True),
    ("...\nb\n", "a\nb\nc", False),
    ("a\n...\nc\n", "a\nb\nd", False),
    ("made by ..., seed 0", "made by 1f3, seed 0", True),
    ("period 70", "period 71", True),
    ("period 70", "period 75", False),
    ("x 0.41 ± 0.01", "x 0.425 ± 0.01", True),
    ("x 0.41 ± 0.01", "x 0.435 ± 0.01", False),
    ("lorenz63 at 1", "lorenz64 at 1", False),
])  # fmt: skip
def test_outputs_are_compared(shown: str, real: str, same: bool) -> None:
    assert alike(shown, real) is same


def test_words_alone_are_compared_where_digits_depend_on_the_processor() -> None:
    assert alike("K 0.5, gap 1e-3", "K 0.9, gap 3e-3", words=True)
    assert not alike("K 0.5, gap 1e-3", "K 0.9, hole 3e-3", words=True)


def test_what_is_wrong_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    fence = "```"
    (trouble,) = run(f"{fence}python\nprint('one')\n{fence}\n{fence}text\ntwo\n{fence}\n")
    assert "two" in trouble
    assert "one" in trouble
    with pytest.raises(Exception, match="no-such"):
        check_syntax("bench label henon --no-such")
    with pytest.raises(AssertionError):
        check_syntax("make no-such")
