"""The frame of every page of a report, and its tables. Whatever is shown is escaped, unless it is `Html` already."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

ASSETS = ("report.css", "report.js")  # shared by all pages of a folder; a page alone holds them


class Html(str):
    """Text that is HTML, with all that it shows escaped."""


def asset(name: str) -> str:
    """One of the shared files."""
    return (files("bench.report") / name).read_text(encoding="utf-8")


def page(title: str, body: Iterable[str], folder: str | None = None, links: Mapping[str, str] | None = None) -> str:
    """A whole page.

    folder : where the shared files are, as a path that ends in / or is empty; None: the page holds them itself.
    links : addresses of the pages that stand above it, by their names.
    """
    if folder is None:
        head, foot = f"<style>{asset('report.css')}</style>", f"<script>{asset('report.js')}</script>"
    else:
        head = f'<link rel="stylesheet" href="{escape(folder)}report.css">'
        foot = f'<script src="{escape(folder)}report.js"></script>'
    content = "".join(body)
    nav = "".join(link(address, name) for name, address in (links or {}).items())
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,">{head}</head>\n'
        '<body><a class="skip" href="#main">Skip to the content</a>'
        f'<header><nav aria-label="Report">{nav}</nav></header>\n'
        f'<main id="main">{content}</main>\n{foot}</body></html>\n'
    )


def link(address: str, text: Any) -> Html:
    """A link."""
    return Html(f'<a href="{escape(address)}">{shown(text)}</a>')


def shown(value: Any) -> str:
    """A value as HTML."""
    return value if isinstance(value, Html) else escape(str(value))


def table(
    head: Sequence[Any], rows: Iterable[Sequence[Any]], *, identifier: str = "", caption: str = "", sort: bool = True
) -> Html:
    """A table whose columns sort; numbers stand to the right."""
    top = "".join(f'<th scope="col">{shown(name)}</th>' for name in head)
    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    named = (f' id="{escape(identifier)}"' if identifier else "") + (' class="sortable"' if sort else "")
    return Html(
        f'<div class="table" tabindex="0" role="region" aria-label="{escape(caption or "table")}">'
        f"<table{named}>{title}<thead><tr>{top}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def cell(value: Any) -> str:
    """A cell of a table, of a number sorted by its full value."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return f"<td>{shown(value)}</td>"
    return f'<td class="n" data-v="{value!r}">{figure(value)}</td>'


def figure(value: float, digits: int = 6) -> str:
    """A number for people."""
    return f"{value:.{digits}g}"


def facts(pairs: Mapping[str, Any]) -> Html:
    """Names and values, one below the other."""
    return Html(
        '<dl class="facts">'
        + "".join(f"<dt>{escape(name)}</dt><dd>{shown(value)}</dd>" for name, value in pairs.items())
        + "</dl>"
    )


def unfolding(summary: Any, inside: str) -> Html:
    """What shows when it is asked for."""
    return Html(f"<details><summary>{shown(summary)}</summary>{inside}</details>")


def command(text: str) -> Html:
    """A command line to copy."""
    return Html(f'<div class="command"><pre>{escape(text)}</pre></div>')
