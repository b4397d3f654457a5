"""What a question of ChaosBench-Logic (arXiv 2605.24305) asks, read from its text: the files hold nothing else.

Its sentences come from templates that later rewrites have cut up, so a phrase is looked for among the words that are
left when fillers are dropped; what is cut up is told by `language`.
"""

import re
from dataclasses import dataclass
from typing import Literal

from labeling.predicate import NAMES

FILLERS = frozenset(("a", "an", "as", "be", "being", "characterized", "having", "is", "it", "not", "the"))
PHRASES: dict[str, tuple[str, ...]] = {
    "Chaotic": (
        "chaotic",
        "behaves chaotically",
        "exhibits chaos",
        "exhibit chaos",
        "displays chaotic",
        "chaotically",
        "chaos",
    ),
    "Deterministic": ("deterministic",),
    "PosLyap": (
        "positive lyapunov exponent",
        "positive largest lyapunov exponent",
        "positive lyapunov",
        "poslyap",
    ),
    "Sensitive": (
        "sensitive to initial conditions",
        "sensitive dependence on initial conditions",
        "sensitivity to initial conditions",
        "sensitive",
    ),
    "StrangeAttr": (
        "strange attractor",
        "fractal attractor",
        "strangeattr",
    ),
    "PointUnpredictable": (
        "pointwise unpredictable",
        "pointunpredictable",
    ),
    "StatPredictable": (
        "statistically predictable",
        "statpredictable",
    ),
    "QuasiPeriodic": (
        "quasi-periodic",
        "quasiperiodic",
        "quasi-exhibits periodic",
        "quasi-has periodic",
    ),
    "Random": (
        "random",
        "stochastic",
        "randomly",
        "randomness",
    ),
    "FixedPointAttr": (
        "fixed point attractor",
        "fixed-point attractor",
        "fixed point",
        "fixedpointattr",
        "stable fixed point attractor",
        "stable fixed point",
    ),
    "Periodic": ("periodic",),
    "Dissipative": (
        "dissipative",
        "dissipative (volume-contracting)",
        "volume-contracting",
    ),
    "Bounded": ("bounded",),
    "Mixing": ("mixing",),
    "Ergodic": ("ergodic",),
    "HyperChaotic": (
        "hyperchaotic",
        "hyperbehaves chaotically",
        "hyperexhibits chaos",
        "hyperexhibit chaos",
        "hyperdisplays chaotic",
        "hyperchaotically",
    ),
    "Conservative": (
        "conservative",
        "conservative (hamiltonian)",
    ),
    "HighDimensional": (
        "high-dimensional high",
        "highdimensional",
        "high-dimensional (high kaplan-yorke dimension)",
    ),
    "Multifractal": ("multifractal",),
    "HighDimSystem": (
        "high-dimensional system",
        "highdimsystem",
        "high-dimensional system (state space dimension ≥ 4)",
    ),
    "ContinuousTime": (
        "continuous-time",
        "continuoustime",
        "continuous-time system",
    ),
    "DiscreteTime": (
        "discrete-time",
        "discretetime",
        "discrete-time map",
    ),
    "DelaySystem": (
        "delay differential equation",
        "delaysystem",
        "delay",
        "delay differential equation system",
    ),
    "Forced": (
        "externally forced",
        "forced",
        "externally forced (non-autonomous)",
    ),
    "Autonomous": ("autonomous",),
    "StrongMixing": (
        "strongly mixing",
        "strongmixing",
    ),
    "WeakMixing": (
        "weakly mixing",
        "weakmixing",
    ),
}
IDENTIFIERS = re.compile(r"\b(" + "|".join(sorted({
    "poslyap", "strangeattr", "pointunpredictable", "statpredictable", "fixedpointattr", "highdimsystem",
    "highdimensional", "continuoustime", "discretetime", "delaysystem", "strongmixing", "weakmixing", "quasiperiodic",
})) + r")\b")  # fmt: skip

# a sentence that defines the predicate before it asks for it: the first phrase is the one that is asked
DEFINES = re.compile(
    r"such a system|by definition|mathematically|formally|is defined as|we say a system|system satisfies|one where|"
    r"refers to", re.IGNORECASE,
)  # fmt: skip
NEGATES = re.compile(
    r"lacks the property|reject the assertion|is it false|rule out|is the claim '.*' wrong|is it untrue|is the .* NOT |"
    r"would it be incorrect|is it NOT the case|say it is incorrect", re.IGNORECASE,
)  # fmt: skip
DOUBLE = re.compile(r"would it be incorrect.*\bis not\b", re.IGNORECASE)
PREMISE = re.compile(r"^(Compared to a purely|Given that|Since the|Considering|Knowing)[^,]*,")
RULE = re.compile(
    r"(?:[Ss]ystems that are|\band|\bwhich)(.*?) "
    r"(must be|cannot be|systems must be|systems require being|requires? being) (.+?)(?=[.,]| does | can )"
)
ALIASES = {"logistic": "logistic_r4"}  # an id of its questions that is none of its systems
NUMBER = r"(-?\d+(?:\.\d+)?)"


