"""Scores as a page that opens from disk: every model with the baselines beside it, then families and pairs."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from bench.report.audit_page import STYLE

SHOWN = {"mcc": "MCC", "macro_family_mcc": "macro-family MCC", "mcc_strict": "MCC, invalid as wrong",
         "accuracy": "accuracy", "accuracy_strict": "accuracy, invalid as wrong", "predicted_true": "predicted TRUE",
         "tpr": "TPR", "tnr": "TNR", "consistency_pooled": "consistency MCC", "flip_rate": "flip rate",
         "invalid_rate": "invalid", "brier": "Brier", "ece": "ECE"}  # fmt: skip
PAIRS = {"commitment": "E[c]", "negation_violation": "E[v_neg]", "coverage": "coverage", "accuracy": "accuracy",
         "accuracy_covered": "accuracy, covered", "brier": "Brier", "ece": "ECE"}  # fmt: skip


def figure(found: Mapping[str, Any] | None) -> str:
    """A figure with its interval, or a dash."""
    if not found or found["value"] is None:
        return "-"
    interval = "" if found["lo"] is None else f" [{found['lo']:.3f}, {found['hi']:.3f}]"
    return f"{found['value']:.4f}{interval}"


def flagged(flags: Mapping[str, str | None]) -> str:
    """The flags that are on, and with a question mark those that are uncertain."""
    named = [
        name + {"on": "", "uncertain": "?"}[state] for name, state in flags.items() if state in ("on", "uncertain")
    ]
    return " ".join(named) or "none"


def columns(models: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The models, and after them the baselines of the first one, as columns of a table."""
    first = next(iter(models.values()))
    return dict(models) | {f"({name})": one for name, one in first["baselines"].items()}


def score_page(
    title: str, models: Mapping[str, Mapping[str, Any]], notes: Sequence[str], published: Mapping[str, Any],
    comparison: Mapping[str, Any] | None = None,
) -> str:  # fmt: skip
    """The page of one model's scores or of several's (scores.json), with published figures if there are any."""
    beside = columns(models)
    parts = [f"<h1>{escape(title)}</h1>", *(f"<p>{escape(note)}</p>" for note in notes), "<h2>All questions</h2>"]
    rows = [[name, *(figure(one["overall"].get(key)) for one in beside.values())] for key, name in SHOWN.items()]
    rows.append(["flags", *(flagged(one["flags"]) for one in beside.values())])
    parts += [table(["", *beside], rows), "<p>Baselines stand in parentheses. 95 % intervals over clusters.</p>"]
    families = sorted({family for one in beside.values() for family in one["families"]})
    rows = [[family, *(figure(one["families"].get(family, {}).get("mcc")) for one in beside.values())]
            for family in families]  # fmt: skip
    parts += ["<h2>MCC by family</h2>", table(["family", *beside], rows)]
    if published:
        rows = [[name, *(str(one.get(key, "-")) for key in ("mcc", "accuracy", "balanced_accuracy"))]
                for name, one in published.items()]  # fmt: skip
        parts += ["<h2>Published, not ours</h2>", table(["model", "MCC", "accuracy", "balanced accuracy"], rows)]
    for name, one in models.items():
        if one.get("curves", {}).get("margin"):
            rows = [[f"{p['lo']:.4g} .. {p['hi']:.4g}", figure(p["accuracy"]), figure(p["mcc"])]
                    for p in one["curves"]["margin"]]  # fmt: skip
            parts += [f"<h2>{escape(name)}: by distance to the threshold</h2>",
                      table(["margin", "accuracy", "MCC"], rows)]  # fmt: skip
        pairs = one.get("pairs") or {}
        if pairs.get("overall"):
            players = {name: pairs} | {f"({x})": y for x, y in pairs["baselines"].items()}
            rows = [[label, *(figure(p["overall"].get(key)) for p in players.values())] for key, label in PAIRS.items()]
            rows.append(["", *(", ".join(p["verdict"]) for p in players.values())])
            note = (
                f"By {pairs['elicitation']}; negation: {pairs['negation']}; tau {pairs['tau']}, delta {pairs['delta']}."
            )
            parts += [f"<h2>{escape(name)}: a statement and its negation</h2>", f"<p>{escape(note)}</p>",
                      table(["", *players], rows)]  # fmt: skip
    if comparison:
        rows = [[d["a"], d["b"], f"{d['difference']:+.4f} [{d['lo']:+.3f}, {d['hi']:+.3f}]", str(d["differ"])]
                for d in comparison["mcc"].get("differences", [])]  # fmt: skip
        parts += ["<h2>Differences of MCC that hold together</h2>", table(["a", "b", "a - b", "differ"], rows)]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style>'
        f"<body>{''.join(parts)}</body></html>\n"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows of texts as an HTML table."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(x)}</td>" for x in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
