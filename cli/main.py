"""The command `bench`: parses, calls one function, prints."""

import sys
import traceback
from importlib.metadata import version
from typing import Annotated

import typer

from cli.audit import audit
from cli.axioms import axioms
from cli.baselines import baselines
from cli.cache import cache
from cli.diagnostics import diagnostics
from cli.eval import evaluate
from cli.generate import generate
from cli.indicators import indicators
from cli.label import label
from cli.options import UsageError, fault_of
from cli.play import play
from cli.report import report
from cli.score import compare, score
from cli.systems import systems

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    help="Measured ground truth about dynamical systems: regimes, thresholds and labels with evidence.",
    pretty_exceptions_enable=False,
)
app.command()(systems)
app.command()(label)
app.command()(indicators)
app.command()(audit)
app.command()(axioms)
app.command()(generate)
app.command()(baselines)
app.command()(diagnostics)
app.command("eval")(evaluate)
app.command()(score)
app.command()(compare)
app.command(
    "leaderboard",
    help="Rank the models of a folder: as `bench compare DIR`.\n\nExample: [bold]bench leaderboard runs[/bold]",
)(compare)
app.command()(play)
app.command()(report)
app.command()(cache)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"chaostruth {version('chaostruth')}")
        raise typer.Exit


@app.callback()
def bench(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Options that stand before the command."""


def main() -> None:
    """Entry point. Exit status: 0 fine, 1 findings, 2 wrong use or a fault."""
    try:
        app()
    except OSError as error:
        _stop(fault_of(error))
    except Exception as error:
        if _is_wrong_use(error):
            _stop(str(error))
        traceback.print_exc()
        typer.echo("bench: this is a fault of the program, not of its input; please report the lines above", err=True)
        raise SystemExit(2) from error


def _is_wrong_use(error: Exception) -> bool:
    from dynamics.equations import EquationError
    from dynamics.registry import UnknownSystemError
    from dynamics.system import RowError
    from labeling.cluster import ClusterError
    from labeling.workers import CodeEditedError, LostProcessError

    known = (UsageError, EquationError, RowError, UnknownSystemError, ClusterError, LostProcessError,
             CodeEditedError)  # fmt: skip
    return isinstance(error, known)


def _stop(message: str) -> None:
    typer.echo(f"bench: {message}", err=True)
    sys.exit(2)
