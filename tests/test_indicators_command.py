"""`bench indicators`: a series from a file, its indicators, and a verdict with reasons."""

import io
import json
import pickle
import re
import sys
from functools import cache
from importlib.metadata import version

import numpy as np
import pytest
from naive import logistic
from orbits import lorenz, orbit

from cli.main import main

R4 = 3.9999999  # at 4 itself rounding lets the orbit collapse in the end


@pytest.fixture
def bench(monkeypatch, capsys, tmp_path):
    """Run `bench indicators` here: exit status, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["bench", "indicators", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as end:
            main()
        out = capsys.readouterr()
        return end.value.code, out.out, out.err

    return run


def autoregressive(phi, n, seed=0):
    noise = np.random.default_rng(seed).normal(size=n + 500)
    for i in range(1, noise.size):
        noise[i] += phi * noise[i - 1]
    return noise[500:]


TIME = np.arange(5000)
WHITE = np.random.default_rng(0).normal(size=5000)


@cache
def series(name):
    return {
        "logistic 4": lambda: logistic(R4, 5000),
        "logistic 3.5": lambda: logistic(3.5, 5000),
        "logistic 3.6": lambda: logistic(3.6, 5000),
        "henon": lambda: orbit("henon", 5000)[:, 0],
        "lorenz 0.01": lambda: lorenz(30_000, 0.01)[:, 0],
        "lorenz 0.01 short": lambda: lorenz(10_000, 0.01)[:, 0],
        "lorenz 0.1": lambda: lorenz(5000, 0.1)[:, 0],
        "white": lambda: WHITE,
        "coloured 0.5": lambda: autoregressive(0.5, 5000),
        "coloured 0.9": lambda: autoregressive(0.9, 5000),
        "coloured 0.99": lambda: autoregressive(0.99, 5000),
        "exponentials": lambda: np.exp(autoregressive(0.9, 5000) / 2),
        "random walk": lambda: np.cumsum(WHITE),
        "torus": lambda: np.sin(1.1 * TIME) + np.cos(1.1 * 2**0.5 * TIME),
        "smooth torus": lambda: np.sin(0.05 * TIME) + np.cos(0.05 * 2**0.5 * TIME),
        "noisy torus": lambda: np.sin(1.1 * TIME) + np.cos(1.1 * 2**0.5 * TIME) + 0.01 * WHITE,
        "sine": lambda: np.sin(0.0517 * TIME),
        "constant": lambda: np.full(1000, 0.6),
        "coarse": lambda: logistic(R4, 50_000)[::10],
        "noisy logistic": lambda: logistic(R4, 5000) + 0.02 * WHITE,
        "short": lambda: logistic(R4, 300),
        "binary": lambda: np.random.default_rng(0).integers(0, 2, 2000),
        "ramp": lambda: np.arange(1000.0),
    }[name]()


VERDICTS = {
    "logistic 4": "chaotic", "logistic 3.5": "regular", "logistic 3.6": "chaotic", "henon": "chaotic",
    "lorenz 0.01": "chaotic", "lorenz 0.01 short": "undecided", "lorenz 0.1": "chaotic",
    "white": "noise_like", "coloured 0.5": "noise_like", "coloured 0.9": "noise_like", "coloured 0.99": "noise_like",
    "exponentials": "noise_like", "random walk": "undecided",
    "torus": "regular", "smooth torus": "regular", "noisy torus": "regular", "sine": "regular", "constant": "regular",
    "coarse": "noise_like", "noisy logistic": "undecided", "short": "undecided", "binary": "undecided",
    "ramp": "undecided",
}  # fmt: skip
INTERVAL = {"lorenz 0.01": 0.01, "lorenz 0.01 short": 0.01, "lorenz 0.1": 0.1}


@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts(bench, tmp_path, name):
    np.save(tmp_path / "x.npy", series(name))
    status, out, _ = bench("x.npy", "--json", "--interval", str(INTERVAL.get(name, 1.0)))
    row = json.loads(out)
    assert row["verdict"] == VERDICTS[name]
    assert status == 0
    assert row["reasons"]
    assert row["advice"] or row["verdict"] == "regular"


def test_noise_and_chaos_share_k_alone(bench, tmp_path):
    found = {}
    for name in ("white", "henon"):
        np.save(tmp_path / "x.npy", series(name))
        found[name] = json.loads(bench("x.npy", "--json")[1])
    for row in found.values():
        assert row["indicators"]["zero_one_k"]["value"] > 0.99
    noise, chaos = found["white"]["indicators"], found["henon"]["indicators"]
    assert noise["permutation_entropy"]["5"]["value"] > 0.99
    assert noise["permutation_entropy"]["5"]["evidence"]["forbidden_patterns"] == 0
    assert chaos["permutation_entropy"]["5"]["evidence"]["forbidden_patterns"] == 93
    assert noise["lyapunov_max"]["status"] == "undefined"
    assert min(noise["lyapunov_max"]["evidence"]["false_neighbours"]) > 0.1
    assert chaos["lyapunov_max"]["value"] == pytest.approx(0.419, abs=chaos["lyapunov_max"]["error"])
    assert chaos["correlation_dimension"]["value"] == pytest.approx(1.22, abs=0.05)
    assert noise["surrogate_p"]["value"] > 0.05
    assert chaos["surrogate_p"]["value"] == 0.01
    assert any("sampled too coarsely" in line for line in found["white"]["advice"])


def test_an_oversampled_flow_says_so_and_what_would_do(bench, tmp_path):
    np.save(tmp_path / "x.npy", series("lorenz 0.01 short"))
    status, out, _ = bench("x.npy", "--interval", "0.01", "--json")
    row = json.loads(out)
    assert (status, row["sampling"]["oversampled"]) == (0, True)
    assert row["advice"][0].startswith("longer: with 27000 values")
    assert "take one value in 18, 0.18 apart" in row["advice"][1]
    np.save(tmp_path / "x.npy", series("lorenz 0.01"))
    row = json.loads(bench("x.npy", "--interval", "0.01", "--json")[1])
    exponent = row["indicators"]["lyapunov_max"]
    assert exponent["value"] == pytest.approx(0.9057, abs=exponent["error"])
    assert (tmp_path / "x.npy").exists()


def test_one_object_with_all_evidence(bench, tmp_path):
    np.save(tmp_path / "x.npy", series("logistic 4")[:1500])
    first, again = bench("x.npy", "--json", "--seed", "3"), bench("x.npy", "--json", "--seed", "3")
    assert first == again
    status, out, err = first
    assert (status, err.strip()) == (0, "")
    row = json.loads(out)
    assert list(row) == [
        "source", "column", "n", "interval", "verdict", "reasons", "advice", "sampling", "indicators", "spectrum",
        "provenance",
    ]  # fmt: skip
    assert (row["source"], row["column"], row["n"], row["interval"]) == ("x.npy", None, 1500, 1.0)
    entropies = row["indicators"].pop("permutation_entropy")
    assert list(entropies) == ["3", "4", "5", "6", "7"]
    assert list(row["indicators"]) == [
        "zero_one_k", "zero_one_k_maxima", "surrogate_p", "lyapunov_max", "correlation_dimension",
    ]  # fmt: skip
    for one in (*row["indicators"].values(), *entropies.values()):
        assert list(one) == ["value", "error", "status", "evidence"]
        assert (one["value"] is None) == (one["status"] in ("undefined", "not_applicable"))
        assert one["status"] == "ok" or one["evidence"]["reason"]
    assert set(row["sampling"]) == {"stride", "rule", "oversampled", "ratio", "bands", "periodic"}
    assert row["provenance"]["seed"] == 3
    assert row["provenance"]["version"] == version("chaostruth")
    assert row["provenance"]["settings"] == {"interval": 1.0, "orders": [3, 4, 5, 6, 7]}


def test_the_page_is_read(bench, tmp_path):
    np.savetxt(tmp_path / "x.txt", series("logistic 4")[:1500])
    status, out, _ = bench("x.txt", "--order", "5")
    assert status == 0
    assert out.startswith("chaotic  1500 values\n")
    text = " ".join(out.split())
    for part in ("Reasons K is 0.99", "neighbours are true, and separate at 0.69", "What a better series would change",
                 "largest exponent 0.69", "entropy, order 5 0.67"):  # fmt: skip
        assert part in text
    assert "order 6 " not in text.split("indicator", 1)[1]


def test_the_interval_is_the_unit_of_time(bench, tmp_path):
    np.savetxt(tmp_path / "x.txt", series("logistic 4")[:1000])
    one, half = (json.loads(bench("x.txt", "--json", "--interval", dt)[1]) for dt in ("1", "0.5"))
    assert half["indicators"]["lyapunov_max"]["value"] == 2 * one["indicators"]["lyapunov_max"]["value"]


# what can be read

SHORT = [float(v) for v in logistic(R4, 250)]
PLAIN = "".join(f"{v!r}\n" for v in SHORT)
FORMS = {
    "plain": (PLAIN, [], None),
    "crlf": (PLAIN.replace("\n", "\r\n"), [], None),
    "mark of order": ("\ufeff" + PLAIN, [], None),
    "no last newline": (PLAIN.strip(), [], None),
    "comments and blanks": ("# made by hand\n\n" + PLAIN + "\n# end\n\n", [], None),
    "header": ("height\n" + PLAIN, [], "height"),
    "comma": ("t,x\n" + "".join(f"{i},{v!r}\n" for i, v in enumerate(SHORT)), ["--column", "x"], "x"),
    "index": ("t,x\n" + "".join(f"{i},{v!r}\n" for i, v in enumerate(SHORT)), ["--column", "1"], "x"),
    "no header": ("".join(f"{i},{v!r}\n" for i, v in enumerate(SHORT)), ["--column", "1"], "1"),
    "semicolon": ("t;x\n" + "".join(f"{i};{v!r}\n" for i, v in enumerate(SHORT)), ["--column", "x"], "x"),
    "tab": ("t\tx\n" + "".join(f"{i}\t{v!r}\n" for i, v in enumerate(SHORT)), ["--column", "x"], "x"),
    "blanks": ("".join(f"  {i}   {v!r}\n" for i, v in enumerate(SHORT)), ["--column", "1"], "1"),
    "quotes": ('"time, s","x"\n' + "".join(f'"{i}","{v!r}"\n' for i, v in enumerate(SHORT)), ["--column", "x"], "x"),
    "one numeric column": ("day,x\n" + "".join(f"2020-01-01,{v!r}\n" for v in SHORT), [], "x"),
    "a name that is a number": ("t,0\n" + "".join(f"{i},{v!r}\n" for i, v in enumerate(SHORT)), ["--column", "1"], "0"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_text_in_every_form_is_the_same_series(bench, tmp_path, name):
    text, arguments, column = FORMS[name]
    (tmp_path / "x.csv").write_bytes(text.encode())
    row = json.loads(bench("x.csv", "--json", *arguments)[1])
    assert (row["n"], row["column"]) == (250, column)
    assert row["indicators"]["permutation_entropy"]["4"]["evidence"]["forbidden_patterns"] == 12
    assert json.loads(bench("-", "--json", *arguments, stdin=text.encode())[1])["indicators"] == row["indicators"]


@pytest.mark.parametrize("dtype", ["f8", ">f8", "f4", "i2", "u8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays(bench, tmp_path, dtype, order):
    values = (1000 * np.array(SHORT)).astype(dtype)
    np.save(tmp_path / "x.npy", np.asarray(np.stack([values[::-1], values], axis=1), order=order))
    two = json.loads(bench("x.npy", "--json", "--column", "1")[1])
    np.save(tmp_path / "x.npy", values)
    one = json.loads(bench("x.npy", "--json")[1])
    assert (one["column"], two["column"]) == (None, "1")
    assert one["indicators"] == two["indicators"]
    assert (
        json.loads(bench("-", "--json", stdin=(tmp_path / "x.npy").read_bytes())[1])["indicators"] == one["indicators"]
    )


# what cannot


class Trap:
    def __reduce__(self):
        return exec, ("raise AssertionError('unpickled')",)


def npy(values, **options):
    file = io.BytesIO()
    np.save(file, values, **options)
    return file.getvalue()


TRAP = npy(np.array([Trap()] * 300, dtype=object), allow_pickle=True)
TWO = "t,x\n" + "".join(f"{i},{v!r}\n" for i, v in enumerate(SHORT))
HUGE = npy(np.zeros(300)).replace(b"(300,), }", b"(3" + b"0" * 14 + b",), }"[:9])
BAD = {
    "empty": (b"", [], "x.csv is empty"),
    "blanks": (b" \n\n", [], "x.csv is empty"),
    "comments": (b"# t x\n", [], "comments and blank lines only"),
    "header alone": (b"t,x\n", [], "line 1"),
    "word alone": (b"hello\n", [], "line 1: 'hello' is no number"),
    "nan": (PLAIN.encode() + b"nan\n1\n", [], "x.csv, line 251: 'nan' is not finite"),
    "infinite": (b"1\n-inf\n", [], "x.csv, line 2: '-inf' is not finite"),
    "overflow": (b"1\n2\n1e999\n", [], "x.csv, line 3: '1e999' overflows"),
    "huge integer": (b"1\n" + b"9" * 5000 + b"\n", [], "line 2: '999"),
    "complex": (b"1\n1+2j\n", [], "line 2: '1+2j' is complex"),
    "word": (b"1\ntwo\n", [], "line 2: 'two' is no number"),
    "underscore": (b"1\n1_000\n", [], "line 2: '1_000' is no number"),
    "decimal comma": (b"t;x\n1;11,76\n", ["--column", "x"], "line 2, column 'x': '11,76' has a decimal comma"),
    "gap": (TWO.encode() + b"250,\n", ["--column", "x"], "line 252, column 'x': the cell is empty"),
    "cell": (TWO.encode() + b"250,NA\n", ["--column", "x"], "line 252, column 'x': 'NA' is no number"),
    "ragged": (TWO.encode() + b"250,1,2\n", ["--column", "x"], "cells"),
    "ragged words": (b"1 2\n3\n", ["--column", "0"], "line 2: 1 cells where others have 2"),
    "quote": (TWO.encode() + b'250,"1\n', ["--column", "x"], "line 252: "),
    "several": (TWO.encode(), [], "2 numeric columns, 0 ('t'), 1 ('x'); choose one by --column"),
    "several without names": (TWO.encode()[4:], [], "2 numeric columns, 0, 1; choose one by --column"),
    "no such name": (TWO.encode(), ["--column", "X"], "1 ('x'); did you mean x"),
    "no such index": (TWO.encode(), ["--column", "2"], "no column '2'"),
    "negative index": (TWO.encode(), ["--column", "-1"], "no column '-1'"),
    "missing at once": (b"1 NA\n2 3\n", ["--column", "1"], "line 1, column '1': 'NA' is no number"),
    "long index": (TWO.encode(), ["--column", "9" * 5000], "no column '999"),
    "one name twice": (TWO.replace("t,x", "x,x").encode(), ["--column", "x"], "2 columns 'x'; choose one by its index"),
    "words only": (b"a,b\nc,d\n", [], "no numeric column; its columns are 0 ('a'), 1 ('b')"),
    "too short": (b"1\n2\n3\n", [], "x.csv: the series has 3 values; at least 200 are needed"),
    "binary": (bytes(range(256)) * 10, [], "no UTF-8 text"),
    "zeros": (b"1\n2\n\0\0\0", [], "line 3: this is binary"),
    "pickle": (pickle.dumps([1.0] * 300), [], "UTF-8 text"),
    "gzip": (b"\x1f\x8b\x08rest", [], "compressed, gzip; unpack it"),
    "npz": (b"PK\x03\x04rest", [], "compressed, zip"),
    "utf-16": (PLAIN.encode("utf-16"), [], "UTF-16; save it as UTF-8"),
    "npy of objects": (TRAP, [], "Python objects, which are never unpickled"),
    "npy complex": (npy(np.ones(300) * 1j), [], "complex numbers; real numbers are needed"),
    "npy dates": (npy(np.zeros(300, "M8[D]")), [], "values of type 'datetime64[D]'"),
    "npy fields": (npy(np.zeros(300, [("t", "f8")])), [], "values of type"),
    "npy text": (npy(np.array(["1"] * 300)), [], "values of type '<U1'"),
    "npy nan": (npy(np.where(WHITE > 3, np.nan, WHITE)), [], "x.csv: the series is not finite: the value at index"),
    "npy columns": (npy(np.zeros((300, 2))), [], "2 numeric columns, 0, 1; choose one"),
    "npy column": (npy(np.zeros((300, 2))), ["--column", "2"], "no column '2'; its columns are 0, 1"),
    "npy without columns": (npy(np.zeros(300)), ["--column", "1"], "without columns; leave out --column"),
    "npy 3-D": (npy(np.zeros((300, 2, 2))), [], "shape (300, 2, 2)"),
    "npy scalar": (npy(np.float64(1)), [], "shape ()"),
    "npy cut": (npy(np.zeros(300))[:-8], [], "cut off or damaged: 2400 bytes"),
    "npy huge": (HUGE, [], "cut off or damaged"),
    "npy header": (b"\x93NUMPY\x01\x00\x04\x00{{{{", [], "no valid .npy file"),
    "npy version": (b"\x93NUMPY\x09\x00\x04\x00{{{{", [], "no valid .npy file"),
    "npy end": (b"\x93NUMPY", [], "no valid .npy file"),
    "interval 0": (PLAIN.encode(), ["--interval", "0"], "--interval is 0.0; a time above 0"),
    "interval nan": (PLAIN.encode(), ["--interval", "nan"], "--interval is nan"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_one_sentence_about_what_is_wrong(bench, tmp_path, name):
    content, arguments, said = BAD[name]
    (tmp_path / "x.csv").write_bytes(content)
    status, out, err = bench("x.csv", *arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert re.fullmatch(r"bench: [^\n]{10,400}\n", err)
    assert bench("-", *arguments, stdin=content)[2] == err.replace("x.csv", "standard input")


@pytest.mark.parametrize(("place", "said"), [
    ("missing.csv", "there is no file 'missing.csv'"), (".", ". is a folder"), ("x" * 5000, "File name too long"),
    ("a\0b", "cannot be read: embedded null"),
])  # fmt: skip
def test_files_that_are_none(bench, place, said):
    status, _, err = bench(place)
    assert status == 2
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("order", ["1", "9", "x"])
def test_orders_without_meaning(bench, order):
    assert bench("x.csv", "--order", order)[0] == 2


def test_help_shows_an_example(bench):
    status, out, _ = bench("--help")
    assert status == 0
    assert "bench indicators" in out
