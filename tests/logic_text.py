"""A logical item read back from its English text alone: what is given, what is asked, and what a prover says to it.

Nothing here comes from the library. A fact is (system, predicate, holds); a clause is a pair of facts, one of which is
true.
"""

import re
from typing import NamedTuple

ADJECTIVES = {
    "chaotic": "Chaotic", "deterministic": "Deterministic", "sensitive to initial conditions": "Sensitive",
    "pointwise unpredictable": "PointUnpredictable", "statistically predictable": "StatPredictable",
    "quasi-periodic": "QuasiPeriodic", "random": "Random", "periodic": "Periodic", "dissipative": "Dissipative",
    "bounded": "Bounded", "mixing": "Mixing", "ergodic": "Ergodic", "hyperchaotic": "HyperChaotic",
    "conservative": "Conservative", "multifractal": "Multifractal", "a delay system": "DelaySystem", "forced": "Forced",
    "autonomous": "Autonomous", "strongly mixing": "StrongMixing", "weakly mixing": "WeakMixing",
}  # fmt: skip
VERBS = {
    "has a positive largest Lyapunov exponent": ("PosLyap", True),
    "has no positive Lyapunov exponent": ("PosLyap", False),
    "has a strange attractor": ("StrangeAttr", True),
    "has no strange attractor": ("StrangeAttr", False),
    "has a fixed-point attractor": ("FixedPointAttr", True),
    "has no fixed-point attractor": ("FixedPointAttr", False),
    "has a Kaplan-Yorke dimension of at least 3": ("HighDimensional", True),
    "has a Kaplan-Yorke dimension below 3": ("HighDimensional", False),
    "has a state of at least four dimensions": ("HighDimSystem", True),
    "has a state of fewer than four dimensions": ("HighDimSystem", False),
    "evolves in continuous time": ("ContinuousTime", True),
    "does not evolve in continuous time": ("ContinuousTime", False),
    "evolves in discrete time": ("DiscreteTime", True),
    "does not evolve in discrete time": ("DiscreteTime", False),
}
SAYING = {f"is {word}": (name, True) for word, name in ADJECTIVES.items()}
SAYING |= {f"is not {word}": (name, False) for word, name in ADJECTIVES.items()} | VERBS
PHRASE = "|".join(sorted(map(re.escape, SAYING), key=len, reverse=True))
FACT = re.compile(rf"(?P<who>.+?) (?P<what>{PHRASE})")
LINK = re.compile(rf"if (?P<a>.+? (?:{PHRASE})), then (?P<b>.+? (?:{PHRASE}))")
RULE = re.compile(rf"(?P<all>every|no) system that (?P<a>{PHRASE}) (?P<b>{PHRASE})")
TEXT = re.compile(
    r"(?:Suppose the following|The following is given):\n(?P<premises>(?:- .+\n)+)\n"
    r"(?:Use only these rules, each of which holds for every system"
    r"|Beyond this, use only the rules stated here\. They hold for every system):\n(?P<rules>(?:- .+\n)+)\n"
    r"(?P<question>.+\?) Answer TRUE for yes and FALSE for no\."
)
QUESTION = {
    "follows": r"(?:Does it follow|Do these statements imply) that (.+)\?",
    "ruled_out": r"(?:Is it ruled out|Do these statements exclude the possibility) that (.+)\?",
    "open": r"(?:Do these statements leave it open|Is it undecided by these statements) whether (.+)\?",
}


class Text(NamedTuple):
    """What a text says, in its order; a rule is two pairs of predicate and whether it holds."""

    premises: list
    links: list
    rules: list
    form: str
    goal: tuple

    @property
    def systems(self):
        facts = [*self.premises, self.goal, *(fact for link in self.links for fact in link)]
        return list(dict.fromkeys(who for who, _, _ in facts))

    @property
    def arrows(self):
        """(fact, fact) for what is stated, in the direction in which it is."""
        stated = [((who, *a), (who, *b)) for who in self.systems for a, b in self.rules]
        return stated + self.links


def read(question):
    whole = TEXT.fullmatch(question)
    assert whole, question
    premises, links = [], []
    for line in whole["premises"].splitlines():
        if link := LINK.fullmatch(line[2:]):
            links.append((fact(link["a"]), fact(link["b"])))
        else:
            premises.append(fact(line[2:]))
    rules = [rule(line[2:]) for line in whole["rules"].splitlines()]
    ((form, goal),) = [
        (form, found[1]) for form, asks in QUESTION.items() if (found := re.fullmatch(asks, whole["question"]))
    ]
    return Text(premises, links, rules, form, fact(goal))


def fact(text):
    found = FACT.fullmatch(text)
    assert found, text
    return (found["who"], *SAYING[found["what"]])


def rule(text):
    found = RULE.fullmatch(text)
    assert found, text
    name, holds = SAYING[found["b"]]
    assert holds, text
    return SAYING[found["a"]], (name, found["all"] == "every")


def opposite(fact):
    return (*fact[:-1], not fact[-1])


def satisfiable(clauses, units):
    """Whether clauses of two facts and single facts can all hold, by propagation and by trying either value."""
    about = {}
    for clause in clauses:
        for one, other in (clause, clause[::-1]):
            about.setdefault(opposite(one), []).append(other)
    holds = set()

    def take(facts):
        new, queue = set(), list(facts)
        while queue:
            fact = queue.pop()
            if opposite(fact) in holds | new:
                return False
            if fact not in holds and fact not in new:
                new.add(fact)
                queue += about.get(fact, [])
        holds.update(new)
        return True

    if not take(units):
        return False
    for fact in [fact for clause in clauses for fact in clause]:
        decided = fact in holds or opposite(fact) in holds
        if not decided and not take([fact]) and not take([opposite(fact)]):
            return False
    return True


def decision(text):
    clauses = [(opposite(a), b) for a, b in text.arrows]
    assert satisfiable(clauses, text.premises), "the premises clash"
    can_be = satisfiable(clauses, [*text.premises, text.goal])
    need_not = satisfiable(clauses, [*text.premises, opposite(text.goal)])
    return {(True, False): "entailed", (False, True): "refuted", (True, True): "neither"}[can_be, need_not]
