"""Predicates about averages and correlations over the set: proxies for limits that no run reaches."""

from dynamics import structure
from indicators.decay import FEWEST_VALUES, decay_of_correlation
from labeling.predicate import Predicate, fact, open_proxy
from labeling.study import SIMPLE, Study

DECAYS_OF = (0, 8)  # the lanes whose correlations are looked at


def _own_measure(s: Study) -> Predicate | None:
    """TRUE for one equilibrium or one cycle, which carries a single invariant measure, unless it is in a larger set."""
    if s.verdict.regime in SIMPLE and not s.averages.whole:
        return Predicate(True, "proxy", {"fact": "one equilibrium or cycle has one invariant measure"} | s.regime)
    if s.verdict.regime == "unbounded":
        return Predicate(False, "measured", {"fact": "the orbit leaves every bound: no average settles"})
    conservative = s.e.system.preserves_volume and not s.averages.whole and s.verdict.regime != "undecided"
    if conservative:
        stated = structure.conserved_quantity(s.e.system) is not None
        return open_proxy("the energy surface is not sampled" if stated else
                          "the energy surface is not known: the row states no first integral")  # fmt: skip
    if s.e.status != "ok" or (s.verdict.regime == "undecided" and not s.averages.whole):
        return s.open()
    if s.verdict.evidence.get("floating_point_collapse"):
        return open_proxy("doubles cannot follow the orbit")
    return None


def ergodic(s: Study) -> Predicate:
    """Whether time averages agree over the set."""
    return _agreement(s, halves=False)


def predictable(s: Study) -> Predicate:
    """Whether time averages agree over the set and between halves of the time."""
    return _agreement(s, halves=True)


def _agreement(s: Study, *, halves: bool) -> Predicate:
    proof = structure.mixing(s.e.system)
    if proof is not None and _on_the_whole(s):
        return fact(True, proof.why)
    simple = _own_measure(s)
    if simple is not None:
        return simple
    value, figures = s.averages.agreement(halves=halves)
    return Predicate(value, "proxy", figures, "averages are not resolved")


def _on_the_whole(s: Study) -> bool:
    """Whether a theorem about the whole map is about the labelled set: a chaotic orbit fills it."""
    return s.verdict.is_chaotic or s.averages.whole


def mixing(s: Study) -> Predicate:
    """TRUE where correlations decay within the run, FALSE where a line or bands persist; slow decay is undecided.

    Finite data cannot tell weak from strong mixing, so Mixing, WeakMixing and StrongMixing share one decision.
    """
    proof = structure.mixing(s.e.system)
    if proof is not None and _on_the_whole(s):
        return fact(True, proof.why)
    if s.verdict.regime in (*SIMPLE, "unbounded"):
        return Predicate(False, "measured", {"fact": "by convention: not mixing"} | s.regime)
    if s.value("Ergodic") is False:
        return Predicate(False, "derived", {"fact": "not ergodic, and mixing implies ergodic"})
    if s.value("Ergodic") is None:
        return open_proxy(s.predicate("Ergodic").reason or "budget")
    if len(s.averages.samples) < FEWEST_VALUES:
        return open_proxy("budget", samples=len(s.averages.samples))
    circles = [s.e.system.circle.get(name, 0.0) for name in s.e.system.state]
    found = [decay_of_correlation(s.averages.samples[:, :, i], circumference=circles) for i in DECAYS_OF]
    verdicts, bands = {d.verdict for d in found}, max(d.bands for d in found)
    figures = {
        "decay": sorted(verdicts), "bands": bands, "longest_lag": found[0].longest_lag * s.averages.interval * s.e.h,
        "weak_or_strong": "finite data cannot tell them apart",
    }  # fmt: skip
    if verdicts == {"decays"}:
        return Predicate(True, "proxy", figures)
    if verdicts == {"persists"}:
        return Predicate(False, "proxy", figures)
    return open_proxy("correlations decay slowly", **figures)
