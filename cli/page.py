"""One system on the terminal, to be read."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

MOST = 12  # equations, or variables, that are all shown
FIRST = 4  # of more

KINDS = {
    "map": "map", "ode": "ordinary differential equation", "dde": "differential equation with delays",
    "sde": "stochastic differential equation (Ito)", "pde": "partial differential equation",
}  # fmt: skip


def print_page(row: dict[str, Any]) -> None:
    """Print a description: equations one a line, values, what is proved with its proof, sweeps and reference."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False)
    console.print(Text.assemble((row["name"], "bold"), f"  {row['system_id']}"))
    twin = f", the equations of {row['same_as']}" if row["same_as"] else ""
    console.print(Text(f"{KINDS[row['kind']]}{twin}"))
    for heading, lines in _row(row):
        _print_lines(console, heading, lines)
    console.print(Text("\nWhat the equations prove", "bold"))
    console.print(Padding(_proofs(row["facts"]), (0, 0, 0, 2), expand=False))
    for heading, lines in _rest(row):
        _print_lines(console, heading, lines)
    console.print()


def _print_lines(console: "Console", heading: str, lines: list[str]) -> None:
    from rich.padding import Padding
    from rich.text import Text

    if lines:
        console.print(Text(f"\n{heading}", "bold"))
        for line in lines:
            console.print(Padding(Text(line), (0, 0, 0, 2), expand=False))


def _proofs(facts: list[dict[str, Any]]) -> "Table":
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    for fact in facts:
        table.add_row(fact["fact"].replace("_", " "), _shown(fact["value"]), fact["why"])
    return table


def _row(row: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    yield "Equations", _equations(row)
    yield "Parameters", _values(row["parameters"], every=True)
    yield "Delays", [f"{name} = {one['of']}(t - {one['by']})" for name, one in row["delayed"].items()]
    yield "History, t <= 0", [f"{name} = {text}" for name, text in row["history"].items()]
    yield "Start", _values(row["state"]) if not row["history"] else []
    yield "On a circle of", _values(row["circle"])
    yield "Box of initial conditions", _box(row["box"])


def _rest(row: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    grids = [f"{s['parameter']} {s['lo']:.8g} .. {s['hi']:.8g}, {s['points']} points" for s in row["sweeps"]]
    yield "Sweeps", grids
    unit = "iterates" if row["kind"] == "map" else "of time"
    yield "Transient", [] if row["transient"] is None else [f"{row['transient']:g} {unit}"]
    yield "Reference", [row["citation"]] if row["citation"] else []


def _equations(row: dict[str, Any]) -> list[str]:
    if row["ring"] is not None:
        n = row["ring"]["sites"]
        return [*row["ring"]["texts"], f"for i = 0 .. {n - 1}, indices modulo {n}"]
    lines = [one["text"] for one in row["equations"]]
    if row["discretisation"]:
        return [*lines, f"{row['discretisation']} ({row['dimension']} numbers)"]
    if row["definitions"]:
        lines += ["where", *(one["text"] for one in row["definitions"])]
    return lines if len(lines) <= 4 * MOST else [*lines[:FIRST], f".. ({len(lines)} in all)", lines[-1]]


def _values(values: dict[str, float], every: bool = False) -> list[str]:
    return _joined([f"{name} = {value:.8g}" for name, value in values.items()], every)


def _box(box: dict[str, list[float]]) -> list[str]:
    return _joined([f"{name} {lo:.8g} .. {hi:.8g}" for name, (lo, hi) in box.items()])


def _joined(parts: list[str], every: bool = False) -> list[str]:
    """The parts in one line, of very many the first ones and the last."""
    if len(parts) > MOST and not every:
        parts = [*parts[:FIRST], "..", f"{parts[-1]} ({len(parts)} in all)"]
    return [", ".join(parts)] if parts else []


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join("-infinity" if v is None else f"{v:.8g}" for v in value)
    return "infinite" if value is None else value if isinstance(value, str) else f"{value:.8g}"
