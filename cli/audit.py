"""`bench audit`: a foreign benchmark beside measured ground truth."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import UsageError

if TYPE_CHECKING:
    import pandas as pd


def audit(
    path: Annotated[
        Path, typer.Argument(help="A ChaosBench-Logic checkout, a folder of .jsonl files, or one such file.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for index.html, questions.csv and systems.csv.")] = Path("audit"),
    release: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Ground truth to compare with; else the shipped one.")
    ] = None,
    shortcuts: Annotated[
        bool, typer.Option("--baselines", help="Also measure how far one gets without knowing any system.")
    ] = False,
    jobs: Annotated[int, typer.Option(min=1, help="Processes for the baselines.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the totals as JSON.")] = False,
) -> None:
    """Compare a benchmark's answers with measured labels, row by row.

    Every row is confirmed, contradicted, a matter of definition, undecidable as posed, open, or malformed, with the
    figure that shows it. Exit status 1 where rows are contradicted.

    Examples: [bold]bench audit ChaosBench-Logic[/bold] · [bold]bench audit data/v22_atomic.jsonl --out page[/bold]
    """
    from rich.console import Console
    from rich.progress import track

    from bench.audit import CheckoutError, assignments, audited, systems, truth_of, with_findings
    from bench.baselines import LIMIT, USUAL_LIMIT
    from bench.ground_truth import SHIPPED, NoReleaseError
    from bench.questions_file import read_questions
    from bench.report.audit_page import audit_page
    from cache.store import write_whole
    from cli.baselines import measured_baselines, print_baselines

    questions, faults = read_questions(path)
    for fault in faults:
        typer.echo(f"bench: {fault}", err=True)
    if not len(questions):
        raise UsageError(f"{path} has no question that could be read")
    try:
        truth = truth_of(release or SHIPPED)
    except NoReleaseError as error:
        raise UsageError(str(error)) from None
    steps = track(audited(questions, truth), "questions", total=len(questions), console=Console(stderr=True))
    table = with_findings(questions, list(steps))
    try:
        stated = systems(assignments(path), truth)
    except CheckoutError as error:
        raise UsageError(str(error)) from None
    found = measured_baselines(questions, LIMIT, USUAL_LIMIT, jobs, seed=0) if shortcuts else []
    out.mkdir(parents=True, exist_ok=True)
    columns = ["id", "type", "system_id", "question", "ground_truth", "verdict", "reason", "figure", "notes"]
    write_whole(out / "questions.csv", table[columns].to_csv(index=False).encode())
    write_whole(out / "systems.csv", stated.to_csv(index=False).encode())
    page = audit_page(f"Audit of {path.name}", table, stated, f"bench audit {path}", [x.row() for x in found])
    write_whole(out / "index.html", page.encode())
    if as_json:
        typer.echo(json.dumps(_totals(table, stated)))
    else:
        if found:
            print_baselines(found)
        _print(table, stated, out)
    if (table["verdict"] == "contradicted").any():
        raise typer.Exit(1)


def _totals(table: "pd.DataFrame", stated: "pd.DataFrame") -> dict[str, object]:
    from bench.report.audit_page import kinds_of_notes, totals

    return {
        "families": totals(table).to_dict("index"),
        "systems": stated["verdict"].value_counts().to_dict(),
        "notes": dict(kinds_of_notes(table).most_common()),
    }


def _print(table: "pd.DataFrame", stated: "pd.DataFrame", out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    from bench.report.audit_page import kinds_of_notes, totals

    counts = totals(table)
    shown = Table(box=None, pad_edge=False)
    for heading in ("family", *counts.columns):
        shown.add_column(heading, justify="left" if heading == "family" else "right")
    for family, row in zip(counts.index, counts.to_numpy().tolist(), strict=True):
        shown.add_row(str(family), *map(str, row))
    shown.add_row("all", *map(str, counts.sum().tolist()), style="bold")
    console = Console()
    console.print(shown)
    if len(stated):
        by = stated.groupby("verdict")["system_id"].agg(["size", "nunique"])
        for verdict in ("contradicted", "undecidable"):
            if verdict in by.index:
                size, systems = by.loc[verdict]
                console.print(f"{size} of {len(stated)} truth values of systems {verdict}, in {systems} systems")
    for note, count in kinds_of_notes(table).most_common():
        console.print(f"{count} rows: {note}", highlight=False)
    console.print(f"written to {out}/index.html, questions.csv and systems.csv", highlight=False)
