"""Two servers side by side, in turn: the ratio of their CPU times, pair by pair."""

import json
import math
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAIRS = 5
LEAST_SECONDS = 0.05  # of CPU that a sample takes; shorter calls are repeated
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
OF_OLD_BLAS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")  # slow a current NumPy; only together can they be left out


class Refused(Exception):
    """A server could not do its task; the message says why."""


@dataclass(frozen=True)
class Side:
    """A task as a server loads it: which interpreter, which function, with what."""

    python: str
    task: str
    given: dict[str, Any]


@dataclass(frozen=True)
class Measured:
    """Ratios theirs/ours of the pairs, CPU seconds of both, and what the first use cost (import, compile, one call)."""

    ratios: tuple[float, ...]
    ours: float
    theirs: float
    first_ours: float
    first_theirs: float
    value_ours: Any
    value_theirs: Any

    @property
    def ratio(self) -> float:
        """The median."""
        return statistics.median(self.ratios)

    @property
    def spread(self) -> tuple[float, float]:
        """Smallest and largest."""
        return min(self.ratios), max(self.ratios)


class Server:
    """A child process under an interpreter of choice."""

    def __init__(self, python: str, cache: str) -> None:
        self.process = subprocess.Popen(
            [python, "-m", "benchmarks.server"], cwd=ROOT, env=environment(cache), text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def ask(self, **command: Any) -> dict[str, Any]:
        """The answer to a command; Refused if it is an error, or if the process has ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Refused(f"the process ended with status {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer

    def close(self) -> None:
        """End the process: it stops when there is nothing more to read."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


def environment(cache: str) -> dict[str, str]:
    """That of this process, for one thread, with an empty cache of compiled code and no settings of old BLAS builds."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    kept = {name: value for name, value in os.environ.items() if name not in OF_OLD_BLAS}
    return kept | dict.fromkeys(ONE_THREAD, "1") | {"CHAOSTRUTH_CACHE": cache, "PYTHONPATH": path}


@contextmanager
def serving(side: Side) -> Iterator[tuple[Server, dict[str, Any]]]:
    """A server that has loaded a task, with its answer to that."""
    with tempfile.TemporaryDirectory() as cache:
        try:
            server = Server(side.python, cache)
        except OSError as error:
            raise Refused(f"{side.python}: {error.strerror}") from None
        try:
            yield server, server.ask(load=side.task, given=side.given)
        finally:
            server.close()


def compared(ours: Side, theirs: Side, share: float = 1.0, pairs: int = PAIRS) -> Measured:
    """Run both in turn, ours first in every pair; `share` is the part of the work that theirs does of ours."""
    with serving(ours) as (a, first_a), serving(theirs) as (b, first_b):
        times = [calls(server) for server in (a, b)]
        runs = [(a.ask(run=times[0]), b.ask(run=times[1])) for _ in range(pairs)]
    seconds = [(x["seconds"], y["seconds"] / share) for x, y in runs]
    return Measured(
        tuple(theirs / ours for ours, theirs in seconds),
        statistics.median(ours for ours, _ in seconds),
        statistics.median(theirs for _, theirs in seconds),
        first_a["seconds"], first_b["seconds"], runs[-1][0]["value"], runs[-1][1]["value"],
    )  # fmt: skip


def calls(server: Server) -> int:
    """How many calls make a sample of a server, by what one takes that has others just before it.

    The first one after another process had the core takes up to ten times as long as the next, if it is short.
    """
    seconds = server.ask(run=1)["seconds"]
    while seconds < LEAST_SECONDS:
        again = server.ask(run=repeats(seconds))["seconds"]
        if again > 0.5 * seconds:
            return repeats(again)
        seconds = again
    return 1


def repeats(seconds: float) -> int:
    """How many calls make a sample."""
    return max(1, math.ceil(LEAST_SECONDS / max(seconds, 1e-6)))
