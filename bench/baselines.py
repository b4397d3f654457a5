"""Shortcuts: how far one gets with questions without knowing anything about the system asked about.

Each baseline answers every question from what it has learnt on questions about other systems (cross-fitting over
clusters), within one family; the figure over all families is that of these answers together. It is the MCC with its
interval over clusters, and the inverted predictor's: either way, one that is not near 0 is a leak.

Counts (predicate, form, usual answer) leave out one cluster at a time. Models are fitted five times, each time without
a fifth of the clusters and without all questions that name a system of the fifth; weights make both answers count the
same. N-grams and their singular vectors are made once from all texts of a family, without the answers. A forest of
boosted trees on words gets the first 50 singular vectors, and what is learnt from is at most 30,000 questions drawn by
the seed. One thread each and fixed seeds: the same figures for any number of processes.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from bench import wording
from bench.intervals import ACCURACY, Interval, clustered_interval, confusion
from dynamics.listing import summaries

if TYPE_CHECKING:  # these take longer to import than counting takes
    from sklearn.base import ClassifierMixin

    from labeling.workers import Workers

LIMIT, USUAL_LIMIT = 0.10, 0.15
EVEN = (0.45, 0.55)  # of the answers that may be TRUE
FOLDS = 5
MOST = 30_000  # questions that a model learns from
COMPONENTS = 50
BINS = 32  # of a feature, between which boosted trees choose: eight times faster than scikit-learn's 255
FIGURES = 4  # of a question's numbers that are looked at
HUGE = 1e300  # from which on a parameter is left out
ALL = "all"

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Unfit(ValueError):
    """A baseline cannot be computed on these questions, for the reason given."""


@dataclass(frozen=True)
class Result:
    """One baseline on one family: its figure, the inverted predictor's, and whether either is over the limit."""

    family: str
    baseline: str
    metric: str
    found: Interval
    limit: float
    over: bool

    def row(self) -> dict[str, Any]:
        """As it stands in JSON."""
        mirror = self.found.inverted()
        inverted = {"value": mirror.value, "lo": mirror.lo, "hi": mirror.hi} if self.metric == "mcc" else None
        figures = asdict(self.found)
        return {"family": self.family, "baseline": self.baseline, "metric": self.metric, **figures,
                "inverted": inverted, "limit": self.limit, "over": self.over}  # fmt: skip


def described(questions: pd.DataFrame) -> pd.DataFrame:
    """The questions with what baselines look at: truth, cluster, partner, masked text, predicate, negations, skeleton.

    `cluster` is the field of that name, else the system; of a pair the first system, and `partner` is the second. A
    question about no system is a cluster with those of the same text: nothing but wording joins it to others, and as
    one cluster they could not learn from each other.
    """
    made = questions.reset_index(drop=True).copy()
    made["truth"] = made["ground_truth"] == "TRUE"
    ids = [wording.systems_of(system_id) for system_id in made["system_id"]]
    given = _field(made, "cluster")
    alone = [known or [f"text {text}"] for known, text in zip(ids, made["question"], strict=True)]
    made["cluster"] = given.where(given.notna(), [own[0] for own in alone]).astype(str)
    made["partner"] = made["cluster"].where(given.notna(), [own[-1] for own in alone]).astype(str)
    names = _names(made)
    more = [[x for x in listed if isinstance(x, str)] if isinstance(listed, list) else []
            for listed in _field(made, "systems")]  # fmt: skip
    keys = pd.Series([json.dumps([*dict.fromkeys([*known, *others])]) for known, others in zip(ids, more, strict=True)])
    named = {key: [name for system_id in json.loads(key) for name in names[system_id]] for key in keys.unique()}
    made["text"] = wording.masked(made["question"], keys, named)
    made["called"] = keys.map({key: " ".join(names[x][0] for x in json.loads(key)) for key in named})
    # masked, most questions are alike: each text is looked at once
    told = {text: _looked_at(text) for text in made["text"].unique()}
    asked, made["skeleton"], made["negations"], made["figures"] = zip(*made["text"].map(told), strict=True)
    made["asked"] = _field(made, "predicate").where(_field(made, "predicate").notna(), pd.Series(asked, dtype=object))
    return made


