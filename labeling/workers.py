"""Independent pieces of work, done here or in processes, always returned in order."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from joblib import Parallel, delayed

Result = TypeVar("Result")


class Progress(Protocol):
    """Is told how much of which stage is done."""

    def __call__(self, done: int, total: int, what: str) -> None:
        """`done` of `total` pieces of the stage `what`."""


class Workers:
    """`jobs` processes (1: this one) and whom to tell of progress. Results do not depend on `jobs`."""

    def __init__(self, jobs: int = 1, progress: Progress | None = None) -> None:
        self.jobs, self.progress = jobs, progress

    def each(self, function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]], what: str) -> Iterator[Result]:
        """The function's results over the tasks' arguments, in the tasks' order, as they come."""
        if self.jobs == 1 or len(tasks) == 1:
            results: Iterator[Result] = (function(*task) for task in tasks)
        else:
            results = Parallel(n_jobs=self.jobs, return_as="generator", batch_size=1)(
                delayed(function)(*task) for task in tasks
            )
        for done, result in enumerate(results, 1):
            if self.progress:
                self.progress(done, len(tasks), what)
            yield result
