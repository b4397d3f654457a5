"""Answers about regimes hold for a reader of the text alone, who integrates with SciPy."""

import numpy as np
import pytest
from regime_text import answer, read, regime

from bench.dataset import BOOKS, questions
from bench.ground_truth import SHIPPED, brackets, points
from bench.questions import world

PREDICATES = ("Chaotic", "PosLyap", "Periodic", "FixedPointAttr")
SIZES = {"atomic": 280, "consistency_paraphrase": 80, "perturbation": 80, "adversarial_misleading": 80}
ASKED = 300

LORENZ = """The Lorenz system of 1963 obeys:
x' = sigma*(y - x)
y' = x*(rho - z) - y
z' = x*y - beta*z

Consider the Lorenz system of 1963 with sigma = 10, rho = {rho} and beta = 2.6666666666666665, started at x = 1, y = 1 \
and z = 1. Once transients have died out, {asked}?"""
LOGISTIC = """The logistic map obeys:
x(n+1) = r*x*(1 - x)

The logistic map with r = {r}, started at x = 0.1, is left to run until its transients have died out. {asked}?"""


@pytest.mark.parametrize(("text", "said"), [
    (LOGISTIC.format(r=3.83, asked="Is it periodic from then on"), "TRUE"),  # the window of period 3
    (LOGISTIC.format(r=3.83, asked="Is it wrong to say that it is not periodic from then on"), "TRUE"),
    (LOGISTIC.format(r=3.9, asked="Is it wrong to say that it is chaotic from then on"), "FALSE"),
    (LOGISTIC.format(r=2.8, asked="Does it have a fixed-point attractor from then on"), "TRUE"),
    (LORENZ.format(rho=28, asked="is it chaotic"), "TRUE"),
    (LORENZ.format(rho=14, asked="does it have a positive largest Lyapunov exponent"), "FALSE"),
    (LORENZ.format(rho=160, asked="is it periodic"), "TRUE"),  # Sparrow 1982: the window 154.4 to 166.07
])  # fmt: skip
def test_the_reader_knows_textbook_cases(text, said):
    assert answer(read(text)) == said


def rows():
    """Open-book rows of the shipped ground truth about predicates that the reader knows; no delay equations."""
    table = points(SHIPPED)
    w = world(table, brackets(SHIPPED), asked=[name for name in BOOKS["open"] if name in PREDICATES])
    made = questions(w, SIZES, seed=11, book="open")
    return [row for row in made if " - tau)" not in row["context"] and "t - " not in row["context"]]


def compared(some):
    """How many rows the reader decides, and those where it says otherwise."""
    said = [(row, read(row["question"])) for row in some]
    assert all(question is not None for _, question in said)
    found = [(row, answer(question)) for row, question in said]
    wrong = [(row["question"], row["ground_truth"], regime(*read(row["question"]).place))
             for row, told in found if told not in (None, row["ground_truth"])]  # fmt: skip
    return sum(told is not None for _, told in found), wrong


def test_a_reader_of_the_text_agrees_on_maps():
    some = [row for row in rows() if "(n+1)" in row["context"]]
    decided, wrong = compared([some[i] for i in np.random.default_rng(0).permutation(len(some))[:40]])
    assert wrong == []
    assert decided >= 30


@pytest.mark.slow
def test_a_reader_of_the_text_agrees_on_300_rows():
    some = rows()
    decided, wrong = compared([some[i] for i in np.random.default_rng(1).permutation(len(some))[:ASKED]])
    assert wrong == []
    assert decided >= 0.8 * ASKED
