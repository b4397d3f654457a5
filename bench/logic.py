"""Questions about what follows from stated premises and rules: fol_inference (1 to 3 hops) and multi_hop (2 to 6).

An item asks one of three things about its goal: whether it follows, whether it is ruled out, or whether the statements
leave it open. Within every form, number of hops, polarity and set of axioms TRUE is as frequent as FALSE, and within
every number of hops and polarity the goal is entailed, refuted, or neither, equally often: a cycle of twelve items has
one gold outcome four times, and each form four times, twice TRUE. The names of systems, which decide nothing, are given
so that each has as many TRUE as FALSE.
"""

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from bench.rendering import LANGUAGES
from bench.statements import AXIOMS, Atom, Rule, Shape, Statements, statements
from labeling.axioms import negation

SHAPES = {
    "fol_inference": {
        1: (Shape(1),),
        2: (Shape(1, (0,)),),
        3: (Shape(2, (0,)), Shape(1, (1,))),
    },
    "multi_hop": {
        2: (Shape(1, (0,)),),
        3: (Shape(2, (0,)), Shape(1, (1,))),
        4: (Shape(2, (1,)), Shape(1, (1, 0)), Shape(1, (0, 1))),
        5: (Shape(1, (1, 1)), Shape(2, (1, 0)), Shape(2, (0, 1))),
        6: (Shape(2, (1, 1)), Shape(1, (1, 0, 1)), Shape(1, (0, 1, 1))),
    },
}
TRUE_IF = {"follows": "entailed", "ruled_out": "refuted", "open": "neither"}
DRAWS = 6  # of statements, until one is about a goal whose answers it makes more even
LETTERS = "?ABCDEF"  # of the systems without a name; the first one has one

# Gold outcome and the forms in which the same statements are asked; two forms are a couple of phi and not phi.
CYCLE = (
    ("entailed", ("follows", "ruled_out")), ("refuted", ("follows", "ruled_out")),
    ("neither", ("follows", "ruled_out")),
    ("entailed", ("follows",)), ("refuted", ("ruled_out",)), ("neither", ("open",)), ("neither", ("open",)),
    ("entailed", ("open",)), ("refuted", ("open",)),
)  # fmt: skip
# The cycle as six pairs of TRUE and FALSE, for what is left over when it has been gone through.
PAIRS = (
    ("follows", "entailed", "refuted"), ("ruled_out", "refuted", "entailed"), ("open", "neither", "entailed"),
    ("follows", "entailed", "neither"), ("ruled_out", "refuted", "neither"), ("open", "neither", "refuted"),
)  # fmt: skip


class Cell(NamedTuple):
    """Within which TRUE and FALSE are balanced."""

    axioms: str
    hops: int
    negative: bool


def fol_inference(
    count: int, seed: int, names: Mapping[str, str], axioms: Sequence[str] = tuple(AXIOMS), lang: str = "en"
) -> list[dict[str, Any]]:
    """Items of one to three hops.

    names : system_id -> the name as it stands in a sentence, "the Lorenz system".
    axioms : of which the rules are, "published", "repaired" or both in turn.
    lang : of the question, "en" or "zh"; everything else is the same in both.
    """
    return _items("fol_inference", count, seed, names, axioms, lang)


def multi_hop(
    count: int, seed: int, names: Mapping[str, str], axioms: Sequence[str] = tuple(AXIOMS), lang: str = "en"
) -> list[dict[str, Any]]:
    """Items of two to six hops, some from system to system; the arguments are those of fol_inference."""
    return _items("multi_hop", count, seed, names, axioms, lang)


def _items(
    family: str, count: int, seed: int, names: Mapping[str, str], axioms: Sequence[str], lang: str
) -> list[dict[str, Any]]:
    if unknown := [name for name in axioms if name not in AXIOMS]:
        raise ValueError(f"there are no axioms {unknown[0]!r}; there are {', '.join(AXIOMS)}")
    if not names or not axioms or count < 0:
        raise ValueError(f"{family}: a count of 0 or more, a name and one set of axioms are needed")
    rng = np.random.default_rng([seed, list(SHAPES).index(family)])
    ids, shapes = list(names), SHAPES[family]
    words, items, seen = _words(lang), [], set()
    surplus = Counter[str]()  # of TRUE over FALSE, by the name of a system and by what is asked of it
    for number, (cell, gold, forms) in enumerate(_plan(rng, count, [*shapes], axioms)):
        more = sum(1 if TRUE_IF[form] == gold else -1 for form in forms)
        while True:
            stated = _stated(rng, cell, gold, surplus, more, shapes[cell.hops])
            system_id, frame = _evening(ids, surplus, more, rng), tuple(int(n) for n in rng.integers(2, size=3))
            if (key := (system_id, stated, frame)) not in seen:
                break
        seen.add(key)
        surplus.update({system_id: more, _asked(stated, cell): more})
        group = f"{family}-{seed}-{number}"
        for form in forms:
            couple = len(forms) == 2
            items.append(
                {
                    "question": _question(words, stated, names[system_id], form, frame),
                    "ground_truth": "TRUE" if TRUE_IF[form] == gold else "FALSE",
                    "type": family,
                    "system_id": system_id,
                    "template": f"logic.{form}.{''.join(map(str, frame))}",
                    "predicate": stated.goal.literal.removeprefix("~"),
                    "goal": stated.goal.literal,
                    "group": group,
                    "pair": group if couple else None,
                    "role": {"follows": "phi", "ruled_out": "not_phi"}[form] if couple else None,
                    "gold3": gold,
                    "negates": "hypothesis" if form == "ruled_out" else None,
                    "polarity": "negative" if cell.negative else "positive",
                    "form": form,
                    "hops": cell.hops,
                    "systems": [system_id],
                    "premises": [_literal(atom) for atom in stated.premises],
                    "links": [[_literal(start), _literal(end)] for start, end in stated.links],
                    "rules": [rule.axiom for rule in stated.rules],
                    "axioms": cell.axioms,
                    "lang": lang,
                    "evidence": _evidence(stated),
                }
            )
    return items


