"""Examples of a page of documentation: its fenced blocks, run one after another in one folder.

What stands in a comment before a block says how it is treated: `<!-- KEYS: reason -->`, keys with commas between.

    file      the block is the content of the file that the reason names
    slow      it takes minutes, and is run by `make test-slow`
    syntax    it needs what a test has not, such as a network: commands and options are looked up, nothing is run
    words     digits of what it prints depend on the processor, or on the release: words are compared, and values with
              a half-width

In a block `console` commands begin with "$ ", and what they print follows; in a block `text` stands what the block
`python` before it prints. "..." stands for any text, alone in a line for any lines.
"""

import contextlib
import io
import re
import shlex
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from cli.main import app

ROOT = Path(__file__).parent.parent
KEYS = {"file", "slow", "syntax", "words"}
BLOCK = re.compile(
    r"(?:^<!-- (?P<keys>[a-z, ]+): (?P<reason>[^>]+) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S
)
NUMBER = r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)"
PIECE = re.compile(rf"(?P<lines>^\.\.\.$\n)|(?P<text>\.\.\.)|(?P<number>{NUMBER})", re.M | re.I)
ANY = {"lines": r"(?:.*\n)*?", "text": ".*?", "number": f"({NUMBER})"}
HALF_WIDTH = re.compile(r"[\] ]*(±|\+-)[\[ ]*")  # between a value and its half-width
CLOSE = 0.02  # relative difference of numbers that another processor may print
WIDTH = "160"  # of the terminal


@dataclass(frozen=True)
class Block:
    """A fenced block; `line` is that of its first fence."""

    line: int
    language: str
    text: str
    keys: frozenset[str]
    reason: str


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page."""
    return [
        Block(
            page.count("\n", 0, found.start("language")) + 1, found["language"], found["text"],
            frozenset((found["keys"] or "").replace(" ", "").split(",")) - {""}, found["reason"] or "",
        )
        for found in BLOCK.finditer(page)
    ]  # fmt: skip


def commands(block: Block) -> list[tuple[str, str]]:
    """The commands of a block `console`, each with what is shown of its output."""
    parts = re.split(r"^\$ ", block.text.replace("\\\n", ""), flags=re.M)
    assert parts[0] == "", f"line {block.line}: a command begins with '$ '"
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts[1:])]


def check_syntax(command: str) -> None:
    """Whether the commands and options of a line exist; of other programs than ours and make nothing is known."""
    words = _words(command)
    if words[0] == "bench":
        get_command(app).commands[words[1]].make_context(words[1], words[2:])  # type: ignore[attr-defined]
    elif words[0] == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
        assert [word for word in words[1:] if "=" not in word and word not in targets] == []


def run(page: str, slow: bool = False) -> list[str]:
    """Run a page's blocks in the current folder; a sentence for each that comes out otherwise than it says."""
    found = blocks(page)
    names: dict[str, Any] = {"__name__": "example"}
    wrong: list[str] = []
    for block, after in pairwise([*found, Block(0, "", "", frozenset(), "")]):
        if "slow" in block.keys and not slow:
            continue
        if "file" in block.keys:
            Path(block.reason).write_text(block.text, encoding="utf-8")
        elif "syntax" in block.keys:
            for command, _ in commands(block):
                check_syntax(command)
        elif block.language == "console":
            wrong += [_difference(block, shown, _printed(command)) for command, shown in commands(block)]
        elif block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block.text, f"line {block.line}", "exec"), names)
            wrong.append(_difference(block, after.text if after.language == "text" else "", out.getvalue()))
    return [trouble for trouble in wrong if trouble]


def alike(shown: str, real: str, words: bool = False) -> bool:
    """Whether an output is the shown one: words the same, numbers close."""
    shown, real = _plain(shown), _plain(real)
    pieces = [*PIECE.finditer(shown)]
    ends = [0, *(piece.end() for piece in pieces)]
    pattern = "".join(
        re.escape(shown[end : piece.start()]) + ANY[str(piece.lastgroup)]
        for end, piece in zip(ends, pieces, strict=False)
    )
    found = re.fullmatch(pattern + re.escape(shown[ends[-1] :]), real, re.I)
    if found is None:
        return False
    numbers = [piece for piece in pieces if piece.lastgroup == "number"]
    mine, theirs = ([float(text.replace(",", "")) for text in texts] for texts in
                    ([piece[0] for piece in numbers], found.groups()))  # fmt: skip
    measured = [n for n, (one, two) in enumerate(pairwise(numbers))
                if HALF_WIDTH.fullmatch(shown[one.end() : two.start()])]  # fmt: skip
    others = {*range(len(mine))} - {m for n in measured for m in (n, n + 1)}
    return all(abs(mine[n] - theirs[n]) <= mine[n + 1] + theirs[n + 1] for n in measured) and (
        words or all(abs(mine[n] - theirs[n]) <= CLOSE * abs(mine[n]) for n in others)
    )


def _plain(text: str) -> str:
    """Lines with single spaces, none empty at the end."""
    return "\n".join(" ".join(line.split()) for line in text.rstrip().splitlines()) + "\n"


def _words(command: str) -> list[str]:
    return shlex.split(command, comments=True)


def _printed(command: str) -> str:
    words = _words(command)
    setting = dict(word.split("=", 1) for word in words[: words.index("bench")])
    done = CliRunner().invoke(app, words[words.index("bench") + 1 :], env=setting | {"COLUMNS": WIDTH})
    assert done.exit_code in (0, 1), f"{command}\n{done.stderr}{done.exception}"
    assert done.exception is None or isinstance(done.exception, SystemExit), f"{command}: {done.exception!r}"
    return done.stdout


def _difference(block: Block, shown: str, real: str) -> str:
    if not shown.strip() or alike(shown, real, "words" in block.keys):
        return ""
    return f"line {block.line} shows\n{shown}\nand what comes is\n{real}"
