"""`bench label`: labels and thresholds, from the equations."""

import json
import os
import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import UsageError, chosen_grids, chosen_systems, chosen_workers, fault_of, writable
from cli.recheck import recheck_file
from cli.verify import verify_release

if TYPE_CHECKING:
    from collections.abc import Callable

    from cli.options import Grid
    from dynamics.system import System
    from labeling.labels import Row
    from labeling.sweeps import SweepResult
    from labeling.workers import Fault, Workers

MANY = 40  # sweeps, from which each is the work of one process


def label(
    systems: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SYSTEM]...", help="Ids, or TOML files of your own; none: the curated ones."),
    ] = None,
    sweep: Annotated[bool, typer.Option("--sweep", help="Label a grid too, and bracket its thresholds.")] = False,
    param: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=LO:HI:N",
            help="The grid: N values of one parameter (implies --sweep); given twice, a map over two.",
        ),
    ] = None,
    assign: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Give a parameter another value.")
    ] = None,
    start: Annotated[
        str | None, typer.Option(metavar="x=..,y=..", help="Start from this state instead of the row's.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Label all systems, those of dysts too.")] = False,
    variants: Annotated[
        bool, typer.Option("--variants", help="Label the variants too: noise, forcing, delay or a copy added.")
    ] = False,
    points: Annotated[
        int | None, typer.Option(min=2, help="Points of each sweep, at short decimals, instead of those of its row.")
    ] = None,
    all_sets: Annotated[
        bool,
        typer.Option("--all-sets", help="Label the system over all sets of its box, not one orbit."),
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, max=4096, help="Processes (if not given, one a core); the result is the same for any."),
    ] = None,
    backend: Annotated[
        str | None, typer.Option(metavar="dask|ray", help="Let a cluster that runs already do the work.")
    ] = None,
    address: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Where that cluster answers.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of every random choice.")] = 0,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Compute everything anew, and keep it for the next time.")
    ] = False,
    out: Annotated[Path, typer.Option(help="Folder for the files and sweeps/.")] = Path("out"),
    explain: Annotated[
        bool, typer.Option("--explain", help="Print the decision behind each label, to be checked by hand.")
    ] = False,
    release: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Put all points and brackets into the ground-truth release there too."),
    ] = None,
    verify: Annotated[
        int | None,
        typer.Option(min=1, help="Label N random points of a release (of --release DIR) again, and compare."),
    ] = None,
    recheck: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Prove the certificates in a file again, from it alone.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the label rows, one JSON object a line.")] = False,
) -> None:
    """Label systems: regime, indicators with error bars, predicates with their basis.

    Examples: [bold]bench label lorenz63 --set rho=24.5[/bold] · [bold]bench label henon --sweep[/bold] ·
    [bold]bench label logistic_r4 --param r=3.5:3.6:200[/bold] · [bold]bench label henon --explain[/bold] ·
    [bold]bench label --recheck out/certificates.jsonl[/bold] ·
    [bold]bench label --all --variants --sweep --points 32 --release truth[/bold] ·
    [bold]bench label --verify 5 --release truth[/bold] ·
    [bold]bench label --all --sweep --backend dask --address tcp://10.0.0.1:8786[/bold]
    """
    if recheck is not None:
        raise typer.Exit(recheck_file(recheck))
    placed = chosen_workers(jobs, backend, address)
    if verify is not None:
        with placed as workers:
            raise typer.Exit(verify_release(verify, workers, seed, release))
    begun = time.time()
    if all_sets and start is not None:
        raise UsageError("--all-sets labels the system over all its sets and --start one orbit; give one of them")
    chosen = chosen_systems(systems or [], assign or [], start, every, variants)
    grids = chosen_grids(chosen, param or [], points) if sweep or param else []
    try:
        with placed as workers:
            writable(out)
            if release is not None:
                _checked(release)
            rows, results, faults = _measured(chosen, grids, workers, seed, out, all_sets, no_cache, release)
    except KeyboardInterrupt:
        typer.echo("stopped; what was finished is kept, and the same command goes on from there", err=True)
        raise typer.Exit(2) from None
    except OSError as error:
        raise UsageError(f"{fault_of(error)}; files that were finished are kept") from None
    run = {
        "seconds": round(time.time() - begun, 1),
        "jobs": None if backend else jobs or os.cpu_count() or 1,
        "backend": backend,
        "machine": platform.machine(),
        "python": platform.python_version(),
    }
    from cache.store import write_whole

    write_whole(out / "run.json", (json.dumps(run) + "\n").encode())
    if as_json:
        from bench.release import public

        for row in rows:
            typer.echo(json.dumps(public(row), ensure_ascii=False, allow_nan=False))
    elif explain:
        from cli.explain import explanation

        typer.echo("\n\n".join(explanation(row) for row in rows))
    else:
        _print_tables(rows, results, out)
    if faults:
        typer.echo(_lost(faults), err=True)
        raise typer.Exit(2)