def _looked_at(text: str) -> tuple[str | None, str, int, list[str]]:
    return wording.predicate_asked(text), wording.skeleton(text), wording.negations(text), wording.figures(text)


def baselines(
    questions: pd.DataFrame, limit: float = LIMIT, usual_limit: float = USUAL_LIMIT, seed: int = 0,
    workers: "Workers | None" = None,
) -> list[Result]:  # fmt: skip
    """Every baseline on every family of a frame of questions (bench.questions_file), and on all together."""
    from labeling.workers import Workers

    table = described(questions)
    families = {str(family): rows.reset_index(drop=True) for family, rows in table.groupby("type", sort=True)}
    tasks = [(name, rows, seed) for rows in families.values() for name in PREDICTORS]
    made = iter((workers or Workers()).each(answers, tasks, "baselines"))
    said = {(family, name): next(made) for family in families for name in PREDICTORS}
    results = []
    for family in [*families, ALL] if len(families) > 1 else families:
        parts = [family] if family != ALL else [*families]
        for name in PREDICTORS:
            reply = _joined([(families[part], said[part, name]) for part in parts])
            found = reply if isinstance(reply, Interval) else clustered_interval(confusion(*reply))
            most = usual_limit if name == "usual answer" else limit
            over = any(end is not None and end > most for end in (found.hi, found.inverted().hi))
            results.append(Result(family, name, "mcc", found, most, over))
        rows = pd.concat([families[part] for part in parts])
        for name, says in (("always TRUE", True), ("always FALSE", False)):
            counts = confusion(rows["truth"], np.full(len(rows), says), rows["cluster"])
            found = clustered_interval(counts, ACCURACY)
            assert found.value is not None
            results.append(Result(family, name, "accuracy", found, EVEN[1], not EVEN[0] <= found.value <= EVEN[1]))
    return results


def answers(name: str, rows: pd.DataFrame, seed: int) -> Floats | str:
    """What a baseline says of one family's described rows: 1 TRUE, 0 FALSE, NaN nothing; or why it cannot say."""
    if rows["cluster"].nunique() < 2:
        return "one cluster only; others are needed to learn from"
    try:
        with threadpool_limits(1):
            return PREDICTORS[name](rows, seed)
    except Unfit as reason:
        return str(reason)


def _joined(parts: Sequence[tuple[pd.DataFrame, Floats | str]]) -> tuple[Any, Any, Any] | Interval:
    """Truth, answers and clusters where there are answers; else an interval of nothing with the reason."""
    there = [(rows, said) for rows, said in parts if not isinstance(said, str)]
    if not there:
        reasons = dict.fromkeys(said for _, said in parts if isinstance(said, str))
        return Interval(None, None, None, 0, 0, "none", "; ".join(reasons))
    said = np.concatenate([said for _, said in there])
    rows, spoken = pd.concat([rows for rows, _ in there]), ~np.isnan(said)
    return rows["truth"].to_numpy()[spoken], said[spoken] == 1.0, rows["cluster"].to_numpy()[spoken]


def majority(cells: Sequence[object], units: Sequence[object], truth: Bools, seed: int = 0) -> Floats:
    """For each row what most rows of its cell say that are of other units; a coin where that is no majority.

    A majority counts from one standard error (over units) on. In a set that is balanced exactly, what one unit leaves
    to the others leans the other way, but by far less than that; a bare majority would answer wrong more often than
    right, which says nothing about a shortcut.
    """
    frame = pd.DataFrame({"cell": pd.factorize(np.asarray(cells, dtype=object))[0],
                          "unit": pd.factorize(np.asarray(units, dtype=object))[0],
                          "lean": np.asarray(truth, dtype=float) - 0.5})  # fmt: skip
    here = frame.groupby(["cell", "unit"])["lean"].sum()
    sums, squares = here.groupby("cell").sum(), (here**2).groupby("cell").sum()
    own = here.loc[pd.MultiIndex.from_frame(frame[["cell", "unit"]])].to_numpy()
    lean = sums.loc[frame["cell"]].to_numpy() - own
    error = np.sqrt(np.maximum(squares.loc[frame["cell"]].to_numpy() - own**2, 0.0))
    coin = np.random.default_rng(seed).integers(0, 2, len(frame))
    return np.where(np.abs(lean) > error * (1 + 1e-9), lean > 0, coin).astype(float)


