"""Independent pieces of work, looked up or done here or in processes, always returned in order."""

import platform
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from joblib import Parallel, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError

from cache.results import MISSING, Results, keep, kept
from cache.store import cache_place, say_once
from dynamics.equations import EquationError
from dynamics.system import RowError, System
from labeling.cluster import Cluster, ClusterError
from labeling.provenance import code_digest, made_with

Result = TypeVar("Result")
MOST_LOST = 3  # times in a row that processes are ended from outside before any result comes
_alone = threading.Lock()  # SymPy's caches and the precision of ball arithmetic are one for a process


class CodeEditedError(ValueError):
    """The code is no longer the one that the run began with."""


class LostProcessError(ValueError):
    """Processes are ended from outside again and again."""


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

    With a `cluster` its processes work instead, all of them. What comes out does not depend on any of these.
    """

    def __init__(
        self,
        jobs: int = 1,
        progress: Progress | None = None,
        results: Results | None = None,
        cluster: Cluster | None = None,
    ) -> None:
        self.jobs, self.progress, self.results, self.cluster = jobs, progress, results, cluster

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
        place, leave = cache_place(), self.jobs > 1 and self.cluster is None
        tasks_ = [(function, tasks[i], paths[i].relative_to(place), code_digest(), results.fresh, leave,
                   faults is not None) for i in missing]  # fmt: skip
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
                elif self.cluster and (trouble := keep(paths[i], result)):  # the worker's cache may be another
                    say_once(trouble)
                yield function(*tasks[i]) if result is MISSING else result

        yield from self._told(in_order(), len(tasks), f"{what} ({len(known)} kept)" if known else what)

    def _computed(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        if self.cluster:
            yield from _elsewhere(self.cluster, function, tasks)
        elif self.jobs == 1 or len(tasks) <= 1:
            yield from (function(*task) for task in tasks)
        else:
            yield from self._in_processes(function, tasks)

    def _in_processes(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
        """What a process that is ended from outside had not finished is dealt again."""
        done = lost = 0
        while done < len(tasks):
            parallel = Parallel(n_jobs=self.jobs, return_as="generator", batch_size=1, initializer=_deaf)
            with _interrupts_held():
                results = iter(parallel(delayed(function)(*task) for task in tasks[done:]))
            try:
                for result in results:
                    yield result
                    done, lost = done + 1, 0
            except TerminatedWorkerError:
                lost += 1
                if lost == MOST_LOST:
                    raise LostProcessError(
                        f"processes were ended from outside {lost} times in a row, as happens where memory is short;"
                        " finished pieces are kept, so run the command again with fewer --jobs"
                    ) from None

    def _told(self, found: Iterator[Result], total: int, what: str) -> Iterator[Result]:
        for done, result in enumerate(found, 1):
            if self.progress:
                self.progress(done, total, what)
            yield result


def _elsewhere(cluster: Cluster, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
    """Results of a cluster, which deals what a lost worker had begun to another one itself."""
    step = cluster.at_once or max(1, len(tasks))
    with cluster.used():
        dealer = Parallel(return_as="list" if cluster.at_once else "generator", batch_size=1)
    try:
        with dealer as parallel:
            for i in range(0, len(tasks), step):
                yield from parallel(delayed(_alike)(made_with(), function, task) for task in tasks[i : i + step])
    except cluster.lost as error:
        raise cluster.gone(error) from None
    except ImportError as error:
        raise ClusterError(
            f"a worker of the cluster has no package {error.name}; install this version of chaostruth on every worker"
        ) from None


def _alike(ours: dict[str, str], function: Callable[..., Result], task: tuple[Any, ...]) -> Result:
    """A result made on a worker that has the same code, libraries and kind of processor: others may differ in bits."""
    here = made_with()
    if here != ours:
        other = ", ".join(f"{name} ({here[name]}, not {ours[name]})" for name in ours if here[name] != ours[name])
        raise ClusterError(f"the worker on {platform.node()} differs in {other}; all machines of a run must be alike")
    with _alone:
        return function(*task)


def _deaf() -> None:
    """What a process does first: Ctrl-C is for the one that started it, however late that was."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


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
    function: Callable[..., Result],
    task: tuple[Any, ...],
    entry: Path,
    code: str,
    fresh: bool,
    leave: bool,
    go_on: bool,
) -> tuple[Any, bool, str | None]:
    """A result, whether it is left where it is kept, and what hindered keeping it.

    This runs where the work is done, so that a killed run loses no finished piece. Another process may have made it in
    the meantime. What a process keeps is left for the one that asked to read: a process that is stopped in the middle
    of sending something long leaves joblib waiting for the rest for ever. `entry` is a path within the cache.
    """
    path = cache_place() / entry
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
