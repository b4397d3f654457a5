"""The harness of `make benchmark`: servers in pairs, ratios and tables. NumPy stands for the peers, on small tasks."""

import json
import sys

import numpy as np
import pytest

from benchmarks import environment, grid, inputs, limit, pairs, server, table
from benchmarks.grid import Comparison
from benchmarks.pairs import Measured, Refused, Side, compared

OURS = ("benchmarks.ours:displacement", {"n": 300})
TASK = ("benchmarks.peers.by_numpy:logistic", {"grid": [3.0, 4.0, 8], "at": -1, "length": 20, "transient": 10})
LONGER = ("benchmarks.peers.by_numpy:logistic", {"grid": [3.0, 4.0, 8], "at": -1, "length": 2_000, "transient": 10})


def side(task, python=sys.executable):
    return Side(python, *task)


def row(**given):
    values = {"name": "task", "peer": "numpy", "ours": TASK, "theirs": TASK, "goal": 4.0, "within": 0.1}
    return Comparison(**(values | given))


def got(ratios=(5.0, 3.0, 4.0, 9.0, 6.0), ours=1.0, theirs=1.05):
    return Measured(ratios, 0.1, 0.5, 1.0, 2.0, ours, theirs)


def test_a_longer_task_takes_longer_and_both_say_their_value(monkeypatch):
    monkeypatch.setattr(pairs, "LEAST_SECONDS", 0.01)
    found = compared(side(TASK), side(LONGER), pairs=3)
    assert len(found.ratios) == 3
    assert found.ratio > 10
    assert found.spread[0] <= found.ratio <= found.spread[1]
    assert found.value_ours.keys() == found.value_theirs.keys() == {"λ1"}
    assert found.value_theirs["λ1"] == pytest.approx(np.log(2), abs=0.01)
    assert min(found.first_ours, found.first_theirs) > 0


def test_the_share_of_the_work_is_scaled_up(monkeypatch):
    monkeypatch.setattr(pairs, "LEAST_SECONDS", 0.02)
    same = compared(side(TASK), side(TASK), pairs=5)
    tenth = compared(side(TASK), side(TASK), share=0.1, pairs=5)
    assert 0.4 < same.ratio < 2.5
    assert 4 < tenth.ratio < 25


def test_pairs_alternate(monkeypatch):
    asked = []

    class Recorder:
        def __init__(self, python, cache):
            self.name = python

        def ask(self, **command):
            asked.append((self.name, next(iter(command))))
            return {"seconds": 2.0 if self.name == "ours" else 6.0, "value": 0.0}

        def close(self):
            asked.append((self.name, "close"))

    monkeypatch.setattr(pairs, "Server", Recorder)
    found = compared(Side("ours", "", {}), Side("theirs", "", {}), share=0.5, pairs=3)
    assert asked[:2] == [("ours", "load"), ("theirs", "load")]
    assert asked[2:10] == [(name, "run") for _ in range(4) for name in ("ours", "theirs")]
    assert asked[10:] == [("theirs", "close"), ("ours", "close")]
    assert found.ratios == (6.0, 6.0, 6.0)


@pytest.mark.parametrize(
    ("task", "python", "reason"),
    [
        (("benchmarks.peers.by_nobody:run", {}), sys.executable, "ModuleNotFoundError: No module named 'benchmarks.pe"),
        (("benchmarks.ours:nothing", {}), sys.executable, "AttributeError"),
        (("os:_exit", {"status": 3}), sys.executable, "the process ended with status 3"),
        (TASK, "/nowhere/python", "/nowhere/python: No such file"),
    ],
)
def test_what_cannot_be_done_is_said(task, python, reason):
    with pytest.raises(Refused, match=reason):
        compared(side(TASK), side(task, python))