def _stated(
    rng: np.random.Generator, cell: Cell, gold: str, surplus: Counter[str], more: int, shapes: Sequence[Shape]
) -> Statements:
    """Statements about a goal which the answer does not make more one-sided, or the last of some draws."""
    for _ in range(DRAWS):
        stated = statements(rng, cell.axioms, shapes[int(rng.integers(len(shapes)))], cell.negative, gold)
        before = surplus[_asked(stated, cell)]
        if abs(before + more) <= max(abs(before), 1):
            break
    return stated


def _asked(stated: Statements, cell: Cell) -> str:
    return f"{stated.goal.literal} {cell.negative}"


def _evening(ids: Sequence[str], surplus: Counter[str], more: int, rng: np.random.Generator) -> str:
    """One of the names whose answers come nearest to as many TRUE as FALSE if it gets so many `more` TRUE."""
    after = np.array([abs(surplus[name] + more) for name in ids])
    return ids[rng.choice(np.flatnonzero(after == after.min()))]


def _plan(
    rng: np.random.Generator, count: int, hops: Sequence[int], axioms: Sequence[str]
) -> list[tuple[Cell, str, tuple[str, ...]]]:
    """What is asked where, in an order that tells nothing."""
    cells = [Cell(*values) for values in product(axioms, hops, (False, True))]
    whole, left = divmod(count, 12 * len(cells))
    plan = [(cell, gold, forms) for _ in range(whole) for cell in cells for gold, forms in CYCLE]
    for n in range((left + 1) // 2):
        form, *golds = PAIRS[(n // len(cells) + n % len(cells)) % len(PAIRS)]
        plan += [(cells[n % len(cells)], gold, (form,)) for gold in golds]
    plan = plan[: len(plan) - left % 2]
    return [plan[n] for n in rng.permutation(len(plan))]


@cache
def _words(lang: str) -> dict[str, Any]:
    if lang not in LANGUAGES:
        raise ValueError(f"there are no wordings in {lang!r}; there are {', '.join(LANGUAGES)}")
    place = files("bench") / "templates"
    return tomllib.loads((place / f"{lang}.toml").read_text(encoding="utf-8"))


def _question(words: dict[str, Any], stated: Statements, name: str, form: str, frame: tuple[int, ...]) -> str:
    logic = words["logic"]
    subjects = [name] + [logic["system"].format(letter=letter) for letter in LETTERS[1:]]

    def said(atom: Atom) -> str:
        return _said(words, atom.literal, subjects[atom.system])

    links = [logic["link"].format(premise=said(start), conclusion=said(end)) for start, end in stated.links]
    premises = "".join(logic["premise"].format(statement=x) for x in [*map(said, stated.premises), *links])
    rules = "".join(logic["premise"].format(statement=_rule(words, rule)) for rule in stated.rules)
    asked = logic["questions"][form][frame[2]].format(goal=said(stated.goal))
    return "".join(
        (
            logic["premises"][frame[0]].format(premises=premises),
            logic["rules"][frame[1]].format(rules=rules),
            logic["answer"].format(question=asked),
        )
    )


def _rule(words: dict[str, Any], rule: Rule) -> str:
    excludes = rule.conclusion.startswith("~")
    form = words["logic"]["excludes" if excludes else "implies"]
    premise = _said(words, rule.premise, form["subject"])
    name = rule.conclusion.removeprefix("~")
    conclusion = words["predicates"][name][form["wording"]].format(s=form["then"].format(premise=premise))
    return str(form["rule"].format(premise=premise, conclusion=conclusion))


def _said(words: dict[str, Any], literal: str, subject: str) -> str:
    wording = words["predicates"][literal.removeprefix("~")]["not" if literal.startswith("~") else "is"]
    return str(wording.format(s=subject))


def _literal(atom: Atom) -> str:
    """An atom in a record: about a system other than the one asked about, with its letter."""
    return f"{atom.literal}({LETTERS[atom.system]})" if atom.system else atom.literal


def _evidence(stated: Statements) -> list[Any]:
    """The proof of the goal or of its negation, or two models that differ on it."""
    if stated.gold == "neither":
        goals = (stated.goal, Atom(0, negation(stated.goal.literal)))
        return [[_literal(atom) for atom in stated.model(goal)] for goal in goals]
    proof = stated.proof(stated.goal if stated.gold == "entailed" else stated.goal.negation)
    return [[_literal(step.atom), step.rule, _literal(step.conclusion)] for step in proof or []]
