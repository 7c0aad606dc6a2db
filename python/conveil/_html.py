"""What notebooks show: the answer first, then tables; private documents in a frame that says so."""

from __future__ import annotations

from html import escape

_PRIVATE = "border-left:4px solid #b3261e"
_PUBLIC = "border-left:4px solid #1b7f4d"


def page(title, private, *parts, text=None):
    """A document: who may see it, its parts, and its whole text to unfold."""
    colour, whose = (_PRIVATE, "private: for the curator, not to be published") if private else (_PUBLIC, "public")
    head = f"<div><b>{escape(title)}</b> <small>({whose})</small></div>"
    whole = f"<details><summary>in full</summary><pre>{escape(text)}</pre></details>" if text else ""
    return f'<div style="{colour};padding-left:10px">{head}{"".join(parts)}{whole}</div>'


def line(text):
    """A paragraph."""
    return f"<p>{escape(text)}</p>"


def warnings(texts):
    """A list of warnings; nothing where there are none."""
    return "".join(f'<p style="color:#b3261e">warning: {escape(text)}</p>' for text in texts)


def table(rows, columns):
    """Rows of dictionaries under (key, title) columns."""
    head = "".join(f"<th>{escape(title)}</th>" for _, title in columns)
    body = "".join("<tr>" + "".join(f"<td>{cell(row.get(key))}</td>" for key, _ in columns) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def pairs(found, most=24):
    """A table of names and numbers, of the first of them where there are many."""
    rows = [{"name": name, "value": value} for name, value in found[:most]]
    more = len(found) - most
    return table(rows, [("name", ""), ("value", "")]) + (line(f"… and {more} more") if more > 0 else "")


def cell(value):
    """A number to eight digits, a dash for nothing."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.8g}"
    return escape(str(value))
