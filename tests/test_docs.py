"""Pages lead to files that are there, all are reached from the README, and the reference says what the code says."""

import re
from pathlib import Path

import pytest

from benchmarks.reference import PAGE, page

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])
LINK = re.compile(r"\]\(([^)#\s]+)")


def targets(path):
    """Files that a page links to."""
    links = [link for link in LINK.findall(path.read_text("utf-8")) if not re.match(r"[a-z]+:", link)]
    return [(path.parent / link).resolve() for link in links]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    assert [str(there) for there in targets(path) if not there.exists()] == []


def test_every_page_is_reached_from_the_readme():
    known, new = set(), {ROOT / "README.md"}
    while new:
        known |= new
        new = {there for path in new for there in targets(path) if there.suffix == ".md"} - known
    assert [path.name for path in PAGES if path not in known] == []


def test_the_reference_is_that_of_this_code():
    assert PAGE.read_text("utf-8") == page(), "python -m benchmarks.reference"
