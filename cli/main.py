"""The command `bench`: parses, calls one function, prints."""

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from cli.label import label
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
    except (ValueError, LookupError, OSError) as error:
        if type(error) in (ValueError, KeyError, IndexError):  # a fault of ours: it needs its trace
            raise
        typer.echo(f"bench: {error}", err=True)
        sys.exit(2)