@dataclass(frozen=True)
class Asked:
    """A predicate that is asked of a system; `negated` where TRUE says that it does not hold."""

    predicate: str
    negated: bool


@dataclass(frozen=True)
class AtValue:
    """What is asked of a system at a parameter value: its regime there, or whether chaos persists just below."""

    parameter: str
    value: float
    wanted: Literal["chaotic", "periodic", "stable fixed point", "chaos below"]


@dataclass(frozen=True)
class Shown:
    """Indicator values that a question shows: (system's name or None, indicator, value) each, and what it asks."""

    values: tuple[tuple[str | None, str, float], ...]
    wanted: Literal["chaotic", "regular", "more chaotic", "consistent", "higher"]
    given_chaotic: bool | None = None


@dataclass(frozen=True)
class Inference:
    """Rules stated, premises of the system, and the literal that is asked; `holds` where TRUE says that it follows.

    literals : "Chaotic" or "~Chaotic". rules : (premise, conclusion) pairs that the question states.
    kind : what is asked of the goal: that it must hold, that it can, or whether anything definite follows.
    """

    premises: tuple[str, ...]
    rules: tuple[tuple[str, str], ...]
    goal: str
    kind: Literal["must", "can", "definite", "consistent"]


def asked(question: str, name: str | None, family: str) -> Asked | None:
    """The predicate that a question asks of the system of this name; None where it names none."""
    negated = bool(NEGATES.search(question)) and not DOUBLE.search(question)
    text = PREMISE.sub("", without_name(question, name))
    if family == "perturbation":
        text = re.sub(r"^(The (?:simulation|initial|phase|system)\b.*?)\. (?=Is )", "", text)
    found = predicates_in(text)
    if not found:
        return None
    return Asked(found[0] if DEFINES.search(question) else found[-1], negated)


def at_value(question: str) -> AtValue | None:
    """The parameter value that a question is about; None where it states none."""
    below = re.search(rf"If (\w+) drops below {NUMBER}", question)
    if below:
        return AtValue(below[1], float(below[2]), "chaos below")
    stated = re.search(rf"\b([a-z]+)={NUMBER}", question)
    if stated is None:
        return None
    wanted: Literal["chaotic", "periodic", "stable fixed point"] = "chaotic"
    if "periodic regime" in question:
        wanted = "periodic"
    elif "stable fixed point" in question:
        wanted = "stable fixed point"
    return AtValue(stated[1], float(stated[2]), wanted)


def shown(question: str) -> Shown | None:
    """The indicator values that a question shows; None where it shows none."""
    two = re.search(rf"System (.+?) has K={NUMBER} and system (.+?) has K={NUMBER}\.", question)
    if two:
        values = ((two[1], "zero_one_k", float(two[2])), (two[3], "zero_one_k", float(two[4])))
        return Shown(values, "higher" if "higher K" in question else "more chaotic")
    both = re.search(rf"has K={NUMBER} and PE={NUMBER}", question)
    if both:
        pair = ((None, "zero_one_k", float(both[1])), (None, "permutation_entropy", float(both[2])))
        return Shown(pair, "chaotic")
    for pattern, indicator in (
        (rf"0-1 test (?:gives )?K={NUMBER}", "zero_one_k"),
        (rf"permutation entropy of .+ is {NUMBER}\.", "permutation_entropy"),
        (rf"MEGNO (?:value )?for .+ is {NUMBER}\.", "megno"),
    ):
        found = re.search(pattern, question)
        if found is None:
            continue
        value = ((None, indicator, float(found[1])),)
        if "consistent" in question:
            return Shown(value, "consistent", "non-chaotic" not in question)
        if "agree with it being" in question:
            return Shown(value, "consistent", "being chaotic" in question)
        return Shown(value, "regular" if "regular regime" in question else "chaotic")
    return None


