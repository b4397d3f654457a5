"""The row of one point: parameters, regime, predicates with their basis, indicators, provenance."""

import hashlib
import math
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from dynamics.system import System
from indicators.estimate import Estimate
from labeling.axioms import violations
from labeling.evidence import Evidence
from labeling.settings import Settings
from labeling.verdict import Verdict

Value = Literal["TRUE", "FALSE", "UNDECIDED"]
Row = dict[str, Any]

MEASURED_CONFIDENCE = 0.999  # the level of the intervals on which a measured verdict rests
CODE = ("dynamics", "indicators", "labeling")  # the packages whose source decides what a row says


@cache
def _procedures() -> dict[str, dict[str, str]]:
    return tomllib.loads((files("labeling") / "predicates.toml").read_text(encoding="utf-8"))


@cache
def code_digest() -> str:
    """A digest of all source and data that decides what a row says: it tells rows of different code apart."""
    digest = hashlib.sha256()
    for package in CODE:
        folder = Path(str(files(package)))
        for path in sorted(p for p in folder.rglob("*") if p.suffix in (".py", ".toml")):
            digest.update(f"{package}/{path.relative_to(folder).as_posix()}\n".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _version() -> str:
    return version("chaostruth")


def provenance(settings: Settings) -> Row:
    """Which version, code, settings and seed made a row."""
    return {
        "version": _version(),
        "code": code_digest(),
        "settings": settings.provenance(),
        "seed": settings.seed,
    }


def attractor(system: System, verdict: Verdict, share: float | None = None) -> Row:
    """An entry of a list of attractors: what it is, its share of the starts, and a start that leads there."""
    return {
        "regime": verdict.regime, "share": share, "period": verdict.period, "period_time": verdict.period_time,
        "initial_condition": dict(system.state),
    }  # fmt: skip


def label_row(e: Evidence, verdict: Verdict, settings: Settings) -> Row:
    """One row of labels.jsonl or of a sweep, keys in their fixed order."""
    megno, slope = e.megno
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
        "predicates": (found := predicates(e.system, verdict)),
        "indicators": {
            "lyapunov_spectrum": _figures(e.spectrum),
            "lyapunov_max": _figures(e.largest),
            "zero_one_k": _figures(e.zero_one),
            "permutation_entropy": _figures(e.entropy),
            "megno": _figures(megno),
            "megno_slope": _figures(slope),
            "kaplan_yorke_dimension": _figures(e.kaplan_yorke),
            "correlation_dimension": {"value": None, "error": None, "status": "undefined"},
        },
        "violations": violations({name: predicate["value"] for name, predicate in found.items()}),
        "evidence": _plain(verdict.evidence),
        "provenance": provenance(settings),
    }


def predicates(system: System, verdict: Verdict) -> dict[str, Row]:
    """The 27 predicates of one labelled set, each with value, basis, confidence, reason and evidence."""
    facts = _facts(system)
    out: dict[str, Row] = {}
    for name, procedure in _procedures().items():
        source = procedure.get("from")
        if source == "equations":
            value, fact = facts[name]
            out[name] = _predicate("TRUE" if value else "FALSE", "exact", 1.0, None, {"fact": fact})
        elif source == "regime":
            out[name] = _from_regime(name, verdict)
        else:
            out[name] = _predicate("UNDECIDED", "measured", 0.0, "not implemented", {})
    return out


def _facts(system: System) -> dict[str, tuple[bool, str]]:
    d, flow = system.dimension, system.kind == "ode"
    time = "time does not occur in the rule" if system.autonomous else "time occurs in the rule"
    kind = "the rule is a differential equation" if flow else "the rule is a map"
    return {
        "Deterministic": (True, "the row has no noise term"),
        "Random": (False, "the row has no noise term"),
        "HighDimSystem": (d >= 4, f"the state has {d} dimension{'s' * (d != 1)}"),
        "ContinuousTime": (flow, kind),
        "DiscreteTime": (not flow, kind),
        "DelaySystem": (False, "the row has no delayed variable"),
        "Forced": (not system.autonomous, time),
        "Autonomous": (system.autonomous, time),
    }


def _from_regime(name: str, verdict: Verdict) -> Row:
    if verdict.regime == "undecided":
        return _predicate("UNDECIDED", "measured", 0.0, verdict.reason, {"regime": "undecided"})
    if verdict.regime == "unbounded" and name == "PosLyap":  # chaos needs a bounded orbit, a positive exponent does not
        return _predicate("UNDECIDED", "measured", 0.0, "the orbit leaves every bound", {"regime": "unbounded"})
    chaotic, hyper = verdict.is_chaotic, verdict.regime == "hyperchaotic"
    value = {
        "Chaotic": chaotic,
        "PosLyap": chaotic or verdict.stability == "repelling",
        "HyperChaotic": hyper,
        "QuasiPeriodic": verdict.regime == "quasiperiodic",
        "Periodic": verdict.regime == "periodic",
        "FixedPointAttr": verdict.regime == "fixed_point" and verdict.stability == "attracting",
    }[name]
    return _predicate("TRUE" if value else "FALSE", "measured", MEASURED_CONFIDENCE, None, {"regime": verdict.regime})


def _predicate(value: Value, basis: str, confidence: float, reason: str | None, evidence: Mapping[str, Any]) -> Row:
    return {"value": value, "basis": basis, "confidence": confidence, "reason": reason, "evidence": dict(evidence)}


def _figures(estimate: Estimate) -> Row:
    return {"value": _plain(estimate.value), "error": _plain(estimate.error), "status": estimate.status}


def _plain(value: Any) -> Any:
    """Plain JSON values; a number that is not finite becomes None, never text."""
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
