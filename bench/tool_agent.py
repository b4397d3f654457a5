"""A scripted agent that decides by the largest Lyapunov exponents and their intervals, for models with tools to beat.

It calls the tools that a model calls, within the same budget. Of a row it reads what is asked: the system, the values,
the start, the predicate, and whether it is negated. Without tools, and of what exponents do not decide, it throws a
coin.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from bench.answers import FALSE, TRUE
from bench.runs import Run, item_of
from bench.tasks import Asking, Progress, Show, keys_of
from bench.tools import Tools

POSITIVE = {"Chaotic": 1, "PosLyap": 1, "HyperChaotic": 2}  # exponents that a predicate wants above 0
LONGER = 4  # times as long is the next look
CLEAR = 3  # times ln T / T, from which on an exponent is not that of a short run

Row = Mapping[Any, Any]


def answer(row: Row, tools: Tools) -> str:
    """TRUE or FALSE to a question about one system at stated values."""
    holds = _holds(row, tools) if decidable(row) and "indicator" in tools.names else None
    if holds is None:
        return TRUE if hashlib.sha256(str(row["id"]).encode()).digest()[0] < 128 else FALSE
    return TRUE if holds != (row.get("polarity") == "negative") else FALSE


def decidable(row: Row) -> bool:
    """Whether exponents answer the question: it is about one system at stated values, and shows no figures."""
    return row.get("predicate") in POSITIVE and bool(row.get("params")) and not row.get("context")


def _holds(row: Row, tools: Tools) -> bool | None:
    k, last = POSITIVE[row["predicate"]], None
    asked: dict[str, Any] = {"system": row["system_id"], "parameters": row["params"], "k": k, "name": "lyapunov",
                             "start": (row.get("evidence") or {}).get("initial_condition")}  # fmt: skip
    while not tools.spent:
        found = json.loads(tools.called("indicator", asked))
        if "error" in found and "status" not in found:
            return last
        if found["value"] is None or len(found["value"]) < k:
            return False  # it leaves every bound, or has too few dimensions
        value, error = found["value"][k - 1], found["error"][k - 1]
        if value is None:
            return False  # minus infinity: superstable
        least = math.log(found["length"]) / found["length"]
        last = value - (error or 0.0) > 0.0 and value > least
        if value - 2 * (error or 0.0) > CLEAR * least or value + 2 * (error or 0.0) < 0.0:
            return last
        asked["length"] = found["length"] * LONGER
    return last


def evaluate(questions: pd.DataFrame, asking: Asking, run: Run, show: Show) -> Progress:
    """Answer what is left of a run, as bench.tasks.evaluate lets a model do it."""
    keys = keys_of(questions, 1)
    left = {name for name, _ in run.left(keys)}
    progress = Progress(len(keys), len(keys) - len(left))
    show(progress)
    for row in questions[questions["id"].isin(left)].to_dict("records"):
        said = answer(row, Tools(asking.tools, asking.budget))
        tried = [{"response": said, "finish_reason": "stop", "error": None}]
        run.record({"id": row["id"], "epoch": 1, "attempts": tried, "logprobs": None, "usage": {},
                    "item": item_of(row)} | asking.origin)  # fmt: skip
        progress.done += 1
        progress.asked += 1
        show(progress)
    run.finish(keys)
    return progress
