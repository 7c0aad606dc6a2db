"""What notebooks show: the answer first, then tables; private documents in a frame that says so."""

from __future__ import annotations

import os
import re
from functools import cache
from html import escape, unescape

# Both are read on white and on black: a notebook does not say which of them it has.
_RED, _GREEN = "#d93025", "#1e8e5a"
_PRIVATE = f"border-left:4px solid {_RED}"
_PUBLIC = f"border-left:4px solid {_GREEN}"


def page(title, private, *parts, text=None, is_unfolded=False):
    """A document: who may see it, its parts, and its whole text, to unfold unless it is all there is."""
    colour, whose = (_PRIVATE, "private: for the curator, not to be published") if private else (_PUBLIC, "public")
    head = f"<div><b>{escape(title)}</b> <small>({whose})</small></div>"
    whole = f"<pre>{escape(text)}</pre>" if text else ""
    if whole and not is_unfolded:
        whole = folded("in full", whole)
    return f'<div style="{colour};padding-left:10px">{head}{"".join(parts)}{whole}</div>'


def line(text):
    """A paragraph."""
    return f"<p>{escape(text)}</p>"


_TAG = re.compile(r"(<[^>]*>)")


def said(document, say, note=None):
    """A document of the engine in other words: its texts, not its tags, its style or its figures. A note comes below its title."""
    head, end, body = document.partition("</head>")
    told, drawing = cache(lambda text: escape(say(unescape(text)))), False
    parts = _TAG.split(body)
    for place, part in enumerate(parts):
        if place % 2:
            drawing = part.startswith("<svg") or drawing and part != "</svg>"
        elif part.strip() and not drawing:
            parts[place] = told(part)
    body = "".join(parts)
    if note:
        body = body.replace("</h1>", f"</h1>\n{line(note)}", 1)
    return head + end + body


def written(document, path):
    """Writes a new file, for its owner's eyes; its path."""
    made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(made, "w", encoding="utf-8") as file:
        file.write(document)
    return path


def warnings(texts):
    """A list of warnings; nothing where there are none."""
    return "".join(f'<p style="color:{_RED}">warning: {escape(text)}</p>' for text in texts)


def table(rows, columns):
    """Rows of dictionaries under (key, title) columns; without a head where no column has a title."""
    head = "".join(f'<th style="{_side(title)}">{escape(title)}</th>' for _, title in columns)
    head = f"<thead><tr>{head}</tr></thead>" if any(title for _, title in columns) else ""
    body = "".join("<tr>" + "".join(_cell(row.get(key)) for key, _ in columns) + "</tr>" for row in rows)
    return f"<table>{head}<tbody>{body}</tbody></table>"


def pairs(found, most=24):
    """A table of names and values, of the first of them where there are many."""
    rows = [{"name": name, "value": value} for name, value in found[:most]]
    more = len(found) - most
    return table(rows, [("name", ""), ("value", "")]) + (line(f"… and {more} more") if more > 0 else "")


def folded(title, part):
    """A part to unfold."""
    return f"<details><summary>{escape(title)}</summary>{part}</details>"


def stated(text, words):
    """Lines of a document that begin with one of these words and a colon, as a table."""
    lines = (line.split(": ", 1) for line in text.splitlines())
    first = {}
    for word, *rest in lines:
        if rest and word in words:
            first.setdefault(word, rest[0])
    return pairs(list(first.items()))


def percent(value):
    """Four digits are enough to compare by."""
    return None if value is None else f"{value:.4g}"


def _cell(value):
    return f'<td style="{_side(value)}">{cell(value)}</td>'


def _side(value):
    """Numbers end, and words begin, below each other."""
    is_number = isinstance(value, (int, float)) or value is None or isinstance(value, str) and _is_number(value)
    return "text-align:right" if is_number else "text-align:left"


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def cell(value):
    """A number to eight digits, a dash for nothing."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.8g}"
    return escape(str(value))


def bar(stage, done, total, seconds):
    """How far a call is. The time that it takes depends on the data, so it is framed as private."""
    count = f"{done} of {total}, " if total > 1 else ""
    share = 100 * done // total if total > 1 else 0
    filled = f'<div style="width:{share}%;height:6px;background:{_RED}"></div>'
    track = f'<div style="max-width:400px;background:#8884;margin:4px 0">{filled}</div>' if total > 1 else ""
    head = f"<div>{escape(stage)} <small>({count}{seconds:.0f} s; gone at the end)</small></div>"
    return f'<div style="{_PRIVATE};padding-left:10px">{head}{track}</div>'
