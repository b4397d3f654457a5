"""Scores as tables on the terminal: every model with the baselines beside it, families, pairs, differences."""

from typing import Any

WIDE = 180  # columns, where nobody looks at a terminal
FIGURES = {"mcc": "MCC", "macro_family_mcc": "macro-family MCC", "mcc_strict": "MCC, invalid wrong",
           "accuracy": "accuracy"}  # fmt: skip


def print_scores(models: dict[str, Any], notes: list[str], published: dict[str, Any], comparison: Any) -> None:
    """Print what `bench score`, `compare` and `leaderboard` found."""
    from rich.console import Console
    from rich.table import Table

    from bench.report.score_page import PAIRS, columns, figure, flagged

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDE)
    for note in notes:
        console.print(f"note: {note}", markup=False)
    ranks = comparison["mcc"].get("ranks", {}) if comparison else {}
    table = Table(box=None, pad_edge=False)
    for head in ("model", "rank", *FIGURES.values(), "TRUE %", "invalid %", "flags"):
        table.add_column(head)
    for name, one in columns(models).items():
        overall, rank = one["overall"], ranks.get(name)
        place = f"{rank['rank']} ({rank['lo']}-{rank['hi']})" if rank else ""
        table.add_row(name, place, *(figure(overall[key]) for key in FIGURES), _percent(overall["predicted_true"]),
                      _percent(overall["invalid_rate"]), flagged(one["flags"]))  # fmt: skip
    for name, one in published.items():
        row = [f"{one[key]:.4f}" if key in one else "" for key in FIGURES]
        table.add_row(f"{name} (published)", "", *row, "", "", "")
    console.print(table)
    if len(models) == 1:
        _print_families(console, columns(models))
    for name, one in models.items():
        pairs = one.get("pairs")
        if pairs and pairs["overall"]:
            shown = ", ".join(f"{label} {figure(pairs['overall'].get(key))}" for key, label in PAIRS.items())
            verdict = " and ".join(pairs["verdict"]) or "neither abstaining nor contradicting"
            console.print(f"{name}, pairs by {pairs['elicitation']}: {shown}; {verdict}", markup=False)
    for d in comparison["mcc"].get("differences", []) if comparison else []:
        told = "differ" if d["differ"] else "may be equal"
        console.print(f"{d['a']} - {d['b']}: MCC {d['difference']:+.4f} [{d['lo']:+.3f}, {d['hi']:+.3f}], {told}",
                      markup=False)  # fmt: skip
    if comparison and comparison["items"]["reason"]:
        console.print(f"items: {comparison['items']['reason']}", markup=False)


def _print_families(console: Any, beside: dict[str, Any]) -> None:
    from rich.table import Table

    from bench.report.score_page import figure

    table = Table(box=None, pad_edge=False, title="MCC by family", title_justify="left")
    for head in ("family", *beside):
        table.add_column(head)
    for family in sorted({family for one in beside.values() for family in one["families"]}):
        table.add_row(family, *(figure(one["families"].get(family, {}).get("mcc")) for one in beside.values()))
    console.print()
    console.print(table)


def _percent(found: dict[str, Any]) -> str:
    return "-" if found["value"] is None else f"{100 * found['value']:.2f}"
