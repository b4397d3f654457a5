"""`bench axioms`: the published axioms and the repaired ones, proofs from them, and labels checked against them."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import UsageError

if TYPE_CHECKING:
    from bench.cross_check import LabelledSet, Tally
    from labeling.axioms import Axiom, Step

SYSTEMS = {False: "published", True: "repaired"}


def axioms(
    path: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE|DIR]", help="For --check: labels.jsonl, a sweep's Parquet, or a folder of them."),
    ] = None,
    prove: Annotated[
        str | None, typer.Option(metavar="PREMISES", help="Literals such as 'Chaotic, ~Bounded': what follows?")
    ] = None,
    goal: Annotated[str | None, typer.Option(metavar="LITERAL", help="With --prove: does this follow?")] = None,
    chains: Annotated[bool, typer.Option("--chains", help="The longest chains of implications.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Check labelled sets against the axioms (none given: the shipped release).")
    ] = False,
    repaired: Annotated[
        bool, typer.Option("--repaired", help="Take the repaired axioms instead of the 78 published ones.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON, one object a line.")] = False,
) -> None:
    """List the axioms with status, reason and counterexample; prove with them; check labels against them.

    --check ends with status 1 if a labelled set violates one of them.

    Examples: [bold]bench axioms --repaired[/bold] · [bold]bench axioms --prove "Chaotic, ~Bounded"[/bold] ·
    [bold]bench axioms --repaired --prove Chaotic --goal Bounded[/bold] ·
    [bold]bench axioms --check out/labels.jsonl[/bold]
    """
    if [prove is not None, chains, check].count(True) > 1:
        raise UsageError("--prove, --chains and --check are three questions; ask one of them")
    if goal is not None and prove is None:
        raise UsageError("--goal needs --prove PREMISES, from which it is to follow")
    if path is not None and not check:
        raise UsageError(f"{path} is given without --check, which is what reads it")
    if check:
        raise typer.Exit(_check(path, repaired, as_json))
    if prove is not None:
        _prove(prove, goal, _system(repaired), as_json)
    elif chains:
        _print_chains(_system(repaired), as_json)
    else:
        _print_list(repaired, as_json)


def _system(repaired: bool) -> "tuple[Axiom, ...]":
    from labeling import axioms

    return axioms.repaired() if repaired else axioms.published()


def _say(row: Any) -> None:
    typer.echo(json.dumps(row, ensure_ascii=False, allow_nan=False))


def _print_list(repaired: bool, as_json: bool) -> None:
    from dataclasses import asdict

    from labeling.axioms import removed

    system = _system(repaired)
    if as_json:
        for axiom in system:
            _say(asdict(axiom))
        return
    for axiom in system:
        typer.echo(f"{axiom.id:<35}  {axiom.status}")
        for what, text in (("", axiom.reason), ("but: ", axiom.counterexample), ("change: ", axiom.change)):
            if text:
                typer.echo(f"    {what}{text}")
    if repaired:
        typer.echo("\npublished and not true of every set:")
        for axiom_id, why in removed().items():
            typer.echo(f"{axiom_id}\n    {why}")
    counts = Counter(axiom.status for axiom in system)
    typer.echo(f"\n{len(system)} axioms: {', '.join(f'{n} {status}' for status, n in counts.most_common())}")


def _print_chains(system: "tuple[Axiom, ...]", as_json: bool) -> None:
    from labeling.axioms import longest_chains

    for chain in longest_chains(system):
        if as_json:
            _say(_proof_row(chain))
        else:
            typer.echo(f"{len(chain)} steps: {' → '.join([chain[0].literal, *(step.conclusion for step in chain)])}")


def _prove(text: str, goal: str | None, system: "tuple[Axiom, ...]", as_json: bool) -> None:
    from labeling.axioms import clash, consequences, entailment, negation

    premises = _literals(text)
    goals = _literals(goal) if goal is not None else []
    if len(goals) > 1:
        raise UsageError(f"--goal is one literal, such as Bounded or ~Bounded, and {goal} are {len(goals)}")
    try:
        found = clash(premises, system)
        for one in goals:
            entailment([], one, system)  # refuses what is no predicate
    except ValueError as error:
        raise UsageError(str(error)) from None
    row: dict[str, Any] = {"premises": premises, "goal": goals[0] if goals else None}
    if found is not None:
        row |= {"verdict": "clash", "clash": list(found.premises), "proof": _proof_row(found.proof)}
        lines = [f"{' and '.join(found.premises)} cannot {'hold together' if len(found.premises) > 1 else 'hold'}:"]
        lines += _proof_lines(found.proof, system) or ["  one is the negation of the other"]
    elif goals:
        proofs = {one: entailment(premises, one, system) for one in (goals[0], negation(goals[0]))}
        shown = next((one for one, proof in proofs.items() if proof is not None), None)
        verdict = "neither" if shown is None else "entailed" if shown == goals[0] else "refuted"
        proof = None if shown is None else proofs[shown]
        row |= {"verdict": verdict, "proof": None if proof is None else _proof_row(proof)}
        if proof is None:
            lines = [f"neither {goals[0]} nor {negation(goals[0])} follows from {', '.join(premises)}"]
        else:
            lines = [f"{shown} follows from {', '.join(premises)}:"]
            lines += _proof_lines(proof, system) or ["  it is one of the premises"]
    else:
        every = {one: entailment(premises, one, system) or [] for one in consequences(premises, system)}
        row |= {"verdict": "consistent", "consequences": {one: _proof_row(proof) for one, proof in every.items()}}
        lines = [f"{', '.join(premises)}: no clash, and {len(every) or 'nothing'} more follow{'s' * (len(every) < 2)}"]
        lines += [f"  {one:<20} {', '.join(step.axiom for step in proof)}" for one, proof in every.items()]
    if as_json:
        _say(row)
    else:
        typer.echo("\n".join(lines))


def _literals(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise UsageError("a literal is missing; write predicates with commas between them, such as 'Chaotic, ~Bounded'")
    return [f"~{part[1:].strip()}" if part.startswith("~") else part for part in parts]


def _proof_row(proof: "list[Step]") -> list[dict[str, str]]:
    return [step._asdict() for step in proof]


def _proof_lines(proof: "list[Step]", system: "tuple[Axiom, ...]") -> list[str]:
    status = {axiom.id: axiom.status for axiom in system}
    return [f"  {s.literal} → {s.conclusion}, by {s.axiom} ({status[s.axiom]})" for s in proof]


def _check(path: Path | None, repaired: bool, as_json: bool) -> int:
    """Print what labelled sets say of the axioms; 1 if one is violated, else 0."""
    from bench.cross_check import LabelsError, cross_check, labelled_sets
    from bench.ground_truth import SHIPPED, NoReleaseError

    try:
        sets = labelled_sets(path or SHIPPED)
    except (LabelsError, NoReleaseError) as error:
        raise UsageError(str(error)) from None
    tallies = cross_check(sets, _system(repaired))
    for tally in tallies:
        if as_json:
            _say(_tally_row(tally))
        else:
            _print_tally(tally)
    violated = sum(tally.violations > 0 for tally in tallies)
    if not as_json:
        few = sum(not tally.enough for tally in tallies)
        systems = len({s.system_id for s in sets})
        typer.echo(
            f"\n{len({s[:4] for s in sets})} labelled sets of {systems} systems against the {len(tallies)}"
            f" {SYSTEMS[repaired]} axioms: {violated} violated, {few} untested (fewer than 50 sets decide both sides)"
        )
    return 1 if violated else 0


def _tally_row(tally: "Tally") -> dict[str, Any]:
    return {
        "id": tally.axiom.id, "status": tally.axiom.status, "tested": tally.tested, "enough": tally.enough,
        "violations": tally.violations, "examples": [_example(tally.axiom, s) for s in tally.examples],
    }  # fmt: skip


def _example(axiom: "Axiom", one: "LabelledSet") -> dict[str, Any]:
    row = one.row
    sides = {name: row["predicates"][name] for name in (axiom.premise.strip("~"), axiom.conclusion.strip("~"))}
    return row | {"predicates": sides}


def _print_tally(tally: "Tally") -> None:
    from cli.explain import pairs, short

    word = "untested" if not tally.enough and not tally.violations else ""
    counts = f"tested by {tally.tested:>6}  violated by {tally.violations:>5}"
    typer.echo(f"{tally.axiom.id:<35}  {tally.axiom.status:<21}  {counts}  {word}".rstrip())
    for one in tally.examples:
        row = _example(tally.axiom, one)
        sides = [f"{name} {p['value']} ({p['basis']}: {short(p['evidence'])})" for name, p in row["predicates"].items()]
        typer.echo(f"    {row['system_id']} at {pairs(row['params']) or 'no parameters'}: {'; '.join(sides)}")
