"""The row of one point: parameters, regime, predicates with their basis, indicators, provenance."""

import math
from typing import Any

from dynamics.system import System
from indicators.estimate import Estimate
from labeling.axioms import violations
from labeling.evidence import Evidence
from labeling.predicates import PROCEDURES, predicates
from labeling.provenance import provenance
from labeling.settings import Settings
from labeling.study import Study
from labeling.verdict import Verdict

Row = dict[str, Any]


def attractor(system: System, verdict: Verdict, share: float | None = None) -> Row:
    """An entry of a list of attractors: what it is, its share of the starts, and a start that leads there."""
    return {
        "regime": verdict.regime, "share": share, "period": verdict.period, "period_time": verdict.period_time,
        "initial_condition": dict(system.state),
    }  # fmt: skip


def label_row(e: Evidence, verdict: Verdict, settings: Settings) -> Row:
    """One row of labels.jsonl or of a sweep, keys in their fixed order."""
    megno, slope = e.megno
    study = Study(e, verdict, settings, PROCEDURES)
    return {
        "system_id": e.system.id,
        "params": dict(e.system.parameters),
        "initial_condition": dict(e.system.state),
        "regime": verdict.regime,
        "period": verdict.period,
        "period_time": verdict.period_time,
        "stability": verdict.stability,
        "reason": verdict.reason,
        "attractors": [attractor(e.system, verdict)],
        "transient": None,
        "predicates": (found := plain(predicates(study))),
        "indicators": {
            "lyapunov_spectrum": _figures(e.spectrum),
            "lyapunov_max": _figures(e.largest),
            "zero_one_k": _figures(e.zero_one),
            "permutation_entropy": _figures(study.entropy),
            "megno": _figures(megno),
            "megno_slope": _figures(slope),
            "kaplan_yorke_dimension": _figures(e.kaplan_yorke),
            "correlation_dimension": _figures(study.correlation_dimension),
        },
        "violations": violations({name: predicate["value"] for name, predicate in found.items()}),
        "evidence": plain(verdict.evidence),
        "provenance": provenance(settings),
    }


def _figures(estimate: Estimate) -> Row:
    return {"value": plain(estimate.value), "error": plain(estimate.error), "status": estimate.status}


def plain(value: Any) -> Any:
    """Plain JSON values; a number that is not finite becomes None, never text."""
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
