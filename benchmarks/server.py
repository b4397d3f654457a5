"""A process that does a task on command and says what CPU time it took: ours under one interpreter, a peer's under
another. Nothing but the standard library is imported here, since the two environments share nothing else.

    python -m benchmarks.server

Commands are lines of JSON on standard input. {"load": "module:function", "given": {...}} imports the module and calls
the function with the given arguments, which returns a call of no arguments, and makes that call once: this is where
compilers work. {"run": n} makes it n times. The answers are lines of JSON; what a library prints goes to standard
error.
"""

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, TextIO


def main() -> None:
    to_one_core()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    call: Callable[[], Any] | None = None
    for line in sys.stdin:
        command = json.loads(line)
        try:
            if "load" in command:
                call, answer = loaded(command["load"], command["given"])
            elif call is None:
                raise RuntimeError("nothing is loaded yet")
            else:
                answer = timed(call, command["run"])
        except Exception as error:  # noqa: BLE001 - whatever goes wrong in a peer is told, and the run goes on
            answer = {"error": f"{type(error).__name__}: {error}"}
        tell(answers, answer)


def loaded(name: str, given: dict[str, Any]) -> tuple[Callable[[], Any], dict[str, Any]]:
    """The call that a task makes, and the CPU seconds of import, preparation and first call."""
    before = time.process_time()
    module, function = name.split(":")
    call = getattr(importlib.import_module(module), function)(**given)
    value = plain(call())
    return call, {"seconds": time.process_time() - before, "value": value}


def timed(call: Callable[[], Any], times: int) -> dict[str, Any]:
    """CPU seconds of one call, over `times` calls; all threads of the process count."""
    before = time.process_time()
    for _ in range(times):
        value = call()
    seconds = time.process_time() - before
    return {"seconds": seconds / times, "value": plain(value)}


def plain(value: Any) -> float | dict[str, float]:
    """A number, or numbers by name, that JSON can hold."""
    return {k: float(v) for k, v in value.items()} if isinstance(value, dict) else float(value)


def to_one_core() -> None:
    """Run on one core: thread pools, which count the cores that they may use, are then of one thread."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def tell(answers: TextIO, answer: dict[str, Any]) -> None:
    print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
