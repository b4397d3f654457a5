"""The command line: what it prints, what it writes, and how it refuses."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from dynamics.registry import system_ids

BENCH = [sys.executable, "-c", "from cli.main import main; main()"]
ROOT = Path(__file__).parent.parent


def bench(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*BENCH, *arguments], capture_output=True, text=True, timeout=300, check=False, cwd=ROOT,
        env=os.environ | environment,
    )  # fmt: skip


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_help_of_every_command_shows_an_example() -> None:
    for command in ("systems", "label", "indicators", "audit", "axioms", "generate", "diagnostics", "baselines",
                    "score", "compare", "leaderboard", "cache"):  # fmt: skip
        done = bench(command, "--help")
        assert done.returncode == 0
        assert "Example" in done.stdout


def test_version_and_systems(tmp_path: Path) -> None:
    assert bench("--version").stdout.startswith("chaostruth ")
    listed = bench("systems").stdout
    assert "lorenz63" in listed
    assert "x0 x1 x2 .. x39 (40)" in listed
    assert any(line.split()[:4] == ["sine_gordon", "pde", "u", "v"] for line in listed.splitlines())
    (shown,) = [json.loads(line) for line in bench("systems", "dysts_lorenz", "--json").stdout.splitlines()]
    assert (shown["same_as"], shown["parameters"]["beta"]) == ("lorenz63", 2.667)
    assert "did you mean dysts_lorenz" in bench("systems", "dysts_lorens").stderr


def test_every_system_is_listed_whole_and_kept(tmp_path: Path) -> None:
    first, again = (bench("systems", "--json", CHAOSTRUTH_CACHE=str(tmp_path)) for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert first.stdout == again.stdout
    every = {row["system_id"]: row for row in map(json.loads, first.stdout.splitlines())}
    assert list(every) == system_ids()
    assert {row["kind"] for row in every.values()} == {"map", "ode", "dde", "sde", "pde"}
    for row in every.values():
        assert all(one["text"] and one["latex"] for one in row["equations"])
        assert len(row["equations"]) == (1 if row["kind"] == "pde" else row["dimension"])
        assert {"dimension", "explicit_time", "smoothness"} <= {one["fact"] for one in row["facts"]}
        assert all(one["why"] for one in row["facts"])
    assert [*tmp_path.glob("descriptions/henon/*.bin")]


def test_one_system_is_shown_to_be_read(tmp_path: Path) -> None:
    page = bench("systems", "lorenz63").stdout
    for part in ("Lorenz-63 system", "  x' = sigma*(y - x)\n", "rho = 28", "div f = -13.6666666667 everywhere",
                 "rho 0 .. 200, 256 points", "Lorenz 1963"):  # fmt: skip
        assert part in page
    page = bench("systems", "lorenz96").stdout
    assert "x[i]' = (x[i+1] - x[i-2])*x[i-1] - x[i] + F\n  for i = 0 .. 39, indices modulo 40" in page
    assert len(page.splitlines()) < 40
    fields = bench("systems", "sine_gordon", "mackey_glass").stdout
    assert "(256 numbers)" in " ".join(fields.split())
    assert "beta*x(t - tau)/(1 + x(t - tau)**n)" in fields
    mine = tmp_path / "mine.toml"
    mine.write_text('kind = "map"\nstate = { x = 0.1 }\nrule = ["1 - abs(x)"]\n')
    assert "x(n+1) = 1 - abs(x)" in bench("systems", str(mine)).stdout


def test_label_prints_rows_for_programs(tmp_path: Path) -> None:
    done = bench("label", "logistic_r4", "--set", "r=3.83", "--json", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    (made,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert (made["regime"], made["period"], made["params"]) == ("periodic", 3, {"r": 3.83})
    assert rows(tmp_path / "labels.jsonl") == [made]


def test_label_starts_where_it_is_told(tmp_path: Path) -> None:
    done = bench("label", "standard_map", "--set", "K=0.3", "--start", "theta=pi,p=0", "--json", "--out", str(tmp_path))
    made = json.loads(done.stdout)
    assert (made["regime"], made["initial_condition"]["p"]) == ("fixed_point", 0.0)


def test_explanations_and_certificates(tmp_path: Path) -> None:
    done = bench("label", "henon", "--set", "a=1.2652", "--explain", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "regime: periodic, period 70, attracting" in done.stdout
    for line in ("Periodic           TRUE      certified", "Dissipative        TRUE      exact     abs det J = 0.3"):
        assert line in done.stdout
    assert "Ergodic-/-Periodic (refuted)" in done.stdout
    proofs = tmp_path / "certificates.jsonl"
    (made,) = rows(tmp_path / "labels.jsonl")
    assert made["certificates"] == [rows(proofs)[0]["sha256"]]
    held = bench("label", "--recheck", str(proofs))
    assert (held.returncode, held.stdout.strip()) == (0, "1 of 1 certificates hold")
    text = proofs.read_text()
    digit = text.index("0.663693208") + 8
    proofs.write_text(text[:digit] + ("1" if text[digit] != "1" else "2") + text[digit + 1 :])
    refused = bench("label", "--recheck", str(proofs))
    assert refused.returncode == 1
    assert "line 1: the sha256 is not that of the content" in refused.stdout
    assert "line 1: the proof fails" in refused.stdout
    empty = tmp_path / "labels.jsonl"
    assert bench("label", "--recheck", str(tmp_path / "none.jsonl")).returncode == 2
    assert bench("label", "--recheck", str(empty)).returncode == 1  # rows, but no certificates


def test_any_number_of_processes_writes_the_same_bytes(tmp_path: Path) -> None:
    for jobs in ("1", "2"):  # without the cache, or the second run would only read what the first one wrote
        for name, grid in (("logistic_r4", "r=3.4:3.6:40"), ("vdp", "mu=-0.5:1:20")):
            out = str(tmp_path / jobs / name)
            done = bench("label", name, "--param", grid, "--jobs", jobs, "--out", out, "--no-cache")
            assert done.returncode == 0, done.stderr
    files = sorted(p.relative_to(tmp_path / "1") for p in (tmp_path / "1").rglob("*") if p.is_file())
    assert {p.name for p in files} >= {"labels.jsonl", "thresholds.jsonl", "logistic_r4__r.parquet", "vdp__mu.png"}
    for file in files:
        if file.name != "run.json":
            assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes(), file

    thresholds = rows(tmp_path / "1" / "logistic_r4" / "thresholds.jsonl")
    assert list(thresholds[0]) == [
        "system_id", "parameter", "params", "lo", "hi", "estimate", "kind", "below", "above", "direction", "method",
        "confidence", "basis", "provenance",
    ]  # fmt: skip
    assert any(t["lo"] <= 3.449489742783178 <= t["hi"] for t in thresholds)  # type: ignore[operator]
    frame = pd.read_parquet(tmp_path / "1" / "logistic_r4" / "sweeps" / "logistic_r4__r.parquet")
    assert len(frame) == 40
    assert {"regime", "period", "Chaotic", "lyapunov_max_value", "zero_one_k_status", "predicates"} <= set(
        frame.columns
    )
    assert (tmp_path / "1" / "vdp" / "sweeps" / "vdp__mu.png").read_bytes().startswith(b"\x89PNG")


def test_a_system_of_ones_own(tmp_path: Path) -> None:
    mine = tmp_path / "lozi.toml"  # Lozi 1978, J. Phys. Colloq. 39:C5-9: a strange attractor at a = 1.7, b = 0.5
    mine.write_text(
        'kind = "map"\nstate = { x = 0.1, y = 0.0 }\nparameters = { a = 1.7, b = 0.5 }\n'
        'rule = ["1 - a*abs(x) + y", "b*x"]\n'
    )
    done = bench("label", str(mine), "--json", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert (made["system_id"], made["regime"]) == ("lozi", "chaotic")
    assert sum(made["indicators"]["lyapunov_spectrum"]["value"]) == pytest.approx(-0.6931471805599453, abs=1e-9)  # ln b


def test_the_cache_is_listed_and_removed(tmp_path: Path) -> None:
    def cache(*arguments: str) -> subprocess.CompletedProcess[str]:
        return bench("cache", *arguments, CHAOSTRUTH_CACHE=str(tmp_path))

    assert "0 entries" in cache().stdout
    for group, count in (("henon", 2), ("vdp", 1)):
        (tmp_path / "results" / group).mkdir(parents=True)
        for n in range(count):
            (tmp_path / "results" / group / f"{n}.bin").write_bytes(b"x" * 500)
    os.utime(tmp_path / "results" / "henon" / "0.bin", (1e9, 1e9))
    listed = json.loads(cache("--json").stdout)
    assert (listed["place"], listed["entries"], listed["bytes"], listed["removed"]) == (str(tmp_path), 3, 1500, False)
    assert [(g["part"], g["group"], g["entries"]) for g in listed["groups"]] == [
        ("results", "henon", 2), ("results", "vdp", 1)
    ]  # fmt: skip
    assert listed["groups"][0]["oldest_days"] > 1000 > 1 > listed["groups"][0]["newest_days"]
    assert "henon" in cache().stdout
    assert json.loads(cache("--system", "rossler", "--json").stdout)["entries"] == 0
    wrong = cache("--system", "lorenz63s")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean lorenz63" in wrong.stderr
    assert cache("--older-than", "-1").returncode == 2
    assert json.loads(cache("--older-than", "30", "--clear", "--json").stdout)["entries"] == 1
    assert json.loads(cache("--system", "henon", "--clear", "--json").stdout)["entries"] == 1
    assert "1 entries, 0.5 kB removed" in cache("--clear").stdout
    assert not [*tmp_path.rglob("*.bin")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lorenz63s"], "did you mean lorenz63"),
        (["henon", "--set", "q=1"], "henon has no parameter 'q'; it has a, b"),
        (["henon", "--set", "a"], "not of the form NAME=VALUE"),
        (["henon", "--set", "a=import os"], "is not an expression"),
        (["henon", "--param", "a=1:2"], "not of the form NAME=LO:HI:N"),
        (["henon", "--param", "a=2:1:10"], "lo must be below hi"),
        (["henon", "--param", "a=1:2:1"], "at least 2 are needed"),
        (["henon", "--param", "q=1:2:10"], "henon has no parameter 'q'"),
        (["henon", "--start", "z=1"], "henon has no variable 'z'"),
        (["henon", "--jobs", "0"], "--jobs"),
        (["nothing.toml"], "nothing.toml"),
    ],
)
def test_wrong_use_is_one_sentence_and_status_2(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = bench("label", *arguments, "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()
