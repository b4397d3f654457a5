"""A verdict on one row of a foreign benchmark, which bench.audit and bench.soundness give."""

from dataclasses import dataclass

VERDICTS = ("confirmed", "contradicted", "definition", "undecidable", "open", "malformed")


@dataclass(frozen=True)
class Finding:
    """A verdict, why, and the figure that shows it. `notes` : what else is wrong with the row."""

    verdict: str
    reason: str
    figure: str = ""
    notes: tuple[str, ...] = ()
