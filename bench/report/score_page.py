"""Scores as a page: every model with the baselines beside it, flags, families, calibration, margins and pairs."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from bench.care import LIMITS
from bench.report.page import Html, page, table
from bench.report.score_plots import calibration, coherence, margins

SHOWN = {"mcc": "MCC", "macro_family_mcc": "macro-family MCC", "mcc_strict": "MCC, invalid as wrong",
         "accuracy": "accuracy", "accuracy_strict": "accuracy, invalid as wrong", "predicted_true": "predicted TRUE",
         "tpr": "TPR", "tnr": "TNR", "consistency_pooled": "consistency MCC", "flip_rate": "flip rate",
         "invalid_rate": "invalid", "brier": "Brier", "ece": "ECE"}  # fmt: skip
PAIRS = {"commitment": "E[c]", "negation_violation": "E[v_neg]", "coverage": "coverage", "accuracy": "accuracy",
         "accuracy_covered": "accuracy, covered", "brier": "Brier", "ece": "ECE"}  # fmt: skip
FLAGS = {
    "pc": f"predicts TRUE more or less often than is true, by over {LIMITS['pc']:g}",
    "ar": f"recalls one answer better than the other, by over {LIMITS['ar']:g}",
    "cv": f"over {100 * LIMITS['cv']:g} % of the answers are invalid",
    "ic": f"answers to paraphrases and perturbations have an MCC under {LIMITS['ic']:g}",
}


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
    comparison: Mapping[str, Any] | None = None, folder: str | None = None,
) -> str:  # fmt: skip
    """The page of one model's scores or of several's (scores.json), with published figures if there are any.

    folder : where the shared files of a report are; a page that stands alone holds them (bench.report.page).
    """
    beside = columns(models)
    parts = [f"<h1>{escape(title)}</h1>", *(f"<p>{escape(note)}</p>" for note in notes)]
    parts += [*_care(beside), *_families(beside)]
    if published:
        rows = [[name, *(str(one.get(key, "-")) for key in ("mcc", "accuracy", "balanced_accuracy"))]
                for name, one in published.items()]  # fmt: skip
        parts += ["<h2>Published, not ours</h2>", table(["model", "MCC", "accuracy", "balanced accuracy"], rows)]
    parts += ["<h2>Calibration</h2>", calibration(models)]
    for name, one in models.items():
        parts += _margin(name, one)
        parts += _pairs(name, one.get("pairs") or {})
    curves = {name: one["pairs"] for name, one in models.items() if (one.get("pairs") or {}).get("overall")}
    if curves:
        parts += ["<h2>Curves of coherence</h2>", coherence(curves)]
    if comparison:
        rows = [[d["a"], d["b"], f"{d['difference']:+.4f} [{d['lo']:+.3f}, {d['hi']:+.3f}]", str(d["differ"])]
                for d in comparison["mcc"].get("differences", [])]  # fmt: skip
        parts += ["<h2>Differences of MCC that hold together</h2>", table(["a", "b", "a - b", "differ"], rows)]
    return page(title, parts, folder, {} if folder is None else {"All systems": f"{folder}index.html"})


def _care(beside: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    rows: list[list[Any]] = [[name, *(figure(one["overall"].get(key)) for one in beside.values())]
                             for key, name in SHOWN.items()]  # fmt: skip
    for flag in FLAGS:
        rows.append([f"flag {flag}", *(_flag(one["flags"].get(flag)) for one in beside.values())])
    yield "<h2>All questions</h2>"
    yield table(["", *beside], rows, caption="CARE", sort=False)
    meanings = "; ".join(f"{name}: {text}" for name, text in FLAGS.items())
    yield (
        "<p>Baselines stand in parentheses. 95 % intervals over clusters. A flag is uncertain where its limit lies "
        f"inside the interval. {escape(meanings)}.</p>"
    )


def _flag(state: str | None) -> Html:
    text = state or "no figure"
    return Html(f'<span class="flag-{escape(text.replace(" ", "-"))}">{escape(text)}</span>')


def _families(beside: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    families = sorted({family for one in beside.values() for family in one["families"]})
    rows = [[family, *(_heat(one["families"].get(family, {}).get("mcc")) for one in beside.values())]
            for family in families]  # fmt: skip
    yield "<h2>MCC by family</h2>"
    yield table(["family", *beside], rows, caption="Green is above 0, red is below")


def _heat(found: Mapping[str, Any] | None) -> Html:
    """A figure from -1 to 1 on its colour."""
    text = escape(figure(found))
    if not found or found["value"] is None:
        return Html(text)
    colour, strength = ("good" if found["value"] > 0 else "bad"), round(60 * min(1.0, abs(found["value"])))
    return Html(f'<span class="heat" style="--heat:var(--{colour});--strength:{strength}%">{text}</span>')


def _margin(name: str, one: Mapping[str, Any]) -> Iterator[str]:
    curve = one.get("curves", {}).get("margin")
    if curve:
        rows = [[f"{p['lo']:.4g} .. {p['hi']:.4g}", figure(p["accuracy"]), figure(p["mcc"])] for p in curve]
        yield f"<h2>{escape(name)}: by distance to the threshold</h2>"
        yield margins(name, curve)
        yield table(["margin", "accuracy", "MCC"], rows, sort=False)


def _pairs(name: str, pairs: Mapping[str, Any]) -> Iterator[str]:
    if pairs.get("overall"):
        players = {name: pairs} | {f"({x})": y for x, y in pairs["baselines"].items()}
        rows = [[label, *(figure(p["overall"].get(key)) for p in players.values())] for key, label in PAIRS.items()]
        rows.append(["verdict", *(", ".join(p["verdict"]) or "neither" for p in players.values())])
        note = f"By {pairs['elicitation']}; negation: {pairs['negation']}; tau {pairs['tau']}, delta {pairs['delta']}."
        yield f"<h2>{escape(name)}: a statement and its negation</h2><p>{escape(note)}</p>"
        yield table(["", *players], rows, sort=False)
