"""`bench generate`: a set of questions from the ground truth."""

import json
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.baselines import LIMIT, USUAL_LIMIT, measured_baselines, print_baselines
from cli.options import MAX_DIGITS, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress

    from bench.baselines import Result
    from bench.questions import Item
    from cache.results import Results
    from dynamics.system import System
    from labeling.workers import Workers


@dataclass(frozen=True)
class Wanted:
    """What set is asked for: rows of each family, the seed, book, language, and whether values are drawn anew."""

    sizes: "dict[str, int]"
    seed: int
    book: str
    lang: str
    fresh: bool
    release: Path | None
    own: "tuple[System, ...]" = ()


def generate(
    preset: Annotated[
        str | None, typer.Option(help="Sizes of all families: v2 (40,886 rows) or small (2,000).")
    ] = None,
    family: Annotated[
        list[str] | None, typer.Option(metavar="NAME=N", help="N rows of a family, instead of the preset's.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of every choice.")] = 0,
    book: Annotated[str, typer.Option(help="closed: name and parameters; open: the equations too.")] = "closed",
    lang: Annotated[str, typer.Option(help="Language of the questions: en or zh.")] = "en",
    fresh: Annotated[bool, typer.Option("--fresh", help="Draw new parameter values and label them now.")] = False,
    release: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Ground truth to ask about; else the shipped one.")
    ] = None,
    system: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="TOML of your own systems that --release has points of.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the rows, the card and the tasks.")] = Path("questions"),
    jobs: Annotated[int, typer.Option(min=1, max=4096, help="Processes for --fresh.")] = os.cpu_count() or 1,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Measure the set's shortcuts too, and put them into its card.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows, one JSON object a line.")] = False,
) -> None:
    """Write a set of questions: questions.jsonl, Parquet by split with a card, tasks for Inspect and lm-eval.

    The same command writes the same bytes. Every answer stands as often TRUE as FALSE, within each system and at each
    place of a parameter's range. A set with contradictions, repetitions or torn groups is refused. With --baselines it
    ends with status 1 if a shortcut is over its limit.

    Examples: [bold]bench generate --preset small --seed 1[/bold] · [bold]bench generate --preset v2 --book open[/bold]
    · [bold]bench generate --family atomic=500 --family multi_hop=200 --out mine[/bold] ·
    [bold]bench generate --preset small --seed 7 --fresh[/bold] ·
    [bold]bench generate --family atomic=500 --release mine --system ricker.toml[/bold]
    """
    from rich.console import Console
    from rich.progress import Progress

    from bench.dataset import PRESETS
    from bench.export import write_set
    from cache.store import write_whole

    begun = time.time()
    wanted = Wanted(_sizes(preset, family or [], PRESETS), seed, book, lang, fresh, release, _own(system or [], fresh))
    with Progress(console=Console(stderr=True), transient=True) as bars:
        rows = _rows(wanted, jobs, bars)
    command = _command(preset, family or [], wanted)
    write_set(out, rows, command)  # before they are measured, which takes longer than making them
    measured = _measured(out, jobs) if baselines else []
    if measured:
        write_set(out, rows, command, measured)
    write_whole(out / "run.json", (json.dumps({"seconds": round(time.time() - begun, 1)}) + "\n").encode())
    if as_json:
        for row in rows:
            typer.echo(json.dumps(row, ensure_ascii=False, allow_nan=False))
    else:
        _print(rows, out)
        if measured:
            print_baselines(measured)
    if any(result.over for result in measured):
        raise typer.Exit(1)


def _measured(folder: Path, jobs: int) -> "list[Result]":
    from bench.questions_file import read_questions

    return measured_baselines(read_questions(folder / "questions.jsonl")[0], LIMIT, USUAL_LIMIT, jobs, 0)


def _rows(wanted: Wanted, jobs: int, bars: "Progress") -> "list[Item]":
    from bench.dataset import BOOKS, OF_FIGURES, TooFewError, finished, made_of, questions
    from bench.diagnostics import by_point, chosen, diagnosed, kept_results, read_diagnostics, small
    from bench.fresh import fresh_points
    from bench.ground_truth import SHIPPED, NoReleaseError, brackets, points
    from bench.questions import world
    from bench.refusals import RefusedSetError, check
    from bench.rendering import LANGUAGES
    from cache.results import Results
    from labeling.provenance import identity

    for name, value, known in (("--book", wanted.book, BOOKS), ("--lang", wanted.lang, LANGUAGES)):
        if value not in known:
            raise UsageError(f"{name}: there is no {value!r}; there are {', '.join(known)}")
    bar = bars.add_task("ground truth", total=len(wanted.sizes) + 1)
    folder = wanted.release or SHIPPED
    try:
        table, between = points(folder), brackets(folder)
        _check_known({*table["system_id"]}, wanted.own, folder)
        provenance = made_of(folder, wanted.seed, {n: getattr(wanted, n) for n in ("book", "lang", "fresh")})
        workers = _workers(jobs, bars)
        if wanted.fresh:
            table = fresh_points(table, between, wanted.seed, workers("fresh values", Results(identity())))
        asked = world(table, between, wanted.lang, wanted.own, BOOKS[wanted.book])
        if wanted.book == "data" or {*OF_FIGURES} & {*wanted.sizes}:
            measured = (
                small(diagnosed(chosen(asked, wanted.seed), workers("fresh figures", kept_results())))
                if wanted.fresh
                else read_diagnostics(folder)
            )
            asked = replace(asked, numbers=by_point(measured))
        bars.update(bar, total=sum(wanted.sizes.values()))

        def told(name: str, done: int) -> None:
            bars.update(bar, description=name, completed=done)

        rows = questions(asked, wanted.sizes, wanted.seed, wanted.book, told)
        made = list(finished(rows, provenance))
        check(made)
    except FileNotFoundError as error:
        raise UsageError(f"there is no {Path(error.filename).name} in {folder}; `bench diagnostics {folder}` makes it,"
                         f" and {', '.join(OF_FIGURES)} and --book data need it") from None  # fmt: skip
    except (NoReleaseError, TooFewError, RefusedSetError) as error:
        raise UsageError(str(error)) from None
    return made


