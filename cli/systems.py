"""`bench systems`: what there is."""

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer


def systems(
    names: Annotated[list[str] | None, typer.Argument(metavar="[SYSTEM]...", help="Ids or TOML files.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Everything of each system, one JSON object a line.")] = False,
) -> None:
    """List all systems: id, kind, variables, name. Those that are named are shown whole: equations and what they prove.

    Example: [bold]bench systems lorenz63 dysts_thomas --json[/bold]
    """
    if as_json:
        for row in [*_whole(names)] if names else _every():
            typer.echo(json.dumps(row, ensure_ascii=False, allow_nan=False))
    elif names:
        from cli.page import print_page

        for row in _whole(names):
            print_page(row)
    else:
        _print_table()


def _whole(names: list[str]) -> Iterator[dict[str, Any]]:
    """The descriptions of systems by their ids, which are kept, and of those in files."""
    from cli.options import named
    from dynamics.description import description, description_of
    from dynamics.registry import system_ids

    kept, known = _kept(), system_ids()
    for name in names:
        if name in known:
            yield kept.of(name, description_of, name)
        else:
            yield from map(description, named(name))


def _every() -> list[dict[str, Any]]:
    """The descriptions of all systems; the first time takes long enough to be told how far it is."""
    from rich.console import Console
    from rich.progress import track

    from dynamics.registry import system_ids

    ids = system_ids()
    # what is printed meanwhile must not end up beside the bar, so it comes afterwards
    return list(track(_whole(ids), "systems", len(ids), console=Console(stderr=True), transient=True))


def _kept() -> Any:
    """Where descriptions are kept, under the code and the installed dysts that they depend on."""
    from importlib.metadata import version

    from cache.results import Results
    from labeling.provenance import identity

    return Results(f"{identity()} dysts {version('dysts')}", "descriptions")


def _print_table() -> None:
    from rich.console import Console
    from rich.table import Table

    from dynamics.registry import summaries, variant_ids

    table = Table(box=None, pad_edge=False)
    for heading in ("system", "kind", "variables", "name"):
        table.add_column(heading, overflow="fold")
    for s in summaries():
        table.add_row(s["system_id"], s["kind"], _few(s["variables"]), s["name"])
    console = Console()
    console.print(table)
    console.print(f"variants, each a system above with something added: {', '.join(variant_ids())}")


def _few(variables: list[str]) -> str:
    if len(variables) <= 12:
        return " ".join(variables)
    return f"{' '.join(variables[:3])} .. {variables[-1]} ({len(variables)})"
