"""Bad input: one sentence, exit status 2, and nothing written; nothing crashes, hangs or is executed."""

import re
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cli.label
from cli.main import main
from dynamics.equations import FUNCTIONS, EquationError, expression, symbol
from dynamics.system import RowError, system_from_row

QUICK = 5.0  # seconds
ROW = 'kind = "map"\nstate = { x = 0.1 }\nparameters = { r = 3.7 }\nrule = ["r*x*(1 - x)"]\n'
SWEEP = '[[sweep]]\nparameter = "r"\nlo = 1\nhi = 2\npoints = 5\n'


@pytest.fixture
def bench(monkeypatch, capsys, tmp_path):
    """Run `bench label` here with its work taken out: status, what it said on stderr, whom it would have labelled."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, out="out"):
        worked = []
        monkeypatch.setattr(
            cli.label, "_measured", lambda chosen, grids, *_: worked.append((chosen, grids)) or ([], [], [])
        )
        monkeypatch.setattr(sys, "argv", ["bench", "label", *arguments, "--out", str(tmp_path / out)])
        begun = time.perf_counter()
        with pytest.raises(SystemExit) as end:
            main()
        assert time.perf_counter() - begun < QUICK
        return end.value.code, capsys.readouterr().err, worked

    return run


def refused(bench, tmp_path, arguments, said):
    before = sorted(tmp_path.rglob("*"))
    status, err, worked = bench(*arguments)
    assert status == 2
    assert said in err
    assert re.fullmatch(r"bench: [^\n]{10,700}\n", err)
    assert not re.search(r"[.!?] [A-Z]|Traceback", err)
    assert worked == []
    assert sorted(tmp_path.rglob("*")) == before


OPTIONS = [
    (["lorenz63s"], "did you mean lorenz63"),
    (["lorenz63s.toml"], "there is no file 'lorenz63s.toml'; did you mean lorenz63"),
    (["no/such/file.toml"], "there is no file 'no/such/file.toml'"),
    (["x" * 5000 + ".toml"], "File name too long"),
    (["folder"], "folder is no id and no file whose name ends in .toml"),
    (["folder.toml"], "folder.toml is a folder"),
    (["/dev/null"], "/dev/null is no id"),
    (["henon", "henon"], "henon is given more than once"),
    (["lorenz63", "--set", "roh=1"], "no parameter 'roh'; it has sigma, rho, beta; did you mean rho?"),
    (["lorenz63", "--set", "x=1"], "no parameter 'x' (x is a variable)"),
    (["henon", "--set", "a=1", "--set", "a=2"], "--set gives a twice"),
    (["henon", "--set", "a=nan"], "--set a is 'nan'; it must be finite"),
    (["henon", "--set", "a=-inf"], "--set a is '-inf'; it must be finite"),
    (["henon", "--set", "a=1e999"], "--set a: a number overflows"),
    (["henon", "--set", "a=" + "9" * 5000], "--set a: "),
    (["henon", "--set", "a="], "not of the form NAME=VALUE"),
    (["henon", "--set", "a=2 b=3"], "--set a: "),
    (["henon", "--param", "a=1:1:10"], "lo must be below hi"),
    (["henon", "--param", "a=2:1:10"], "lo must be below hi"),
    (["henon", "--param", "a=1:2:1"], "at least 2 are needed"),
    (["henon", "--param", "a=1:2:0"], "at least 2 are needed"),
    (["henon", "--param", "a=1:2:-5"], "'-5' is not a number of points"),
    (["henon", "--param", "a=1:2:1.5"], "'1.5' is not a number of points"),
    (["henon", "--param", "a=1:2:1000000000000"], "at most 1000000"),
    (["henon", "--param", "a=1:2:" + "9" * 5000], "is not a number of points"),
    (["henon", "--param", "a=1:2:ten"], "'ten' is not a number of points"),
    (["henon", "--param", "a=1:2:"], "not of the form NAME=LO:HI:N"),
    (["henon", "--param", "a=1:2"], "not of the form NAME=LO:HI:N"),
    (["henon", "--param", "=1:2:5"], "not of the form NAME=LO:HI:N"),
    (["henon", "--param", ""], "not of the form NAME=LO:HI:N"),
    (["henon", "--param", "a=nan:2:5"], "--param LO is 'nan'; it must be finite"),
    (["henon", "--param", "a=0:inf:5"], "--param HI is 'inf'; it must be finite"),
    (["henon", "--param", "a=low:2:5"], "--param LO: the name 'low' is not defined"),
    (["henon", "--param", "a=-1e308:1e308:5"], "too wide a range"),
    (["henon", "--param", "a=1:1+1e-15:100"], "cannot tell apart"),
    (["lorenz63", "--param", "roh=1:2:5"], "did you mean rho?"),
    (["lorenz63", "--param", "x=1:2:5"], "no parameter 'x' (x is a variable)"),
    (["henon", "--start", "x=1,z=1"], "no variable 'z'"),
    (["henon", "--start", "x=1"], "--start gives no value of y"),
    (["henon", "--start", "x=1,x=2,y=0"], "--start gives x twice"),
    (["henon", "--start", ""], "--start: '' is not of the form"),
    (["henon", "--start", "x=nan,y=0"], "--start x is 'nan'; it must be finite"),
    (["henon", "--start", "x=0,y=0,a=1"], "no variable 'a' (a is a parameter)"),
    (["henon", "--start", "x=0,y=0", "--all-sets"], "--all-sets labels the system over all its sets and --start"),
    (["good.toml", "--sweep"], "good has no sweep in its row"),
    (["good.toml", "bad.toml"], "bad.toml: bad: rule 1: the name 'y' is not defined"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "said"), OPTIONS, ids=lambda v: " ".join(v)[:50] if isinstance(v, list) else "")
def test_options(bench, tmp_path, arguments, said):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "good.toml").write_text(ROW)
    (tmp_path / "bad.toml").write_text(ROW.replace("r*x", "r*y"))
    refused(bench, tmp_path, arguments, said)


FILES = {
    "syntax": ('a = 1\nkind = "map\n', "(at line 2, column 12)"),
    "end": ("kind = ", "(at line 1, "),
    "empty": ("", "describes no system"),
    "comment": ("# nothing\n", "describes no system"),
    "twice": ("[a]\n" + ROW + "[a]\n" + ROW, "(at line 6, column 3)"),
    "utf-16": (ROW.encode("utf-16"), "save it as UTF-8"),
    "10 MB": ("#" * 10_000_000, "more than 1000000 bytes"),
    "deep arrays": ("x = " + "[" * 3000 + "]" * 3000, "nested too deep"),
    "digits": (ROW.replace("0.1", "9" * 5000), "is not valid TOML: Exceeds the limit"),
    "outside": ("x = 3", "'x' stands outside a table"),
    "dde": (ROW.replace('"map"', '"dde"'), "the key 'delayed' is missing, empty, or not a dict"),
    "sde": (ROW.replace('"map"', '"sde"'), "the key 'noise' is missing or not a list of texts, one per variable"),
    "pde": (ROW.replace('"map"', '"pde"'), "the key 'state' is not read in a row of kind 'pde'"),
    "key": (ROW.replace("parameters", "parametres"), "key 'parametres' is not part of a row; did you mean parameters?"),
    "undefined": (ROW.replace("r*x", "roh*x").replace("r =", "rho ="),
                  "'roh' is not defined; known here: x, rho, t, pi; did you mean rho?"),
    "rules": (ROW.replace("(1 - x)", '", "x'), "the rule has 2 equations, the state has 1 (x)"),
    "huge state": (ROW.replace("0.1", "9" * 400), "the start of x is 999"),
    "hex state": (ROW.replace("0.1", "0x" + "f" * 20_000), "x is int too large to be shown, which overflows"),
    "huge parameter": (ROW.replace("3.7", "1" * 400), "which overflows; use a number below 1e308"),
    "true": (ROW.replace("0.1", "true"), "the start of x is True; a number"),
    "date": (ROW.replace("0.1", "1976-06-10"), "the start of x is datetime.date"),
    "dotted": (ROW.replace("x = 0.1", "x.y = 0.1"), "the start of x is {'y': 0.1}"),
    "transient": (ROW + "transient = 1e30\n", "the transient is 1e+30; at most 1e+07"),
    "circle": (ROW + "circle = { x = 0 }\n", "the circumference of x is 0; it must be above 0"),
    "box": (ROW + "box = { x = [1, 0] }\n", "lo must be below hi"),
    "wide box": (ROW + "box = { x = [-1e308, 1e308] }\n", "too wide a range"),
    "sweep list": (ROW + SWEEP.replace('"r"', '["r"]'), "the sweep's parameter is ['r']"),
    "sweep half": (ROW + SWEEP.replace("5", "1.5"), "points = 1.5; a whole number is needed"),
    "sweep true": (ROW + SWEEP.replace("5", "true"), "points = True; a whole number is needed"),
    "sweep lo": (ROW + SWEEP.replace("lo = 1", "lo = true"), "lo of the sweep of r is True"),
    "sweep of x": (ROW + SWEEP.replace('"r"', '"x"'), "the sweep's parameter 'x' is not one of r"),
    "swept twice": (ROW + SWEEP + SWEEP, "'r' is swept twice"),
    "keyword": (ROW.replace("r =", "lambda ="), "'lambda' cannot be the name"),
    "compatibility": (ROW.replace("r = 3.7", '"µ" = 3.7').replace("r*x", "µ*x"), "write 'μ'"),
    "start": (ROW.replace("r*x", "x + 1/(x - 0.1)"), "'x + 1/(x - 0.1)*(1 - x)' has no finite value at"),
    "start root": (ROW.replace("r*x", "sqrt(x - r)"), "has no finite value at the start, x = 0.1"),
    "start overflow": (ROW.replace("r*x", "exp(1e5*x)"), "has no finite value at the start"),
    "names": ('[a]\nkind = "map"\nrule = []\nstate = { ' + ", ".join(f"x{i} = 1" for i in range(5000)) + " }",
              "it has 5000 variables"),
    "too many": ('kind = "ode"\nstate = { ' + ", ".join(f"x{i} = 1" for i in range(129)) + " }\nrule = ["
                 + ", ".join(f"'x{i}'" for i in range(129)) + "]", "129 variables are too many"),
    "laughs": (ROW.replace("r*x*(1 - x)", "h30") + "[let]\n"
               + "".join(f"h{i} = '{f'sin(h{i - 1}) + cos(h{i - 1})' if i else 'x'}'\n" for i in range(31)),
               "at most 2000"),
    "import": (ROW.replace("r*x*", "__import__('os').system('touch X')*"), "is not allowed in an equation"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_files(bench, tmp_path, name):
    content, said = FILES[name]
    (tmp_path / "mine.toml").write_bytes(content if isinstance(content, bytes) else content.encode())
    refused(bench, tmp_path, ["mine.toml"], said)


def test_one_id_in_two_files(bench, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.toml").write_text(ROW)
    refused(bench, tmp_path, ["a/mine.toml", "b/mine.toml"], "mine is given more than once")


def test_a_file_that_may_not_be_read(bench, tmp_path, monkeypatch):
    (tmp_path / "mine.toml").write_text(ROW)

    def denied(self, *_):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", denied)
    refused(bench, tmp_path, ["mine.toml"], "mine.toml cannot be read: Permission denied")


def test_an_existing_folder_stays_as_it_was(bench, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "labels.jsonl").write_text("kept")
    refused(bench, tmp_path, ["lorenz64"], "did you mean")
    assert (tmp_path / "out" / "labels.jsonl").read_text() == "kept"


@pytest.mark.parametrize(("content", "arguments"), [
    (b"\xef\xbb\xbf" + ROW.encode(), []),
    (ROW.replace("\n", "\r\n").encode(), []),
    ((ROW + 'name = "Лоренц 混沌"\n').encode(), []),
    (ROW.replace("0.1", '"1/3"').replace("3.7", '"2*pi - 3"').encode(), ["--set", "r=8/3", "--start", "x=pi/7"]),
    (ROW.encode(), ["--param", "r=3:4:2"]),
    (ROW.replace("r*x", "cos(t)*x").encode(), []),
    ((ROW + SWEEP).encode(), ["--sweep"]),
    (ROW.replace("r =", '"θ" =').replace("r*x", "θ*x").encode(), []),
    (ROW.replace("r = 3.7", "beta = 1, gamma = 1, E = 1, I = 1, N = 1, S = 1, O = 1, Q = 1, zeta = 1")
     .replace("r*x", "beta*gamma*E*I*N*S*O*Q*zeta*x").encode(), []),
])  # fmt: skip
def test_right_input_at_the_border(bench, tmp_path, content, arguments):
    (tmp_path / "mine.toml").write_bytes(content)
    status, err, worked = bench("mine.toml", *arguments)
    assert (status, err) == (0, "")
    ((chosen, grids),) = worked
    assert [s.id for s in chosen] == ["mine"]
    assert len(grids) == ("--param" in arguments or "--sweep" in arguments)


@pytest.mark.parametrize(("fault", "said", "traced"), [
    (OSError(28, "no space left on device", "out/labels.jsonl"), "device: 'out/labels.jsonl'; files", False),
    (KeyError("regime"), "this is a fault of the program", True),
    (ValueError("shapes"), "this is a fault of the program", True),
    (ZeroDivisionError(), "this is a fault of the program", True),
])  # fmt: skip
def test_faults(monkeypatch, capsys, tmp_path, fault, said, traced):
    def fails(*_):
        raise fault

    monkeypatch.setattr(cli.label, "_measured", fails)
    monkeypatch.setattr(sys, "argv", ["bench", "label", "henon", "--out", str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        main()
    err = capsys.readouterr().err
    assert end.value.code == 2
    assert said in err
    assert ("Traceback" in err) == traced


@pytest.mark.parametrize(("rule", "said"), [
    ("ln(x)", "'ln' is not known; write log"), ("arctan(x)", "write atan"), ("x^2", "a power is written x**2"),
    ("2x", "write 2*x for 2x"), ("1 + 3sin(x)", "write 3*sin for 3sin"), ("x(1 - x)", "write a product as x*(...)"),
    ("2(x)", "write a product as 2*(x)"), ("x % 2", "Mod(x, m)"), ("Sin(x)", "did you mean sin"), ("e**x", "exp(1)"),
    ("sin", "write it as sin(...)"), ("x.real", "'x.real' is not allowed"),
    ("(" * 2400 + "x" + ")" * 2400, "too many nested"),
    ("sin(" * 49 + "x" + ")" * 49, "nested more than 48"), ("(" * 201 + "x" + ")" * 201, "too many nested"),
    ("Mod((x + y + 1)**64, (x - y)**64)", "more than 200 terms"),
    ("+".join(f"sqrt({i})" for i in range(2, 99)), "write its value"), ("not " + "-" * 900 + "x", "a part of it"),
])  # fmt: skip
def test_hints(rule, said):
    with pytest.raises(EquationError, match=re.escape(said)):
        expression(rule, {name: symbol(name) for name in "xy"})


TOWERS = ["sin({})", "tan({})", "abs({} - 1)", "exp(-abs({}))", "Mod(sin({}), 0.7)", "Mod({}, y)*x", "floor({}*x) + y",
          "sqrt(1 + ({})**2)", "({})**2 + 1", "({})**x", "({})**0.5", "max({}, y*x)", "sign({} + y)*x", "atan2({}, y)",
          "log(2 + abs({}))", "abs(log({}) + x)", "Heaviside({} + x)*y", "1/(1 + {})", "(x + y + {})**64",
          "kepler({}, 0.5)", "kepler(y, ({})**2)"]  # fmt: skip


@pytest.mark.parametrize("tower", TOWERS)
@pytest.mark.parametrize("kind", ["map", "ode"])
def test_towers_are_refused_or_read_with_all_that_is_proved_of_them(tower, kind):
    read = 0
    for levels in (1, 7, 11, 22, 47, 199):
        begun = time.perf_counter()
        text = "x"
        for _ in range(levels):
            text = tower.format(text)
        row = {"kind": kind, "state": {"x": 0.3, "y": 0.2}, "rule": [f"{text} + y", f"{text} - x"]}
        try:
            s = system_from_row("tower", row)
        except RowError:
            pass
        else:
            assert s.constant_volume_factor is None or "floor" in tower  # whose slope is 0 almost everywhere
            assert s.forcing_period is None
            read += 1
        assert time.perf_counter() - begun < QUICK
    assert 1 <= read < 6 or tower == "({})**0.5"  # which SymPy makes into one power


_fuzz = st.recursive(
    st.sampled_from(["x", "y", "0", "1", "2", "0.5", "-1", "1e300", "pi", "q", "7.0", "10**9", "(1/3)"]),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from([*FUNCTIONS, "ln", "f"]), st.lists(inner, min_size=1, max_size=3)).map(
            lambda call: f"{call[0]}({', '.join(call[1])})"
        ),
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "**", "%", " < ", "^", ""]), inner).map(
            "({0[0]}){0[1]}({0[2]})".format
        ),
        inner.map("-{}".format),
    ),
    max_leaves=20,
)  # fmt: skip


@given(
    st.one_of(_fuzz, st.text(max_size=40), st.text(alphabet="xy0129.+-*/()[]{}'\"\\ eE_,:=<>!@~%^&|#jf\n", max_size=40))
)
@settings(max_examples=400)
def test_any_text_is_an_expression_or_an_equation_error(text):
    begun = time.perf_counter()
    said = ""
    try:
        parsed = expression(text, {name: symbol(name) for name in "xy"})
        assert parsed.free_symbols <= {symbol("x"), symbol("y")}
        row = {"kind": "map", "state": {"x": 0.3, "y": 0.7}, "rule": [text, "x"]}
        _ = system_from_row("fuzz", row).constant_volume_factor
    except (EquationError, RowError) as refusal:
        said = str(refusal)
    assert "\n" not in said
    assert time.perf_counter() - begun < QUICK
