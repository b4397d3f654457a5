"""Questions in words: a system at a point, a predicate, and a frame around both, in any language of templates/."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from dynamics.listing import summaries
from dynamics.system import System

LANGUAGES = ("en", "zh")


@dataclass(frozen=True)
class Frame:
    """A sentence around a predicate. With `negates`, TRUE says that the predicate does not hold."""

    form: str
    text: str
    negates: bool = False


@dataclass(frozen=True)
class Language:
    """The wordings of one language (templates/<name>.toml)."""

    name: str
    subject: Mapping[str, str]
    names: Mapping[str, str]
    frames: tuple[Frame, ...]
    paraphrases: tuple[Frame, ...]
    distractors: tuple[str, ...]
    lures: tuple[str, ...]
    predicates: Mapping[str, Mapping[str, str]]
    claims: tuple[Frame, ...]
    transitions: Mapping[str, Any]
    report: Mapping[str, Any]

    def name_of(self, system_id: str) -> str:
        """What a system is called; no name says its regime."""
        if system_id in self.names:
            return self.names[system_id]
        stated = _stated_names().get(system_id, system_id).removesuffix(" (dysts)")
        kind = "dysts_map" if system_id.startswith("dysts_map_") else "dysts"
        return self.subject[kind].format(name=stated) if system_id.startswith("dysts_") else stated

    def equations(self, s: System) -> str:
        """What a system that no list has is called: by its equations."""
        side = self.subject["next" if s.discrete else "rate"]
        rule = [side.format(name=name, rule=rule) for name, rule in zip(s.state, s.rule, strict=True)]
        rule += [self.subject["equal"].format(name=name, value=value) for name, value in s.let.items()]
        return self.subject["own_map" if s.discrete else "own_flow"].format(rule=self.subject["comma"].join(rule))

    def system_at(self, system_id: str, params: Mapping[str, float], start: Mapping[str, float], past: bool) -> str:
        """A system with its parameters and the state it starts from, numbers as they were labelled."""
        state = self.listed(start)
        state = self.subject["past"].format(start=state) if past else state
        form = self.subject["with"] if params else self.subject["bare"]
        return form.format(name=self.name_of(system_id), parameters=self.listed(params), start=state)

    def asked(self, frame: Frame, predicate: str, subject: str) -> str:
        """The question that a frame makes of a predicate and a subject."""
        wordings = {key: text.format(s=self.subject["it"]) for key, text in self.predicates[predicate].items()}
        return frame.text.format(
            s=subject, S=_capital(subject), Ask=_capital(wordings["ask"]), **wordings
        )  # fmt: skip

    def transition(self, frame: Frame, lead: str, wordings: Mapping[str, str], known: Mapping[str, str]) -> str:
        """The question that a frame makes of a claim: a lead says what is done, wordings what is claimed of it."""
        said = {key: text.format(**known) for key, text in wordings.items()}
        lead = self.transitions["leads"][lead].format(**known)
        return frame.text.format(lead=lead, Ask=_capital(said["ask"]), **said)

    def joined(self, *sentences: str) -> str:
        """Sentences one after another."""
        return self.subject["space"].join(sentences)

    def listed(self, values: Mapping[str, float]) -> str:
        """Names and values, digit for digit."""
        parts = [self.subject["equal"].format(name=name, value=printed(value)) for name, value in values.items()]
        if len(parts) < 2:
            return "".join(parts)
        return self.subject["comma"].join(parts[:-1]) + self.subject["and"] + parts[-1]


def printed(value: float) -> str:
    """The shortest decimal that reads as this very number; 10 and not 10.0."""
    return repr(float(value)).removesuffix(".0")


@cache
def language(name: str) -> Language:
    """A language by the name of its file; ValueError for one that there is none of."""
    if name not in LANGUAGES:
        raise ValueError(f"there are no questions in {name!r}; there are some in {', '.join(LANGUAGES)}")
    data: dict[str, Any] = tomllib.loads((files("bench") / "templates" / f"{name}.toml").read_text(encoding="utf-8"))
    frames, paraphrases, claims = (tuple(Frame(**row) for row in data[key]) for key in ("frame", "paraphrase", "claim"))
    distractors, lures = (tuple(row["text"] for row in data[key]) for key in ("distractor", "lure"))
    return Language(
        name, data["subject"], data["names"], frames, paraphrases, distractors, lures, data["predicates"], claims,
        data["transitions"], data["report"],
    )  # fmt: skip


@cache
def _stated_names() -> dict[str, str]:
    return {row["system_id"]: row["name"] for row in summaries()}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
