"""The atlas: an index of systems that one can search, and a page of each, from a ground-truth release."""

import json
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

from bench.ground_truth import REFERENCE, all_rows, brackets, sweeps
from bench.report.orbits import Orbits, kept_orbits, orbits
from bench.report.page import ASSETS, Html, asset, cell, link, page, shown
from bench.report.system_page import KINDS, Known, measured, regime, system_page
from cache.store import write_whole
from dynamics.registry import system, variant_ids
from dynamics.sweep import Sweep
from dynamics.system import System
from labeling.labels import Row
from labeling.predicate import NAMES
from labeling.workers import Fault, Progress, Workers

PLACE = "systems"  # the folder of the pages


def write_atlas(
    folder: Path, systems: Sequence[System], release: Path, jobs: int = 1, progress: Progress | None = None,
    fresh: bool = False, links: dict[str, str] | None = None,
) -> list[Fault]:  # fmt: skip
    """Write index.html and the page of every system, each once its orbits are there.

    What it returns are systems whose orbits a fault ended. links : further pages of the folder, by their names.
    """
    known = known_of(systems, release)
    for name in ASSETS:
        write_whole(folder / name, asset(name).encode())
    write_whole(folder / "index.html", index(systems, known, links or {}).encode())
    tasks = [(s, tuple(_grid(row) for row in known[s.id].sweeps)) for s in systems]
    faults: list[Fault] = []
    found = Workers(jobs, progress, kept_orbits(fresh)).each(orbits, tasks, "orbits", faults)
    for i, (s, drawn) in enumerate(zip(systems, in_places(systems, found, faults), strict=True)):
        before, after = (_beside(systems, n) for n in (i - 1, i + 1))
        content = system_page(s, known[s.id], drawn, before, after)
        write_whole(folder / PLACE / f"{s.id}.html", content.encode())
    return faults


def in_places(systems: Sequence[System], found: Iterable[Orbits], faults: Sequence[Fault]) -> Iterator[Orbits | None]:
    """What was found of each system as it comes, None where a fault ended it, which is known before what comes next."""
    waiting = iter(systems)
    for drawn in found:
        for s in waiting:
            if s.id not in {fault.subject for fault in faults}:
                yield drawn
                break
            yield None
    yield from (None for _ in waiting)


def known_of(systems: Sequence[System], release: Path) -> dict[str, Known]:
    """What a release holds of each system."""
    wanted = [s.id for s in systems]
    base = {name: of for name in variant_ids() if (of := system(name).variant_of) in wanted}
    rows: dict[str, dict[str, list[Row]]] = {name: {} for name in wanted}
    variants: dict[str, list[Row]] = {name: [] for name in wanted}
    for row in all_rows(release, {*wanted, *base}):
        if row["system_id"] in wanted:
            rows[row["system_id"]].setdefault(row["sweep"], []).append(row)
        elif row["sweep"] == REFERENCE:
            variants[str(base[row["system_id"]])].append(row)
    twins = {s.id: [t.id for t in systems if t.id == s.same_as or t.same_as == s.id] for s in systems}
    along, found = sweeps(release), brackets(release)
    return {
        name: Known(
            rows[name],
            [row for row in along if row["system_id"] == name],
            [row for row in found if row["system_id"] == name],
            variants[name],
            twins[name],
        )
        for name in wanted
    }


def _grid(row: Row) -> Sweep:
    return Sweep(row["parameter"], row["lo"], row["hi"], row["points"])


def _beside(systems: Sequence[System], place: int) -> tuple[str, str] | None:
    if not 0 <= place < len(systems):
        return None
    return f"{systems[place].id}.html", systems[place].name


def index(systems: Sequence[System], known: dict[str, Known], links: dict[str, str]) -> str:
    """The page that all others are reached from."""
    labels = [one.label for one in known.values() if one.label is not None]
    brackets_ = sum(len(one.brackets) for one in known.values())
    points = sum(len(rows) for one in known.values() for rows in one.rows.values())
    parts = [
        "<h1>Atlas of dynamical systems</h1>",
        f'<p class="lead">{len(systems)} systems, {points} labelled points, {brackets_} thresholds. Every label is '
        "proved or measured, with its evidence, and says undecided where the evidence does not agree.</p>",
        _filters(systems, labels),
        '<p id="count" role="status" aria-live="polite"></p>',
        _systems(systems, known),
    ]
    return page("Atlas of dynamical systems", parts, "", {"All systems": "index.html"} | links)


def _filters(systems: Sequence[System], labels: Sequence[Row]) -> str:
    regimes = sorted({row["regime"] for row in labels})
    kinds = [kind for kind in KINDS if any(s.kind == kind for s in systems)]
    names = escape(json.dumps(NAMES))
    return (
        f'<form class="filters" data-predicates="{names}">'
        '<label>Search<input type="search" name="search" placeholder="name, id, source" autocomplete="off"></label>'
        f"{_choice('Kind', 'kind', {kind: KINDS[kind] for kind in kinds})}"
        f"{_choice('Regime', 'regime', {one: one.replace('_', ' ') for one in regimes})}"
        '<label>Dimension from<input type="number" name="least" min="1"></label>'
        '<label>to<input type="number" name="most" min="1"></label>'
        f"{_choice('Predicate', 'predicate', {name: name for name in NAMES})}"
        '<label>is<select name="value"><option>TRUE</option><option>FALSE</option><option>UNDECIDED</option></select>'
        '</label><button type="reset">Clear</button></form>'
    )


def _choice(label: str, name: str, options: dict[str, str]) -> str:
    inside = "".join(f'<option value="{escape(value)}">{escape(text)}</option>' for value, text in options.items())
    return f'<label>{label}<select name="{name}"><option value="">any</option>{inside}</select></label>'


def _systems(systems: Sequence[System], known: dict[str, Known]) -> str:
    head = ["system", "kind", "dimension", "regime", "largest exponent", "sweeps", "thresholds", "axioms violated"]
    top = "".join(f'<th scope="col">{name}</th>' for name in head)
    body = "".join(_row(s, known[s.id]) for s in systems)
    return (
        '<div class="table" tabindex="0" role="region" aria-label="Systems"><table id="systems" class="sortable">'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(s: System, known: Known) -> str:
    label = known.label
    name = Html(f"{link(f'{PLACE}/{s.id}.html', s.name)}<small>{escape(s.id)}</small>")
    cells = [cell(name), cell(KINDS[s.kind]), cell(s.dimension)]
    data = {"kind": s.kind, "dimension": str(s.dimension), "regime": "", "predicates": "-" * len(NAMES)}
    if label is not None:
        largest = label["indicators"]["lyapunov_max"]
        cells += [cell(regime(label)), f'<td data-v="{largest["value"]}">{shown(measured(largest))}</td>']
        data |= {"regime": label["regime"], "predicates": "".join(_letters(label))}
    else:
        cells += [cell("no label"), cell("")]
    cells += [cell(len(known.sweeps)), cell(len(known.brackets)), cell(len(label["violations"]) if label else "")]
    attributes = "".join(f' data-{key}="{escape(value)}"' for key, value in data.items())
    return f"<tr{attributes}>{''.join(cells)}</tr>\n"


def _letters(label: Row) -> Iterator[str]:
    """The first letter of each predicate's value, by which report.js filters."""
    for name in NAMES:
        yield label["predicates"][name]["value"][0]
