"""Asking a model all questions, on Inspect: samples, the two attempts at each, their score, logs in shards.

What counts is predictions.jsonl (bench.runs), which `bench score` reads; the scorer here calls the same parser and the
same MCC, so that Inspect's viewer shows the same answers.
"""

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bench.answers import ERROR, INVALID, TRUE, Answer, parsed
from bench.elicitation import answer_position
from bench.intervals import confusion, mcc
from bench.models import Decoding, failure, model_called, redacted, secrets, tried
from bench.prompts import Prompt, temperature
from bench.runs import LOGS, Key, Run, item_of
from bench.tool_budget import Budget
from bench.tool_calls import generated, inspect_tools, told

SHARD = 2_000  # samples of a log: they are in memory together, some 15 KB each, until it is written
MOST_FAILURES = 25  # in a row, after which the provider is taken to be gone
RETRIES = 8  # of a call that was refused or cut off, with pauses that grow from 3 s
BROKEN = 3  # calls whose replies are no JSON, before that is what is recorded

Show = Callable[["Progress"], None]


class StoppedError(Exception):
    """The run cannot go on, for the reason given; what was recorded is kept."""


@dataclass
class Progress:
    """How far a run is, in questions; how many of them were asked now, and their tokens."""

    total: int
    done: int = 0
    asked: int = 0
    failures: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    in_a_row: int = 0


@dataclass(frozen=True)
class Asking:
    """What stays the same for all questions of a run.

    connections : calls at a time; wait : seconds for one call; origin : what stands in every row; tools : names of
    those that the model may call within `budget`
    """

    model: Any
    prompt: Prompt
    decoding: Decoding
    shots: str = ""
    epochs: int = 1
    connections: int = 10
    wait: int = 300
    origin: dict[str, Any] = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget)

    def text(self, question: str) -> str:
        """The whole text for one question."""
        return self.prompt.asked(question, self.shots) + (told(self.tools, self.budget) if self.tools else "")


def ready(
    name: str, base_url: str | None, prompt: Prompt, epochs: int, demanded: bool, wait: float = 300
) -> tuple[Any, Decoding]:  # fmt: skip
    """The model of this name and the decoding that it accepts; raises bench.models.ModelError.

    demanded : log-probabilities must come; wait : seconds for one call to a server that is there
    """
    wanted = Decoding(prompt.most_tokens(name), temperature(epochs), True)
    decoding = tried(lambda: model_called(name, base_url), wanted, demanded, wait)
    return model_called(name, base_url), decoding


def origin(name: str, called: str, decoding: Decoding, digest: str) -> dict[str, Any]:
    """What every row of a run says of where it comes from; `called` is the prompt's name, `digest` the data set's."""
    return {"model": name, "prompt": called, "decoding": asdict(decoding), "dataset_sha256": digest}


def keys_of(questions: pd.DataFrame, epochs: int) -> list[Key]:
    """Each question once in every epoch."""
    return [(str(name), epoch) for epoch in range(1, epochs + 1) for name in questions["id"]]


def evaluate(questions: pd.DataFrame, asking: Asking, run: Run, show: Show) -> Progress:
    """Ask what is left of a run. Raises StoppedError where the provider is gone, and KeyboardInterrupt."""
    keys = keys_of(questions, asking.epochs)
    left = run.left(keys)
    progress = Progress(len(keys), len(keys) - len(left))
    show(progress)
    known = questions.set_index("id", drop=False)
    try:
        for epoch in range(1, asking.epochs + 1):
            ids = [name for name, own in left if own == epoch]
            for start in range(0, len(ids), SHARD):
                rows = known.loc[ids[start : start + SHARD]].to_dict("records")
                _ask_shard(rows, epoch, asking, run, progress, show)
    finally:
        for log in (run.folder / LOGS).glob("*.eval"):
            hide(log)
    run.finish(keys)
    return progress


def _ask_shard(
    rows: Sequence[Mapping[Any, Any]], epoch: int, asking: Asking, run: Run, progress: Progress, show: Show
) -> None:
    from inspect_ai import eval as inspect_eval

    logs = inspect_eval(
        _task(rows, epoch, asking, run, progress, show), model=asking.model, log_dir=str(run.folder / LOGS),
        display="none", log_level="error", log_model_api=False, log_header_only=True, score_display=False,
        ctl_server=False, max_samples=asking.connections, max_connections=asking.connections, max_retries=RETRIES,
        attempt_timeout=asking.wait, metadata=asking.origin | {"epoch": epoch},
    )  # fmt: skip
    if not logs or logs[0].status == "cancelled":
        raise KeyboardInterrupt
    if logs[0].status != "success":
        raise StoppedError(redacted(logs[0].error.message if logs[0].error else logs[0].status))


def _task(
    rows: Sequence[Mapping[Any, Any]], epoch: int, asking: Asking, run: Run, progress: Progress, show: Show
) -> Any:  # fmt: skip
    from inspect_ai import Task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import GenerateConfig

    items = {row["id"]: item_of(row) for row in rows}
    samples = [
        Sample(input=asking.text(row["question"]), target=row["ground_truth"], id=row["id"],
               metadata={key: row.get(key) for key in ("type", "cluster", "group", "pair", "role", "gold3")})
        for row in rows
    ]  # fmt: skip
    return Task(
        dataset=MemoryDataset(samples, name="chaostruth"), solver=_asked(items, epoch, asking, run, progress, show),
        scorer=_scored(), config=GenerateConfig(**asking.decoding.arguments()), name=f"chaostruth_{asking.prompt.name}",
    )  # fmt: skip


