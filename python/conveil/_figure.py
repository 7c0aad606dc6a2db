"""Line figures as SVG: no plotting library is needed, and a notebook shows them by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Line:
    """Points of one curve; `half` is half the length of the bar around each, where there is one."""

    x: list
    y: list
    half: list | None = None


class Figure:
    """An SVG picture."""

    def __init__(self, svg):
        self.svg = svg

    def _repr_svg_(self):
        return self.svg

    def save(self, path):
        """Writes the picture to a new file."""
        with open(path, "x", encoding="utf-8") as file:
            file.write(self.svg)

    def __repr__(self):
        return f"<figure, {len(self.svg)} characters of SVG>"


WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 480, 300, 70, 15, 30, 45


def figure(title, x_name, y_name, lines, logarithmic=True):
    """Curves over a logarithmic axis, where that is asked for and all values are above 0, else a linear one."""
    xs = [x for line in lines for x in line.x]
    ys = [y + sign * half for line in lines for y, half in zip(line.y, line.half or [0.0] * len(line.y)) for sign in (-1, 1)]
    # A ground of its own: a notebook with a dark page would have dark letters on it.
    body = [f'<rect width="{WIDTH}" height="{HEIGHT}" rx="4" fill="#fff"/>']
    body += [f'<text x="{WIDTH / 2}" y="18" text-anchor="middle" font-size="13">{escape(title)}</text>']
    if xs:
        across = _axis(xs, LEFT + 5, WIDTH - RIGHT - 5, logarithmic)
        up = _axis([0.0, *ys], HEIGHT - BOTTOM, TOP, logarithmic=False)
        body += _frame(across, up, xs, ys, x_name, y_name)
        for line in lines:
            for x, y, half in zip(line.x, line.y, line.half or []):
                ends = f"M {across(x):.1f},{up(y - half):.1f} V {up(y + half):.1f}"
                body.append(f'<path d="{ends}" stroke="#9dbde3" stroke-width="3"/>')
            points = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in zip(line.x, line.y))
            body.append(f'<polyline points="{points}" fill="none" stroke="#1f5fa8" stroke-width="2"/>')
            body += [
                f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3" fill="#1f5fa8"/>' for x, y in zip(line.x, line.y)
            ]
    else:
        body.append(f'<text x="{WIDTH / 2}" y="{HEIGHT / 2}" text-anchor="middle">no feasible point</text>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="11">'
    return Figure(head + "".join(body) + "</svg>")


def _axis(values, start, end, logarithmic):
    low, high = min(values), max(values)
    scale = math.log if logarithmic and low > 0 else float
    a, b = scale(low), scale(high)
    span = (b - a) or 1.0
    return lambda value: start + (scale(value) - a) / span * (end - start)


def _frame(across, up, xs, ys, x_name, y_name):
    bottom = HEIGHT - BOTTOM
    parts = [f'<path d="M{LEFT},{TOP} V{bottom} H{WIDTH - RIGHT}" fill="none" stroke="#444"/>']
    for x in _apart(sorted(set(xs)), across):
        parts.append(f'<text x="{across(x):.1f}" y="{bottom + 15}" text-anchor="middle">{x:.4g}</text>')
    low, high = min([0.0, *ys]), max([0.0, *ys])
    for y in (low + (high - low) * share / 4 for share in range(5)):
        parts.append(f'<text x="{LEFT - 5}" y="{up(y) + 4:.1f}" text-anchor="end">{_tick(y)}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 8}" text-anchor="middle">{escape(x_name)}</text>')
    middle = (TOP + bottom) / 2
    parts.append(
        f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">{escape(y_name)}</text>'
    )
    return parts


def _tick(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _apart(values, across):
    """Every value, every second, every third …: as many as have labels that do not touch."""
    half = [3.5 * len(f"{value:.4g}") + 2 for value in values]
    for step in range(1, len(values) + 1):
        found = list(zip(values, half))[::step]
        if all(across(a) + h <= across(b) - k for (a, h), (b, k) in zip(found, found[1:])):
            break
    return [value for value, _ in found]
