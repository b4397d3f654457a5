"""`bench label --verify`: points of a release, labelled again and compared."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from labeling.workers import Workers

SHOWN = 20  # differences


def verify_release(count: int, workers: "Callable[..., Workers]", seed: int, folder: Path | None) -> int:
    """Print what differs; 0 if nothing does, 1 if something does, 2 if there is no release."""
    from rich.console import Console
    from rich.progress import Progress

    from bench.ground_truth import SHIPPED, NoReleaseError, drawn, recomputed

    try:
        rows = drawn(count, seed, folder or SHIPPED)
    except NoReleaseError as error:
        typer.echo(f"bench: {error}", err=True)
        return 2
    with Progress(console=Console(stderr=True)) as bars:
        bar = bars.add_task("points", total=len(rows))
        telling = workers(lambda done, total, what: bars.update(bar, completed=done, total=total))
        found = [*telling.each(recomputed, [(row,) for row in rows], "points")]
    same = sum(comparison.identical for comparison in found)
    apart = [(row, comparison) for row, comparison in zip(rows, found, strict=True) if comparison.beyond]
    for row, comparison in apart[:SHOWN]:
        typer.echo(f"{row['system_id']} {row['params']}: {'; '.join(comparison.beyond)}")
    typer.echo(
        f"{len(rows)} points labelled again: {same} the same to the last bit, {len(rows) - same - len(apart)} within"
        f" their error bars, {len(apart)} different"
    )
    return 1 if apart else 0
