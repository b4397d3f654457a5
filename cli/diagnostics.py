"""`bench diagnostics`: indicators of a release's points under good and under bad conditions."""

from pathlib import Path
from typing import Annotated

import typer

from cli.options import UsageError


def diagnostics(
    release: Annotated[Path, typer.Argument(metavar="DIR", help="A ground-truth release; the table goes there too.")],
    jobs: Annotated[int, typer.Option(min=1, help="Processes; the table does not depend on them.")] = 1,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of the choice of points.")] = 0,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Compute everything anew.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Measure the points that indicator questions are about, properly and as one should not: diagnostics.parquet.

    A few points of every system of a release in which chaos and regular motion occur. What is finished is kept, and the
    same command goes on from there.

    Examples: [bold]bench diagnostics truth --jobs 2[/bold] · [bold]bench diagnostics truth --json[/bold]
    """
    import json

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from bench.diagnostics import FILE, chosen, diagnosed, kept_results, write_diagnostics
    from bench.ground_truth import NoReleaseError, brackets, points
    from bench.questions import world
    from labeling.workers import Workers

    try:
        found = chosen(world(points(release), brackets(release)), seed)
    except NoReleaseError as error:
        raise UsageError(str(error)) from None
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    try:
        with Progress(*columns, console=Console(stderr=True)) as bars:
            bar = bars.add_task("diagnostics", total=None)

            def show(done: int, total: int, what: str) -> None:
                bars.update(bar, completed=done, total=total, description=f"diagnostics: {what}")

            table = diagnosed(found, Workers(jobs, show, kept_results(fresh=no_cache)))
    except KeyboardInterrupt:
        typer.echo("stopped; what was finished is kept, and the same command goes on from there", err=True)
        raise typer.Exit(2) from None
    write_diagnostics(release, table)
    counts = {"numbers": len(table), "points": len(table[["system_id", "params"]].drop_duplicates()),
              "systems": int(table["system_id"].nunique())}  # fmt: skip
    if as_json:
        typer.echo(json.dumps(counts))
    else:
        numbers, asked, systems = counts.values()
        typer.echo(f"{numbers} numbers of {asked} points of {systems} systems, written to {release / FILE}")
