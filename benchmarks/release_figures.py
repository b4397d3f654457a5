"""What the shipped ground truth holds, beside what is asked of it: `python -m benchmarks.release_figures`.

Writes the tables of docs/ground_truth.md and docs/predicates.md; a test holds them to the release.
"""

import json
from collections import Counter
from pathlib import Path

from bench.ground_truth import brackets, points, proofs
from bench.instances import instances, matched, position_rule
from benchmarks.pages import put
from dynamics.registry import system, system_ids, variant_ids
from labeling.predicate import NAMES

DOCS = Path(__file__).parent.parent / "docs"
REGIMES = ("Chaotic", "Periodic", "QuasiPeriodic", "FixedPointAttr", "HyperChaotic", "Random")
KINDS = {"map": "maps", "ode": "flows", "dde": "flows with delay", "sde": "flows with noise", "pde": "fields"}
AWAY = 0.01  # of the range, from the nearest bracket
DRAWS = 6  # of a matched set
REASONS = 3  # that are shown of each predicate
Table = list[str]


def holdings() -> Table:
    """Figures of the release, each beside what is asked."""
    table, between = points(), brackets()
    found = instances(table, between)
    kinds = found["system_id"].map({name: system(name).kind for name in found["system_id"].unique()})
    decided = found[found["Chaotic"].isin(["TRUE", "FALSE"])]
    both = (decided.groupby("system_id")["Chaotic"].nunique() == 2).sum()
    sides = {name: table[name].value_counts().reindex(["TRUE", "FALSE"], fill_value=0).min() for name in REGIMES}
    rarest = min(REGIMES, key=lambda name: int(sides[name]))
    resting = (found["regime"] == "fixed_point") & kinds.isin(["map", "ode"])
    simple = resting | ((found["regime"] == "periodic") & (kinds == "map"))
    proved = found.loc[simple, "certificates"].map(lambda text: text != "[]")
    rules = [position_rule(matched(found, "Chaotic", seed), "Chaotic") for seed in range(DRAWS)]
    away = (found["margin"] >= AWAY) | found["margin"].isna()
    open_ = away & (found["regime"] == "undecided")
    stated = sum(len(system(name).sweeps) for name in (*system_ids(), *variant_ids()))
    rows = [
        ("labelled points", "", f"{len(table):,}"),
        ("sweeps, of those that rows state", f"{stated}", f"{len(found[['system_id', 'sweep']].drop_duplicates())}"),
        ("brackets, certificates", "", f"{len(between):,}, {len(proofs()):,}"),
        ("swept points with Chaotic decided", "3,000", f"{len(decided):,}"),
        ("of these TRUE", "35 to 65 %", f"{(decided['Chaotic'] == 'TRUE').mean():.1%}"),
        ("systems with both values of Chaotic", "100", f"{both}"),
        ("points on the rarer side of a regime predicate, at least", "150", f"{sides[rarest]} ({rarest})"),
        ("resting points of maps and flows, and cycles of maps, with a certificate", "90 %", f"{proved.mean():.1%}"),
        (f'MCC of "position > t" on matched points, {DRAWS} draws', "within 0.10",
         f"{min(rules):.3f} to {max(rules):.3f}"),
        ("undecided at least 1 % of the range from brackets", "5 %", f"{open_.sum() / away.sum():.1%}"),
        *((f"- of {KINDS[kind]}", "", f"{open_[kinds == kind].sum()} of {away[kinds == kind].sum():,}")
          for kind in KINDS),
    ]  # fmt: skip
    return ["| | asked | there |", "|---|---:|---:|", *(f"| {' | '.join(row)} |" for row in rows)]


def undecided() -> Table:
    """How often each predicate is UNDECIDED in the release, and the most frequent reasons."""
    table = points()
    reasons: dict[str, Counter[str]] = {name: Counter() for name in NAMES}
    for text in table["predicates"]:
        for name, one in json.loads(text).items():
            if one["value"] == "UNDECIDED":
                reasons[name][one["reason"]] += 1
    alike: dict[tuple[tuple[str, int], ...], list[str]] = {}
    for name, counts in reasons.items():
        if counts:
            alike.setdefault(tuple(counts.most_common()), []).append(name)
    rows = [
        f"| {', '.join(names)} | {sum(n for _, n in counts) / len(table):.1%} |"
        f" {'; '.join(f'{reason} ({n})' for reason, n in counts[:REASONS])} |"
        for counts, names in sorted(alike.items(), key=lambda pair: -sum(n for _, n in pair[0]))
    ]
    return ["| predicate | UNDECIDED | most frequent reasons, with points |", "|---|---:|---|", *rows]


def main() -> None:
    """Write both tables."""
    put(DOCS / "ground_truth.md", holdings())
    put(DOCS / "predicates.md", undecided())


if __name__ == "__main__":
    main()
