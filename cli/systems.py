"""`bench systems`: what there is."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from dynamics.system import System


def systems(
    names: Annotated[list[str] | None, typer.Argument(metavar="[SYSTEM]...", help="Ids or TOML files.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line instead of a table.")] = False,
) -> None:
    """List all systems: id, kind, variables, name. Of those that are named: rule, parameters, sweeps, citation.

    Example: [bold]bench systems lorenz63 dysts_thomas --json[/bold]
    """
    if names:
        from cli.options import named

        rows = [s for name in names for s in named(name)]
        _lines([_whole(s) for s in rows]) if as_json else _rules(rows)
        return
    from dynamics.registry import summaries

    every = summaries()
    if as_json:
        _lines(every)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("system", "kind", "variables", "name"):
        table.add_column(heading, overflow="fold")
    for s in every:
        table.add_row(str(s["system_id"]), str(s["kind"]), " ".join(map(str, s["variables"])), str(s["name"]))
    Console().print(table)


def _lines(rows: list[dict[str, object]]) -> None:
    for row in rows:
        typer.echo(json.dumps(row, ensure_ascii=False))


def _whole(s: "System") -> dict[str, object]:
    return {
        "system_id": s.id, "name": s.name, "kind": s.kind, "dimension": s.dimension, "state": s.state,
        "parameters": s.parameters, "let": s.let, "rule": s.rule, "circle": s.circle, "box": s.box,
        "sweeps": [vars(sweep) for sweep in s.sweeps], "same_as": s.same_as, "citation": s.citation,
    }  # fmt: skip


def _rules(rows: "list[System]") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("system", "kind", "rule", "parameters", "sweep"):
        table.add_column(heading, overflow="fold")
    for s in rows:
        after = "(n+1)" if s.kind == "map" else "'"
        rule = [f"{name} = {f}" for name, f in s.let.items()]
        rule += [f"{name}{after} = {f}" for name, f in zip(s.state, s.rule, strict=True)]
        parameters = [f"{name} = {value:g}" for name, value in s.parameters.items()]
        sweeps_ = [f"{w.parameter} {w.lo:g} .. {w.hi:g}" for w in s.sweeps]
        table.add_row(s.id, s.kind, "\n".join(rule), "\n".join(parameters), "\n".join(sweeps_))
    Console().print(table)
