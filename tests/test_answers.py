"""What a reply answers: the cases that other parsers got wrong, by name, and the published rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.answers import ERROR, FALSE, INVALID, REASONS, TRUE, Answer, parsed, parsed_v2

AMBIGUOUS, FORMAT, NOTHING = (Answer(INVALID, reason) for reason in ("ambiguous", "format", "no_response"))
Y, N = Answer(TRUE), Answer(FALSE)


def test_par_01_no_inside_a_word_is_none() -> None:
    assert parsed("Yes. This nonlinear map is known to be chaotic; note the positive exponent.") == Y


@pytest.mark.parametrize(
    "reply",
    ["**ANSWER: NO**", "**Answer:** No", "ANSWER: $NO$", "ANSWER: (no)", "Answer: \\boxed{No}", "***No***", "`NO`"],
)
def test_par_02_layout_around_an_answer_is_none_of_it(reply: str) -> None:
    assert parsed(reply) == N


def test_par_04_the_conclusion_counts_and_not_the_last_word() -> None:
    reply = "Conclusion: NO. (If you had asked about the transient, the answer would be yes.)"
    assert parsed(reply) == N
    assert parsed_v2(reply) == Y


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("answer: no.", N), (" NO ", N), ("No!", N), ("yes,", Y), ("TRUE.", Y), ("false", N), ("Y", Y), ("N", N)],
)
def test_par_05_case_spaces_and_stops_do_not_matter(reply: str, answer: Answer) -> None:
    assert parsed(reply) == answer


def test_par_07_reasoning_that_was_cut_off_is_truncated() -> None:
    assert parsed("<think>The exponent is positive, so yes", finish_reason="length") == Answer(INVALID, "truncated")
    assert parsed("<think>It might be no.</think>TRUE", finish_reason="length") == Y
    assert parsed("The exponent of the", finish_reason="max_tokens") == Answer(INVALID, "truncated")


def test_par_08_an_empty_reply_is_no_class() -> None:
    assert [parsed(reply) for reply in ("", "   \n", None)] == [NOTHING] * 3
    assert [parsed(reply) for reply in (".", "1")] == [FORMAT] * 2


def test_par_10_a_sentence_without_yes_or_no_depends_on_the_question() -> None:
    assert parsed("It is not chaotic.") == FORMAT


@pytest.mark.parametrize(
    "reply", ["YES/NO", "Answer: yes or no", "Yes and no.", "yes | no", "Yes, but strictly speaking no."]
)
def test_par_11_both_are_ambiguous(reply: str) -> None:
    assert parsed(reply) == AMBIGUOUS


@pytest.mark.parametrize(
    ("replies", "answer"),
    [
        (["是", "是的", "对", "はい", "예", "Oui", "Sí", "Да", "Ja"], Y),
        (["否", "不是", "不", "是否混沌？否。", "答案：否", "いいえ", "아니오", "Non", "No", "Нет", "Nein"], N),
    ],
)
def test_par_13_other_languages_answer_too(replies: list[str], answer: Answer) -> None:
    assert [parsed(reply) for reply in replies] == [answer] * len(replies)


def test_par_14_words_are_whole() -> None:
    replies = ("Yesterday I simulated it.", "Noted.", "None", "Nope", "Yeah", "Not chaotic")
    assert [parsed(reply) for reply in replies] == [FORMAT, FORMAT, FORMAT, N, Y, FORMAT]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [('{"answer": "no"}', N), ('{"answer": false}', N), ("<answer>Yes</answer>", Y), ("ＹＥＳ", Y), ("Yes\u200b", Y),
     ("‘No’", N), ("no\u00a0", N), ("Answer：No", N)],
)  # fmt: skip
def test_par_16_structure_and_type_do_not_matter(reply: str, answer: Answer) -> None:
    assert parsed(reply) == answer


def test_par_17_a_failure_of_the_provider_is_no_answer() -> None:
    assert parsed(None, error="HTTP 429") == Answer(ERROR, "HTTP 429")
    assert parsed_v2(None, error="timeout") == Answer(ERROR, "timeout")


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("TRUE. The Lorenz system at rho = 28 is chaotic.", Y),
        ("FALSE - it converges to a fixed point.", N),
        ("Yes, there is no fixed point.", Y),
        ("No fixed point attracts it.", FORMAT),
        ("That is not true.", FORMAT),
        ("True chaos needs a positive exponent.", FORMAT),
        ("Let us see.\nThe exponent is 0.9.\nTRUE", Y),
        ("Yes.\nThe exponent is -0.2.\nNo", AMBIGUOUS),
        ("The answer is yes.", Y),
        ("Final answer: FALSE", N),
        ("Answer: yes. On reflection, final answer: no", N),
        ("Is the Hénon map chaotic? Yes.", Y),
        ("It depends: yes for r = 4.", Answer(INVALID, "hedge")),
        ("I cannot answer that.", Answer(INVALID, "refusal")),
        ("Indeterminate", Answer(INVALID, "hedge")),
        ("n = 3", FORMAT),
        ('```json\n{"answer": true}\n```', Y),
        ("不是混沌的", FORMAT),
    ],
)
def test_what_else_replies_look_like(reply: str, answer: Answer) -> None:
    assert parsed(reply) == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("TRUE", Y), ("**False.**", N), ("It is chaotic, so the answer is yes", Y), ("Maybe", FORMAT), ("", NOTHING),
     ("It depends on r. TRUE", AMBIGUOUS), ("Therefore it is true for all r.\nDone", Y), ("T", Y)],
)  # fmt: skip
def test_the_published_rule_takes_the_last_label(reply: str, answer: Answer) -> None:
    assert parsed_v2(reply) == answer


@given(st.text(max_size=80), st.sampled_from([None, "stop", "length"]))
def test_any_text_has_an_answer_or_a_reason(text: str, finish: str | None) -> None:
    for parse in (parsed, parsed_v2):
        found = parse(text, finish)
        assert (found.value in (TRUE, FALSE)) == (found.reason is None)
        assert found.reason in (None, *REASONS)
