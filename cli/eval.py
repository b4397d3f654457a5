"""`bench eval`: asks a model, shows how far it is, and scores what it replied."""

import json
import re
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import UsageError
from cli.score import Dataset, Split, listed, questions_of, score_file

if TYPE_CHECKING:
    import pandas as pd

    from bench.runs import Run
    from bench.tasks import Asking
    from bench.tasks import Progress as Asked

SCORES = "scores.json"
CHARACTERS = 4  # of a token, about


def evaluate(
    dataset: Dataset,
    model: Annotated[str | None, typer.Option(metavar="PROVIDER/NAME", help="As Inspect names it.")] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="Of a server that speaks OpenAI's protocol.")
    ] = None,
    prompt: Annotated[str, typer.Option(help="v2 (as published), direct, cot, or cuc (pairs only).")] = "direct",
    limit: Annotated[int | None, typer.Option(min=1, help="Ask N questions, drawn evenly.")] = None,
    families: Annotated[str | None, typer.Option(metavar="A,B", help="Ask these families only.")] = None,
    split: Split = None,
    shots: Annotated[int, typer.Option(min=0, max=64, help="Answered examples in front, from the split train.")] = 0,
    epochs: Annotated[int, typer.Option(min=1, max=1000, help="Ask each question N times, at temperature 1.")] = 1,
    ablate: Annotated[
        str | None, typer.Option(metavar="PART", help="Leave out name, params or premises: scores should fall to 0.")
    ] = None,
    logprobs: Annotated[
        bool, typer.Option("--logprobs", help="Refuse a model without log-probabilities, which else are left out.")
    ] = False,
    tools: Annotated[
        str | None, typer.Option(metavar="A,B", help="Let the model call simulate, indicator: our simulator.")
    ] = None,
    tool_calls: Annotated[int, typer.Option("--tool-calls", min=1, help="Calls of tools for one question.")] = 8,
    tool_seconds: Annotated[
        float, typer.Option("--tool-seconds", min=0.1, help="CPU seconds that they may take together.")
    ] = 60.0,
    max_connections: Annotated[int, typer.Option("--max-connections", min=1, max=1000, help="Calls at a time.")] = 10,
    timeout: Annotated[int, typer.Option(min=1, help="Seconds for one call, after which it is made again.")] = 300,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the folder.")] = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Tell calls, tokens and cost; ask nothing.")] = False,
    prices: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML: for each model, input and output per million tokens.")
    ] = None,
    human: Annotated[bool, typer.Option("--human", help="Write a sheet to fill in; ask no model.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the run; else runs/MODEL/PROMPT.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print scores as JSON.")] = False,
) -> None:
    """Ask a model the questions of a data set and score it: CARE, flags, CUC, with baselines beside it.

    Runs on Inspect AI, which `pip install 'chaostruth\\[eval]'` brings. Keys are read from the environment only
    (OPENAI_API_KEY and the like). Every reply is kept when it comes; a stopped run goes on with --resume.

    Examples: [bold]bench eval --dataset questions.jsonl --model openai/gpt-4o --limit 500[/bold] ·
    [bold]bench eval --dataset questions.jsonl --model local/llama --base-url http://127.0.0.1:8000/v1[/bold] ·
    [bold]bench eval --dataset questions.jsonl --model ollama/llama3.1 --prompt cot --resume[/bold] ·
    [bold]bench eval --dataset questions.jsonl --model agent/lambda1 --tools indicator[/bold] (a scripted reference)
    """
    from bench.models import Decoding
    from bench.prompts import asked_questions, prompts, shots_text
    from bench.runs import Run
    from bench.tasks import Asking, origin, ready
    from bench.tool_budget import AGENT, Budget, named_tools

    if prompt not in prompts():
        raise UsageError(f"--prompt {prompt}: there are {', '.join(prompts())}")
    if model is None and not human:
        raise UsageError("--model PROVIDER/NAME is needed, or --human for a sheet to fill in")
    chosen, name = prompts()[prompt], model or "human"
    price = _price(prices, name)
    with _sentences():
        allowed, budget = named_tools(tools), Budget(tool_calls, tool_seconds)
        called = chosen.called(shots, ablate, budget.called(allowed))
        place = out or Path("runs") / _slug(name) / _slug(called)
        asked = (None, Decoding(0, None, False)) if name == AGENT else None
        if not (human or estimate or asked):  # what may fail comes first
            asked = ready(name, base_url, chosen, epochs, logprobs, timeout)
        questions, digest, notes = questions_of(dataset, () if name == AGENT else None)
        rows = asked_questions(questions, chosen, listed(families), limit, shots, ablate, listed(split))
        front = shots_text(questions, chosen, shots)
        if human:
            return _write_sheet(place, rows)
        if asked is None:
            texts = [chosen.asked(text, front) for text in rows["question"]]
            return _print_estimate(name, texts, chosen.most_tokens(name), epochs, price)
        told = origin(name, called, asked[1], digest)
        run = Run(place, told | {"base_url": base_url}, resume)
    questions = questions[questions["id"].isin(rows["id"])]
    asking = Asking(asked[0], chosen, asked[1], front, epochs, max_connections, timeout, told, allowed, budget)
    _ask(rows, asking, run, price)
    _score(run, questions, digest, notes, as_json)