def test_the_children_have_one_thread_and_no_settings_for_old_blas(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Haswell")
    monkeypatch.setenv("OPENBLAS_L2_SIZE", "512")
    given = pairs.environment("/cache")
    assert not {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"} & given.keys()
    assert given["OMP_NUM_THREADS"] == given["NUMBA_NUM_THREADS"] == "1"
    assert given["CHAOSTRUTH_CACHE"] == "/cache"


def test_short_calls_are_repeated_until_a_sample_is_long_enough():
    assert pairs.repeats(1.0) == 1
    assert pairs.repeats(0.001) == 50
    assert pairs.repeats(0.0) == pairs.repeats(1e-9) > 1_000


def test_the_time_of_a_call_is_the_mean_over_the_calls():
    calls = []
    answer = server.timed(lambda: calls.append(0) or {"a": np.float32(2.0)}, 4)
    assert len(calls) == 4
    assert answer["value"] == {"a": 2.0}
    assert json.dumps(answer)


def test_a_row_shows_median_range_goal_and_values():
    cells = table.cells(row(trusted={"": 1.0}), got())
    assert cells == ["task", "numpy", "5", "3–9", "≥ 4", "1.00000", "1.05000", "1.00000", "yes", "1.0", "2.0"]
    assert table.cells(row(goal=6.0), got())[2] == "5 (missed)"
    assert table.cells(row(goal=None), got())[4] == ""
    assert table.cells(row(share=0.05, note="fast"), got())[1] == "numpy (fast; 0.05 of the work, scaled up)"
    skipped = table.cells(row(), "not installed")
    assert skipped[2] == "skipped"
    assert "not installed" in skipped
    assert len(skipped) == len(table.HEAD)
    limited = table.cells(row(of_limit=True, goal=0.6, within=float("inf")), got((0.71,) * 5))
    assert limited[2:5] == ["71 %", "71 %–71 %", "≥ 60 %"]


@pytest.mark.parametrize(
    ("known", "ours", "theirs", "equal"),
    [
        ({}, 1.0, 1.05, True),
        ({}, 1.0, 1.15, False),
        ({"": 1.0}, 1.05, 0.95, True),
        ({"": 1.0}, 1.05, 0.85, False),
        ({"": 1.0}, 1.15, 1.0, False),
        ({"λ1": 1.0, "λ3": -3.0}, {"λ1": 1.0, "λ3": -3.0}, {"λ1": 1.0, "λ3": -3.2}, False),
        ({"λ1": 1.0}, {"λ1": 1.0, "λ2": 7.0}, {"λ1": 1.0}, True),
    ],
)
def test_values_are_equal_within_the_rows_tolerance(known, ours, theirs, equal):
    assert table.agrees(row(trusted=known), got(ours=ours, theirs=theirs)) == equal


def test_the_file_names_the_machine_and_every_row():
    rows = [(row(), got()), (row(peer="absent"), "not installed")]
    about = table.machine({"jax": "1.0"})
    text = table.markdown(rows, about, 5)
    assert about["processor"] in text
    assert "jax 1.0" in text
    assert text.count("\n| ") == 4
    told = json.loads(table.record(rows, about))
    assert told["rows"][0]["ratio"] == 5.0
    assert told["rows"][0]["reached"]
    assert told["rows"][1]["skipped"] == "not installed"
    assert table.rich_table(rows).row_count == 2


def test_every_comparison_names_a_function_and_a_pinned_peer():
    pinned = environment.pinned()
    assert pinned["numpy"]
    rows = grid.comparisons()
    assert len({(r.name, r.peer, r.note) for r in rows}) == len(rows)
    for r in rows:
        assert r.peer in pinned or r.of_limit
        for task, _ in (r.ours, r.theirs):
            module, function = task.split(":")
            path = pairs.ROOT / (module.replace(".", "/") + ".py")
            assert f"\ndef {function}(" in path.read_text(encoding="utf-8")


def test_a_peer_that_cannot_be_installed_is_told_and_left_out(monkeypatch, capsys):
    asked = []

    def install(what):
        asked.append(what)
        return what[0].startswith("numpy")

    monkeypatch.setattr(environment, "install", install)
    monkeypatch.setattr(environment, "FOLDER", pairs.ROOT)
    monkeypatch.setattr(environment.venv, "create", lambda *given, **_: None)
    environment.main()
    assert len(asked) == 1 + len(environment.pinned())
    told = capsys.readouterr().err
    assert "heyoka 7.13.2 cannot be installed here" in told
    assert "numpy 2" not in told


def test_the_points_told_are_those_of_the_literature():
    for (_, whole, at, part, at_part, *_), value in zip(grid.FLOWS.values(), (28.0, 5.7), strict=True):
        assert inputs.grid(*whole)[at] == pytest.approx(value)
        assert inputs.grid(*part)[at_part] == pytest.approx(value)
        assert part[2] == 0.05 * whole[2]


def test_inputs_are_the_orbits_they_say():
    x = inputs.henon(100)
    assert x[2:] == pytest.approx(1 - 1.4 * x[1:-1] ** 2 + 0.3 * x[:-2])
    assert inputs.centred(500).std() == pytest.approx(1)
    assert inputs.named([0.9, 0.0, -14.6]) == {"λ1": 0.9, "λ3": -14.6}
    assert inputs.named(0.7) == {"λ1": 0.7}


def test_instructions_are_counted_with_products_taken_up_by_sums():
    count = limit.Count()
    a, b, c = (count.number() for _ in range(3))
    _ = a * b + c
    assert count.total == 1
    _ = a * b + c * a
    assert count.total == 3
    _ = a + b
    assert count.total == 4
    assert limit.rk4(limit.lorenz, 3) == 4 * 6 + 3 * 3 + 3 * 4
    assert limit.rk4(limit.lorenz_tangent, 6) == 4 * 13 + 3 * 6 + 6 * 4
    assert limit.logistic_sweep(4, 10, 5) == 50


def test_the_chains_do_what_they_say():
    s = np.linspace(0.0, 1.0, limit.CHAINS)
    expected = 0.1 + (s - 0.1) * 0.999999**limit.ROUNDS
    try:
        run = limit.chains()
    except RuntimeError as error:  # where the processor's registers are wider or narrower, there is no such limit
        pytest.skip(str(error))
    assert run() == pytest.approx(expected.sum(), rel=1e-9)


class Scripted(pairs.Server):
    """A server that answers with given seconds, one after the other."""

    def __init__(self, *seconds: float) -> None:
        self.seconds = iter(seconds)

    def ask(self, **command: object) -> dict[str, float]:
        return {"seconds": next(self.seconds)}


def test_a_cold_call_does_not_decide_how_often_a_short_one_is_repeated():
    assert pairs.calls(Scripted(0.3)) == 1
    assert pairs.calls(Scripted(0.01, 0.0011, 0.001)) == 50
    assert pairs.calls(Scripted(0.001, 0.001)) == 50
