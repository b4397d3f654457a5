"""The page of one system: equations, pictures, indicators, labels with evidence, axioms, and how to make it again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from bench.ground_truth import PUBLISHED, REFERENCE
from bench.report.mathml import mathml
from bench.report.orbits import Orbits
from bench.report.page import Html, command, facts, figure, link, page, table, unfolding
from bench.report.pictures import convergence, diagram, portrait
from dynamics.description import description
from dynamics.system import System
from labeling.axioms import published, repaired, tested, violations
from labeling.labels import Row

KINDS = {"map": "map", "ode": "flow", "dde": "flow with delay", "sde": "flow with noise", "pde": "field"}
MOST = 24  # values of a state or of equations that are shown at once
Link = tuple[str, str] | None  # address and name


@dataclass(frozen=True)
class Known:
    """What a release holds of a system: rows by sweep (`reference` is the label), sweeps, brackets, and variants.

    twins : ids of systems with the same equations that have a page too.
    """

    rows: Mapping[str, Sequence[Row]]
    sweeps: Sequence[Row]
    brackets: Sequence[Row]
    variants: Sequence[Row]
    twins: Sequence[str] = ()

    @property
    def label(self) -> Row | None:
        """The row at the system's own parameters."""
        return next(iter(self.rows.get(REFERENCE, ())), None)


def system_page(system: System, known: Known, drawn: Orbits | None, before: Link, after: Link) -> str:
    """The page of a system; `drawn` is None where its orbits could not be made."""
    told, label = description(system), known.label
    parts = [_heading(system, label, known.twins), _equations(system, told)]
    if drawn is None:
        parts.append("<p>A fault of the program left this page without pictures.</p>")
    else:
        colour = "ink" if label is None else label["regime"]
        parts += ["<h2>Phase portrait</h2>", portrait(system, drawn.portrait, colour)]
    parts += _sweeps(system, known, drawn)
    if label is None:
        parts.append("<p>The release holds no label of this system.</p>")
    else:
        parts += ["<h2>Indicators</h2>", _indicators(label)]
        if drawn is not None and drawn.growing:
            parts.append(convergence(drawn.growing, label, label["regime"]))
        parts += ["<h2>Labels</h2>", _labels(label), _attractors(label), "<h2>Axioms</h2>", _axioms(label)]
    parts += [*_variants(known), "<h2>Make it again</h2>", *_commands(system, known)]
    links = {"All systems": "../index.html"}
    links |= {f"{arrow} {one[1]}": one[0] for arrow, one in (("←", before), ("→", after)) if one is not None}
    return page(f"{system.name} ({system.id})", parts, "../", links)


def regime(row: Row) -> Html:
    """A regime in its colour, with its period or the reason why it is undecided."""
    extra = f", period {row['period']:g}" if row["period"] is not None else ""
    extra += f", T = {row['period_time']:.6g}" if row["period_time"] is not None else ""
    extra += f" ({row['reason'].replace('_', ' ')})" if row["reason"] else ""
    name = str(row["regime"])
    return Html(
        f'<span class="regime" style="color:var(--{escape(name)})">{escape(name.replace("_", " ") + extra)}</span>'
    )


def measured(figures: Row) -> str:
    """An indicator's value with its half-width, or its status."""
    value, error = figures["value"], figures["error"]
    if value is None:
        return str(figures["status"]).replace("_", " ")
    pairs = zip(value, error, strict=True) if isinstance(value, list) else [(value, error)]
    return ", ".join(figure(x) if e is None else f"{figure(x)} ± {figure(e, 2)}" for x, e in pairs)


def _heading(system: System, label: Row | None, twins: Sequence[str]) -> str:
    about: dict[str, Any] = {"id": system.id, "kind": KINDS[system.kind]}
    if twins:
        about["same equations"] = Html(", ".join(link(f"{one}.html", one) for one in twins))
    if label is not None:
        about["regime"] = regime(label)
        about["largest Lyapunov exponent"] = measured(label["indicators"]["lyapunov_max"])
    if system.citation:
        about["source"] = system.citation
    return f"<h1>{escape(system.name)}</h1>{facts(about)}"


def _equations(system: System, told: Row) -> str:
    rows = mathml(system)
    inside = "".join(rows[:MOST])
    if len(rows) > MOST:
        inside += unfolding(f"{len(rows) - MOST} more", "".join(rows[MOST:]))
    ring = told["ring"]
    below = f"<p>For i = 0 .. {ring['sites'] - 1}, indices modulo {ring['sites']}.</p>" if ring else ""
    below += f"<p>{escape(told['discretisation'])}.</p>" if told["discretisation"] else ""
    stated = {"parameters": _values(system.parameters), "start": _values(system.state)}
    stated |= {"past, t ≤ 0": _values(system.history)} if system.history else {}
    stated |= {"on a circle of": _values(system.circle)} if system.circle else {}
    proved = table(["fact", "value", "proof"], [
        [one["fact"].replace("_", " "), _plain(one["value"]), one["why"]] for one in told["facts"]
    ], caption="What the equations prove", sort=False)  # fmt: skip
    return (
        f'<h2>Equations</h2><div class="equations">{inside}</div>{below}{facts(stated)}'
        f"{unfolding('What the equations prove', proved)}"
    )


