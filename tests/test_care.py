"""CARE: the published figures from the published counts, both treatments of invalid answers, flags and groups."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import matthews_corrcoef

from bench.care import BINS, CODES, calibration_error, care, figures, flags, flip_rate, parts
from bench.intervals import ACCURACY, MCC, Interval, clustered_interval, mcc
from bench.published import published

PUBLISHED = published()["model"]
LLAMA, SEVENTY, MISTRAL = (PUBLISHED[name] for name in ("LLaMA-3.1-8B", "LLaMA-3.3-70B", "Mistral-7B"))


def table(rows: dict[str, list[int]], cluster: int | None = None) -> pd.DataFrame:
    """Answers with these counts of tp, fp, tn, fn in each family, in one cluster or each in one of so many."""
    made = [(family, truth, code) for family, counts in rows.items()
            for n, (truth, code) in zip(counts, ((True, 1), (False, 1), (False, 0), (True, 0)), strict=True)
            for _ in range(n)]  # fmt: skip
    found = pd.DataFrame(made, columns=["type", "truth", "code"])
    found["unit"] = 0 if cluster is None else np.random.default_rng(0).integers(0, cluster, len(found))
    empty = ("split", "predicate", "book", "hops", "group", "fact", "reason", "belief", "margin")
    return found.assign(id=[str(i) for i in range(len(found))], **dict.fromkeys(empty))


def test_the_published_figures_of_llama_8b_come_out_to_the_last_digit() -> None:
    made = care(table(LLAMA["families"]))
    value = {key: one["value"] for key, one in made["overall"].items()}
    assert made["confusion"] == {"tp": 6374 + 13, "fp": 2441, "tn": 18211, "fn": 13843}
    shown = [f"{value[key]:.4f}" for key in ("accuracy", "balanced_accuracy", "mcc", "macro_family_mcc")]
    assert shown == ["0.6017", "0.5988", "0.2400", "0.2826"]
    assert shown[:3] == [f"{LLAMA[key]:.4f}" for key in ("accuracy", "balanced_accuracy", "mcc")]
    assert f"{100 * value['predicted_true']:.2f}" == "21.59"
    assert f"{value['tpr']:.4f} {value['tnr']:.4f}" == "0.3157 0.8818"
    assert f"{value['consistency_mean']:.3f} {value['consistency_pooled']:.3f}" == "0.264 0.239"
    assert made["flags"] == {"pc": "on", "ar": "on", "cv": "off", "ic": "on"}
    assert care(table(LLAMA["families"]), "v2")["flags"] == made["flags"]
    expected = {"atomic": ".2299", "multi_hop": ".3286", "consistency_paraphrase": ".1990", "perturbation": ".3288",
                "fol_inference": ".2459", "indicator_diagnostic": ".1030", "adversarial_misleading": ".3539",
                "adversarial_nearmiss": ".3197", "regime_transition": ".0000", "cross_indicator": ".0000",
                "extended_systems": "1.0000"}  # fmt: skip
    assert {name: f"{one['mcc']['value']:.4f}".lstrip("0") or "0" for name, one in made["families"].items()} == expected


def test_the_published_regime_figure_of_llama_70b_comes_out() -> None:
    assert f"{float(mcc(np.array(SEVENTY['families']['regime_transition'], dtype=float))):.3f}" == "-0.173"


def test_the_published_accuracy_of_mistral_leaves_447_invalid_answers_out() -> None:
    right, valid, invalid = (MISTRAL[key] for key in ("right", "valid", "invalid"))
    wrong = valid - right
    found = figures(parts(np.array([right]), np.array([wrong])), parts(np.array([right]), np.array([wrong + invalid])),
                    parts(np.array([invalid]), np.array([valid])))  # fmt: skip
    assert f"{found['accuracy'].value:.4f} {found['accuracy_strict'].value:.4f}" == "0.6130 0.6063"
    low = Interval(0.25, None, None, 1, 1, "none")
    assert flags(found, low)["cv"] == "on"


def test_invalid_answers_are_left_out_or_the_opposite_of_gold() -> None:
    rows = table({"atomic": [40, 10, 40, 10]}, 20)
    lost = pd.concat([rows] + [rows[rows["truth"] == t].head(10).assign(code=CODES["INVALID"], reason="format")
                               for t in (True, False)])  # fmt: skip
    made = care(lost)["overall"]
    assert made["mcc"]["value"] == pytest.approx(0.6)
    assert made["mcc_strict"]["value"] == pytest.approx(1 / 3)
    assert made["invalid_rate"]["value"] == pytest.approx(20 / 120)
    silent = care(lost.assign(code=lost["code"].replace(CODES["INVALID"], CODES[None])))["overall"]
    assert silent["mcc_strict"]["value"] == pytest.approx(1 / 3)  # silence gains nothing
    failed = care(lost.assign(code=lost["code"].replace(CODES["INVALID"], CODES["ERROR"])))["overall"]
    assert failed["mcc_strict"]["value"] == failed["mcc"]["value"]


def test_flags_are_uncertain_where_the_limit_is_inside_the_interval() -> None:
    rows = table({"consistency_paraphrase": [65, 35, 65, 35]}, 25)
    assert care(rows)["flags"]["ic"] == "uncertain"
    assert care(table({"consistency_paraphrase": [950, 50, 950, 50]}, 25))["flags"]["ic"] == "off"
    assert care(table({"atomic": [9, 1, 9, 1]}, 5))["flags"]["ic"] is None


def test_one_gold_only_is_null_with_a_reason() -> None:
    made = care(table({"atomic": [30, 0, 0, 10]}, 5))
    for key in ("mcc", "macro_family_mcc", "mcc_strict", "recall_gap"):
        assert made["overall"][key]["value"] is None
        assert "all gold answers are the same" in made["overall"][key]["reason"]
    assert made["overall"]["tpr"]["value"] == 0.75
    assert made["flags"]["ar"] is None
    two = care(table({"atomic": [30, 5, 20, 10], "small": [3, 0, 0, 1]}, 5))["overall"]["macro_family_mcc"]
    assert "without 1 families that lack one gold answer: small" in two["reason"]


def group(codes: list[int], truths: list[bool], fact: str = "f") -> pd.DataFrame:
    return pd.DataFrame({"code": codes, "truth": truths, "group": "g", "fact": fact, "unit": 0})


def test_flips_are_pairs_that_disagree_once_polarity_is_out() -> None:
    truths = [True, True, False, False]
    assert flip_rate(group([1, 1, 0, 0], truths)).value == 0.0
    assert flip_rate(group([0, 0, 1, 1], truths)).value == 0.0  # wrong, but of one mind
    assert flip_rate(group([1, 1, 1, 1], truths)).value == pytest.approx(4 / 6)
    assert flip_rate(group([1, 1, 0, -1], truths)).value == pytest.approx(3 / 6)
    assert flip_rate(group([1, 1], [True, True])).reason == "no group has both gold answers"
    assert flip_rate(group([1], [True]).assign(group=None)).reason == "the questions have no groups"


def test_accuracy_rises_with_the_distance_to_the_threshold() -> None:
    rng = np.random.default_rng(0)
    rows = table({"atomic": [500, 500, 500, 500]}, 40)
    rows["margin"] = rng.random(len(rows))
    right = rng.random(len(rows)) < 0.5 + rows["margin"] / 2
    rows["code"] = (right == rows["truth"]).astype(int)
    curve = care(rows)["curves"]["margin"]
    assert len(curve) == BINS
    assert curve[0]["accuracy"]["value"] < 0.6 < 0.9 < curve[-1]["accuracy"]["value"]
    assert sum(point["accuracy"]["n"] for point in curve) == len(rows)


def test_met_01_one_class_has_no_correlation() -> None:
    yes, no = [4.0, 0, 0, 0], [0, 0, 0, 4.0]
    for counts in (yes, no):
        found = clustered_interval(np.array([counts, counts]), MCC)
        assert (found.value, found.reason) == (None, "all gold answers are the same")
    assert float(mcc(np.array([2.0, 2.0, 0.0, 0.0]))) == 0.0


@pytest.mark.parametrize(
    ("counts", "value"),
    [((50000, 5000, 50000, 5000), 0.818182), ((60000, 10000, 60000, 10000), 0.714286)],
)
def test_met_04_no_product_of_counts_overflows(counts: tuple[int, ...], value: float) -> None:
    for kind in (np.int32, np.int64):
        assert float(mcc(np.array(counts, dtype=kind))) == pytest.approx(value, abs=1e-6)


def test_met_05_the_matrix_that_had_a_negative_root() -> None:
    assert float(mcc(np.array([29488, 13017, 29753, 12790], dtype=np.int32))) == pytest.approx(0.3931232, abs=1e-7)


@given(st.tuples(*[st.integers(0, 30)] * 4))
def test_the_correlation_is_between_minus_1_and_1_and_that_of_sklearn(counts: tuple[int, int, int, int]) -> None:
    tp, fp, tn, fn = counts
    value = float(mcc(np.array(counts, dtype=float)))
    if not (tp + fn) or not (tn + fp):
        assert np.isnan(value)
        return
    gold, said = [1] * tp + [0] * (fp + tn) + [1] * fn, [1] * (tp + fp) + [0] * (tn + fn)
    assert -1 <= value <= 1
    assert value == pytest.approx(matthews_corrcoef(gold, said), abs=1e-12)


def test_met_07_a_confidence_of_0_is_in_a_bin() -> None:
    for width in (False, True):
        found, bins = calibration_error(np.array([0.0]), np.array([True]), np.array([0]), width)
        assert (found.value, sum(one["n"] for one in bins)) == (1.0, 1)


@pytest.mark.parametrize("n", [150, 250])
def test_met_08_the_last_bin_counts(n: int) -> None:
    found, bins = calibration_error(np.full(n, 0.9), np.zeros(n, dtype=bool), np.arange(n) % 20)
    assert found.value == pytest.approx(0.9)
    assert sum(one["n"] for one in bins) == n


def test_brier_and_calibration_are_those_of_the_beliefs() -> None:
    rng = np.random.default_rng(0)
    rows = table({"atomic": [100, 100, 100, 100]}, 30).assign(belief=rng.random(400))
    made = care(rows)
    assert made["overall"]["brier"]["value"] == pytest.approx(np.mean((rows["belief"] - rows["truth"]) ** 2))
    assert sum(one["n"] for one in made["bins"]) == 400
    assert made["overall"]["brier"]["lo"] < made["overall"]["brier"]["value"] < made["overall"]["brier"]["hi"]
    plain = clustered_interval(parts(np.array([1.0, 2.0]), np.array([1.0, 1.0])), ACCURACY)
    assert plain.value == pytest.approx(0.6)
