"""`bench score`, `bench compare` and `bench leaderboard`: replies of models as scores."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from bench.answered import Answered
    from bench.predictions_file import Predictions

SHOWN = 20  # faults of a file
WIDE = 180  # columns, where nobody looks at a terminal
FIGURES = {"mcc": "MCC", "macro_family_mcc": "macro-family MCC", "mcc_strict": "MCC, invalid wrong",
           "accuracy": "accuracy"}  # fmt: skip
FORMS = (".jsonl", ".csv", ".json", ".eval")

Dataset = Annotated[
    Path, typer.Option("--dataset", metavar="PATH", help="Questions (.jsonl or a folder), or a FOLIO or LogiQA file.")
]
Json = Annotated[bool, typer.Option("--json", help="Print scores as JSON.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page that opens from disk.")]
Parser = Annotated[str, typer.Option("--parser", help="Of replies: default, or v2 for the published rule.")]
Rule = Annotated[str, typer.Option("--care", help="Flags: ours, or v2 with pc against 49.5 % TRUE.")]


def score(
    predictions: Annotated[Path, typer.Argument(metavar="PREDICTIONS", help="Replies: .jsonl, .csv, .json or .eval.")],
    dataset: Dataset,
    as_json: Json = False,
    html: Html = None,
    parser: Parser = "default",
    rule: Rule = "ours",
    every: Annotated[bool, typer.Option("--baselines", help="All baselines, also those that are fitted.")] = False,
) -> None:
    """Score a model's replies to a set of questions: CARE, and CUC where statements and negations were asked.

    Replies are lines of id and response (and logprobs), our full form, a log of Inspect, or samples of
    lm-evaluation-harness. Ends with status 1 if the provider failed on over 1 % of the questions.

    Examples: [bold]bench score replies.jsonl --dataset questions.jsonl[/bold] ·
    [bold]bench score run.eval --dataset ChaosBench-Logic --parser v2 --json[/bold]
    """
    score_file(predictions, *questions_of(dataset), as_json, html, parser, rule, every)


def score_file(
    predictions: Path, questions: "pd.DataFrame", digest: str, notes: list[str], as_json: bool = False,
    html: Path | None = None, parser: str = "default", rule: str = "ours", every: bool = False, out: Path | None = None,
) -> None:  # fmt: skip
    """Print the scores of a file of replies to the questions (of `questions_of`), and write them to `out`."""
    from bench.answered import MOST_ERRORS
    from bench.comparison import MixedError, check_same
    from cache.store import write_whole

    said, found = _answered(predictions, questions, parser)
    try:
        check_same({said.name: said.origin}, digest)
    except MixedError as error:
        raise UsageError(str(error)) from None
    made = _scores(questions, said, found, digest, parser, rule, every)
    if out is not None:
        write_whole(out, (json.dumps(made, ensure_ascii=False, allow_nan=False) + "\n").encode())
    _deliver({said.name: made}, [*notes, *found.warnings], digest, as_json, html, f"Scores of {said.name}", made)
    if found.counts["error_rate"] > MOST_ERRORS:
        raise typer.Exit(1)


def compare(
    predictions: Annotated[list[Path], typer.Argument(metavar="A B ...", help="Replies of two models or more.")],
    dataset: Dataset,
    as_json: Json = False,
    html: Html = None,
    parser: Parser = "default",
    rule: Rule = "ours",
) -> None:
    """Compare models on the questions that all of them answered: differences, ranks, and what items tell.

    Intervals of all differences hold together. Other data sets or prompts are not mixed.

    Example: [bold]bench compare a.jsonl b.jsonl --dataset questions.jsonl[/bold]
    """
    if len(predictions) < 2:
        raise UsageError("two files of replies or more are needed; `bench score` scores one")
    _together(predictions, dataset, as_json, html, parser, rule)


def leaderboard(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of files of replies.")],
    dataset: Dataset,
    as_json: Json = False,
    html: Html = None,
    parser: Parser = "default",
    rule: Rule = "ours",
) -> None:
    """Rank all models of a folder, with baselines and, on the published set, the published figures beside them.

    Example: [bold]bench leaderboard runs --dataset questions.jsonl --html board.html[/bold]
    """
    files = sorted(path for path in folder.glob("*") if path.suffix.lower() in FORMS) if folder.is_dir() else []
    if not files:
        raise UsageError(f"{folder} is no folder with replies ({', '.join(FORMS)})")
    _together(files, dataset, as_json, html, parser, rule)


def _together(files: list[Path], dataset: Path, as_json: bool, html: Path | None, parser: str, rule: str) -> None:
    from bench.answered import baseline_tables
    from bench.care import standing

    questions, digest, notes = questions_of(dataset)
    every = _all_answered(files, questions, parser)
    notes += _warnings(every)
    comparison = _comparison(every, digest)
    models = {name: _head(said, digest, parser, rule) | found.counts | standing(found.table, rule)
              for name, (said, found) in every.items()}  # fmt: skip
    beside = {name: standing(table, rule) for name, table in baseline_tables(questions).items()}
    models = {name: one | {"baselines": beside} for name, one in models.items()}
    if comparison:
        ranks = comparison["mcc"].get("ranks", {})
        models = dict(sorted(models.items(), key=lambda pair: ranks.get(pair[0], {}).get("rank", 0)))
    out = {"models": models, "comparison": comparison}
    _deliver(models, notes, digest, as_json, html, f"{len(models)} models on {dataset.name}", out, comparison)


def model_scores(files: list[Path], questions: "pd.DataFrame", digest: str) -> tuple[dict[str, Any], Any, list[str]]:
    """All scores of several models (scores.json) by name, their comparison if there are two, and warnings."""
    every = _all_answered(files, questions, "default")
    comparison = _comparison(every, digest)
    made = {name: _scores(questions, said, found, digest, "default", "ours", False)
            for name, (said, found) in every.items()}  # fmt: skip
    return made, comparison, _warnings(every)


def _all_answered(
    files: list[Path], questions: "pd.DataFrame", parser: str
) -> "dict[str, tuple[Predictions, Answered]]":
    """The replies of files by the models' names."""
    every: dict[str, tuple[Predictions, Answered]] = {}
    for path in files:
        said, found = _answered(path, questions, parser)
        every[said.name if said.name not in every else f"{said.name} ({path.stem})"] = said, found
    return every


