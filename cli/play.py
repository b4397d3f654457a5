"""`bench play`: games of hidden states, and what players reach in them."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import UsageError

if TYPE_CHECKING:
    from bench.games.catalogue import Game
    from bench.games.dynamics import DynamicsGame
    from bench.games.episode import Row
    from bench.games.metrics import Figures
    from bench.intervals import Interval

SHOWN = 20  # faults of a proof or a replay
FIRST = "set-deductive-01"  # the game that a person plays who names none
DYNAMICS = "dynamics"


def play(
    listed: Annotated[bool, typer.Option("--list", help="Show how many games each cell has, and their sizes.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Prove every instance again by enumeration.")] = False,
    player: Annotated[
        str | None,
        typer.Option(help="guess, random, greedy, optimal (small games); over dynamics guess, random, reference."),
    ] = None,
    human: Annotated[bool, typer.Option("--human", help="Play yourself: one game, at the terminal.")] = False,
    replay: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Give the replies of recorded episodes again, and compare.")
    ] = None,
    score: Annotated[Path | None, typer.Option(metavar="FILE", help="The figures of recorded episodes.")] = None,
    game: Annotated[str | None, typer.Option(metavar="ID", help="This game, or those of a cell; else all.")] = None,
    difficulty: Annotated[int | None, typer.Option(min=1, max=5, help="This difficulty only.")] = None,
    wrapper: Annotated[
        str,
        typer.Option(
            help="clean, isomorphic, rule_noise, reply_noise, history, counterfactual, necessity, or a domain."
        ),
    ] = "clean",
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Of the hidden states.")] = 0,
    release: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Ground truth of games over dynamics; else the shipped one.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the episodes there.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes; the result is the same for any number.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """Play games in which something hidden is found by queries, or prove that they are sound.

    With the wrapper counterfactual every episode is played twice: once with a false observation that is corrected, and
    once as its control. Ends with status 1 if a proof or a replay finds a difference.

    Examples: [bold]bench play --list[/bold] · [bold]bench play --human --game set-deductive-01 --difficulty 1[/bold] ·
    [bold]bench play --player greedy --out episodes.jsonl[/bold] · [bold]bench play --replay episodes.jsonl[/bold] ·
    [bold]bench play --verify --jobs 2[/bold]
    """  # fmt: skip
    wanted = [listed, verify, player is not None, human, replay is not None, score is not None]
    if sum(wanted) != 1:
        raise UsageError("give one of --list, --verify, --player, --human, --replay and --score")
    if listed:
        _list(as_json, release)
    elif verify:
        raise typer.Exit(_verify(jobs, as_json))
    elif replay is not None:
        raise typer.Exit(_replay(replay, jobs, as_json, release))
    elif score is not None:
        _print_figures(_read(score), as_json)
    elif human:
        _human(game, difficulty, wrapper, seed, release, out, as_json)
    elif player is not None:
        if game is not None and game.startswith(DYNAMICS):
            rows = _played_over_dynamics(player, game, difficulty, wrapper, seed, release, jobs)
        else:
            rows = _played(player, game, difficulty, wrapper, seed, jobs)
        if out is not None:
            from bench.games.episodes_file import write_episodes

            write_episodes(out, rows)
        _print_figures(rows, as_json)


def _list(as_json: bool, release: Path | None) -> None:
    from bench.games.catalogue import games, largest_share

    cells: dict[str, list[Game]] = {}
    for one in games().values():
        cells.setdefault(one.recipe.cell, []).append(one)
    rows: list[dict[str, Any]] = []
    for cell, some in cells.items():
        sizes = [[one.instances[d].answers for one in some] for d in range(5)]
        probes = sum(bool(one.revisable) for g in some for one in g.instances)
        rows.append({"cell": cell, "games": len(some), "instances": 5 * len(some),
                     "answers": [[min(s), max(s)] for s in sizes], "counterfactual": probes})  # fmt: skip
    over: dict[str, list[DynamicsGame]] = {}
    for game in _dynamics(release).values():
        over.setdefault(f"dynamics-{game.asked}", []).append(game)
    for cell, found in over.items():
        answers = [[one.n_answers for one in found if one.difficulty == d] for d in range(1, 6)]
        rows.append({"cell": cell, "games": len(found), "instances": len(found),
                     "answers": [[min(s), max(s)] if s else None for s in answers], "counterfactual": 0})  # fmt: skip
    rule, share = largest_share()
    if as_json:
        for row in rows:
            typer.echo(json.dumps(row))
        typer.echo(json.dumps({"games": len(games()), "instances": 5 * len(games()), "largest_share": [rule, share]}))
        return
    headings = ("cell", "games", "instances", *(f"answers at {d}" for d in range(1, 6)), "counterfactual")
    _print_table(headings, [
        (row["cell"], str(row["games"]), str(row["instances"]),
         *("-".join(map(str, some or [])) for some in row["answers"]), str(row["counterfactual"]))
        for row in rows
    ])  # fmt: skip
    typer.echo(f"{len(games())} games, {5 * len(games())} instances; the most used grammar rule, {rule}, is in "
               f"{100 * share:.1f} % of them")  # fmt: skip


def _verify(jobs: int, as_json: bool) -> int:
    from bench.games.catalogue import games, repeated, verified

    every = list(games().values())
    found = [trouble for some in _each(verified, [(one,) for one in every], jobs, "games") for trouble in some]
    found += repeated()
    if as_json:
        typer.echo(json.dumps({"games": len(every), "instances": 5 * len(every), "differences": found}))
    else:
        for trouble in found[:SHOWN]:
            typer.echo(trouble)
        typer.echo(f"{5 * len(every)} instances of {len(every)} games proved again: {len(found)} differences")
    return 1 if found else 0


def _replay(path: Path, jobs: int, as_json: bool, release: Path | None) -> int:
    from bench.games.episodes_file import replayed

    rows = _read(path)
    over = _dynamics(release) if any(row["game"].startswith(DYNAMICS) for row in rows) else {}
    tasks = [(row, over.get(row["game"])) for row in rows]
    found = [trouble for trouble in _each(replayed, tasks, jobs, "episodes") if trouble]
    if as_json:
        typer.echo(json.dumps({"episodes": len(rows), "differences": found}))
    else:
        for trouble in found[:SHOWN]:
            typer.echo(trouble)
        typer.echo(f"{len(rows)} episodes replayed: {len(found)} came out otherwise")
    return 1 if found else 0


def _read(path: Path) -> "list[Row]":
    from bench.games.episodes_file import EpisodesError, read_episodes

    try:
        return read_episodes(path)
    except EpisodesError as error:
        raise UsageError(str(error)) from None


def _chosen(game: str | None) -> "list[Game]":
    from bench.games.catalogue import games

    every = games()
    some = [one for one in every.values() if game in (None, one.recipe.id, one.recipe.cell)]
    if not some:
        from dynamics.nearest import did_you_mean, shown

        names = [*every, *{one.recipe.cell for one in every.values()}]
        raise UsageError(f"there is no game {shown(game)}{did_you_mean(str(game), names)}")
    return some


def _dynamics(release: Path | None) -> "dict[str, DynamicsGame]":
    from bench.games.dynamics import dynamics_games
    from bench.ground_truth import SHIPPED, NoReleaseError

    try:
        return dynamics_games(release or SHIPPED)
    except NoReleaseError as error:
        raise UsageError(str(error)) from None


def _over_dynamics(game: str, release: Path | None) -> "list[DynamicsGame]":
    from dynamics.nearest import did_you_mean, shown

    every = _dynamics(release)
    some = [one for name, one in every.items() if game in (DYNAMICS, name, f"{DYNAMICS}-{one.asked}")]
    if not some:
        raise UsageError(f"there is no game {shown(game)} over dynamics in this release{did_you_mean(game, every)}")
    return some


def _played_over_dynamics(
    player: str, game: str, difficulty: int | None, wrapper: str, seed: int, release: Path | None, jobs: int
) -> "list[Row]":
    from bench.games.dynamics_episode import dynamics_episode
    from bench.games.dynamics_players import DYNAMICS_PLAYERS

    if player not in DYNAMICS_PLAYERS:
        names = ", ".join(DYNAMICS_PLAYERS)
        raise UsageError(f"--player: games over dynamics are played by {names}, not by {player}")
    if wrapper != "clean":
        raise UsageError(f"--wrapper: games over dynamics are played clean, not with {wrapper}")
    some = [one for one in _over_dynamics(game, release) if difficulty in (None, one.difficulty)]
    if not some:
        raise UsageError(f"--difficulty: no game of {game} has difficulty {difficulty}")
    tasks = [(one, DYNAMICS_PLAYERS[player](one, seed), player, seed) for one in some]
    return list(_each(dynamics_episode, tasks, jobs, "episodes"))


def _hows(wrapper: str) -> tuple[str, ...]:
    from bench.games.telling import domains
    from bench.games.wrappers import WRAPPERS

    if wrapper not in (*WRAPPERS, *domains()) or wrapper == "control":
        names = ", ".join([*(name for name in WRAPPERS if name != "control"), *domains()])
        raise UsageError(f"--wrapper: there is none of the name {wrapper}; there are {names}")
    return ("counterfactual", "control") if wrapper == "counterfactual" else (wrapper,)


def _played(player: str, game: str | None, difficulty: int | None, wrapper: str, seed: int, jobs: int) -> "list[Row]":
    from bench.games.catalogue import DIFFICULTIES
    from bench.games.players import PLAYERS
    from bench.games.playing import played_by

    if player not in PLAYERS:
        raise UsageError(f"--player: there is none of the name {player}; there are {', '.join(PLAYERS)}")
    tasks = [
        (player, one.recipe.id, level, how, seed)
        for one in _chosen(game)
        for level in ([difficulty] if difficulty else DIFFICULTIES)
        for how in _hows(wrapper)
    ]
    rows = [row for row in _each(played_by, tasks, jobs, "episodes") if row is not None]
    if not rows:
        raise UsageError(f"no game fits the player {player} and the wrapper {wrapper}")
    if len(rows) < len(tasks):
        typer.echo(f"bench: {len(tasks) - len(rows)} of {len(tasks)} episodes do not fit the player or the wrapper",
                   err=True)  # fmt: skip
    return rows


def _each(work: Any, tasks: list[Any], jobs: int, what: str) -> "Iterator[Any]":
    """Results of a piece of work in order, with a bar on a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    from labeling.workers import Workers

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        bar = bars.add_task(what, total=len(tasks))

        def show(done: int, total: int, what: str) -> None:
            bars.update(bar, completed=done, total=total)

        yield from Workers(jobs, show).each(work, tasks, what)


