"""`bench report`: what is known, as pages that open from disk."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import UsageError, fault_of, named, writable
from cli.score import FORMS, model_scores, questions_of

if TYPE_CHECKING:
    from labeling.workers import Fault

AUDIT, MODELS, GAMES = "audit", "models", "games"


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder for the pages; index.html is the first.")],
    systems: Annotated[list[str] | None, typer.Argument(metavar="[SYSTEM]...", help="Ids; none: all systems.")] = None,
    release: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Ground truth to show; else the shipped one.")
    ] = None,
    audit: Annotated[
        Path | None, typer.Option(metavar="DIR", help="What `bench audit --out DIR` wrote, to be shown too.")
    ] = None,
    predictions: Annotated[
        Path | None, typer.Option(metavar="PATH", help="Replies of models to show, a file or a folder of them.")
    ] = None,
    dataset: Annotated[
        Path | None, typer.Option(metavar="PATH", help="The questions that --predictions answers.")
    ] = None,
    episodes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Games that `bench play --out FILE` recorded, to be shown.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=4096, help="Processes; the pages are the same for any number.")] = (
        os.cpu_count() or 1
    ),
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Compute all orbits anew, and keep them.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print how many pages there are, and their size.")] = False,
) -> None:
    """Write an atlas of systems, and what is asked for beside it, as pages that need neither network nor server.

    Examples: [bold]bench report pages[/bold] · [bold]bench report pages lorenz63 henon[/bold] ·
    [bold]bench report pages --predictions runs --dataset questions.jsonl --audit audit[/bold]
    """
    from dynamics.registry import system_ids

    if (predictions is None) != (dataset is None):
        raise UsageError("--predictions and --dataset are given together: replies, and the questions they answer")
    chosen = [s for name in dict.fromkeys(systems or system_ids()) for s in named(name)]
    writable(folder)
    try:
        links = _beside(folder, audit, predictions, dataset, episodes)
        faults = _atlas(folder, chosen, release, jobs, no_cache, links)
    except KeyboardInterrupt:
        typer.echo("stopped; what was finished is kept, and the same command goes on from there", err=True)
        raise typer.Exit(2) from None
    except OSError as error:
        raise UsageError(f"{fault_of(error)}; pages that were finished are kept") from None
    _tell(folder, as_json)
    if faults:
        ids = ", ".join(fault.subject for fault in faults)
        typer.echo(f"{faults[0].trace}bench: a fault of the program left the pages of {ids} without pictures; please"
                   " report the lines above", err=True)  # fmt: skip
        raise typer.Exit(2)


def _atlas(
    folder: Path, chosen: list[Any], release: Path | None, jobs: int, fresh: bool, links: dict[str, str]
) -> "list[Fault]":
    from rich.console import Console
    from rich.progress import Progress

    from bench.ground_truth import SHIPPED, NoReleaseError
    from bench.report.atlas import write_atlas

    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as bars:
        bar = bars.add_task("orbits", total=len(chosen))

        def show(done: int, total: int, what: str) -> None:
            bars.update(bar, completed=done, total=total, description=what)

        try:
            return write_atlas(folder, chosen, release or SHIPPED, jobs, show, fresh, links)
        except NoReleaseError as error:
            raise UsageError(str(error)) from None


def _beside(
    folder: Path, audit: Path | None, predictions: Path | None, dataset: Path | None, episodes: Path | None
) -> dict[str, str]:
    """Write the pages that stand beside the atlas; their addresses by their names."""
    links = {}
    if audit is not None:
        links["Audit"] = _audit(folder / AUDIT, audit)
    if predictions is not None and dataset is not None:
        links["Models"] = _models(folder / MODELS, predictions, dataset)
    if episodes is not None:
        links["Games"] = _games(folder / GAMES, episodes)
    return links


def _audit(folder: Path, audit: Path) -> str:
    import pandas as pd

    from bench.report.audit_page import audit_page
    from cache.store import write_whole

    tables = {}
    for name in ("questions.csv", "systems.csv"):
        path = audit / name
        if not path.is_file():
            raise UsageError(f"--audit: there is no {name} in {audit}; `bench audit BENCHMARK --out {audit}` writes it")
        try:
            tables[name] = pd.read_csv(path, keep_default_na=False)
        except ValueError as error:  # of which pandas' errors about empty and malformed files are some
            raise UsageError(f"--audit: {path} cannot be read: {error}") from None
        write_whole(folder / name, path.read_bytes())
    try:
        page = audit_page("Audit", tables["questions.csv"], tables["systems.csv"], "bench audit", folder="../")
    except KeyError as error:
        raise UsageError(f"--audit: the tables of {audit} have no column {error}; `bench audit` writes them") from None
    write_whole(folder / "index.html", page.encode())
    return f"{AUDIT}/index.html"


def _models(folder: Path, predictions: Path, dataset: Path) -> str:
    from bench.published import beside
    from bench.report.score_page import score_page
    from cache.store import write_whole

    files = [predictions]
    if predictions.is_dir():
        files = sorted(path for path in predictions.glob("*") if path.suffix.lower() in FORMS)
    if not files or not files[0].is_file():
        raise UsageError(f"--predictions: {predictions} is no file and no folder with replies ({', '.join(FORMS)})")
    questions, digest, notes = questions_of(dataset)
    models, comparison, warnings = model_scores(files, questions, digest)
    title = f"{len(models)} model{'s' * (len(models) > 1)} on {dataset.name}"
    page = score_page(title, models, [*notes, *warnings], beside(digest), comparison, folder="../")
    write_whole(folder / "index.html", page.encode())
    return f"{MODELS}/index.html"


def _games(folder: Path, episodes: Path) -> str:
    from bench.games.episodes_file import read_episodes
    from bench.report.games_page import games_page
    from cache.store import write_whole

    try:
        rows = read_episodes(episodes)
    except ValueError as error:
        raise UsageError(str(error)) from None
    write_whole(folder / "index.html", games_page(rows, "../").encode())
    return f"{GAMES}/index.html"


def _tell(folder: Path, as_json: bool) -> None:
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    pages = [path.stat().st_size for path in folder.rglob("*.html")]
    if as_json:
        figures = {"folder": str(folder), "pages": len(pages), "bytes": sum(sizes), "largest_page": max(pages)}
        typer.echo(json.dumps(figures))
    else:
        typer.echo(f"{len(pages)} pages of {sum(sizes) / 1e6:.1f} MB, the largest {max(pages) / 1e6:.2f} MB; open"
                   f" {folder / 'index.html'}")  # fmt: skip