def _asked(
    items: Mapping[str, Any], epoch: int, asking: Asking, run: Run, progress: Progress, show: Show
) -> Any:  # fmt: skip
    """The solver: ask, ask once more after an invalid reply, record what came."""
    from inspect_ai.model import ChatMessageUser
    from inspect_ai.solver import solver

    async def call(state: Any, generate: Any, tools: Any, spend: Callable[[], None]) -> str | None:
        """The error of a call that brought no output."""
        for n in range(1, BROKEN + 1):
            try:
                await generated(state, generate, tools, spend)
                return state.output.error
            except json.JSONDecodeError as error:
                if n == BROKEN:
                    return f"the reply is no JSON: {failure(error)}"
            except Exception as error:  # noqa: BLE001 - each provider has errors of its own, and each is recorded
                return failure(error)
        return None

    async def solve(state: Any, generate: Any) -> Any:
        attempts: list[dict[str, Any]] = []
        usage = {"input_tokens": 0, "output_tokens": 0}

        def spend() -> None:
            used = state.output.usage
            # what a provider had read before is no input by its count
            usage["input_tokens"] += (used.input_tokens + (used.input_tokens_cache_read or 0)) if used else 0
            usage["output_tokens"] += used.output_tokens if used else 0

        text, tools = state.input_text, None
        if asking.tools:
            from bench.tools import Tools

            tools = Tools(asking.tools, asking.budget)
            state.tools = inspect_tools(tools)
        while True:
            error = await call(state, generate, tools, spend)
            reply = None if error else state.output.completion
            attempts.append({"response": reply, "finish_reason": None if error else state.output.stop_reason,
                             "error": redacted(error) if error else None})  # fmt: skip
            if error:
                break
            if len(attempts) == 2 or not asking.prompt.again or parsed(**attempts[-1]).value != INVALID:
                break
            state.messages = [ChatMessageUser(content=asking.prompt.asked_again(text, reply or ""))]
        state.metadata["attempts"] = attempts
        run.record(
            {"id": state.sample_id, "epoch": epoch, "attempts": attempts,
             "logprobs": None if error else _logprobs(state.output), "usage": usage,
             "item": items[state.sample_id]} | asking.origin
        )  # fmt: skip
        progress.done += 1
        progress.asked += 1
        progress.tokens_in += usage["input_tokens"]
        progress.tokens_out += usage["output_tokens"]
        progress.failures += bool(error)
        progress.in_a_row = progress.in_a_row + 1 if error else 0
        show(progress)
        if progress.in_a_row >= MOST_FAILURES:
            raise StoppedError(f"the provider failed on {MOST_FAILURES} questions in a row: {error}")
        return state

    return solver(name="asked")(lambda: solve)()


def _logprobs(output: Any) -> dict[str, Any] | None:
    """Those of the first token that spells an answer, else of the first token of all."""
    found = output.choices[0].logprobs if output.choices else None
    if not found or not found.content:
        return None
    at = answer_position(token.token for token in found.content) or 0
    top = [[one.token, one.logprob] for one in found.content[at].top_logprobs or []]
    return {"position": at, "top": top, "k": len(top)}


def _scored() -> Any:
    """The scorer: 1 for a right answer, 0 for a wrong one, of what does not count neither."""
    from inspect_ai.scorer import SampleScore, Score, metric, scorer

    @metric(name="mcc")
    def correlation() -> Any:
        """MCC of the valid answers."""

        def value(scores: list[SampleScore]) -> float:
            valid = [one.score.metadata for one in scores if one.score.metadata["answer"] not in (INVALID, ERROR)]
            truth = np.array([one["truth"] for one in valid], dtype=bool)
            said = np.array([one["answer"] == TRUE for one in valid], dtype=bool)
            return float(mcc(confusion(truth, said, np.zeros(len(valid))).sum(axis=0))) if valid else 0.0

        return value

    @metric(name="invalid")
    def invalid() -> Any:
        """Share of the replies that give no answer."""

        def value(scores: list[SampleScore]) -> float:
            return float(np.mean([one.score.metadata["answer"] == INVALID for one in scores]))

        return value

    @scorer(metrics=[correlation(), invalid()], name="answer")
    def answer() -> Any:
        async def score(state: Any, target: Any) -> Any:
            found: Answer = parsed(**state.metadata["attempts"][-1])
            told = {"answer": found.value, "truth": target.text == TRUE}
            return Score(value="C" if found.value == target.text else "I", answer=found.value,
                         explanation=found.reason, metadata=told)  # fmt: skip

        return score

    return answer()


def hide(log: Path) -> None:
    """Take keys out of a log, into which a server has written them that repeats a key in its errors."""
    import zipfile_zstd  # noqa: F401 - comes with Inspect, and teaches zipfile the compression of its logs
    from inspect_ai.log import EvalLog, read_eval_log, write_eval_log

    if not zipfile.is_zipfile(log):
        return  # the run was killed before the log could be read
    with zipfile.ZipFile(log) as packed:
        repeated = any(key.encode() in packed.read(name) for name in packed.namelist() for key in secrets())
    if repeated:
        hidden = redacted(read_eval_log(str(log)).model_dump_json())
        write_eval_log(EvalLog.model_validate_json(hidden), str(log))
