"""A label row as a text to be checked by hand: what was measured, what was proved, and what was decided from it."""

from typing import Any

from labeling.axioms import published
from labeling.labels import Row

WIDEST = 160  # characters of one piece of evidence; the row has all of it


def explanation(row: Row) -> str:
    """The decision behind a row, regime first, then all 27 predicates, axioms that they violate, and provenance."""
    start = row["initial_condition"]
    about = "all sets of the sampling box" if start is None else f"the orbit from {pairs(start)}"
    lines = [f"{row['system_id']} at {pairs(row['params']) or 'no parameters'}, {about}", ""]
    lines += [*_regime(row), "", *_indicators(row), "", "sets over the box:"]
    lines += [f"  {_set(a)}" for a in row["attractors"]]
    lines += ["", "predicates (value, basis, evidence):"]
    for name, p in row["predicates"].items():
        why = f"{p['reason']}; " if p["reason"] else ""
        lines.append(f"  {name:<18} {p['value']:<9} {p['basis']:<9} {why}{short(p['evidence'])}".rstrip())
    texts = {axiom.id: axiom for axiom in published()}
    lines += ["", "axioms violated:" if row["violations"] else "axioms violated: none"]
    for violated in row["violations"]:
        axiom = texts[violated]
        lines.append(f"  {violated} ({axiom.status}): {axiom.text}")
    p = row["provenance"]
    lines += ["", f"made by version {p['version']}, code {p['code']}, seed {p['seed']}"]
    return "\n".join(lines)


def _regime(row: Row) -> list[str]:
    regime = row["regime"].replace("_", " ")
    extra = [f"period {row['period']}"] if row["period"] is not None else []
    extra += [f"T = {row['period_time']:.10g}"] if row["period_time"] is not None else []
    extra += [row["stability"]] if row["stability"] else []
    extra += [f"because of {row['reason'].replace('_', ' ')}"] if row["reason"] else []
    lines = [f"regime: {', '.join([regime, *extra])}"]
    lines += [f"  {name.replace('_', ' ')}: {short(value)}" for name, value in row["evidence"].items()]
    if row["transient"]:
        t = row["transient"]
        lines.append(f"  transient: {t['length']:.6g}, while it looked {t['resembles'].replace('_', ' ')}")
    return lines


def _indicators(row: Row) -> list[str]:
    lines = ["indicators (value, half-width at 95 %, status):"]
    for name, figures in row["indicators"].items():
        values = "-" if figures["value"] is None else short(figures["value"])
        error = "" if figures["error"] is None else f" +- {short(figures['error'])}"
        lines.append(f"  {name.replace('_', ' '):<24} {values}{error}  {figures['status']}")
    return lines


def _set(a: dict[str, Any]) -> str:
    share = "" if a["share"] is None else f"{100 * a['share']:.0f} %, "
    period = f", period {a['period']}" if a["period"] is not None else ""
    return f"{share}{a['regime'].replace('_', ' ')}{period}, from {pairs(a['initial_condition'])}"


def pairs(values: dict[str, float]) -> str:
    """Names with their values."""
    return ", ".join(f"{name} = {value:.10g}" for name, value in values.items())


def short(value: Any) -> str:
    """A piece of evidence on one line, cut where it is long."""
    text = _text(value)
    return text if len(text) <= WIDEST else text[:WIDEST] + " ..."


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} = {_text(v)}" if name != "fact" else str(v) for name, v in value.items())
    if isinstance(value, list):
        return "[" + ", ".join(_text(v) for v in value) + "]"
    return str(value)
