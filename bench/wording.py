"""What can be recognised in a question without understanding it: names, predicates, negations, numbers, its skeleton.

A question of ours says what it asks in its fields. Those of ChaosBench-Logic v2 do not, so that their phrases are
recognised here (arXiv 2605.24305, and its files), and broken grammar does not matter.
"""

import re
import unicodedata
from collections.abc import Iterable

import pandas as pd

from bench import chaosbench as published

NAME, PREDICATE, NUMBER, DEFINITION = "@", "PREDICATE", "#", "DEFINITION"
PAIR = "_vs_"  # between the ids of two systems
NO_SYSTEM = ("", "generic")

PHRASES = {**published.PHRASES, "Regular": ("regular",)}  # which is no predicate of theirs, but asked
PREDICATE_OF = {phrase: name for name, phrases in PHRASES.items() for phrase in phrases}
ASKED = re.compile(
    r"(?:(?<=non-)|(?<![\w-]))(?:(?:having )?an? )?"
    rf"({'|'.join(map(re.escape, sorted(PREDICATE_OF, key=len, reverse=True)))})(?!\w)",
    re.IGNORECASE,
)
NEGATION = re.compile(
    r"\b(?:not|cannot|no|never|neither|false|untrue|incorrect|inaccurate|wrong|deny|denies|reject|exclude|lacks?"
    r"|rule out|ruled out|fails? to|without)\b|n't\b|\bnon-",
    re.IGNORECASE,
)
CHOICE = re.compile(r"\btrue or false\b|\bagree or disagree\b", re.IGNORECASE)  # asks for an answer, negates nothing
DEFINED = re.compile(r"\b(?:if|when|means|refers to|defined as|is one where)\b[^.?]*(?=\.\s)", re.IGNORECASE)
FIGURE = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w])")
ALIKE = str.maketrans("–—‐−’‘", "----''")
SENTENCES = re.compile(r"(?<=[.?!])\s+")


def plain(text: str) -> str:
    """Without accents, with one kind of dash and apostrophe, so that two spellings of a name are one.

    The 0-1 test is spelt out: it prints no number.
    """
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).translate(ALIKE)
    return text.replace("0-1 test", "zero-one test")


def systems_of(system_id: str | None) -> list[str]:
    """The ids that a system_id stands for: none, one, or two of a pair."""
    return [] if not isinstance(system_id, str) or system_id in NO_SYSTEM else system_id.split(PAIR)


def masked(questions: pd.Series, keys: pd.Series, names: dict[str, list[str]]) -> pd.Series:
    """The questions with the names that belong to their key replaced.

    A name that does not stand there whole is masked by its words that begin with a capital and by what it has in
    parentheses: "Is it false that Hadley is (dysts) bounded?" has none of "Hadley (dysts)" left.
    """
    made = [plain(text) for text in questions]
    for key, rows in pd.Series(range(len(made))).groupby(keys.to_numpy(), sort=False):
        whole = sorted({plain(name) for name in names.get(str(key), [])}, key=len, reverse=True)
        if not whole:
            continue
        first = _any_of(whole)
        words = {part for name in whole for part in _parts(name)}
        parts = _any_of(words) if words else None
        for i in rows:
            once = first.sub(NAME, made[i])
            made[i] = once if once != made[i] or parts is None else parts.sub(NAME, made[i])
    return pd.Series(made, index=questions.index)


def _parts(name: str) -> list[str]:
    words = [word for word in re.findall(r"[^\W\d_]+", re.sub(r"\(.*?\)", "", name)) if word[0].isupper()]
    return [*words, *re.findall(r"\(.*?\)", name)]


def _any_of(texts: Iterable[str]) -> re.Pattern[str]:
    longest = sorted(texts, key=lambda text: (-len(text), text))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)", re.IGNORECASE)


def predicate_asked(text: str) -> str | None:
    """The predicate that a masked question asks: the last one named in its last sentence, else the first of all.

    A definition names others after the one that it defines, and a premise comes before the question.
    """
    last = ASKED.findall(SENTENCES.split(text.strip())[-1])
    found = last[-1:] or ASKED.findall(text)[:1]
    return PREDICATE_OF[found[0].lower()] if found else None


def skeleton(text: str) -> str:
    """A masked question with predicates, definitions and numbers masked too."""
    return " ".join(FIGURE.sub(NUMBER, ASKED.sub(PREDICATE, DEFINED.sub(DEFINITION, text))).split())


def negations(text: str) -> int:
    """How many words of a masked question negate; those inside predicates and definitions do not count."""
    return len(NEGATION.findall(CHOICE.sub("", skeleton(text))))


def figures(text: str) -> list[str]:
    """The numbers that a masked question prints, as they stand."""
    return FIGURE.findall(ASKED.sub(PREDICATE, text))
