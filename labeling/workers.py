"""Independent pieces of work, looked up or done here or in processes, always returned in order."""

import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from joblib import Parallel, delayed

from cache.results import MISSING, Results, keep, kept
from cache.store import say_once
from dynamics.equations import EquationError
from dynamics.system import RowError, System
from labeling.provenance import code_digest

Result = TypeVar("Result")


class CodeEditedError(ValueError):
    """The code is no longer the one that the run began with."""


@dataclass(frozen=True)
class Fault:
    """A piece of work that a fault of the program ended: the system it was about, and the trace."""

    subject: str
    trace: str


class Progress(Protocol):
    """Is told how much of which stage is done."""

    def __call__(self, done: int, total: int, what: str) -> None:
        """`done` of `total` pieces of the stage `what`."""


class Workers:
    """`jobs` processes (1: this one), whom to tell of progress, and where results are kept (None: nowhere).

    What comes out does not depend on any of them.
    """

    def __init__(self, jobs: int = 1, progress: Progress | None = None, results: Results | None = None) -> None:
        self.jobs, self.progress, self.results = jobs, progress, results

    def each(
        self,
        function: Callable[..., Result],
        tasks: Sequence[tuple[Any, ...]],
        what: str,
        faults: list[Fault] | None = None,
    ) -> Iterator[Result]:
        """The function's results over the tasks' arguments, in the tasks' order, as they come.

        With a list of `faults`, a piece that fails is added to it and left out, and the others go on.
        """
        results = self.results
        if results is None:
            yield from self._told(self._computed(function, tasks), len(tasks), what)
            return
        paths = [results.path(_subject(task), function, task) for task in tasks]
        known = {i: found for i, path in enumerate(paths) if (found := results.found(path)) is not MISSING}
        missing = [i for i in range(len(tasks)) if i not in known]
        tasks_ = [(function, tasks[i], paths[i], code_digest(), results.fresh, self.jobs > 1, faults is not None)
                  for i in missing]  # fmt: skip
        made = self._computed(_made_and_kept, tasks_)

        def in_order() -> Iterator[Result]:
            for i in range(len(tasks)):
                if i in known:
                    yield known.pop(i)
                    continue
                result, is_kept, trouble = next(made)
                if isinstance(result, Fault):
                    assert faults is not None
                    faults.append(result)
                    continue
                if trouble:
                    say_once(trouble)
                if is_kept:
                    result, _ = kept(paths[i])
                yield function(*tasks[i]) if result is MISSING else result

        yield from self._told(in_order(), len(tasks), f"{what} ({len(known)} kept)" if known else what)

    def _computed(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        if self.jobs == 1 or len(tasks) <= 1:
            return (function(*task) for task in tasks)
        parallel = Parallel(n_jobs=self.jobs, return_as="generator", batch_size=1)
        with _interrupts_held():
            return iter(parallel(delayed(function)(*task) for task in tasks))

    def _told(self, found: Iterator[Result], total: int, what: str) -> Iterator[Result]:
        for done, result in enumerate(found, 1):
            if self.progress:
                self.progress(done, total, what)
            yield result


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back for as long as processes are started, which inherit that: it is for the one that stops them."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _made_and_kept(
    function: Callable[..., Result], task: tuple[Any, ...], path: Path, code: str, fresh: bool, leave: bool, go_on: bool
) -> tuple[Any, bool, str | None]:
    """A result, whether it is left where it is kept, and what hindered keeping it.

    This runs where the work is done, so that a killed run loses no finished piece. Another process may have made it in
    the meantime. What a process keeps is left for the one that asked to read: a process that is stopped in the middle
    of sending something long leaves joblib waiting for the rest for ever.
    """
    if code != code_digest():
        raise CodeEditedError("the code was edited during the run; finished pieces are kept, run the command again")
    result = MISSING if fresh else kept(path)[0]
    trouble = None
    if result is MISSING:
        try:
            result = function(*task)
        except (RowError, EquationError, OSError):
            raise
        except Exception:
            if not go_on:
                raise
            return Fault(_subject(task), traceback.format_exc()), False, None
        trouble = keep(path, result)
    return (None, True, None) if leave and trouble is None else (result, False, trouble)


def _subject(values: Sequence[Any]) -> str:
    """The id of the system that a task is about: the first among its arguments."""
    for value in values:
        if isinstance(value, System):
            return value.id
        if isinstance(value, (list, tuple)) and (found := _subject(value)):
            return found
    return ""
