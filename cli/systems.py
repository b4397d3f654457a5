"""`bench systems`: what there is."""

import json
from typing import Annotated

import typer


def systems(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line instead of a table.")] = False,
) -> None:
    """List the systems: id, kind, dimension, parameters, sweeps.

    Example: [bold]bench systems --json[/bold]
    """
    from rich.console import Console
    from rich.table import Table

    from dynamics.registry import system, system_ids

    rows = [system(system_id) for system_id in system_ids()]
    if as_json:
        for s in rows:
            sweeps = [vars(sweep) for sweep in s.sweeps]
            typer.echo(
                json.dumps(
                    {
                        "system_id": s.id, "name": s.name, "kind": s.kind, "dimension": s.dimension, "state": s.state,
                        "parameters": s.parameters, "rule": s.rule, "sweeps": sweeps, "same_as": s.same_as,
                        "citation": s.citation,
                    },
                    ensure_ascii=False,
                )
            )  # fmt: skip
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("system", "kind", "rule", "parameters", "sweep"):
        table.add_column(heading, overflow="fold")
    for s in rows:
        rule = "\n".join(
            f"{name}{'(n+1)' if s.kind == 'map' else chr(39)} = {f}" for name, f in zip(s.state, s.rule, strict=True)
        )
        parameters = "\n".join(f"{name} = {value:g}" for name, value in s.parameters.items())
        sweeps_ = "\n".join(f"{w.parameter} {w.lo:g} .. {w.hi:g}" for w in s.sweeps)
        table.add_row(s.id, s.kind, rule, parameters, sweeps_)
    Console().print(table)
