"""The page of all commands and public functions, from their own texts: `python -m benchmarks.reference`.

A test holds docs/reference.md to what this gives.
"""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

from typer.main import get_command

from cli.main import app

PAGE = Path(__file__).parent.parent / "docs" / "reference.md"
OF_THE_MACHINE = ("jobs",)  # options whose default depends on where the command runs
FUNCTIONS = {
    "Systems": ("dynamics.registry.system", "dynamics.registry.systems_in_file", "dynamics.registry.variant_ids",
                "dynamics.system.System.with_values"),
    "Labels": ("labeling.points.label", "labeling.sweeps.swept", "labeling.exponents.exponents_over",
               "labeling.recheck.recheck"),
    "Indicators": ("indicators.lyapunov.lyapunov_spectrum", "indicators.lyapunov.lyapunov_max",
                   "indicators.zero_one.zero_one_k", "indicators.entropy.permutation_entropy",
                   "indicators.megno.megno", "indicators.dimension.kaplan_yorke_dimension",
                   "indicators.correlation_dimension.correlation_dimension", "indicators.alignment.gali",
                   "indicators.rotation.rotation_number", "indicators.power_spectrum.spectral_lines",
                   "indicators.decay.decay_of_correlation", "indicators.series_exponent.series_exponent",
                   "indicators.surrogates.surrogate_test"),
    "Axioms": ("labeling.axioms.published", "labeling.axioms.repaired", "labeling.axioms.entailment",
               "labeling.axioms.violations"),
    "Ground truth that is shipped": ("bench.ground_truth.points", "bench.ground_truth.brackets",
                                     "bench.ground_truth.sweeps", "bench.ground_truth.proofs"),
    "Questions and scores": ("bench.dataset.questions", "bench.predictions_file.read_predictions", "bench.care.care",
                             "bench.cuc.cuc", "bench.intervals.clustered_interval", "bench.answers.parsed"),
}  # fmt: skip
HEAD = """\
# Reference

Made by `python -m benchmarks.reference` from the commands' own help and the functions' own texts; not edited by hand.

Every command answers 0 where all is fine, 1 where there are findings, 2 where it was used wrongly. `--json` prints what
programs read; `--help` prints what stands here.
"""


def page() -> str:
    """The whole page."""
    commands = getattr(get_command(app), "commands")  # noqa: B009 - a group has them
    parts = [HEAD, "## Commands", *(_command(name, found) for name, found in commands.items()), "## From Python"]
    for title, names in FUNCTIONS.items():
        parts += [f"### {title}", *map(_function, names)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _command(name: str, command: Any) -> str:
    rows = [row for parameter in command.params for row in _option(parameter)]
    table = ["| option | | |", "|---|---|---|", *rows] if rows else []
    return "\n".join([f"### bench {name}", "", *_prose(command.help or "").split("\n"), "", *table])


def _option(parameter: Any) -> Iterator[str]:
    if parameter.name == "help":
        return
    annotation = parameter.type_descriptor.annotation
    kind = parameter.metavar or getattr((*get_args(annotation), annotation)[0], "__name__", "")
    given = "".join(f"`{name}` " for name in (*parameter.opts, *parameter.secondary_opts))
    if parameter.param_type_name == "argument":
        given, kind = f"`{parameter.metavar or parameter.name.upper()}`", ""
    elif parameter.is_flag:
        kind = ""
    told = _prose(getattr(parameter, "help", None) or "")
    if parameter.default not in (None, False, ()) and parameter.name not in OF_THE_MACHINE:
        told += f" Default: {parameter.default}."
    yield "| " + " | ".join(cell.strip().replace("|", "\\|") for cell in (given, kind, told)) + " |"


def _prose(text: str) -> str:
    """Help without its marks for the terminal; what was bold is code, and lines are joined to paragraphs."""
    text = re.sub(r"\[bold\](.+?)\[/bold\]", r"`\1`", inspect.cleandoc(text).replace("\b", ""))
    text = text.replace("\\[", "[").replace("<", "&lt;")
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _function(path: str) -> str:
    found: Any = None
    names, place = path.split("."), 0
    for place in range(len(names), 0, -1):
        try:
            found = import_module(".".join(names[:place]))
            break
        except ModuleNotFoundError:
            continue
    for name in names[place:]:
        found = getattr(found, name)
    signature = str(_portable(inspect.signature(found))).replace("'", "").replace("Ellipsis", "..")
    signature = re.sub(r"numpy\.ndarray\[tuple\[.*?\], numpy\.dtype\[numpy\.(\w+)\]\]", r"NDArray[\1]", signature)
    return "\n".join([f"#### {path}", "", "```", f"{names[-1]}{signature}", "```", "", "```text",
                      inspect.cleandoc(found.__doc__ or ""), "```"])  # fmt: skip


def _portable(signature: inspect.Signature) -> inspect.Signature:
    """The signature without defaults that read otherwise elsewhere, such as paths."""
    return signature.replace(parameters=[
        p.replace(default=...) if isinstance(p.default, Path) or " at 0x" in repr(p.default) else p
        for p in signature.parameters.values()
    ])  # fmt: skip


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
