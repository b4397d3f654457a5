"""What every indicator returns: a number with its uncertainty, or a reason why there is none."""

from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["ok", "not_converged", "diverged", "undefined", "not_applicable"]
WITHOUT_VALUE: frozenset[str] = frozenset({"diverged", "undefined", "not_applicable"})


@dataclass(frozen=True)
class Estimate:
    """An indicator's value, the half-width of its 95 % interval, its status and the evidence behind it.

    `value` is a float, a list of floats (a spectrum), or None, which it is exactly for the statuses `diverged`,
    `undefined` and `not_applicable`; it is never clipped. `error` has the shape of `value`, or is None where no
    interval is known. `evidence` holds numbers, settings and flags from which a reader can check the value.
    """

    value: float | list[float] | None
    error: float | list[float] | None
    status: Status
    evidence: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.value is None) != (self.status in WITHOUT_VALUE):
            raise ValueError(f"an estimate of status {self.status!r} cannot have the value {self.value!r}")

    @property
    def number(self) -> float:
        """The value of a scalar estimate; raises ValueError where there is none."""
        if not isinstance(self.value, float):
            raise ValueError(f"no single value: status {self.status!r}, {self.evidence}")
        return self.value


def without_value(status: Status, reason: str, **evidence: Any) -> Estimate:
    """An estimate that has no value, and says why."""
    return Estimate(None, None, status, {"reason": reason, **evidence})
