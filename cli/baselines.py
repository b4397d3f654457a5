"""`bench baselines`: how far one gets with a file of questions without knowing anything."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import UsageError

if TYPE_CHECKING:
    from bench.baselines import Result

SHOWN = 20  # faults of a file
LIMIT, USUAL_LIMIT = 0.10, 0.15  # of the upper end of an MCC, and of that of the system's usual answer


def baselines(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A .jsonl of questions, or a folder of them.")],
    limit: Annotated[
        float, typer.Option(min=0, max=1, help="Of the upper end of each MCC, and its inverse's.")
    ] = LIMIT,
    usual_limit: Annotated[
        float, typer.Option("--usual-limit", min=0, max=1, help="Of that of the system's usual answer.")
    ] = USUAL_LIMIT,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table as JSON lines.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line instead of a table.")] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes; the figures do not depend on them.")] = 1,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of every random choice.")] = 0,
) -> None:
    """Measure the shortcuts of questions: predicate, form, shape, numbers, words, name, usual answer.

    Each is the MCC, with its 95 % interval, of answers learnt on other systems. Ends with status 1 if the upper end of
    any, or of its inverse, is over the limit, or if always TRUE or FALSE is right in less than 45 or more than 55 %.
    Lines that cannot be read are told and left out.

    Examples: [bold]bench baselines questions.jsonl[/bold] ·
    [bold]bench baselines ChaosBench-Logic/ --jobs 2 --json[/bold]
    """
    from bench.questions_file import read_questions

    if out is not None and out.is_dir():
        raise UsageError(f"--out: {out} is a folder; the name of a file is needed")
    questions, faults = read_questions(path)
    if questions.empty:
        raise UsageError(str(faults[0]))
    for fault in faults[:SHOWN]:
        typer.echo(f"bench: {fault}", err=True)
    if len(faults) > SHOWN:
        typer.echo(f"bench: and {len(faults) - SHOWN} more such lines, which are left out too", err=True)
    found = measured_baselines(questions, limit, usual_limit, jobs, seed)
    lines = [json.dumps(result.row(), ensure_ascii=False, allow_nan=False) for result in found]
    if out is not None:
        from cache.store import write_whole

        write_whole(out, "".join(f"{line}\n" for line in lines).encode())
    if as_json:
        for line in lines:
            typer.echo(line)
    else:
        print_baselines(found)
    if any(result.over for result in found):
        raise typer.Exit(1)


def measured_baselines(questions: Any, limit: float, usual_limit: float, jobs: int, seed: int) -> "list[Result]":
    """Every baseline on every family, with a bar while it takes long."""
    from rich.console import Console
    from rich.progress import Progress

    from bench.baselines import baselines as measured
    from labeling.workers import Workers

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        bar = bars.add_task("baselines", total=None)

        def show(done: int, total: int, what: str) -> None:
            bars.update(bar, completed=done, total=total, description=what)

        return measured(questions, limit, usual_limit, seed, Workers(jobs, show))


def print_baselines(found: "list[Result]") -> None:
    """A table for each family, and how many figures are over their limit."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    for family in dict.fromkeys(result.family for result in found):
        table = Table(box=None, pad_edge=False, title=family, title_justify="left", title_style="bold")
        for heading in ("baseline", "", "value", "95 % interval", "questions", "clusters", "", "why"):
            table.add_column(heading, justify="right" if heading in ("value", "questions", "clusters") else "left")
        for result in found:
            if result.family == family:
                one = result.found
                style = "red" if result.over else ""
                table.add_row(result.baseline, result.metric.upper() if result.metric == "mcc" else result.metric,
                              _figure(one.value), _range(one.lo, one.hi), str(one.n), str(one.n_clusters),
                              "over" if result.over else "", Text(one.reason or ""), style=style)  # fmt: skip
        console.print(table)
        console.print()
    over = sum(result.over for result in found)
    console.print(f"{over} of {sum(result.found.value is not None for result in found)} figures are over their limit")


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _range(lo: float | None, hi: float | None) -> str:
    return "" if lo is None or hi is None else f"{lo:.3f} .. {hi:.3f}"
