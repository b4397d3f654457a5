"""A row of a lattice, one variable and one equation per kind of site, written out as a row of single variables.

With `lattice = "N"` and a parameter N, a variable x stands for x0 .. x(N-1) on a ring: `x[i]` is the site itself,
`x[i-1]` its neighbour, indices modulo N. A start, a box bound or a circumference may be a formula in i and N.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from dynamics.equations import number

MOST_SITES = 128


def expanded(row: Mapping[str, Any], refuse: Callable[[str], ValueError]) -> dict[str, Any]:
    """The row without `lattice`; the size is no longer a parameter, since it shapes the equations."""
    out = {key: value for key, value in row.items() if key != "lattice"}
    name = row["lattice"]
    parameters = dict(row.get("parameters", {}))
    if not isinstance(name, str) or name not in parameters:
        raise refuse(f"lattice is {name!r}; it must name the parameter that holds the number of sites")
    size = number(parameters.pop(name), f"parameter {name}")
    if size != int(size) or not 1 < size <= MOST_SITES:
        raise refuse(f"a lattice of {size:g} sites cannot be made; take a whole number from 2 to {MOST_SITES}")
    n = int(size)
    sites = list(row["state"])
    if len(row["rule"]) != len(sites):
        raise refuse(f"the rule has {len(row['rule'])} equations, the lattice {len(sites)} variables per site")
    out["parameters"] = parameters
    out["state"] = {f"{x}{i}": _at(row["state"][x], name, n, i) for i in range(n) for x in sites}
    out["rule"] = [_site(text, sites, name, n, i) for i in range(n) for text in row["rule"]]
    for key in ("box", "circle"):
        if key in row:
            out[key] = {f"{x}{i}": value for i in range(n) for x, value in row[key].items()}
    return out


def _at(value: Any, name: str, n: int, i: int) -> Any:
    """A start at site i: a number, or the text of a formula in i and the number of sites."""
    return _numbers(value, name, n, i) if isinstance(value, str) else value


def _site(text: str, sites: list[str], name: str, n: int, i: int) -> str:
    def neighbour(match: re.Match[str]) -> str:
        variable, shift = match[1], match[2].replace(" ", "") or "0"
        return f"{variable}{(i + int(shift)) % n}"

    pattern = rf"\b({'|'.join(map(re.escape, sites))})\[\s*i\s*((?:[+-]\s*\d+)?)\s*\]"
    return _numbers(re.sub(pattern, neighbour, text), name, n, i)


def _numbers(text: str, name: str, n: int, i: int) -> str:
    return re.sub(rf"\b{re.escape(name)}\b", str(n), re.sub(r"\bi\b", str(i), text))
