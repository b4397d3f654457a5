"""`bench score`, `bench compare` and `bench leaderboard`: replies of models as scores."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import UsageError

if TYPE_CHECKING:
    import pandas as pd

    from bench.answered import Answered
    from bench.predictions_file import Predictions

SHOWN = 20  # faults of a file
FORMS = (".jsonl", ".csv", ".json", ".eval")
PREDICTIONS = "predictions.jsonl"

WHERE = "Questions (.jsonl or a folder), or a FOLIO or LogiQA file"
Dataset = Annotated[Path, typer.Option("--dataset", metavar="PATH", help=f"{WHERE}.")]
Given = Annotated[
    Path | None,
    typer.Option("--dataset", metavar="PATH", help=f"{WHERE}; not needed for replies that carry their questions."),
]
Split = Annotated[str | None, typer.Option("--split", metavar="A,B", help="Questions of these splits only.")]
Json = Annotated[bool, typer.Option("--json", help="Print scores as JSON.")]
Html = Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write a page that opens from disk.")]
Parser = Annotated[str, typer.Option("--parser", help="Of replies: default, or v2 for the published rule.")]
Rule = Annotated[str, typer.Option("--care", help="Flags: ours, or v2 with pc against 49.5 % TRUE.")]


def score(
    predictions: Annotated[Path, typer.Argument(metavar="PREDICTIONS", help="Replies: .jsonl, .csv, .json or .eval.")],
    dataset: Given = None,
    split: Split = None,
    as_json: Json = False,
    html: Html = None,
    parser: Parser = "default",
    rule: Rule = "ours",
    every: Annotated[bool, typer.Option("--baselines", help="All baselines, also those that are fitted.")] = False,
) -> None:
    """Score a model's replies to a set of questions: CARE, and CUC where statements and negations were asked.

    Replies are lines of id and response (and logprobs), our full form, a log of Inspect, or samples of
    lm-evaluation-harness. Ends with status 1 if the provider failed on over 1 % of the questions.

    Rows that carry their questions (those of `bench eval`, logs of Inspect, samples of the harness) need no --dataset.

    Examples: [bold]bench score replies.jsonl --dataset questions.jsonl[/bold] ·
    [bold]bench score run.eval --dataset ChaosBench-Logic --parser v2 --json[/bold]
    """
    said = _read(predictions)
    questions, digest, notes = questions_of(dataset) if dataset else questions_in([said])
    score_file(said, _of_splits(questions, split), digest, notes, as_json, html, parser, rule, every)


def score_file(
    said: "Predictions", questions: "pd.DataFrame", digest: str, notes: list[str], as_json: bool = False,
    html: Path | None = None, parser: str = "default", rule: str = "ours", every: bool = False, out: Path | None = None,
) -> None:  # fmt: skip
    """Print the scores of replies to the questions (of `questions_of`), and write them to `out`."""
    from bench.answered import MOST_ERRORS
    from bench.comparison import MixedError, check_same
    from cache.store import write_whole

    found = _answered(said, questions, parser)
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
    predictions: Annotated[list[Path], typer.Argument(metavar="A B ...", help="Files of replies, or folders.")],
    dataset: Given = None,
    split: Split = None,
    as_json: Json = False,
    html: Html = None,
    parser: Parser = "default",
    rule: Rule = "ours",
) -> None:
    """Compare models on the questions that all of them answered: differences, ranks, and what items tell.

    Intervals of all differences hold together. Other data sets or prompts are not mixed. Baselines and, on the
    published set, the published figures stand beside.

    Examples: [bold]bench compare a.jsonl b.jsonl --dataset questions.jsonl[/bold] ·
    [bold]bench leaderboard runs --dataset questions.jsonl --html board.html[/bold]
    """
    files = [file for path in predictions for file in _files(path)]
    if len(files) < 2 and not any(path.is_dir() for path in predictions):
        raise UsageError("two files of replies or more are needed; `bench score` scores one")
    _together(files, dataset, split, as_json, html, parser, rule)


def _files(path: Path) -> list[Path]:
    """The files of replies of a folder, or of the runs of `bench eval` in it or below; a file is itself."""
    if not path.is_dir():
        return [path]
    files = [*path.glob(f"**/{PREDICTIONS}")] or [one for one in path.glob("*") if one.suffix.lower() in FORMS]
    if not files:
        raise UsageError(f"{path} is no folder with replies ({', '.join(FORMS)})")
    return sorted(files)


def _together(
    files: list[Path], dataset: Path | None, split: str | None, as_json: bool, html: Path | None, parser: str, rule: str
) -> None:  # fmt: skip
    from bench.answered import baseline_tables
    from bench.care import standing

    all_said = [_read(path) for path in files]
    questions, digest, notes = questions_of(dataset) if dataset else questions_in(all_said)
    questions = _of_splits(questions, split)
    every = _all_answered(all_said, questions, parser)
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
    title = f"{len(models)} models" + (f" on {dataset.name}" if dataset else "")
    _deliver(models, notes, digest, as_json, html, title, out, comparison)


def model_scores(files: list[Path], questions: "pd.DataFrame", digest: str) -> tuple[dict[str, Any], Any, list[str]]:
    """All scores of several models (scores.json) by name, their comparison if there are two, and warnings."""
    every = _all_answered([_read(path) for path in files], questions, "default")
    comparison = _comparison(every, digest)
    made = {name: _scores(questions, said, found, digest, "default", "ours", False)
            for name, (said, found) in every.items()}  # fmt: skip
    return made, comparison, _warnings(every)


def _all_answered(
    replies: "list[Predictions]", questions: "pd.DataFrame", parser: str
) -> "dict[str, tuple[Predictions, Answered]]":
    """The replies by the models' names."""
    every: dict[str, tuple[Predictions, Answered]] = {}
    for said in replies:
        name = said.name if said.name not in every else f"{said.name} ({said.path.stem})"
        every[name] = said, _answered(said, questions, parser)
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


