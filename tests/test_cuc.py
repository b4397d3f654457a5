"""Coherence under commitment: identities, the oracle, synthetic extremes, and the two public sources."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.cuc import DELTAS, TAUS, best, cuc, decision, figures, pairs, risk_coverage, trivial
from bench.cuc_sources import is_source, read_pairs

SHARED = Path(__file__).parents[2] / "shared"
COUNTS = {"entailed": 72, "refuted": 63, "neither": 69}  # FOLIO v0.0 validation
GOLD = pd.Series([gold for gold, n in COUNTS.items() for _ in range(n)])
UNIT = np.arange(204) % 73
ORACLE = np.array([{"entailed": (1.0, 0.0), "refuted": (0.0, 1.0), "neither": (0.0, 0.0)}[g] for g in GOLD])
BELIEFS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30)


def items(phi: np.ndarray, negated: np.ndarray, gold: pd.Series = GOLD) -> pd.DataFrame:
    return pd.DataFrame({"gold3": gold, "unit": UNIT[: len(gold)], "phi_lo": phi, "phi_hi": phi, "not_lo": negated,
                         "not_hi": negated})  # fmt: skip


@given(BELIEFS, st.floats(0.1, 1), st.floats(0, 0.5))
def test_coverage_is_at_most_the_share_that_commits(
    beliefs: list[tuple[float, float]], tau: float, delta: float
) -> None:
    phi, negated = np.array(beliefs).T
    covered = decision(phi, negated, tau, delta) != 0
    assert covered.mean() <= (phi + negated >= tau).mean() <= (phi + negated).mean() / tau + 1e-12


@given(BELIEFS)
def test_the_violation_is_what_commitment_has_over_1(beliefs: list[tuple[float, float]]) -> None:
    phi, negated = np.array(beliefs).T
    gold = GOLD[: len(beliefs)]
    found = figures(phi, negated, gold, UNIT[: len(beliefs)])
    expected = np.mean([max(0.0, p + q - 1) for p, q in beliefs])
    assert found["negation_violation"].value == pytest.approx(expected)
    assert found["commitment"].value is not None
    assert expected >= found["commitment"].value - 1 - 1e-12  # Jensen


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.05, 1), st.floats(0.01, 0.5))
def test_true_and_false_exclude_each_other(phi: float, negated: float, tau: float, delta: float) -> None:
    one = decision(np.array([phi, negated]), np.array([negated, phi]), tau, delta)
    assert one[0] == -one[1]
    assert decision(np.array([phi]), np.array([phi]), tau, 0.0) == 0  # a tie


def test_the_oracle_on_the_counts_of_folio() -> None:
    found = figures(ORACLE[:, 0], ORACLE[:, 1], GOLD, UNIT)
    values = {key: found[key].value for key in ("coverage", "commitment", "negation_violation", "accuracy",
                                               "accuracy_covered", "brier")}  # fmt: skip
    assert values == {"coverage": pytest.approx(135 / 204), "commitment": pytest.approx(0.662, abs=5e-4),
                      "negation_violation": 0.0, "accuracy": 1.0, "accuracy_covered": 1.0, "brier": 0.0}  # fmt: skip
    assert found["accuracy"].lo is not None
    assert found["accuracy"].lo < 1.0
    swapped = figures(ORACLE[:, 1], ORACLE[:, 0], GOLD, UNIT)
    assert swapped["accuracy"].value == pytest.approx(0.338, abs=5e-4)
    assert swapped["accuracy_covered"].value == 0.0
    known = trivial(GOLD, UNIT)
    assert known["oracle"]["overall"]["coverage"]["value"] == pytest.approx(0.662, abs=5e-4)
    assert known["oracle"]["verdict"] == []
    assert known["always UNCERTAIN"]["overall"]["accuracy"]["value"] == pytest.approx(69 / 204)
    assert known["always UNCERTAIN"]["verdict"] == ["abstaining"]
    assert known["YES to both"]["verdict"] == ["abstaining", "contradicting"]


def extremes() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Shaped like the paper's: E[c] .115 with 15 of 204 covered; E[c] 1.698 with 162 covered."""
    order = np.random.default_rng(0).permutation(204)
    phi, negated = np.zeros(204), np.zeros(204)
    phi[order[:15]] = 0.9
    phi[order[15:]] = negated[order[15:]] = (0.115 * 204 - 15 * 0.9) / 189 / 2
    abstains = items(phi.copy(), negated.copy())
    phi[order[:162]], negated[order[:162]] = 0.92, 0.78
    phi[order[162:]] = negated[order[162:]] = (1.698 * 204 - 162 * 1.7) / 42 / 2
    return abstains, items(phi, negated)


def test_of_two_extremes_one_abstains_one_contradicts_and_neither_is_best() -> None:
    made = {name: cuc(one, {}) for name, one in zip(("small", "large"), extremes(), strict=True)}
    values = {name: [one["overall"][key]["value"] for key in ("commitment", "coverage")] for name, one in made.items()}
    assert values["small"] == pytest.approx([0.115, 0.0735], abs=5e-4)
    assert values["large"] == pytest.approx([1.698, 0.794], abs=5e-4)
    assert {name: one["verdict"] for name, one in made.items()} == {"small": ["abstaining"], "large": ["contradicting"]}
    assert best(made) is None
    assert best(made | {"oracle": cuc(items(*ORACLE.T), {})}) == "oracle"