def inference(question: str, name: str | None) -> Inference | None:
    """Premises, rules and goal of an inference; None where the sentence is none of the known forms."""
    assignment = re.search(r"Is the assignment \{(.+)\} logically consistent", question)
    if assignment:
        stated, _, denied = assignment[1].partition(" but ")  # "X but not Y or Z" denies both
        parts = [
            *re.split(r",\s*(?:and\s+)?|\s+and\s+", stated),
            *(f"not {x}" for x in re.split(r"\bor\b|\band\b", denied)),
        ]
        literals = [x for part in parts for x in _literals(part)]
        return Inference(tuple(dict.fromkeys(literals)), (), "", "consistent") if literals else None
    text = without_name(question, name)
    rules = []
    for left, verb, right in RULE.findall(text):
        p, q = predicates_in(left), predicates_in(right)
        if q:
            rules.append((p[-1] if p else "", f"~{q[0]}" if verb == "cannot be" else q[0]))
    parts = re.split(r"(?<=[a-z)])[.,] ", text)
    first, last = _literals(parts[0]), predicates_in(parts[-1])
    if not first or not last:
        return None
    rules = [(p or first[0].removeprefix("~"), q) for p, q in rules]
    if "anything definitive" in question:
        return Inference((first[0],), tuple(rules), last[-1], "definite")
    if re.search(r"\bcan (it|a system|\s)|Can a system|, can ", question):
        if question.startswith("Can a system"):
            both = predicates_in(text)
            return Inference((both[0],), (), both[-1], "can")
        return Inference((first[0],), tuple(rules), last[-1], "can")
    return Inference((first[0],), tuple(rules), last[-1], "must")


def language(question: str, name: str | None, family: str) -> list[str]:
    """What is wrong with a question's English: nothing, or one phrase for each kind of fault."""
    found = []
    if IDENTIFIERS.search(question):
        found.append("prints an identifier")
    words = (name or "").split()
    if (
        len(words) > 1
        and " ".join(words) not in question
        and re.search(r"\s+is\s+".join(map(re.escape, _cut(words))), question)
    ):
        found.append("cuts the system's name in two")
    text = without_name(question, name, mark="N")
    if re.search(r"\bit (accurate to say|correct to describe)\b", text) and not re.match(r"Is it", text):
        found.append("has the remains of another sentence")
    elif re.search(r"\bN (?!be\b|is\b)\S.* (be characterized as|is not|is) ", text) and re.match(
        r"(Can|Would it be incorrect|Consider)", text
    ):
        found.append("cuts the property in two")
    if re.search(r"(quasi-|hyper)(exhibits|has|behaves|displays)|having a (has|possesses|converges)|"
                 r"\b(as|considered|exhibit) (exhibits|has|behaves|displays|governed|follows|is|shows|possesses)\b|"
                 r"exponent exponent|attractor attractor|conditions to initial", text):  # fmt: skip
        found.append("puts a sentence where a word belongs")
    if re.search(r"\bexhibits? (?!an? |chaos\b)(?!.*\bbehavior\b)", text) or re.search(r"exhibit having", text):
        found.append("exhibits an adjective")
    if re.search(
        r"\b(is|are) having\b|\b[Ii]s (the )?N having\b|\ba a\b|\ba having\b|\bbeing having\b|systems that are having",
        text,
    ):
        found.append("joins words that do not go together")
    if re.search(r"\bN system\b", text) and (name or "").split()[-1:] == ["system"]:
        found.append("says system twice")
    if family == "adversarial_nearmiss" and at_value(question) is None:
        found.append("a near miss without a value")
    return found


def predicates_in(text: str) -> list[str]:
    """The predicates that a text names, in its order; the longest phrase counts."""
    words, found, i = _words(text), [], 0
    while i < len(words):
        for phrase, predicate in _PHRASES:
            if words[i : i + len(phrase)] == phrase:
                found.append(predicate)
                i += len(phrase) - 1
                break
        i += 1
    return found


def without_name(question: str, name: str | None, mark: str = " ") -> str:
    """A question without a system's name, which itself may say a regime; also where a rewrite cut it in two."""
    if not name:
        return question
    return re.sub(r"\s+(?:is\s+)?".join(map(re.escape, name.split())), mark, question)


def _literals(text: str) -> list[str]:
    negative = re.search(r"\b(not|NOT|lacks|without)\b", text) is not None
    return [f"~{name}" if negative else name for name in predicates_in(text)]


def _cut(words: list[str]) -> list[str]:
    return [words[0], " ".join(words[1:])]


def _words(text: str) -> list[str]:
    return [w for w in re.findall(r"[\w\-–]+", text.lower()) if w not in FILLERS]


_PHRASES = sorted(
    ((_words(phrase), predicate) for predicate in NAMES for phrase in PHRASES[predicate]), key=lambda x: -len(x[0])
)