def questions_of(dataset: Path, without: Collection[str] | None = None) -> "tuple[pd.DataFrame, str, list[str]]":
    """The questions to score, their digest, and what the report must say of them.

    without : keys that are left out; if not given, those that no score looks at
    """
    from bench.cuc_sources import is_source, read_pairs
    from bench.questions_file import UNSCORED, digest, read_questions

    left_out = UNSCORED if without is None else without
    questions, faults = read_pairs(dataset) if is_source(dataset) else read_questions(dataset, left_out)
    return _to_score(questions, faults, digest(dataset))


def questions_in(replies: "list[Predictions]") -> "tuple[pd.DataFrame, str, list[str]]":
    """The same of the questions that files of replies carry; the digest is that of the first which has one."""
    from bench.questions_file import questions_within

    items: dict[str, dict[str, Any]] = {}
    for said in replies:
        for name, item in said.items.items():
            if items.setdefault(name, item).get("ground_truth") != item.get("ground_truth"):
                raise UsageError(f"{said.path}: the gold answer to {name} is not that of another file; "
                                 "--dataset PATH says which one holds")  # fmt: skip
    known = [said.origin["dataset_sha256"] for said in replies if "dataset_sha256" in said.origin]
    return _to_score(*questions_within(replies[0].path, items), known[0] if known else "")


def _to_score(questions: "pd.DataFrame", faults: list[Any], digest: str) -> "tuple[pd.DataFrame, str, list[str]]":
    from bench.answered import questions_to_score

    _tell(faults)
    if questions.empty:
        raise UsageError(str(faults[0]))
    own = "cluster" in questions and questions["cluster"].notna().any()
    notes = [] if own else ["the data set has no clusters: the system is the cluster"]
    return questions_to_score(questions), digest, notes


def listed(names: str | None) -> list[str]:
    """The names of an option such as "A,B"."""
    return [name.strip() for name in (names or "").split(",") if name.strip()]


def _of_splits(questions: "pd.DataFrame", split: str | None) -> "pd.DataFrame":
    from bench.questions_file import SplitError, in_splits

    try:
        return in_splits(questions, listed(split))
    except SplitError as error:
        raise UsageError(str(error)) from None


def _read(path: Path) -> "Predictions":
    from bench.predictions_file import read_predictions

    said = read_predictions(path)
    if said.table.empty:
        raise UsageError(str(said.faults[0]))
    _tell(said.faults)
    return said


def _answered(said: "Predictions", questions: "pd.DataFrame", parser: str) -> "Answered":
    from bench.answered import answered
    from bench.answers import PARSERS

    if parser not in PARSERS:
        raise UsageError(f"--parser {parser}: there are {' and '.join(PARSERS)}")
    found = answered(questions, said, PARSERS[parser])
    if not found.counts["replies"]:
        raise UsageError(f"{said.path}: none of its {len(said.table)} ids is a question of the data set, such as "
                         f"{said.table['id'].iloc[0]}")  # fmt: skip
    return found


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
    from cli.score_table import print_scores

    published = beside(digest)
    if html is not None:
        if html.is_dir():
            raise UsageError(f"--html: {html} is a folder; the name of a file is needed")
        write_whole(html, score_page(title, models, notes, published, comparison).encode())
    if as_json:
        typer.echo(json.dumps(out | {"notes": notes, "published": published}, ensure_ascii=False, allow_nan=False))
    else:
        print_scores(models, notes, published, comparison)