def _warnings(every: "dict[str, tuple[Predictions, Answered]]") -> list[str]:
    return [f"{name}: {warning}" for name, (_, found) in every.items() for warning in found.warnings]


def _comparison(every: "dict[str, tuple[Predictions, Answered]]", digest: str) -> Any:
    from bench.comparison import MixedError, check_same, compared

    try:
        check_same({name: said.origin for name, (said, _) in every.items()}, digest)
        return compared({name: found.table for name, (_, found) in every.items()}) if len(every) > 1 else None
    except MixedError as error:
        raise UsageError(str(error)) from None


def questions_of(dataset: Path) -> "tuple[pd.DataFrame, str, list[str]]":
    """The questions to score, their digest, and what the report must say of them."""
    from bench.answered import questions_to_score
    from bench.cuc_sources import is_source, read_pairs
    from bench.questions_file import digest, read_questions

    questions, faults = read_pairs(dataset) if is_source(dataset) else read_questions(dataset)
    _tell(faults)
    if questions.empty:
        raise UsageError(str(faults[0]))
    own = "cluster" in questions and questions["cluster"].notna().any()
    notes = [] if own else ["the data set has no clusters: the system is the cluster"]
    return questions_to_score(questions), digest(dataset), notes


def _answered(path: Path, questions: "pd.DataFrame", parser: str) -> "tuple[Predictions, Answered]":
    from bench.answered import answered
    from bench.answers import PARSERS
    from bench.predictions_file import read_predictions

    if parser not in PARSERS:
        raise UsageError(f"--parser {parser}: there are {' and '.join(PARSERS)}")
    said = read_predictions(path)
    if said.table.empty:
        raise UsageError(str(said.faults[0]))
    _tell(said.faults)
    found = answered(questions, said, PARSERS[parser])
    if not found.counts["replies"]:
        raise UsageError(f"{path}: none of its {len(said.table)} ids is a question of the data set, such as "
                         f"{said.table['id'].iloc[0]}")  # fmt: skip
    return said, found