def _predicate(rows: pd.DataFrame, seed: int) -> Floats:
    """The majority of the predicate asked and whether it is negated, over other clusters."""
    known = rows["asked"].notna()
    if not known.any():
        raise Unfit("no question says or shows which predicate it asks")
    some = rows[known]
    cells = [(asked, negations % 2) for asked, negations in zip(some["asked"], some["negations"], strict=True)]
    return _where(
        known, majority([str(cell) for cell in cells], some["cluster"].tolist(), some["truth"].to_numpy(), seed)
    )


def _form(rows: pd.DataFrame, seed: int) -> Floats:
    """The majority of the template and form, over other clusters; without such fields, of the sentence's skeleton."""
    fields = [key for key in ("template", "form") if _field(rows, key).nunique() > 1]
    cells = rows[fields].astype(str).agg(" ".join, axis=1) if fields else rows["skeleton"]
    return majority(cells.tolist(), rows["cluster"].tolist(), rows["truth"].to_numpy(), seed)


def _usual(rows: pd.DataFrame, seed: int) -> Floats:
    """The majority of the system and predicate over its other parameter values, where both answers occur."""
    known = _field(rows, "params").map(lambda p: isinstance(p, dict) and len(p) > 0) & rows["asked"].notna()
    if not known.any():
        raise Unfit("no question has params and a predicate")
    some = rows[known]
    holds = some["truth"] ^ (some["negations"] % 2 == 1)
    fact = some["system_id"].astype(str) + " " + some["asked"].astype(str)
    regime = holds.groupby(fact).transform("nunique") > 1
    if not regime.any():
        raise Unfit("no predicate changes with the parameters of a system")
    some, fact = some[regime], fact[regime] + (some["negations"][regime] % 2).astype(str)
    instance = some["system_id"].astype(str) + some["params"].map(lambda p: json.dumps(p, sort_keys=True))
    return _where(known & regime.reindex(rows.index, fill_value=False),
                  majority(fact.tolist(), instance.tolist(), some["truth"].to_numpy(), seed))  # fmt: skip


def _shape(rows: pd.DataFrame, seed: int) -> Floats:
    """Boosted trees on lengths and counts: characters, words, digits, negations, sentences, commas, premises, hops."""
    text = rows["question"]
    premises = _field(rows, "premises").map(lambda p: len(p) if isinstance(p, (list, tuple, str)) else np.nan)
    made = {"characters": text.str.len(), "words": text.str.count(r"\S+"), "digits": text.str.count(r"\d"),
            "negations": rows["negations"], "sentences": text.str.count(r"[.?!](?:\s|$)"),
            "commas": text.str.count(","), "premises": premises,
            "hops": pd.to_numeric(_field(rows, "hops"), errors="coerce")}  # fmt: skip
    return _fitted(rows, pd.DataFrame(made).to_numpy(dtype=float), _boosted, seed)


def _numbers(rows: pd.DataFrame, seed: int) -> Floats:
    """Boosted trees on the numbers printed, and on where the parameter stands in its range and from the standard."""
    printed, places = rows["figures"].map(len), _positions(rows)
    if not printed.any() and np.isnan(places).all():
        raise Unfit("no question prints a number or has params")
    values = np.full((len(rows), FIGURES), np.nan)
    digits = np.full((len(rows), FIGURES), np.nan)
    for i, found in enumerate(rows["figures"]):
        for j, number in enumerate(found[:FIGURES]):
            values[i, j], digits[i, j] = float(number), sum(c.isdigit() for c in number)
    values[~np.isfinite(values)] = np.nan
    size = np.log10(np.where(values == 0.0, np.nan, np.abs(values)))
    return _fitted(rows, np.column_stack([printed, values, size, digits, places]), _boosted, seed)