def _sweeps(system: System, known: Known, drawn: Orbits | None) -> Iterator[str]:
    seen = {} if drawn is None else {one.parameter: one for one in drawn.diagrams}
    for sweep in known.sweeps:
        name = sweep["parameter"]
        rows, mine = known.rows.get(name, ()), [b for b in known.brackets if b["parameter"] == name]
        yield f"<h2>Along {escape(name)}</h2>"
        if name in seen:
            yield diagram(system, seen[name], sweep, rows, mine)
        if mine:
            yield unfolding(f"{len(mine)} brackets", _brackets(mine))
        yield (
            f"<p class=note>{len(rows)} labelled points. No window wider than {sweep['smallest_window']:.2g} was "
            "missed between them.</p>"
        )


def _brackets(mine: Sequence[Row]) -> Html:
    rows = [
        [one["kind"].replace("_", " "), one["lo"], one["hi"], _sets(one["below"]), _sets(one["above"]),
         one["direction"], one["basis"], one["method"], one["confidence"]]
        for one in mine
    ]  # fmt: skip
    head = ["kind", "lo", "hi", "below", "above", "direction", "basis", "method", "confidence"]
    return table(head, rows, caption="Brackets")


def _sets(sets: Sequence[Row]) -> str:
    return "; ".join(
        one["regime"].replace("_", " ") + (f", period {one['period']:g}" if one["period"] is not None else "")
        for one in sets
    )


def _indicators(label: Row) -> Html:
    rows = [[name.replace("_", " "), measured(one), one["status"].replace("_", " ")]
            for name, one in label["indicators"].items()]  # fmt: skip
    return table(
        ["indicator", "value, half-width at 95 %", "status"], rows, caption="Indicators at the parameters above"
    )


def _labels(label: Row) -> Html:
    rows = []
    for name, one in label["predicates"].items():
        value = Html(f'<span class="{escape(one["value"])}">{escape(one["value"])}</span>')
        why = unfolding(one["reason"] or "evidence", facts({k: _plain(v) for k, v in one["evidence"].items()}))
        rows.append([name, value, one["basis"], one["confidence"], why])
    return table(["predicate", "value", "basis", "confidence", "evidence"], rows, caption="The 27 predicates")


def _attractors(label: Row) -> str:
    rows = [[regime(one | {"reason": None}), "" if one["share"] is None else one["share"],
             _values(one["initial_condition"])] for one in label["attractors"]]  # fmt: skip
    found = table(["set", "share of starts", "a start that leads there"], rows, caption="Attractors")
    return unfolding(f"{len(rows)} sets over the sampling box", found) + unfolding(
        "Evidence of the regime", facts({k: _plain(v) for k, v in label["evidence"].items()})
    )


def _axioms(label: Row) -> str:
    values = {name: one["value"] for name, one in label["predicates"].items()}
    texts = {axiom.id: axiom for axiom in published()}
    rows = [[one, texts[one].text, texts[one].status, texts[one].reason] for one in violations(values)]
    sentence = f"{len(tested(values))} of the {len(texts)} published axioms are put to the test by these labels; "
    sentence += f"{len(rows) or 'none'} of them fail{'s' if len(rows) == 1 else ''}. "
    mended = violations(values, repaired())
    sentence += f"Of the repaired ones {len(tested(values, repaired()))} are, and {len(mended) or 'none'} "
    sentence += f"fail{'s' if len(mended) == 1 else ''}{': ' + ', '.join(mended) if mended else ''}."
    shown = table(["axiom", "what it claims", "status", "why"], rows, caption="Axioms that fail here") if rows else ""
    return f"<p>{escape(sentence)}</p>{shown}"


def _variants(known: Known) -> Iterator[str]:
    if known.variants:
        rows = [[row["system_id"], regime(row), measured(row["indicators"]["lyapunov_max"])] for row in known.variants]
        yield "<h2>Variants</h2>" + table(["variant", "regime", "largest exponent"], rows, caption="Variants")


def _commands(system: System, known: Known) -> Iterator[str]:
    label = known.label
    if label is None:
        yield command(f"bench label {system.id}")
        return
    made = label["provenance"]
    seed = f" --seed {made['seed']}" if made["seed"] else ""
    yield "<p>The label, with every figure and the decision behind it:</p>"
    yield command(f"bench label {system.id} --explain{seed}")
    if known.sweeps:
        yield "<p>The sweeps and their brackets:</p>"
        yield command(f"bench label {system.id} --sweep --points {known.sweeps[0]['points']}{seed}")
    if label["certificates"]:
        yield unfolding(f"{len(label['certificates'])} certificates", "<p>" + "<br>".join(
            f"<code>{escape(one)}</code>" for one in label["certificates"]) + "</p>")  # fmt: skip
    settings = ", ".join(f"{name} = {value}" for name, value in made["settings"].items())
    asked = f"{len(known.rows.get(PUBLISHED, ()))} values that the published benchmark asks about"
    yield facts({"version": made["version"], "code": made["code"], "seed": made["seed"], "settings": settings,
                 "also labelled": asked})  # fmt: skip


def _values(values: Mapping[str, Any]) -> str:
    texts = [f"{name} = {_plain(value)}" for name, value in values.items()]
    if len(texts) > MOST:
        texts = [*texts[:MOST], f".. ({len(texts)} in all)"]
    return ", ".join(texts) or "none"


def _plain(value: Any) -> str:
    """A piece of evidence as text."""
    if isinstance(value, float):
        return f"{value:.8g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_plain(v)}" for name, v in value.items())
    if isinstance(value, list):
        return f"[{', '.join(map(_plain, value))}]"
    if value is None or isinstance(value, bool):
        return {True: "yes", False: "no", None: "none"}[value]
    return str(value)
