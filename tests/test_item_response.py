"""The item-response model against simulated answers of known items, and against its likelihood by brute force."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from bench.comparison import items
from bench.item_response import PRIOR, item_response


def simulated(models: int, count: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    ability, a, b = rng.standard_normal(models), rng.lognormal(0.0, 0.5, count), rng.uniform(-1.5, 1.5, count)
    ability = (ability - ability.mean()) / ability.std()  # which is what fixes the scale of items
    right = rng.random((models, count)) < expit(a * (ability[:, None] - b))
    return right, ability, a, b


def marginal_information(right, a, c):
    """Of ln a and c of all items: the sum over models of the squared score of the marginal likelihood, on a grid."""
    theta = np.linspace(-5, 5, 401)
    p = expit(a[:, None] * theta + c[:, None])
    log = right @ np.log(p) + (~right) @ np.log1p(-p) - theta**2 / 2
    weight = np.exp(log - log.max(axis=1, keepdims=True))
    weight /= weight.sum(axis=1, keepdims=True)
    about_a = a * (right * (weight @ theta)[:, None] - weight @ (p * theta).T)
    about_c = right - weight @ p.T
    scores = np.concatenate([about_a, about_c], axis=1)
    return scores.T @ scores


def test_known_items_and_abilities_are_found():
    right, ability, a, b = simulated(1000, 40)
    found = item_response(right)
    c = -a * b
    errors = np.concatenate([np.log(found.discrimination / a), -found.difficulty * found.discrimination - c])
    information = marginal_information(right, a, c)
    assert errors @ information @ errors / len(errors) == pytest.approx(1.0, abs=0.5)  # chi-squared: 1 +- 0.16
    assert np.corrcoef(np.log(found.discrimination), np.log(a))[0, 1] > 0.95
    z = (found.ability - ability) / found.deviation
    assert z.std() == pytest.approx(1.0, abs=0.1)  # the posterior's width is what the errors have


def test_many_items_leave_narrow_abilities():
    right, ability, a, _ = simulated(25, 3000)
    found = item_response(right)
    assert np.corrcoef(found.ability, ability)[0, 1] > 0.99
    assert found.deviation.max() < 0.1
    assert np.corrcoef(np.log(found.discrimination), np.log(a))[0, 1] > 0.4


def test_the_fit_is_the_mode_of_the_marginal_likelihood():
    """By a fixed fine grid over abilities: no change of an item's parameters makes the answers more likely."""
    right, *_ = simulated(200, 8)
    found = item_response(right)
    theta = np.linspace(-6, 6, 1201)
    weight = np.exp(-(theta**2) / 2)

    def log_posterior(log_a, c):
        p = expit(np.exp(log_a)[:, None] * theta + c[:, None])
        each = np.where(right[:, :, None], p, 1 - p).prod(axis=1) @ weight
        return np.log(each).sum() - ((log_a / PRIOR[0]) ** 2 + (c / PRIOR[1]) ** 2).sum() / 2

    log_a = np.log(found.discrimination)
    c = -found.difficulty * found.discrimination
    best = log_posterior(log_a, c)
    for i in range(8):
        for parameter in (log_a, c):
            for change in (-0.05, 0.05):
                parameter[i] += change
                assert log_posterior(log_a, c) < best
                parameter[i] -= change


def test_all_right_items_stay_finite():
    right, *_ = simulated(30, 20)
    right[:, 0] = True
    found = item_response(right)
    assert all(np.isfinite(x).all() for x in found)
    assert found.difficulty[0] < found.difficulty[1:].min()


def test_items_have_the_model_from_twenty_models_on_and_else_say_why_not():
    right, *_ = simulated(20, 50)
    tables = {f"m{k}": pd.DataFrame({"id": [f"q{i}" for i in range(50)], "type": "atomic", "truth": True,
                                     "code": row.astype(int)}) for k, row in enumerate(right)}  # fmt: skip
    made = items(tables)
    assert made["reason"] is None
    assert made["abilities"].keys() == tables.keys()
    assert all(row["difficulty"] is not None for row in made["rows"])
    made = items({name: tables[name] for name in list(tables)[:19]})
    assert made["reason"] == "an item-response model needs 20 models; there are 19"
    assert made["abilities"] is None
