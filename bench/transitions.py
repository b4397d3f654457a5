"""Questions about transitions: at a value, between two values, upwards and downwards, and which transition it is.

What is asked is said in templates/ under `transitions`; docs/questions.md tells why each answer is decided. All of it
follows from labelled points and brackets of a known kind: nothing is claimed of values in between but what the sweep
followed there. Claims come in pairs (bench.pairs) of one system with the two answers, asked in the same words, and a
place is that of a span: where it lies, how wide it is, which way it is walked, how long its ends are when printed.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd

from bench.questions import FACTS, Item, World, claims, paired, record, stated
from bench.rendering import Frame, Language, printed
from bench.spans import settled, spans

AT_A_VALUE = ("Chaotic", "Periodic", "FixedPointAttr", "QuasiPeriodic")
PERIODS = range(2, 9)
KINDS = {  # of brackets, by what they are called in questions
    "doubling": ("period_doubling",),
    "fold": ("fold", "tangent"),
    "hopf": ("hopf_supercritical", "hopf_subcritical", "hopf_degenerate"),
    "torus": ("neimark_sacker",),
    "cascade": ("accumulation",),
    "crisis": ("boundary_crisis",),
}
NAMED = {kind: name for name, kinds in KINDS.items() for kind in kinds}
LEADS = dict.fromkeys([*AT_A_VALUE, "period"], "at") | {
    "two_starts": "two", "survives": "slowly", "by": "along", "once": "once", "border": "border",
}  # fmt: skip
WHICH = ("once", "border")
ENDS_OF_CHAOS = ("cascade", "crisis")
OF_ORDER = tuple(name for name in KINDS if name not in ENDS_OF_CHAOS)

QUARTERS = 4
DRIFT = 0.1  # relative, of the period of a flow from one end of a span to the other
Truths = pd.Series  # of spans: True, False, or NA where it is not decided


def _moves(s: pd.DataFrame) -> dict[str, Truths]:
    """What the labels at the two ends decide."""
    from_chaos, to_chaos = s["a_kind"] == "chaotic", s["b_kind"] == "chaotic"
    from_rest, to_rest = s["a_kind"] == "fixed_point", s["b_kind"] == "fixed_point"
    counted = s["a_period"].notna() | s["b_period"].notna()
    ratio = s["b_period"] / s["a_period"]
    return {
        "begins": _decided(~from_chaos & to_chaos),
        "ends": _decided(from_chaos & ~to_chaos),
        "settles": _decided(~from_rest & to_rest),
        "unsettles": _decided(from_rest & ~to_rest),
        "alike": _decided(s["a_kind"] == s["b_kind"]),
        "doubles": _decided(ratio == 2.0, counted),
        "halves": _decided(ratio == 0.5, counted),
    }


def _decided(truth: pd.Series, where: pd.Series | None = None) -> Truths:
    found = truth.astype("boolean")
    return found if where is None else found.where(where)


def _bifurcations(s: pd.DataFrame) -> dict[str, Truths]:
    """What one bracket of a known kind decides, or that there is none while the labels are the same.

    A bracket tells of the attractor where the labels at the ends differ and it is the only one between them: then
    the cycles that were followed account for all of the difference.
    """
    kind = pd.Series([NAMED.get(found[0][0]) if len(found) == 1 else None for found in s["between"]], index=s.index)
    single = kind.notna() & ~s["cut"]
    chaos = (s["a_kind"] == "chaotic").astype(int) + (s["b_kind"] == "chaotic").astype(int)
    alike, longer = s["a_kind"] == s["b_kind"], _longer(s)
    same = alike & ((longer == 1.0) | (s["a_kind"] != "periodic"))
    twice = longer.isin([2.0, 0.5])
    rests = (s["a_kind"] == "fixed_point") ^ (s["b_kind"] == "fixed_point")
    sound = ((kind == "doubling") & twice) | ((kind == "hopf") & rests) | ((kind == "torus") & ~alike)
    sound |= (kind == "fold") & ~same & ~twice
    changed = single & (chaos == 0) & sound
    quiet = same & (chaos == 0) & ~s["cut"] & (s["between"].map(len) == 0)
    found = {f"by~{name}": _decided(kind == name, changed | quiet) for name in OF_ORDER}
    for one, other in permutations(OF_ORDER, 2):
        found[f"once~{one}~{other}"] = _decided(kind == one, changed & kind.isin([one, other]))
    for one, other in permutations(ENDS_OF_CHAOS):
        found[f"border~{one}~{other}"] = _decided(kind == one, single & (chaos == 1) & kind.isin([one, other]))
    return found


def _longer(s: pd.DataFrame) -> pd.Series:
    """How often the period at the start goes into that at the end: 1, 2, 1/2, or NaN for anything else.

    Of autonomous flows, whose periods are times and drift with the parameter, to a tenth.
    """
    counted = s["b_period"] / s["a_period"]
    times = s["b_period_time"] / s["a_period_time"]
    found = pd.Series(np.nan, index=s.index)
    for ratio in (0.5, 1.0, 2.0):
        timed = counted.isna() & ((times / ratio - 1).abs() < DRIFT)
        found = found.mask((counted == ratio) | timed, ratio)
    return found


def _survival(s: pd.DataFrame) -> dict[str, Truths]:
    """Whether an attractor lives on when the parameter moves slowly: by the lists of attractors, and by directions."""
    rows: Any = s.itertuples(index=False)
    made = []
    for row in rows:
        (a, here), (b, there) = ((_key(row, end), _listed(row, end)) for end in ("a", "b"))
        met = "up" if row.moved == "raised" else "down"
        ways = {way for _, way in row.between}
        lives = None if len(ways) != 1 or a == b or row.cut else not ways & {"both", met}
        back = None if lives is None else not ways & {"both", "down" if met == "up" else "up"}
        sound = lives == (a in there) and back == (b in here)
        made.append(lives if sound else pd.NA)
    return {"survives": pd.Series(made, index=s.index, dtype="boolean")}


def _key(row: Any, end: str) -> tuple[Any, Any]:
    period = getattr(row, f"{end}_period")
    return getattr(row, f"{end}_kind"), None if np.isnan(period) else int(period)


def _listed(row: Any, end: str) -> set[tuple[Any, Any]]:
    return {_of(found) for found in json.loads(getattr(row, f"{end}_attractors"))}


def _of(found: Mapping[str, Any]) -> tuple[Any, Any]:
    """An entry of a list of attractors as regime, all chaos as one, and period."""
    return "chaotic" if found["regime"] == "hyperchaotic" else found["regime"], found["period"]


def span_claims(w: World) -> dict[str, pd.DataFrame]:
    """Claims about spans, by what is asked."""
    table = spans(w.points, w.brackets)
    if table.empty:
        return {}
    truths: dict[str, Truths] = {}
    for decides in (_moves, _bifurcations, _survival):
        truths |= decides(table)
    return {asked: _told(table, asked, truth) for asked, truth in truths.items()}


def _told(table: pd.DataFrame, asked: str, truth: Truths) -> pd.DataFrame:
    """The claims of one kind, of systems in which it takes both values."""
    found = table[truth.notna()].assign(truth=truth[truth.notna()].astype(bool), predicate=asked)
    found = _of_both(found)
    ends = [_part(found[f"{end}_value"], found["width"]) for end in ("a", "b")]
    found = found.copy()
    if asked.split("~")[0] in WHICH:  # of which there are few: a place is a quarter of the range, walked one way
        found["place"] = (found["position"] * QUARTERS).astype(int) * 2 + (found["moved"] == "lowered")
    return found.assign(fact=_fact(found) + ends[0] + ">" + ends[1]).drop_duplicates("fact")


def _of_both(found: pd.DataFrame) -> pd.DataFrame:
    """The claims of systems in which both answers occur."""
    return found[found.groupby("system_id")["truth"].transform("nunique") == 2]


def _fact(found: pd.DataFrame) -> pd.Series:
    return found["equation_class"] + "|" + found["predicate"] + "|" + found["sweep"] + "|"


def _part(values: pd.Series, width: pd.Series) -> pd.Series:
    return (values * FACTS / width).round().astype(int).astype(str)


def point_claims(w: World) -> dict[str, pd.DataFrame]:
    """Claims about single values: the regime, the period of a cycle, and whether two starts lead to the same kind."""
    found = {name: claims(w, name, anywhere=True) for name in AT_A_VALUE}
    found = {name: _of_both(table[table["stability"] != "neutral"]) for name, table in found.items()}
    table = settled(w.points).merge(w.points[["system_id", "sweep", "value", "place"]])
    counted = table[table.groupby("system_id")["period"].transform("max") >= min(PERIODS)]
    for period in PERIODS:
        found[f"period~{period}"] = _asked(counted, f"period~{period}", counted["period"] == period)
    table["other"] = pd.Series([_other(row) for row in table.itertuples(index=False)], index=table.index, dtype=object)
    two = table[table["other"].notna()]
    found["two_starts"] = _asked(
        two, "two_starts", pd.Series([_of(x)[0] for x in two["other"]], index=two.index) == two["kind"]
    )
    return found


def _asked(table: pd.DataFrame, asked: str, truth: pd.Series) -> pd.DataFrame:
    found = _of_both(table.assign(truth=truth, predicate=asked))
    return found.assign(fact=_fact(found) + _part(found["value"], found["width"])).drop_duplicates("fact")


def _other(row: Any) -> dict[str, Any] | None:
    """Another attractor known at a point, with a start that leads to it: the first of another kind, else the first."""
    found = [x for x in json.loads(row.attractors) if x["initial_condition"] != json.loads(row.initial_condition)]
    unlike = [x for x in found if _of(x)[0] != row.kind]
    return next(iter(unlike or found), None)


def transitions(w: World, count: int, seed: int) -> list[Item]:
    """One claim a question, in frames of the two polarities; a TRUE one and its FALSE partner share the frame."""
    rng = np.random.default_rng(seed)
    frames = [[f for f in w.language.claims if f.negates == negates] for negates in (False, True)]
    found: list[Item] = []
    for n, (true, false) in enumerate(paired(point_claims(w) | span_claims(w), -(-count // 2), seed)):
        side = frames[n % 2]
        frame = side[int(rng.integers(len(side)))]
        found += [_item(w, claim, frame, pair=f"{true.fact}~{false.fact}") for claim in (true, false)]
    return found[:count]


def _item(w: World, claim: Any, frame: Frame, **more: Any) -> Item:
    start, spanned = json.loads(claim.initial_condition), hasattr(claim, "moved")
    params = {name: x for name, x in stated(claim).items() if not (spanned and name == claim.sweep)}
    s, asked = w.system(claim.system_id), claim.predicate.split("~")
    known = {"s": w.language.system_at(claim.system_id, params, start, claim.past), "p": claim.sweep}
    known |= {"unit": w.language.transitions["unit"]["map" if s.discrete else "forced"]}
    evidence = {"regime": claim.regime, "initial_condition": start, "position": float(claim.position)}
    if spanned:
        known |= {"a": printed(claim.a_value), "b": printed(claim.b_value)}
        known |= {"moved": w.language.transitions["moved"][claim.moved]}
        ends = {name: {"value": getattr(claim, f"{end}_value"), "regime": getattr(claim, f"{end}_regime"),
                       "period": _key(claim, end)[1]} for name, end in (("from", "a"), ("to", "b"))}  # fmt: skip
        evidence |= ends | {"brackets": [list(found) for found in claim.between]}
    if asked[0] == "two_starts":
        known["other"] = w.language.listed(claim.other["initial_condition"])
        evidence["other"] = claim.other
    if asked[0] in ("by", *WHICH):
        kinds = [w.language.transitions["kinds"][name] for name in asked[1:]]
        known |= dict(zip(("one", "other"), kinds, strict=False))
    known |= {"period": asked[1]} if asked[0] == "period" else {}
    question = w.language.transition(frame, LEADS.get(asked[0], "anew"), _wordings(w.language, asked), known)
    return record(w, claim, frame, "regime_transition", question, "measured", evidence=evidence, **more)


def _wordings(language: Language, asked: Sequence[str]) -> Mapping[str, str]:
    """What is claimed, as a statement and as a question."""
    if asked[0] in AT_A_VALUE:
        return {key: text.format(s=language.subject["it"]) for key, text in language.predicates[asked[0]].items()}
    wordings: Mapping[str, str] = language.transitions["asked"]["which" if asked[0] in WHICH else asked[0]]
    return wordings