def _human(
    game: str | None,
    difficulty: int | None,
    wrapper: str,
    seed: int,
    release: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    from bench.games.dynamics_episode import dynamics_episode
    from bench.games.episode import NotPlayableError, episode
    from bench.games.episodes_file import write_episodes
    from bench.games.necessity import judged
    from bench.games.players import Person

    person = Person(lambda text: typer.echo(f"{text}\n", err=as_json), lambda: typer.prompt("", prompt_suffix="> "))
    how = _hows(wrapper)[0]
    try:
        if game is not None and game.startswith(DYNAMICS):
            row = dynamics_episode(_over_dynamics(game, release)[0], person, "human", seed)
        elif how == "necessity":
            row = judged(_chosen(game or FIRST)[0].recipe.id, difficulty or 1, person, "human", seed)
        else:
            row = episode(_chosen(game or FIRST)[0].recipe.id, difficulty or 1, person, "human", seed, how)
    except NotPlayableError as error:
        raise UsageError(str(error)) from None
    if out is not None:
        write_episodes(out, [row])
    if as_json:
        typer.echo(json.dumps(row))
    else:
        best = row["optimal"]["hi"]
        typer.echo(f"{row['status']} after {row['turns']} of {row['t_max']} turns; {best:.2f} are needed on average")


def _print_figures(rows: "list[Row]", as_json: bool) -> None:
    from bench.games.metrics import by, figures, necessities, revisions

    found, revised, judged = figures(rows), revisions(rows), necessities(rows)
    if as_json:
        from dataclasses import asdict

        for name, some in (("figures", found), ("revision", revised), ("necessity", judged)):
            for one in some:
                typer.echo(json.dumps({"of": name} | asdict(one)))
        for field in ("cell", "difficulty"):
            for value, parts in by(rows, field).items():
                for part in parts:
                    typer.echo(json.dumps({"of": "figures", field: value} | asdict(part)))
        return
    _print_ranking(found)
    for one in revised:
        typer.echo(
            f"{one.player}: {100 * one.probe:.1f} % after a corrected observation, {100 * one.control:.1f} % in the"
            f" control; loss {_shown(one.loss)} over {one.pairs} pairs, {one.premature} premature"
        )
    for judgment in judged:
        typer.echo(
            f"{judgment.player}: {_shown(judgment.complete)} from all observations, {_shown(judgment.pruned)} after"
            f" pruning {_shown(judgment.pruning)}; sufficient {_shown(judgment.sufficient)},"
            f" kept over least {_shown(judgment.excess)}"
        )
    typer.echo("Not comparable with arXiv 2606.00103, whose games are not published.")


def _print_ranking(found: "list[Figures]") -> None:
    headings = ("player", "wrapper", "episodes", "success %", "avg. turns", "efficiency", "above chance", "turns",
                "relative", "regret bits", "premature")  # fmt: skip
    _print_table(headings, [
        (one.player, one.wrapper, str(one.n), f"{one.success_rate:.2f}", _number(one.avg_turns, 2),
         _number(one.efficiency, 2), _shown(one.corrected), _number(one.turns.value, 2),
         f"{_number(one.relative_lo.value, 3)} .. {_number(one.relative_hi.value, 3)}", _number(one.regret.value, 3),
         str(one.premature))
        for one in found
    ])  # fmt: skip


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _shown(one: "Interval") -> str:
    if one.lo is None or one.hi is None:
        return _number(one.value, 3)
    return f"{_number(one.value, 3)} ({one.lo:.3f} .. {one.hi:.3f})"


def _print_table(headings: Iterable[str], rows: Iterable[tuple[str, ...]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for i, heading in enumerate(headings):
        table.add_column(heading, justify="right" if i else "left")
    for row in rows:
        table.add_row(*row)
    Console(highlight=False, width=None).print(table)
