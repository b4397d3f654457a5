"""What a reply answers: TRUE, FALSE, INVALID with the reason, or ERROR where the provider failed.

An answer must be given, not guessed at: as a word of its own that leads the reply, is its last line, stands in a tag,
in JSON, or behind "Answer:". Both in one breath are ambiguous, and a sentence such as "It is not chaotic." is none,
since what it answers depends on how the question was put. `parsed_v2` is the published rule, which takes the last
such word.
"""

import json
import re
import unicodedata
from typing import NamedTuple

TRUE, FALSE, INVALID, ERROR = "TRUE", "FALSE", "INVALID", "ERROR"
REASONS = ("no_response", "refusal", "hedge", "ambiguous", "truncated", "format")


class Answer(NamedTuple):
    """TRUE or FALSE without a reason, INVALID with one of REASONS, ERROR with what failed."""

    value: str
    reason: str | None = None


YES = ("yes", "yeah", "yep", "true", "y", "t", "是", "是的", "对", "正确", "真", "はい", "예", "네", "oui", "sí", "si",
       "да", "ja")  # fmt: skip
NO = ("no", "nope", "nah", "false", "n", "f", "否", "不是", "不", "不对", "错误", "假", "いいえ", "아니오", "아니요",
      "non", "нет", "nein")  # fmt: skip
ALONE = ("y", "t", "n", "f")  # which mean something as a whole reply only
ADJECTIVES = ("true", "false", "正确", "错误", "真", "假")  # "that is not true" answers nothing
POLARITY = dict.fromkeys(YES, TRUE) | dict.fromkeys(NO, FALSE)
TOKEN = re.compile(rf"(?<![\w'-])(?:{'|'.join(sorted(POLARITY, key=len, reverse=True))})(?![\w'-])", re.IGNORECASE)
JOINED = re.compile(r"\s*(?:or|and|oder|und|ou|et|y|o)\b", re.IGNORECASE)
SUBJECT = re.compile(r"\s+(?:it|this|that|the|they|because|since|as)\b", re.IGNORECASE)  # "No it is not"
CLOSED = re.compile(r"\s*(?:[^\w\s]|$)")  # punctuation or the end

