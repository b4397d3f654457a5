"""`bench cache`: what is kept between runs, and removing it."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from cache.contents import Entry


def cache(
    system: Annotated[str | None, typer.Option(metavar="ID", help="Only what is about one system.")] = None,
    older_than: Annotated[
        float, typer.Option("--older-than", metavar="DAYS", min=0, help="Only what was written so long ago.")
    ] = 0.0,
    clear: Annotated[bool, typer.Option("--clear", help="Remove what would be listed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")] = False,
) -> None:
    """Show the cache: where it lies, how many entries each part has for each system, their size and age.

    Removing any of it is safe: what is needed again is computed again. CHAOSTRUTH_CACHE moves it to another folder.

    Examples: [bold]bench cache[/bold] · [bold]bench cache --system henon --clear[/bold] ·
    [bold]bench cache --older-than 30 --clear[/bold]
    """
    from cache.contents import entries, remove
    from cache.store import cache_place

    found = entries(system, older_than)
    if system is not None and not found and not entries(system):
        from dynamics.registry import system as known

        known(system)  # a wrong name is refused here; a right one that nothing is kept of is not
    if clear:
        remove(found)
    groups = _groups(found)
    total = {"entries": len(found), "bytes": sum(e.size for e in found)}
    if as_json:
        typer.echo(json.dumps({"place": str(cache_place()), "removed": clear, **total, "groups": groups}))
    else:
        _print_table(groups)
        verb = "removed from" if clear else "in"
        typer.echo(f"{total['entries']} entries, {_size(total['bytes'])} {verb} {cache_place()}")


def _groups(found: "list[Entry]") -> list[dict[str, Any]]:
    together: dict[tuple[str, str], list[Entry]] = {}
    for entry in found:
        together.setdefault((entry.part, entry.group), []).append(entry)
    return [
        {
            "part": part, "group": group, "entries": len(some), "bytes": sum(e.size for e in some),
            "oldest_days": round(max(e.age for e in some), 3), "newest_days": round(min(e.age for e in some), 3),
        }
        for (part, group), some in together.items()
    ]  # fmt: skip


def _print_table(groups: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    if not groups:
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("part", "system", "entries", "size", "age in days"):
        table.add_column(heading, justify="left" if heading in ("part", "system") else "right")
    for g in groups:
        name = "(all systems)" if g["group"].startswith("@") else g["group"] or "(former versions)"
        age = f"{g['newest_days']:.1f} .. {g['oldest_days']:.1f}"
        table.add_row(g["part"], name, str(g["entries"]), _size(g["bytes"]), age)
    Console().print(table)


def _size(n: int) -> str:
    return f"{n / 1e6:.1f} MB" if n >= 1e5 else f"{n / 1e3:.1f} kB"