def _positions(rows: pd.DataFrame) -> Floats:
    """(n, 3): where the parameter stands in its range, how far from the middle, and how far from its standard value.

    Range and standard value are the registry's; where it has none, those that the questions span and ask most often.
    Of several parameters it is the one that is furthest from its standard value, in widths of the range.
    """
    given = [p if isinstance(p, dict) else {} for p in _field(rows, "params")]
    cells = [
        (row, str(system_id), str(key), float(value))
        for row, (system_id, p) in enumerate(zip(rows["system_id"], given, strict=True))
        for key, value in p.items()
        if isinstance(value, (int, float)) and abs(value) < HUGE
    ]
    long = pd.DataFrame(cells, columns=["row", "system_id", "key", "value"])
    made = np.full((len(rows), 3), np.nan)
    parts = []
    for (system_id, key), some in long.groupby(["system_id", "key"], sort=False):
        values = some["value"]
        lo, hi, standard = _registered(str(system_id), str(key)) or (values.min(), values.max(), values.mode().iloc[0])
        if hi > lo:
            parts.append(some.assign(place=(values - lo) / (hi - lo), away=(values - standard) / (hi - lo)))
    if parts:
        varied = pd.concat(parts).sort_values("away", key=np.abs, kind="stable").groupby("row").last()
        made[varied.index, 0], made[varied.index, 2] = varied["place"], varied["away"]
    stated = pd.to_numeric(_field(rows, "position"), errors="coerce").to_numpy(dtype=float)
    made[:, 0] = np.where(np.isnan(stated), made[:, 0], stated)
    made[:, 1] = np.abs(made[:, 0] - 0.5)
    return made


def _registered(system_id: str, key: str) -> tuple[float, float, float] | None:
    """Range and standard value of a parameter that a system of the registry is swept over."""
    from dynamics.registry import system, system_ids, variant_ids

    if system_id not in {*system_ids(), *variant_ids()}:
        return None
    s = system(system_id)
    return next(((sweep.lo, sweep.hi, s.parameters[key]) for sweep in s.sweeps if sweep.parameter == key), None)


def _words(rows: pd.DataFrame, seed: int) -> Floats:
    """Logistic regression on the words and pairs of words of the masked question."""
    return _fitted(rows, _ngrams(rows["text"].map(_without_numbers), "word", (1, 2)), _linear, seed)


def _words_boosted(rows: pd.DataFrame, seed: int) -> Floats:
    """Boosted trees on the first singular vectors of the words and pairs of words of the masked question."""
    from sklearn.decomposition import TruncatedSVD

    grams = _ngrams(rows["text"].map(_without_numbers), "word", (1, 2))
    count = min(COMPONENTS, min(grams.shape) - 1)
    if count < 1:
        raise Unfit("one word alone occurs in two questions")
    return _fitted(rows, TruncatedSVD(count, random_state=seed).fit_transform(grams), _boosted, seed)


def _called(rows: pd.DataFrame, seed: int) -> Floats:
    """Logistic regression on the letters, two to four in a row, of the system's name."""
    known = rows["called"].str.len() > 0
    if rows["called"][known].nunique() < 2:
        raise Unfit("fewer than two systems are named")
    some = rows[known].reset_index(drop=True)
    return _where(known, _fitted(some, _ngrams(some["called"], "char_wb", (2, 4)), _linear, seed))


PREDICTORS: dict[str, Callable[[pd.DataFrame, int], Floats]] = {
    "predicate": _predicate,
    "form": _form,
    "shape": _shape,
    "numbers": _numbers,
    "words": _words,
    "words, boosted": _words_boosted,
    "name": _called,
    "usual answer": _usual,
}


