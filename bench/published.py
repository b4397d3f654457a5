"""Figures that others published (published_scores.toml), to stand beside ours where the questions are the same."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def published() -> dict[str, Any]:
    """The file as it stands: dataset_sha256, source, model (name -> figures, families -> tp, fp, tn, fn), cuc."""
    return tomllib.loads((files("bench") / "published_scores.toml").read_text(encoding="utf-8"))


def beside(dataset_sha256: str) -> dict[str, dict[str, Any]]:
    """The published models' figures on this data set; of another there are none."""
    known = published()
    return dict(known["model"]) if known["dataset_sha256"] == dataset_sha256 else {}
