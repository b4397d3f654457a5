"""Probabilities of answers from log-probabilities: spellings, what is missing, what is no number."""

import math

import pytest

from bench.elicitation import Belief, answer_position, belief, side


def found(top: list[tuple[str, float]]) -> Belief:
    one = belief(top)
    assert isinstance(one, Belief)
    return one


def test_met_02_answers_are_compared_as_classes_whatever_their_spelling() -> None:
    assert {side(token) for token in ("YES", "Yes", "\u0120yes", " true", "\u2581TRUE")} == {"TRUE"}
    assert {side(token) for token in ("NO", "No", " false")} == {"FALSE"}
    assert side("ye") is side("note") is side("n") is None


def test_met_10_spellings_are_added_up() -> None:
    one = found([("yes", -0.0076), ("no", -4.88), ("YES", -15.26), ("ye", -15.38), ("Yes", -16.07), (" yes", -16.38)])
    assert one.lo == one.hi == pytest.approx(0.992403, abs=1e-6)
    assert math.log(one.lo / (1 - one.lo)) == pytest.approx(4.8724, abs=1e-4)


def test_met_11_a_split_answer_is_not_the_likeliest_token() -> None:
    one = found([("Yes", -1.2), (" yes", -1.5), ("YES", -2.3), ("No", -1.1), (" The", -2.0)])
    assert one.lo == pytest.approx(0.65234, abs=1e-5)
    assert one.off == pytest.approx(math.exp(-2.0))


def test_met_13_what_was_not_returned_is_not_the_complement() -> None:
    one = found([("yes", math.log(0.1))])
    assert one.censored
    assert (one.lo, one.hi) == (pytest.approx(0.5), 1.0)  # the other may have up to as much, not 0.9


def test_met_14_sentinels_are_missing_and_not_a_number_is_refused() -> None:
    one = found([("YES", -9999.0), ("NO", -0.0)])
    assert (one.lo, one.hi) == (0.0, 0.0)  # nothing is left for it
    assert "not a number" in str(belief([("YES", math.nan), ("NO", -0.1)]))
    assert "not a number" in str(belief([("YES", None)]))
    assert belief([("YES", -9999.0)]) == "neither answer is among the returned tokens"


def test_met_16_probabilities_are_those_that_were_returned() -> None:
    """Nothing is divided by a temperature: logits 1 and 0 are 0.7311."""
    total = math.log(1 + math.e)
    assert found([("YES", 1 - total), ("NO", -total)]).lo == pytest.approx(0.731059, abs=1e-6)


def test_met_17_the_answer_is_where_it_was_sampled() -> None:
    assert answer_position(["**", "Answer", "**", ":", " No"]) == 4
    assert answer_position(["<think>", "hm"]) is None


def test_met_20_a_loss_is_refused_and_rounding_is_not() -> None:
    assert "is it a loss?" in str(belief([("YES", 0.1), ("NO", 2.3)]))
    assert found([("YES", 1e-7), ("NO", -30.0)]).hi == pytest.approx(1.0)