def test_curves_reach_over_tau_delta_and_offsets() -> None:
    rng = np.random.default_rng(1)
    made = cuc(items(*rng.random((2, 204))), {"elicitation": "synthetic"})
    assert len(made["curves"]["tau_delta"]) == len(TAUS) * len(DELTAS)
    violation = [point["negation_violation"] for point in made["curves"]["offset"]]
    assert violation == sorted(violation)  # more YES to both, more violation
    assert sum(one["n"] for one in made["bins"]) == round(made["overall"]["coverage"]["value"] * 204)
    assert made["elicitation"] == "synthetic"
    assert set(made["gold"]) == set(COUNTS)


def test_risk_of_a_perfect_order_has_no_excess() -> None:
    gold = pd.Series(["entailed"] * 50)
    margins = np.linspace(1.0, 0.1, 50)
    wrong_last = np.where(np.arange(50) < 40, margins, -margins)
    best_order = risk_coverage(np.maximum(wrong_last, 0), np.maximum(-wrong_last, 0), gold)
    assert best_order["excess"] == pytest.approx(0.0)
    wrong_first = np.where(np.arange(50) < 10, -margins, margins)
    assert risk_coverage(np.maximum(wrong_first, 0), np.maximum(-wrong_first, 0), gold)["excess"] > 0.3
    tied = risk_coverage(np.full(50, 0.8), np.where(np.arange(50) < 10, 0.9, 0.7), gold)
    assert tied["area"] == pytest.approx(0.2)  # equal margins have no order


def test_a_token_that_was_not_returned_is_not_made_up() -> None:
    table = items(*ORACLE.T).assign(phi_lo=lambda t: t["phi_hi"] * 0.8)
    found = cuc(table, {})["overall"]["commitment"]
    assert found["value"] is None
    assert "not returned" in found["reason"]
    assert found["lo"] < 120.6 / 204 < 135 / 204 < found["hi"]


def test_beliefs_come_from_ten_samples_where_there_are_no_log_probabilities() -> None:
    rows = [{"id": role, "pair": "1", "role": role, "gold3": "entailed", "unit": 0, "code": int(k < yes),
             "belief": None, "belief_lo": None, "belief_hi": None, "off": None}
            for role, yes in (("phi", 8), ("not_phi", 1)) for k in range(10)]  # fmt: skip
    made, had = pairs(pd.DataFrame(rows))
    assert had["elicitation"] == "samples"
    assert made[["phi_lo", "not_hi"]].to_numpy().tolist() == [[0.8, 0.1]]
    few, had = pairs(pd.DataFrame(rows[:9] + rows[10:]))
    assert (len(few), had["left_out"]) == (0, 1)


@pytest.mark.skipif(not SHARED.exists(), reason="the sources are not here")
def test_folio_becomes_two_questions_a_row() -> None:
    path = SHARED / "folio" / "folio-validation.jsonl"
    assert is_source(path)
    made, faults = read_pairs(path)
    told = len(faults)
    assert len(made) == 2 * (204 - told)
    assert made["cluster"].nunique() == 73
    if not told:
        assert Counter(made["gold3"]) == {gold: 2 * n for gold, n in COUNTS.items()}
    phi, negated = (made[made["role"] == role].set_index("pair")["ground_truth"] for role in ("phi", "not_phi"))
    assert ((phi == "TRUE") & (negated == "TRUE")).sum() == 0
    assert "It is not the case that" in made["question"].iloc[1]


@pytest.mark.skipif(not SHARED.exists(), reason="the sources are not here")
def test_logiqa_knows_only_what_is_entailed() -> None:
    made, faults = read_pairs(SHARED / "logiqa2" / "qa2nli-test-first304.txt")
    assert set(made["gold3"]) == {"entailed", "not_entailed"}
    assert len(made) == 2 * (304 - len(faults))
    phi = made[made["role"] == "phi"]
    one = phi["gold3"] == "entailed"
    targets = one.to_numpy().astype(float)
    found = figures(targets, 0 * targets, phi["gold3"].reset_index(drop=True), np.arange(len(phi)))
    assert found["accuracy"].value == 1.0


def test_a_line_of_neither_source_is_told(tmp_path: Path) -> None:
    rows = [{"premises": ["A."], "conclusion": "B.", "label": "Maybe"}, {"premises": ["A."], "conclusion": "", "label":
            "True"}, {"premises": "A.\nB.", "conclusion": "C.", "label": "Unknown"}]  # fmt: skip
    path = tmp_path / "f.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    made, faults = read_pairs(path)
    assert [fault.line for fault in faults] == [1, 2]
    assert (len(made), made["premises"].iloc[0]) == (2, ["A.", "B."])
