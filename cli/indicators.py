"""`bench indicators`: what can be said about a measured series without its equations."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import UsageError
from cli.series_file import read_series

if TYPE_CHECKING:
    from indicators.estimate import Estimate
    from indicators.series_description import Description
    from indicators.series_verdict import SeriesVerdict

STAGES = 7


def indicators(
    file: Annotated[str, typer.Argument(metavar="FILE", help="CSV, text or .npy; - for standard input.")],
    column: Annotated[
        str | None, typer.Option(metavar="NAME|INDEX", help="The column, by its name or its index from 0.")
    ] = None,
    interval: Annotated[float, typer.Option(metavar="DT", help="Time from value to value.")] = 1.0,
    order: Annotated[int | None, typer.Option(min=2, max=8, help="Of the permutation entropy; none: 3 to 7.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of every random choice.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object with all evidence.")] = False,
) -> None:
    """Say whether a series of numbers is regular, chaotic or noise, with the indicators and the reasons.

    The series stands at equal steps, one value a line or in one column, 200 values at least.

    Examples: [bold]bench indicators pulse.csv --column x --interval 0.01[/bold] ·
    [bold]bench indicators orbit.npy --json[/bold] · [bold]bench indicators - < values.txt[/bold]
    """
    if not 0.0 < interval < float("inf"):
        raise UsageError(f"--interval is {interval}; a time above 0 and finite is needed")
    series, name = read_series(file, column)
    from indicators.series_verdict import series_verdict

    d = _described(series, file, interval, order, seed)
    found = series_verdict(d)
    if as_json:
        source = {"source": "standard input" if file == "-" else file, "column": name}
        typer.echo(json.dumps(source | _row(d, found, seed), ensure_ascii=False, allow_nan=False))
    else:
        _print_page(d, found, name)


def _described(series: Any, file: str, interval: float, order: int | None, seed: int) -> "Description":
    from rich.console import Console
    from rich.progress import Progress

    from indicators.series_description import ORDERS, described

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        bar = bars.add_task("reading", total=STAGES)

        def told(what: str) -> None:
            bars.update(bar, description=what, advance=1)

        try:
            return described(
                series, interval=interval, orders=ORDERS if order is None else (order,), seed=seed, told=told
            )
        except ValueError as error:
            raise UsageError(f"{'standard input' if file == '-' else file}: {error}") from None


def _row(d: "Description", found: "SeriesVerdict", seed: int) -> dict[str, Any]:
    from dataclasses import asdict

    from labeling.labels import plain
    from labeling.provenance import made_by

    row = {
        "n": d.n,
        "interval": d.interval,
        "verdict": found.kind,
        "reasons": found.reasons,
        "advice": found.advice,
        "sampling": asdict(d.sampling),
        "indicators": {name: asdict(one) for name, one in _named(d).items() if name != "permutation_entropy"}
        | {"permutation_entropy": {str(order): asdict(one) for order, one in d.entropies.items()}},
        "spectrum": None if d.spectrum is None else asdict(d.spectrum),
        "provenance": made_by({"interval": d.interval, "orders": [*d.entropies]}, seed),
    }
    made: dict[str, Any] = plain(row)
    return made


def _named(d: "Description") -> "dict[str, Estimate]":
    return {
        "zero_one_k": d.zero_one,
        "zero_one_k_maxima": d.zero_one_maxima,
        "surrogate_p": d.linear_noise,
        "lyapunov_max": d.exponent,
        "correlation_dimension": d.dimension,
    }


TITLES = {
    "zero_one_k": "K of the 0-1 test",
    "zero_one_k_maxima": "K of its local maxima",
    "surrogate_p": "p, against linear noise",
    "lyapunov_max": "largest exponent",
    "correlation_dimension": "correlation dimension",
}


def _print_page(d: "Description", found: "SeriesVerdict", name: str | None) -> None:
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    column = "" if name is None else f" of column {name}"
    console.print(Text.assemble((found.kind.replace("_", "-"), "bold"), f"  {d.n} values{column}"))
    for heading, lines in (("Reasons", found.reasons), ("What a better series would change", found.advice)):
        if lines:
            console.print(Text(f"\n{heading}", "bold"))
        for line in lines:
            console.print(Padding(Text(line), (0, 0, 0, 2), expand=False))
    table = Table(box=None, pad_edge=False)
    for title in ("indicator", "value", "status", "why"):
        table.add_column(title, overflow="fold")
    table.add_row("oversampled", "yes" if d.sampling.oversampled else "no", "", _sampled(d))
    for key, one in _named(d).items():
        table.add_row(TITLES[key], _value(one), one.status.replace("_", " "), Text(str(one.evidence.get("reason", ""))))
    for order, one in d.entropies.items():
        forbidden = one.evidence.get("forbidden_patterns")
        why = one.evidence.get("reason") if forbidden is None else f"{forbidden} forbidden patterns"
        title = f"entropy, order {order}"
        table.add_row(title, _value(one), one.status.replace("_", " "), Text(str(why)))
    console.print()
    console.print(table)


def _sampled(d: "Description") -> str:
    if d.sampling.oversampled:
        return f"{2 * d.sampling.ratio:.0f} values per oscillation; one in {d.sampling.stride} is independent"
    return f"cyclic bands: {d.sampling.bands}" if d.sampling.bands > 1 else "every value counts"


def _value(one: "Estimate") -> str:
    if one.value is None:
        return "-"
    return f"{one.value:.4f}" + (f" ± {one.error:.4f}" if one.error is not None else "")
