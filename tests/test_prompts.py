"""What a model is asked: prompts as data, which rows, shots, ablations."""

import pandas as pd
import pytest

from bench.answered import questions_to_score
from bench.prompts import PromptError, asked_questions, prompts, shots_text, temperature
from bench.questions_file import SplitError, questions_frame


def row(n, **more):
    return {
        "id": f"q{n}", "question": f"Consider the Lorenz system with rho = {n}.5 and beta = 2. Is it chaotic?",
        "ground_truth": ("TRUE", "FALSE")[n % 2], "type": ("atomic", "multi_hop")[n % 2], "system_id": "lorenz63",
        "name": "Lorenz system", "split": ("train", "test")[n // 2 % 2], "cluster": f"block{n // 2:02d}",
        "params": {"rho": n + 0.5, "beta": 2.0}, "pair": None, "role": None, "group": None, "premises": [],
        "file": "made up", "line": n,
    } | more  # fmt: skip


def frame(rows) -> pd.DataFrame:
    return questions_to_score(questions_frame(rows, {}))


ROWS = frame([row(n) for n in range(80)])


def chosen(rows=ROWS, prompt="direct", families=(), limit=None, shots=0, ablate=None, splits=()):
    return asked_questions(rows, prompts()[prompt], list(families), limit, shots, ablate, splits)


def test_splits_are_asked_alone():
    rows = chosen(splits=["test"])
    assert (set(rows["split"]), len(rows)) == ({"test"}, 40)
    assert len(chosen(splits=["test", "train"])) == len(ROWS)
    with pytest.raises(SplitError, match="this data set has test, train"):
        chosen(splits=["dev"])
    with pytest.raises(SplitError, match="have no splits"):
        chosen(ROWS.assign(split=None), splits=["test"])


def test_the_published_prompt_is_the_published_one():
    """arXiv 2605.24305, prompt v1 of its repository, with the line for providers with an interface."""
    v2 = prompts()["v2"]
    text = v2.asked("Is it?")
    assert text.startswith("You are an expert in dynamical systems and chaos theory. Answer the following question")
    assert text.endswith(
        "Do not add any explanation.\n\nQuestion: Is it?\n\nReturn exactly one token: TRUE or FALSE. No explanation."
    )
    assert (v2.tokens, v2.reasoning_tokens, temperature(1)) == (16, 1024, 0.0)
    again = v2.asked_again(text, "x" * 300)
    assert f"Your response: {'x' * 200}\n\nYour previous answer was not clear." in again


@pytest.mark.parametrize(("model", "tokens"), [
    ("openai/gpt-4o", 16), ("openai/o3-mini", 1024), ("openai/gpt-5.2", 1024), ("google/gemini-2.5-flash", 1024),
    ("ollama/llama3.1:8b", 16), ("ollama/deepseek-r1:7b", 1024), ("local/turbo3-mini", 16),
])  # fmt: skip
def test_models_that_think_first_may_say_more(model, tokens):
    assert prompts()["v2"].most_tokens(model) == tokens


def test_no_prompt_is_without_its_question():
    for prompt in prompts().values():
        assert "Is {it}?" in prompt.asked("Is {it}?")
        assert "{" not in prompt.asked("Is it?")
        assert prompt.pairs or prompt.again


def test_a_limit_is_part_of_every_larger_one_and_holds_pairs_together():
    rows = frame([row(n, pair=f"p{n // 2}", role=("phi", "not_phi")[n % 2]) for n in range(80)])
    few, more = chosen(rows, limit=10), chosen(rows, limit=30)
    assert list(few["id"]) == list(more["id"])[:10]
    assert (few.groupby("pair").size() == 2).all()
    assert list(few["id"]) != sorted(few["id"])


def test_families_are_chosen_and_a_wrong_one_is_told():
    assert set(chosen(families=["atomic"])["type"]) == {"atomic"}
    with pytest.raises(PromptError, match="--families atom: this data set has atomic, multi_hop"):
        chosen(families=["atom"])


def test_pairs_are_asked_of_pairs_only():
    with pytest.raises(PromptError, match="statements and their negations"):
        chosen(prompt="cuc")


def test_shots_are_of_the_split_train_which_is_then_not_asked():
    text = shots_text(ROWS, prompts()["direct"], 4)
    given = [name for name, said in zip(ROWS["id"], ROWS["question"], strict=True) if said in text]
    assert len(given) == 4
    assert set(ROWS[ROWS["id"].isin(given)]["split"]) == {"train"}
    assert ROWS[ROWS["id"].isin(given)]["cluster"].nunique() == 4
    assert text.count("Answer: TRUE") == text.count("Answer: FALSE") == 2
    assert set(chosen(shots=4)["split"]) == {"test"}
    with pytest.raises(PromptError, match="too few clusters"):
        shots_text(ROWS[ROWS["split"] == "test"], prompts()["direct"], 2)


def test_an_ablation_leaves_out_its_part_and_nothing_else():
    one = ROWS.iloc[[0]]
    assert list(chosen(one, ablate="name")["question"]) == [
        "Consider the system with rho = 0.5 and beta = 2. Is it chaotic?"
    ]
    assert list(chosen(one, ablate="params")["question"]) == [
        "Consider the Lorenz system with rho = ? and beta = ?. Is it chaotic?"
    ]
    told = frame([row(0, question="The following is given:\n- a is b\n- b is c\n\nIs a c?", premises=["A", "B"])])
    assert list(chosen(told, ablate="premises")["question"]) == ["The following is given:\n\nIs a c?"]
    with pytest.raises(PromptError, match="no row"):
        chosen(one, ablate="premises")
    with pytest.raises(PromptError, match="name, params, premises"):
        chosen(one, ablate="numbers")