@contextmanager
def _sentences() -> Iterator[None]:
    """What cannot be asked is told as wrong use."""
    from bench.models import ModelError
    from bench.prompts import PromptError
    from bench.questions_file import SplitError
    from bench.runs import RunError
    from bench.tool_budget import ToolError

    try:
        yield
    except (ModelError, PromptError, RunError, SplitError, ToolError) as error:
        raise UsageError(str(error)) from None


def _ask(rows: "pd.DataFrame", asking: "Asking", run: "Run", price: tuple[float, float] | None) -> None:
    """Ask with a bar, and write how long it took."""
    from bench.tasks import StoppedError
    from cache.store import write_whole

    if asking.model is None:
        from bench.tool_agent import evaluate as answered  # the simulator, which needs memory
    else:
        from bench.tasks import evaluate as answered
    again = f"what was recorded is kept; the same command with --resume goes on in {run.folder}"
    begun = time.time()
    with _bar(begun, price) as show:
        try:
            made = answered(rows, asking, run, show)
        except StoppedError as error:
            raise UsageError(f"{error}; {again}") from None
        except KeyboardInterrupt:
            typer.echo(f"stopped; {again}", err=True)
            raise typer.Exit(2) from None
    seconds = time.time() - begun
    row = {"seconds": round(seconds, 1), "asked": made.asked, "failures": made.failures,
           "input_tokens": made.tokens_in, "output_tokens": made.tokens_out}  # fmt: skip
    write_whole(run.folder / "run.json", (json.dumps(row) + "\n").encode())
    cost = "" if price is None else f", cost {_cost(made.tokens_in, made.tokens_out, price):.2f}"
    rate = made.asked / max(seconds, 1e-3)
    tokens = f"{made.tokens_in} tokens in, {made.tokens_out} out{cost}"
    typer.echo(f"{made.asked} asked in {seconds:.0f} s ({rate:.1f}/s), {made.failures} failed, {tokens}", err=True)


@contextmanager
def _bar(begun: float, price: tuple[float, float] | None) -> "Iterator[Callable[[Asked], None]]":
    """What shows how far a run is, with its rate and its cost so far."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"), TimeRemainingColumn()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        bar = bars.add_task("", total=None)

        def show(now: "Asked") -> None:
            rate = now.asked / max(time.time() - begun, 1e-3)
            cost = "" if price is None else f", {_cost(now.tokens_in, now.tokens_out, price):.2f} so far"
            told = f"{rate:.1f} a second, {now.failures} failed{cost}"
            bars.update(bar, completed=now.done, total=now.total, description=told)

        yield show


def _score(run: "Run", questions: "pd.DataFrame", digest: str, notes: list[str], as_json: bool) -> None:
    """Score what the folder of a run holds now, and tell where it is."""
    from bench.predictions_file import read_predictions
    from bench.runs import LOGS

    logs = run.folder / LOGS  # a scripted agent writes none
    calls = f"; `inspect view --log-dir {logs}` shows the calls" if logs.exists() else ""
    notes = [*notes, f"replies and scores are in {run.folder}{calls}"]
    said = read_predictions(run.path, items=False)
    score_file(said, questions, digest, notes, as_json, out=run.folder / SCORES)


def _write_sheet(place: Path, rows: "pd.DataFrame") -> None:
    """A table of the questions with a column to fill in."""
    from cache.store import write_whole

    path = place / "sheet.csv"
    if path.exists():
        raise UsageError(f"{path} is there already; --out names another folder")
    write_whole(path, rows[["id", "question"]].assign(response="").to_csv(index=False).encode())
    typer.echo(
        f"{path}: {len(rows)} questions; write TRUE or FALSE under response, then `bench score {path} --dataset ..`"
    )


def _print_estimate(
    model: str, texts: list[str], tokens: int, epochs: int, price: tuple[float, float] | None
) -> None:  # fmt: skip
    """What a run would take at most."""
    calls = len(texts) * epochs
    tokens_in = sum(len(text) for text in texts) * epochs // CHARACTERS
    typer.echo(f"{model}: {calls} calls and at most as many again after invalid replies; about {tokens_in} tokens in, "
               f"at most {calls * tokens} out")  # fmt: skip
    if price is None:
        typer.echo("the cost is told with --prices FILE")
    else:
        typer.echo(f"cost at most {_cost(tokens_in, calls * tokens, price):.2f}, twice that with second calls")


def _price(path: Path | None, model: str) -> tuple[float, float] | None:
    """What a million tokens in and out cost."""
    if path is None:
        return None
    try:
        row = tomllib.loads(path.read_text("utf-8"))[model]
        return float(row["input"]), float(row["output"])
    except (ValueError, TypeError, KeyError):
        raise UsageError(f'--prices {path}: a table ["{model}"] with input and output, each the price of a million '
                         "tokens, is needed") from None  # fmt: skip


def _cost(tokens_in: int, tokens_out: int, price: tuple[float, float]) -> float:
    return (tokens_in * price[0] + tokens_out * price[1]) / 1e6


def _slug(text: str) -> str:
    return re.sub(r"[^\w.-]+", "_", text)
