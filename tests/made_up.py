"""A made-up ground truth of three sweeps, for tests of questions."""

import json

import pandas as pd
import pytest

from dynamics.registry import system
from labeling.predicate import NAMES


@pytest.fixture(scope="session")
def made_up():
    """Points of three made-up sweeps: chaos above the own value in two, below it in one."""
    rows = []
    for system_id, sweep, up in (("logistic_r4", "r", True), ("henon", "a", False), ("mackey_glass", "tau", True)):
        s = system(system_id)
        for n in range(32):
            value, chaotic = s.parameters[sweep] - 1.0 + n * 0.0625, (n >= 16) == up
            values = dict.fromkeys(NAMES, "UNDECIDED") | {
                "Chaotic": "TRUE" if chaotic else "FALSE",
                "Random": "FALSE",
            }
            predicates = {name: {"value": v, "basis": "measured"} for name, v in values.items()}
            rows.append({"system_id": system_id, "sweep": sweep, "params": json.dumps(s.parameters | {sweep: value}),
                         "initial_condition": json.dumps(s.state), "regime": "chaotic" if chaotic else "periodic",
                         "predicates": json.dumps(predicates)} | values)  # fmt: skip
    return pd.DataFrame(rows)
