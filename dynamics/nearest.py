"""What a wrong name was probably meant to be, and how a wrong value is shown in a sentence."""

import difflib
from collections.abc import Iterable

LISTED = 20  # names that a message lists at most
SHOWN = 60  # characters of a wrong value that a message repeats


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """ "; did you mean a or b?" with the nearest known names, or else nothing; case does not count."""
    lowered: dict[str, list[str]] = {}
    for name in known:
        lowered.setdefault(name.lower(), []).append(name)
    near = difflib.get_close_matches(wrong[:100].lower(), lowered, n=3, cutoff=0.5)
    names = [name for match in near for name in lowered[match]][:3]
    return f"; did you mean {' or '.join(names)}?" if names else ""


def listed(names: Iterable[str]) -> str:
    """The names with commas between them, "none" for none; of very many the first ones."""
    every = list(names)
    more = [f"and {len(every) - LISTED} more"] if len(every) > LISTED else []
    return ", ".join(every[:LISTED] + more) or "none"


def shown(value: object) -> str:
    """A value as it stands in a message: on one line, quoted if it is text, and cut if it is long."""
    try:
        text = repr(value[:SHOWN] if isinstance(value, str) else value)
    except (ValueError, RecursionError):  # a whole number of thousands of digits, lists in lists in lists
        return f"{type(value).__name__} too large to be shown"
    if isinstance(value, str):
        return text if len(value) <= SHOWN else f"{text[:-4]}...{text[-1]}"
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
