"""How objects, observations and answers are written, and how an answer that was written otherwise is read."""

import re
from collections.abc import Callable

from bench.games.parts import Arguments, Object, Value

NOTHING = "none"
_LISTED = re.compile(r"[0-9]{1,4}(,[0-9]{1,4})*|none")
_EDGES = re.compile(r"[0-9]{1,4}-[0-9]{1,4}(,[0-9]{1,4}-[0-9]{1,4})*|none")
_OUTPUTS = re.compile(r"(yes|no|[0-9]{1,4})(,(yes|no|[0-9]{1,4}))*")


def listed(numbers: Arguments) -> str:
    """Numbers with commas between them."""
    return ",".join(map(str, numbers))


def value_text(value: Value) -> str:
    """An observation: yes or no, a number, or a word."""
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


WRITTEN: dict[str, Callable[[Object], str]] = {
    "number": listed,
    "set": lambda numbers: listed(numbers) or NOTHING,
    "sequence": listed,
    "parents": listed,
    "marks": lambda tree: listed(tree[1]) or NOTHING,
    "lights": lambda graph: listed(graph[1]) or NOTHING,
    "edges": lambda graph: ",".join(f"{u}-{v}" for u, v in graph[1]) or NOTHING,
    "outputs": lambda values: ",".join(map(value_text, values)),
}


def read_answer(shape: str, text: str) -> str | None:
    """An answer as it would be written; None if it is not of the shape. Sets and edges may come in any order."""
    text = re.sub(r"[ \t\r\n]+", "", text).lower()
    if shape == "outputs":
        return text if _OUTPUTS.fullmatch(text) else None
    if shape == "edges":
        if not _EDGES.fullmatch(text):
            return None
        ends = [sorted(map(int, edge.split("-"))) for edge in text.split(",") if text != NOTHING]
        return ",".join(f"{u}-{v}" for u, v in sorted(ends)) or NOTHING
    if not _LISTED.fullmatch(text):
        return None
    numbers = [int(number) for number in text.split(",") if text != NOTHING]
    return listed(tuple(sorted(numbers) if shape in ("set", "marks", "lights") else numbers)) or NOTHING
