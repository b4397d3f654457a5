"""`bench label --recheck`: the certificates in a file, proved again from the file alone."""

import json
from pathlib import Path

import typer


def recheck_file(path: Path) -> int:
    """Print what does not hold, line by line; 0 if all certificates hold, 1 if some do not, 2 if there are none."""
    from labeling.recheck import recheck

    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        typer.echo(f"bench: {path} cannot be read: {getattr(error, 'strerror', None) or error}", err=True)
        return 2
    failed, held = 0, 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            failures = [f"it is not JSON: {error}"]
        else:
            failures = recheck(row)
        failed, held = failed + bool(failures), held + (not failures)
        for failure in failures:
            typer.echo(f"{path}, line {number}: {failure}")
    if not failed and not held:
        typer.echo(f"bench: {path} holds no certificates; `bench label` writes them to certificates.jsonl", err=True)
        return 2
    typer.echo(f"{held} of {held + failed} certificates hold")
    return 1 if failed else 0
