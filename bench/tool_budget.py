"""Which tools a model may call, and how much: what is known before anything is simulated, or imported for that."""

from dataclasses import dataclass

TOOLS = ("simulate", "indicator")
AGENT = "agent/lambda1"  # the model's name under which the scripted agent answers (bench.tool_agent)


class ToolError(ValueError):
    """A call that cannot be answered, in one sentence for whoever called."""


@dataclass(frozen=True)
class Budget:
    """What one question may use: calls, and seconds of CPU time (compiling a system for the first time is free)."""

    calls: int = 8
    seconds: float = 60.0

    def called(self, names: tuple[str, ...]) -> str:
        """The tools and the budget as they stand in a prompt's name; nothing if there are none."""
        return f"{'+'.join(names)} ({self.calls} calls, {self.seconds:g} s)" if names else ""


def named_tools(text: str | None) -> tuple[str, ...]:
    """The tools of a list such as "simulate,indicator", in our order; raises ToolError."""
    wanted = {name.strip() for name in (text or "").split(",") if name.strip()}
    if wanted - set(TOOLS):
        raise ToolError(f"--tools {text}: there are {', '.join(TOOLS)}")
    return tuple(name for name in TOOLS if name in wanted)
