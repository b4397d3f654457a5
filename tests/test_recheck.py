import json
import math
import re

import numpy as np
import pytest
from certified import LOGISTIC, certified, standard_points
from hypothesis import given
from hypothesis import strategies as st

from dynamics.registry import system
from labeling.certificates import certificate, checksum
from labeling.recheck import SHAPE, recheck


def resealed(row):
    return row | {"sha256": checksum(row)}


def changed(text):
    """The text with each of its digits in turn one higher and one lower."""
    for found in re.finditer(r"\d", text):
        for step in (1, 9):
            yield text[: found.start()] + str((int(found.group()) + step) % 10) + text[found.end() :]


@pytest.mark.parametrize("name", ["logistic", "tongue", "focus"])
def test_any_digit_of_the_line_that_is_changed_is_seen(name, request):
    row = request.getfixturevalue(name).row
    tried = 0
    for text in changed(json.dumps(row)):
        try:
            other = json.loads(text)
        except json.JSONDecodeError:  # a number that would begin with 0
            continue
        if other != row:
            tried += 1
            assert recheck(other), text
    assert tried > 200


@pytest.mark.parametrize("name", ["logistic", "tongue", "focus"])
def test_the_proof_sees_changes_by_itself(name, request):
    """With a checksum made anew: digits of the orbit, of the multipliers and of the parameters."""
    row = request.getfixturevalue(name).row
    tried = 0
    for key in ("orbit", "params", "multipliers", "turns", "circle"):
        for text in changed(json.dumps(row[key])):
            try:
                value = json.loads(text)
            except json.JSONDecodeError:
                continue
            radii = key == "multipliers" and [m[:2] for m in value] == [m[:2] for m in row[key]]
            if value != row[key] and not radii:
                tried += 1
                assert recheck(resealed(row | {key: value})), (key, text)
    assert tried > 100


def test_the_proof_sees_other_claims_by_itself(logistic, focus):
    row = logistic.row
    for key, value in (("period", 1), ("period", 4), ("stability", "repelling"), ("stability", None), ("unstable", 1),
                       ("unstable", None), ("set", "fixed_point"), ("radius", "1e-40"), ("radius", "0.4"),
                       ("orbit", row["orbit"][:1]), ("orbit", row["orbit"] * 2), ("kind", "ode"),
                       ("multipliers", [["0.16", "0", "1e-40"]]), ("multipliers", [])):  # fmt: skip
        assert recheck(resealed(row | {key: value})), (key, value)
    assert recheck(resealed(focus.row | {"circle": {"x": "1.0"}, "turns": []}))
    wide = [["0", "0", "1e3"], *[["900", "0", "1e-3"]] * 2]
    assert "multipliers" in recheck(resealed(focus.row | {"multipliers": wide}))[0]
    turning = certified(system("standard_map"), *standard_points(system("standard_map"), [0.0, 0.0])).row
    rounded = dict.fromkeys(turning["circle"], repr(2 * math.pi))
    assert "circumferences" in recheck(resealed(turning | {"circle": rounded}))[0]
    assert recheck(resealed(row)) == []


MALFORMED = [
    {"orbit": "x"}, {"orbit": []}, {"orbit": [["0.5"], 3]}, {"orbit": [["nan"], ["1"]]},
    {"radius": "-1e-20"}, {"radius": "1_0"}, {"radius": "1e9999999"}, {"bits": 10**9}, {"bits": True}, {"bits": "128"},
    {"params": {"r": "3.2"}}, {"params": {"r": 10**400}}, {"params": {"r": math.nan}}, {"params": {}}, {"state": [[]]},
    {"params": {1: 2.0}}, {"state": ["x", "x"]}, {"rule": [3]}, {"rule": ["9**9**9"]}, {"rule": ["__import__('os')"]},
    {"rule": ["t*x"]}, {"let": {"a": 3}}, {"circle": {"x": 1.0}}, {"circle": {"x": "1/0"}}, {"turns": [[0.5]]},
    {"kind": "pde"}, {"multipliers": [["1"]]}, {"extra": 1}, {"system_id": "../x"}, {"orbit": [["1" * 5000], ["0"]]},
]  # fmt: skip


@pytest.mark.parametrize("change", MALFORMED, ids=str)
def test_what_is_no_certificate_is_answered_by_a_sentence(change, logistic):
    row = logistic.row | change
    answers = [recheck(row)]
    try:
        answers.append(recheck(resealed(row)))
    except (TypeError, ValueError):
        assert "malformed" in answers[0][0]
    assert all(answers)
    assert all(isinstance(sentence, str) for answer in answers for sentence in answer)


@pytest.mark.parametrize("other", [None, 3, "x", [], {}, [{}]])
def test_what_is_no_object_is_answered_by_a_sentence(other):
    assert recheck(other)[0].startswith("the certificate is malformed")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(JSON, st.sampled_from([*SHAPE]))
def test_no_value_of_a_field_raises(value, key):
    row = certificate(LOGISTIC.with_values({"r": 2.5}), np.array([0.6]))[0].row
    assert recheck(row | {key: value}) or row[key] == value