def _measured(
    chosen: "list[System]",
    grids: "list[Grid]",
    workers: "Callable[..., Workers]",
    seed: int,
    out: Path,
    all_sets: bool,
    no_cache: bool,
    release: Path | None,
) -> "tuple[list[Row], list[SweepResult], list[Fault]]":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from bench.ground_truth import published, write_release
    from bench.release import write_certificates, write_labels, write_map, write_sweep, write_sweeps, write_thresholds
    from bench.report.orbit_diagram import pictures
    from cache.results import Results
    from labeling.points import label as label_of
    from labeling.provenance import identity
    from labeling.settings import Settings
    from labeling.sweeps import mapped, swept
    from labeling.workers import Fault

    settings, kept = Settings(seed=seed), Results(identity(), fresh=no_cache)
    drawn = pictures(fresh=no_cache)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bars:

        def progress_of(name: str) -> "Workers":
            bar = bars.add_task(name, total=None)

            def show(done: int, total: int, what: str) -> None:
                bars.update(bar, completed=done, total=total, description=f"{name}: {what}")

            return workers(show, kept)

        tasks = [(s, settings, all_sets) for s in chosen]
        rows: list[Row] = []
        faults: list[Fault] = []
        for row in progress_of("labels").each(label_of, tasks, "systems", faults if len(tasks) > 1 else None):
            rows.append(row)
            write_labels(out, rows)
        sweeps, maps = [g for g in grids if len(g) == 2], [g for g in grids if len(g) == 3]
        for s, first, second in maps:
            write_map(out, mapped(s, first, second, settings, progress_of(f"{s.id} map")), drawn)
        results: list[SweepResult] = []
        if len(sweeps) > MANY:  # a process for each sweep is less idle than all processes within one
            made = progress_of("sweeps").each(swept, [(s, grid, settings) for s, grid in sweeps], "sweeps", faults)
        else:
            made = (swept(s, grid, settings, progress_of(f"{s.id} {grid.parameter}")) for s, grid in sweeps)
        for result in made:
            results.append(result)
            write_sweep(out, result, drawn)
            write_thresholds(out, results, settings)
            write_sweeps(out, results, settings)
        write_certificates(out, rows, results)
        if release is not None:
            versions = [(version, settings) for s in chosen for version in published(s)]
            asked = list(progress_of("published").each(label_of, versions, "values"))
            write_release(release, rows, results, asked, settings)
    return rows, results, faults


def _checked(release: Path) -> None:
    """A damaged release is told of before anything is computed."""
    from bench.ground_truth import NoReleaseError, held

    try:
        held(release)
    except NoReleaseError as error:
        raise UsageError(f"{error}; mend or remove it, or name another folder with --release") from None


def _lost(faults: "list[Fault]") -> str:
    ids = ", ".join(fault.subject for fault in faults)
    return (
        f"{faults[0].trace}bench: a fault of the program, not of its input, left {ids} without a label; all others are"
        " written. Please report the lines above"
    )


def _print_tables(rows: "list[Row]", results: "list[SweepResult]", out: Path) -> None:
    from collections import Counter

    from rich.console import Console
    from rich.table import Table

    from labeling.windows import resolutions

    table = Table(box=None, pad_edge=False)
    for heading in ("system", "regime", "largest exponent", "K", "brackets"):
        table.add_column(heading)
    for row in rows:
        mine = [r for r in results if r.system.id == row["system_id"]]
        k = row["indicators"]["zero_one_k"]["value"]
        table.add_row(
            row["system_id"], _regime(row), _figure(row["indicators"]["lyapunov_max"]),
            "-" if k is None else f"{k:.3f}",
            str(sum(len(r.brackets) for r in mine)) if mine else "-",
        )  # fmt: skip
        for r in mine:
            counts = Counter(p.verdict.regime.replace("_", " ") for p in r.points).most_common()
            grid = f"  {r.sweep.parameter} = {r.sweep.lo:g} .. {r.sweep.hi:g}"
            seen = f"windows from {resolutions(r.sweep)[0]:.2g}"
            table.add_row(grid, "\n".join(f"{n} {regime}" for regime, n in counts), seen, style="dim")
    console = Console()
    console.print(table)
    console.print(f"written to {out}/", highlight=False)


def _regime(row: "Row") -> str:
    if row["regime"] == "undecided":
        return f"undecided ({row['reason']})"
    if row["regime"] == "periodic":
        return f"periodic, {row['period'] if row['period'] is not None else 'T = ' + format(row['period_time'], '.6g')}"
    return str(row["regime"]).replace("_", " ")


def _figure(figures: "Row") -> str:
    if figures["value"] is None:
        return str(figures["status"])
    return f"{figures['value']:.5f} ± {figures['error']:.5f}"
