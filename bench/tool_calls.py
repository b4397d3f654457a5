"""Our tools (bench.tools) as a model calls them through Inspect, and the loop of calls up to an answer."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bench.tool_budget import TOOLS, Budget

if TYPE_CHECKING:  # simulating needs much memory, which a run without tools is spared
    from bench.tools import Tools

TOLD = """

You may call tools that simulate the system: {names}; at most {calls} calls. Name the system as the question does. \
Then answer."""


def told(names: tuple[str, ...], budget: Budget) -> str:
    """What stands behind a question that may be answered with tools."""
    return TOLD.format(names=", ".join(names), calls=budget.calls)


def inspect_tools(tools: "Tools") -> list[Any]:
    """The tools of one question as Inspect offers them; the names and texts here are what a model reads."""
    import anyio
    from inspect_ai.tool import tool

    async def run(name: str, arguments: dict[str, Any]) -> str:
        return await anyio.to_thread.run_sync(lambda: tools.called(name, arguments))

    @tool(name="simulate")
    def simulate() -> Any:
        async def execute(
            system: str, parameters: dict[str, float] | None = None, start: dict[str, float] | None = None,
            length: float | None = None, transient: float | None = None, states: int = 50,
        ) -> str:  # fmt: skip
            """States of a dynamical system at equal distances along an orbit, after a transient that is dropped.

            Args:
                system: Its name as the question has it, or its id.
                parameters: Values by name; those of the list for others.
                start: The initial condition, by variable; that of the list if none is given.
                length: Iterates of a map or time units of a flow that are looked at.
                transient: Iterates or time units that are dropped before.
                states: How many states to return, at most 200.
            """
            return await run("simulate", _common(system, parameters, start, length, transient) | {"states": states})

        return execute

    @tool(name="indicator")
    def indicator() -> Any:
        async def execute(
            system: str, name: str = "lyapunov", parameters: dict[str, float] | None = None,
            start: dict[str, float] | None = None, length: float | None = None, transient: float | None = None,
            k: int = 2,
        ) -> str:  # fmt: skip
            """An indicator of chaos of a dynamical system, with its 95 % half-width (error) and its status.

            Args:
                system: Its name as the question has it, or its id.
                name: lyapunov (the k largest exponents), zero_one_k or permutation_entropy.
                parameters: Values by name; those of the list for others.
                start: The initial condition, by variable; that of the list if none is given.
                length: Iterates of a map or time units of a flow that are looked at.
                transient: Iterates or time units that are dropped before.
                k: How many Lyapunov exponents.
            """
            return await run("indicator", _common(system, parameters, start, length, transient)
                             | {"name": name, "k": k})  # fmt: skip

        return execute

    made = dict(zip(TOOLS, (simulate, indicator), strict=True))
    return [made[name]() for name in tools.names]


def _common(system: str, parameters: Any, start: Any, length: Any, transient: Any) -> dict[str, Any]:
    return {"system": system, "parameters": parameters, "start": start, "length": length, "transient": transient}


async def generated(state: Any, generate: Any, tools: "Tools | None", spend: Callable[[], None]) -> None:
    """A reply, after as many calls of tools as the model makes; once the budget is spent it is offered no more.

    spend : called after each call of the model, of which there is one if there are no tools
    """
    while True:
        last = tools is not None and tools.spent
        if last:
            state.tool_choice = "none"
        await generate(state, tool_calls="single")
        spend()
        if last or state.messages[-1].role != "tool":
            return