TAG = re.compile(r"<(answer|final_answer|final)>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
BOXED = re.compile(r"\\boxed\s*\{(?:\\text\s*\{)?([^{}]*)\}")
THOUGHT = re.compile(
    r"<(think|thinking|reasoning)>.*?</\1>|^.*</(?:think|thinking|reasoning)>", re.IGNORECASE | re.DOTALL
)
THINKING = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
ANCHOR = re.compile(
    r"(?<!\w)(?:(?:final[ _])?answer|conclusion|verdict|final|答案|结论|答)\s*(?:is|是|为)?\s*[:=]?\s*[:,\"'(\[]*\s*",
    re.IGNORECASE,
)
CLAUSE = re.compile(r"[.!?。！;\n(]")
SENTENCE = re.compile(r"(?<=[.!?。！])\s*|\n+")
ASIDE = re.compile(r"\([^()]*\)")
MARKS = str.maketrans(dict.fromkeys("*_`#~$\\") | {"‘": "'", "’": "'", "“": '"', "”": '"', "«": '"', "»": '"'})
HEDGES = (
    "it depends", "depends on", "cannot determine", "cannot be determined", "can't be determined", "can't determine",
    "not enough information", "insufficient information", "not possible to determine", "impossible to determine",
    "impossible to say", "not sure", "i don't know", "i do not know", "unknown", "undetermined", "uncertain",
    "indeterminate", "both true and false", "neither true nor false", "无法确定", "不确定", "不知道",
)  # fmt: skip
REFUSALS = (
    "i cannot answer", "i can't answer", "i cannot help", "i can't help", "i'm unable to", "i am unable to",
    "i cannot provide", "i can't provide", "i won't", "as an ai", "i must decline", "i'm sorry, but", "i am sorry, but",
    "无法回答",
)  # fmt: skip
CUT = ("length", "max_tokens", "model_length")  # finish reasons of a reply that was cut off


def parsed(response: str | None, finish_reason: str | None = None, error: str | None = None) -> Answer:
    """The answer of a reply, by the rules that this module opens with.

    finish_reason : as the provider gives it; of those in CUT a reply without an answer is truncated
    error : what failed, if there was no reply
    """
    if error:
        return Answer(ERROR, error)
    if response is None or not _plain(response).strip():
        return Answer(INVALID, "truncated" if finish_reason in CUT else "no_response")
    text = THOUGHT.sub("", response)
    if THINKING.search(text):
        return Answer(INVALID, "truncated" if finish_reason in CUT else "format")
    found = _answer(text)
    if found.value == INVALID and finish_reason in CUT:
        return Answer(INVALID, "truncated")
    return found


def _answer(text: str) -> Answer:
    stated = _stated(text)
    if stated is not None:
        return _decided(stated) or Answer(INVALID, "format")
    text = _plain(text)
    if not text.strip():
        return Answer(INVALID, "no_response")
    for anchor in reversed([*ANCHOR.finditer(text)]):
        behind = text[anchor.end() :]
        found = _decided(CLAUSE.split(behind, maxsplit=1)[0])
        if found:
            return found
    low = text.lower()
    for phrases, reason in ((REFUSALS, "refusal"), (HEDGES, "hedge")):
        if any(phrase in low for phrase in phrases):
            return Answer(INVALID, reason)
    sentences = [part.strip() for part in SENTENCE.split(ASIDE.sub(" ", text)) if part.strip(" \t.,;:!-\"'")]
    sentences = [part for part in sentences if not part.endswith("?")] or sentences or [text]
    answers = {found for found in (_decided(sentences[0]), _decided(sentences[-1])) if found}
    if len(answers) > 1:
        return Answer(INVALID, "ambiguous")
    return answers.pop() if answers else Answer(INVALID, "format")


def _plain(text: str) -> str:
    """In one form of letters and quotes, without marks of layout and characters that are not seen."""
    text = "".join(c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")
    return text.translate(MARKS)


def _stated(text: str) -> str | None:
    """What stands in an answer tag, a box, or the answer of a JSON object."""
    for pattern, group in ((TAG, 2), (BOXED, 1)):
        found = pattern.findall(text)
        if found:
            last = found[-1]
            return _plain(last[group - 1] if isinstance(last, tuple) else last)
    inside = text.strip().removeprefix("```json").strip("`\n ")
    if inside.startswith("{"):
        try:
            row = json.loads(inside)
        except (ValueError, RecursionError):
            return None
        for key in ("answer", "final_answer", "label", "prediction") if isinstance(row, dict) else ():
            if key in row:
                return str(row[key])
    return None


def _decided(text: str) -> Answer | None:
    """The one answer that a sentence gives, ambiguity if it gives both, None if it gives none."""
    text = text.strip(" \t\n.,:;!\"'()[]")
    said: set[str] = set()
    leads = False
    for token in TOKEN.finditer(text):
        word, first, rest = token[0].lower(), token.start() == 0, text[token.end() :]
        joined = bool(JOINED.match(rest))
        if word in ALONE and not (first and not rest.strip()):
            continue
        if not (CLOSED.match(rest) or joined) and not (
            first and word not in ADJECTIVES and (POLARITY[word] == TRUE or SUBJECT.match(rest))
        ):
            continue  # such as "no fixed point", "true chaos"
        said.add(POLARITY[word])
        leads |= first
    if len(said) > 1:
        return Answer(INVALID, "ambiguous")
    return Answer(said.pop()) if said and leads else None


AMBIGUOUS_V2 = (
    "it depends", "cannot determine", "cannot be determined", "not enough information", "ambiguous",
    "both true and false", "both false and true", "neither true nor false",
)  # fmt: skip
LABEL_V2 = re.compile(r"\b(yes|no|true|false|y|n|t|f)\b", re.IGNORECASE)
MARKED_V2 = re.compile(
    r"(?:final_answer|answer\s+is|answer\s*:|therefore|conclusion|(?<!\w)so(?!\w))[^\n]*?\b(?:yes|no|true|false)\b[^\n]*",
    re.IGNORECASE,
)


def parsed_v2(response: str | None, finish_reason: str | None = None, error: str | None = None) -> Answer:
    """The published rule of ChaosBench-Logic v2 (arXiv 2605.24305, and its repository): the last such word counts.

    Ambiguity phrases make a reply invalid; else the last line that is not empty is gone through from its end; else the
    last label behind a mark such as "answer is" counts.
    """
    if error:
        return Answer(ERROR, error)
    if response is None or not response.strip():
        return Answer(INVALID, "no_response")
    if any(phrase in response.lower() for phrase in AMBIGUOUS_V2):
        return Answer(INVALID, "ambiguous")
    text = re.sub(r"[*_`#\[\]()\"']", "", response)
    lines = [line for line in text.splitlines() if line.strip()]
    for word in reversed(lines[-1].split() if lines else []):
        label = word.strip(".,;:!?").lower()
        if label in ("yes", "true", "y", "t"):
            return Answer(TRUE)
        if label in ("no", "false", "n", "f"):
            return Answer(FALSE)
    marked = MARKED_V2.findall(text)
    if marked:
        label = LABEL_V2.findall(marked[-1])[-1].lower()
        return Answer(TRUE if label in ("yes", "true", "y", "t") else FALSE)
    return Answer(INVALID, "format")


PARSERS = {"default": parsed, "v2": parsed_v2}