def _fitted(rows: pd.DataFrame, features: Any, model: "Callable[[int], ClassifierMixin]", seed: int) -> Floats:
    """What a model says of each row that was fitted without its cluster, and without the systems that it names."""
    truth, said = rows["truth"].to_numpy(), np.full(len(rows), np.nan)
    rng = np.random.default_rng(seed)
    for learn, use in _splits(rows["cluster"], rows["partner"], seed):
        if len(learn) > MOST:
            learn = np.sort(rng.choice(learn, MOST, replace=False))
        if len(np.unique(truth[learn])) < 2:
            raise Unfit("too few clusters: those to learn from have one answer only")
        there = _there(features[learn])
        if not len(there):
            raise Unfit("too few questions of it have a number")
        said[use] = model(seed).fit(features[learn][:, there], truth[learn]).predict(features[use][:, there])
    return said


def _there(features: Any) -> NDArray[np.intp]:
    """The columns that have a value at all."""
    if not isinstance(features, np.ndarray):
        return np.arange(features.shape[1])
    return np.flatnonzero(~np.isnan(features).all(axis=0))


def _splits(cluster: pd.Series, partner: pd.Series, seed: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Rows to learn from and rows to answer, by the folds of both systems of a row."""
    names = np.sort(pd.unique(pd.concat([cluster, partner])))
    order = np.random.default_rng(seed).permutation(len(names))
    fold = dict(zip(names[order], np.arange(len(names)) % FOLDS, strict=True))
    first, second = cluster.map(fold).to_numpy(), partner.map(fold).to_numpy()
    low, high = np.minimum(first, second), np.maximum(first, second)
    for a, b in sorted({*zip(low.tolist(), high.tolist(), strict=True)}):
        learn = ~np.isin(first, (a, b)) & ~np.isin(second, (a, b))
        yield np.flatnonzero(learn), np.flatnonzero((low == a) & (high == b))


def _boosted(seed: int) -> "ClassifierMixin":
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_leaf_nodes=15, max_bins=BINS, early_stopping=False, class_weight="balanced", random_state=seed
    )


def _linear(seed: int) -> "ClassifierMixin":
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(solver="liblinear", C=10.0, class_weight="balanced", random_state=seed)


def _ngrams(texts: pd.Series, analyzer: str, lengths: tuple[int, int]) -> Any:
    """(n, n-grams) sparse TF-IDF weights of n-grams that occur at least twice."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    if texts.nunique() < 2:
        raise Unfit("all questions have the same words")
    split = {"token_pattern": r"[@#]|[^\W_]+"} if analyzer == "word" else {}
    vectors = TfidfVectorizer(analyzer=analyzer, ngram_range=lengths, min_df=2, sublinear_tf=True, **split)
    try:
        return vectors.fit_transform(texts)
    except ValueError:  # nothing occurs twice
        raise Unfit("no word occurs in two questions") from None


def _without_numbers(text: str) -> str:
    return wording.FIGURE.sub(wording.NUMBER, text)


def _where(known: pd.Series, said: Floats) -> Floats:
    """The answers to known rows, NaN for the others."""
    made = np.full(len(known), np.nan)
    made[known.to_numpy()] = said
    return made


def _field(rows: pd.DataFrame, key: str) -> pd.Series:
    return rows[key] if key in rows else pd.Series([None] * len(rows), index=rows.index, dtype=object)


def _names(rows: pd.DataFrame) -> dict[str, list[str]]:
    """What each system may be called: by its rows, else by the registry, else by its id."""
    given = {system_id: [name] for system_id, name in zip(rows["system_id"], rows["name"], strict=True)
             if isinstance(name, str) and isinstance(system_id, str)}  # fmt: skip
    ids = {x for system_id in rows["system_id"] for x in wording.systems_of(system_id)}
    ids |= {x for listed in _field(rows, "systems") if isinstance(listed, list) for x in listed if isinstance(x, str)}
    registry = {row["system_id"]: [row["name"]] for row in summaries()}
    return {x: given.get(x) or registry.get(x.split("__")[0]) or [x.replace("_", " ").capitalize()] for x in ids}