def _tell(faults: list[Any]) -> None:
    for fault in faults[:SHOWN]:
        typer.echo(f"bench: {fault}", err=True)
    if len(faults) > SHOWN:
        typer.echo(f"bench: and {len(faults) - SHOWN} more such lines, which are left out too", err=True)


def _scores(
    questions: "pd.DataFrame", said: "Predictions", found: "Answered", digest: str, parser: str, rule: str,
    every: bool,
) -> dict[str, Any]:  # fmt: skip
    from bench.answered import scores

    return _head(said, digest, parser, rule) | scores(questions, found, rule, every)


def _head(said: "Predictions", digest: str, parser: str, rule: str) -> dict[str, Any]:
    if rule not in ("ours", "v2"):
        raise UsageError(f"--care {rule}: there are ours and v2")
    return {"model": said.name, "dataset_sha256": digest, "parser": parser, "care": rule}


def _deliver(
    models: dict[str, Any], notes: list[str], digest: str, as_json: bool, html: Path | None, title: str, out: Any,
    comparison: Any = None,
) -> None:  # fmt: skip
    from bench.published import beside
    from bench.report.score_page import score_page
    from cache.store import write_whole

    published = beside(digest)
    if html is not None:
        if html.is_dir():
            raise UsageError(f"--html: {html} is a folder; the name of a file is needed")
        write_whole(html, score_page(title, models, notes, published, comparison).encode())
    if as_json:
        typer.echo(json.dumps(out | {"notes": notes, "published": published}, ensure_ascii=False, allow_nan=False))
    else:
        _print(models, notes, published, comparison)


def _print(models: dict[str, Any], notes: list[str], published: dict[str, Any], comparison: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    from bench.report.score_page import PAIRS, columns, figure, flagged

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDE)
    for note in notes:
        console.print(f"note: {note}", markup=False)
    ranks = comparison["mcc"].get("ranks", {}) if comparison else {}
    table = Table(box=None, pad_edge=False)
    for head in ("model", "rank", *FIGURES.values(), "TRUE %", "invalid %", "flags"):
        table.add_column(head)
    for name, one in columns(models).items():
        overall, rank = one["overall"], ranks.get(name)
        place = f"{rank['rank']} ({rank['lo']}-{rank['hi']})" if rank else ""
        table.add_row(name, place, *(figure(overall[key]) for key in FIGURES), _percent(overall["predicted_true"]),
                      _percent(overall["invalid_rate"]), flagged(one["flags"]))  # fmt: skip
    for name, one in published.items():
        row = [f"{one[key]:.4f}" if key in one else "" for key in FIGURES]
        table.add_row(f"{name} (published)", "", *row, "", "", "")
    console.print(table)
    if len(models) == 1:
        _print_families(console, columns(models))
    for name, one in models.items():
        pairs = one.get("pairs")
        if pairs and pairs["overall"]:
            shown = ", ".join(f"{label} {figure(pairs['overall'].get(key))}" for key, label in PAIRS.items())
            verdict = " and ".join(pairs["verdict"]) or "neither abstaining nor contradicting"
            console.print(f"{name}, pairs by {pairs['elicitation']}: {shown}; {verdict}", markup=False)
    for d in comparison["mcc"].get("differences", []) if comparison else []:
        told = "differ" if d["differ"] else "may be equal"
        console.print(f"{d['a']} - {d['b']}: MCC {d['difference']:+.4f} [{d['lo']:+.3f}, {d['hi']:+.3f}], {told}",
                      markup=False)  # fmt: skip


def _print_families(console: Any, beside: dict[str, Any]) -> None:
    from rich.table import Table

    from bench.report.score_page import figure

    table = Table(box=None, pad_edge=False, title="MCC by family", title_justify="left")
    for head in ("family", *beside):
        table.add_column(head)
    for family in sorted({family for one in beside.values() for family in one["families"]}):
        table.add_row(family, *(figure(one["families"].get(family, {}).get("mcc")) for one in beside.values()))
    console.print()
    console.print(table)


def _percent(found: dict[str, Any]) -> str:
    return "-" if found["value"] is None else f"{100 * found['value']:.2f}"