def _own(files: list[Path], fresh: bool) -> "tuple[System, ...]":
    """The systems of a user's files, none of which may be called as one of the list."""
    from dynamics.registry import system_ids, systems_in_file, variant_ids

    if files and fresh:
        raise UsageError("--fresh draws values for systems of the list; leave it or --system out")
    own = [s for file in files for s in systems_in_file(file)]
    taken = {*system_ids(), *variant_ids()}
    for s in own:
        if s.id in taken:
            raise UsageError(f"--system: {s.id} is in the list already, or is given twice; another name is needed")
        taken.add(s.id)
    return tuple(own)


def _check_known(system_ids: set[str], own: "tuple[System, ...]", folder: Path) -> None:
    from dynamics.registry import system_ids as listed
    from dynamics.registry import variant_ids

    unknown = sorted(system_ids - {*listed(), *variant_ids(), *(s.id for s in own)})
    if unknown:
        raise UsageError(f"{folder} has points of {unknown[0]}, which is not in the list of systems; "
                         f"--system {unknown[0]}.toml says what it is")  # fmt: skip
    without = [s.id for s in own if s.id not in system_ids]
    if without:
        raise UsageError(f"{folder} has no points of {without[0]}; "
                         f"`bench label {without[0]}.toml --sweep --release {folder}` puts them there")  # fmt: skip


def _workers(jobs: int, bars: "Progress") -> "Callable[[str, Results], Workers]":
    """Processes that tell how far they are, each kind of work in a bar of its own."""
    from labeling.workers import Workers

    def made(name: str, results: "Results") -> Workers:
        bar = bars.add_task(name, total=None)

        def show(done: int, total: int, what: str) -> None:
            bars.update(bar, completed=done, total=total, description=f"{name}: {what}")

        return Workers(jobs, show, results)

    return made


def _sizes(preset: str | None, family: list[str], presets: dict[str, dict[str, int]]) -> dict[str, int]:
    if preset is not None and preset not in presets:
        raise UsageError(f"--preset: there is no {preset!r}; there are {', '.join(presets)}")
    known = presets["v2"]
    sizes = dict(presets[preset]) if preset else {}
    for text in family:
        name, _, count = (part.strip() for part in text.partition("="))
        if name not in known:
            raise UsageError(f"--family: there is no {name!r}; there are {', '.join(known)}")
        if not (count.isascii() and count.isdigit() and len(count) <= MAX_DIGITS):
            raise UsageError(f"--family: {text!r} is not of the form NAME=N, such as atomic=500")
        sizes[name] = int(count)
    sizes = {name: count for name, count in sizes.items() if count}
    if not sizes:
        raise UsageError("no rows are asked for; give --preset v2, --preset small, or --family NAME=N")
    return sizes


def _command(preset: str | None, family: list[str], wanted: Wanted) -> str:
    parts = ["bench generate", f"--preset {preset}" if preset else "", *(f"--family {one}" for one in family)]
    parts += [f"--seed {wanted.seed}", f"--book {wanted.book}", f"--lang {wanted.lang}",
              "--fresh" if wanted.fresh else "", "--release DIR" if wanted.release else "",
              "--system FILE" if wanted.own else ""]  # fmt: skip
    return " ".join(part for part in parts if part)


def _print(rows: "list[Item]", out: Path) -> None:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("family", "rows", "TRUE", "systems", "clusters"):
        table.add_column(heading, justify="left" if heading == "family" else "right")
    for name, some in pd.DataFrame(rows).groupby("type"):
        table.add_row(str(name), f"{len(some)}", f"{(some['ground_truth'] == 'TRUE').mean():.1%}",
                      f"{some['system_id'].nunique()}", f"{some['cluster'].nunique()}")  # fmt: skip
    console = Console(highlight=False)
    console.print(table)
    console.print(f"{len(rows)} questions, written to {out}/")
