"""The plots of models' scores: calibration, accuracy by margin, and coherence under commitment."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench.report.page import Html
from bench.report.plots import Layer, Panel, bars, dots, key, line, panel, plot

SERIES = 8  # colours of report.css
LARGE = 6.0  # of a dot that stands for a whole player
Named = Mapping[str, Mapping[str, Any]]


def calibration(models: Named) -> Html:
    """How often each model says TRUE against how often it is, and its confidence against its accuracy."""
    at = [(colour, one["overall"]["true_rate"], one["overall"]["predicted_true"])
          for colour, one in zip(_colours(models), models.values(), strict=True)]  # fmt: skip
    layers = [_diagonal(), *(
        _point(true["value"], said, colour) for colour, true, said in at if None not in (true["value"], said["value"])
    )]  # fmt: skip
    told = "How often each model predicts TRUE against how often TRUE is the answer; the diagonal is calibrated."
    panels = [panel("true share of TRUE", "predicted share of TRUE", layers, told, xr=(0, 1), yr=(0, 1))]
    surer = {name: one["bins"] for name, one in models.items() if one.get("bins")}
    if surer:
        layers = [_diagonal()]
        for colour, name in zip(_colours(models), models, strict=True):
            if name in surer:
                x, y = ([one[side] for one in surer[name]] for side in ("confidence", "accuracy"))
                layers += [line(x, y, colour), dots(x, y, colour, LARGE)]
        told = "Accuracy against confidence, in ten bins of equal mass; the diagonal is calibrated."
        panels.append(panel("confidence", "accuracy", layers, told, xr=(0.45, 1), yr=(0, 1)))
    return plot(panels, _key(models))


def margins(name: str, curve: Sequence[Mapping[str, Any]]) -> Html:
    """Accuracy and MCC against the distance to the threshold."""
    panels = []
    for metric, label in (("accuracy", "accuracy"), ("mcc", "MCC")):
        known = [(p["margin"], p[metric]) for p in curve if p[metric]["value"] is not None]
        log = bool(known) and all(x > 0 for x, _ in known)
        layers = [_point(float(np.log10(x)) if log else x, found, "s0") for x, found in known]
        told = f"{label} of {name} in ten bins of the distance to the threshold."
        panels.append(panel("margin", label, layers, told, yr=(-1, 1) if metric == "mcc" else (0, 1), logx=log))
    return plot(panels, "Ten bins of equal mass, with 95 % intervals.")


def coherence(pairs: Named) -> Html:
    """CUC as curves, over thresholds and an offset of the logits, with the oracle and players that know nothing."""
    trivial = next(iter(pairs.values()))["baselines"]
    panels = [_risk(pairs), _commitment(pairs, trivial), _coverage(pairs, trivial)]
    names = ", ".join(trivial)
    return plot(panels, Html(f"{_key(pairs)} Large dots without a line: {names}, in this order from dark to light."))


def _risk(pairs: Named) -> Panel:
    layers = [
        line(one["curves"]["risk_coverage"]["coverage"], one["curves"]["risk_coverage"]["risk"], colour, 1.6)
        for colour, one in zip(_colours(pairs), pairs.values(), strict=True)
    ]
    told = "Risk against coverage, the surest pairs first: " + "; ".join(
        f"{name} has an excess area of {one['curves']['risk_coverage']['excess']:.3f}" for name, one in pairs.items()
    )
    return panel("coverage", "risk", layers, f"{told}.", xr=(0, 1), yr=(0, 1))


def _commitment(pairs: Named, trivial: Named) -> Panel:
    layers = [
        line([p["commitment"] for p in one["curves"]["offset"]],
             [p["negation_violation"] for p in one["curves"]["offset"]], colour, 1.6)
        for colour, one in zip(_colours(pairs), pairs.values(), strict=True)
    ]  # fmt: skip
    layers += _points(trivial, "commitment", "negation_violation")
    told = "Violation E[v_neg] against commitment E[c], when a number is added to the logit of YES in both questions."
    return panel("E[c]", "E[v_neg]", layers, told, xr=(-0.05, 2.05), yr=(-0.05, 1.05))


def _coverage(pairs: Named, trivial: Named) -> Panel:
    layers = []
    for colour, one in zip(_colours(pairs), pairs.values(), strict=True):
        known = [p for p in one["curves"]["tau_delta"] if p["accuracy_covered"] is not None]
        layers.append(dots([p["coverage"] for p in known], [p["accuracy_covered"] for p in known], colour, 3.0))
    layers += _points(trivial, "coverage", "accuracy_covered")
    told = "Accuracy of the decided pairs against their share, at thresholds tau from 0.3 to 0.9 and delta to 0.3."
    return panel("coverage", "accuracy, covered", layers, told, xr=(-0.05, 1.05), yr=(-0.05, 1.05))


def _points(players: Named, x: str, y: str) -> list[Layer]:
    found = [(one["overall"][x]["value"], one["overall"][y]["value"]) for one in players.values()]
    known = [(a, b) for a, b in found if None not in (a, b)]
    return [dots([a], [b], f"t{n}", LARGE) for n, (a, b) in enumerate(known)]


def _point(x: float, found: Mapping[str, Any], colour: str) -> Layer:
    lo, hi = (found["value"] if end is None else end for end in (found["lo"], found["hi"]))
    return bars([x], [found["value"]], [lo], [hi], colour)


def _diagonal() -> Layer:
    return line([0, 1], [0, 1], "line")


def _colours(models: Named) -> list[str]:
    return [f"s{n % SERIES}" for n in range(len(models))]


def _key(models: Named) -> Html:
    """The models in their colours; of more than there are colours, each takes its turn."""
    return Html(" ".join(key({colour: name}) for colour, name in zip(_colours(models), models, strict=True)))
