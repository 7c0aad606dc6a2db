"""Ratios, growth exponents, agreement and how they are printed."""

import math
from dataclasses import asdict, dataclass

# Two contenders solve the same problem if their objectives differ by no more than this, relatively.
AGREEMENT = 1e-6

# Runs below this measure how long a process takes to start.
SHORTEST = 0.05


@dataclass
class Row:
    """One contender's task on one problem. `cpu` counts; `child` is the whole process, with imports and reading."""

    family: str
    size: int
    task: str
    contender: str
    cpu: float | None
    child: float | None = None
    wall: float | None = None
    peak_mib: float | None = None
    ratio: float | None = None
    peer: str | None = None
    objective: float | None = None
    note: str | None = None

    def as_json(self):
        return asdict(self)


def disagreement(objectives):
    """What is wrong with {contender: objective} of one problem; nothing if all agree, or if there is nobody to compare with."""
    found = {name: value for name, value in objectives.items() if value is not None}
    if any(not math.isfinite(value) for value in found.values()):
        return f"no finite objective: {found}"
    if len(found) < 2:
        return None
    low, high = min(found, key=found.get), max(found, key=found.get)
    gap, size = found[high] - found[low], max(abs(found[low]), abs(found[high]))
    if gap <= AGREEMENT * size:
        return None
    return f"{low} has {found[low]!r}, {high} has {found[high]!r}: {gap / size:.1e} apart"


def exponent(points):
    """The slope of log time over log size, by least squares; nothing without two sizes that take long enough."""
    points = [(math.log(size), math.log(cpu)) for size, cpu in points if cpu is not None and cpu >= SHORTEST]
    if len({x for x, _ in points}) < 2:
        return None
    centre, middle = (sum(values) / len(points) for values in zip(*points))
    return sum((x - centre) * (y - middle) for x, y in points) / sum((x - centre) ** 2 for x, _ in points)


def exponents(rows):
    """(family, task, contender, exponent, from, to) of all that were measured at two sizes or more."""
    grouped = {}
    for row in rows:
        grouped.setdefault((row.family, row.task, row.contender), []).append((row.size, row.cpu))
    found = []
    for key, points in grouped.items():
        slope = exponent(points)
        if slope is not None:
            sizes = [size for size, cpu in points if cpu is not None and cpu >= SHORTEST]
            found.append((*key, slope, min(sizes), max(sizes)))
    return found


def number(value, digits=2):
    return "" if value is None else f"{value:.{digits}f}"


def ratio(value):
    if value is None:
        return ""
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def lines(cells):
    """A table of Markdown, its columns as wide as they need to be."""
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    shown = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    return [shown[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *shown[1:]]


HEAD = ("problem", "size", "task", "contender", "CPU s", "ratio", "to", "whole process", "wall s", "peak MiB")


def printed(rows):
    cells = [HEAD]
    for row in rows:
        cpu = number(row.cpu, 3) if row.cpu is not None else (row.note or "")
        measured = [number(row.child, 3), number(row.wall, 3), number(row.peak_mib, 0)]
        cells.append((row.family, str(row.size), row.task, row.contender, cpu, ratio(row.ratio), row.peer or "", *measured))
    return lines(cells)


def condensed(rows):
    """A line for each problem: Conveil's CPU seconds by task, the peer's, and what the private release is of the peer."""
    from families import CARD, CHECK, CONVEIL, PLAIN, PRIVATE, READ

    times = ("read", "check", "release", "charge to card", "plain")
    cells = [("problem", "size", *times, "peer", "its plain", "release ÷ peer", "plain ÷ peer", "MiB")]
    for family, size in dict.fromkeys((row.family, row.size) for row in rows):
        mine = [row for row in rows if (row.family, row.size) == (family, size)]
        own = {row.task: row for row in mine if row.contender == CONVEIL}
        if PRIVATE not in own or PLAIN not in own:
            continue
        said = lambda row: "" if row is None else number(row.cpu, 3) or row.note or ""
        reading = next((row for row in mine if row.task == READ), None)
        peer = next((row for row in mine if row.task == PLAIN and row.contender == own[PLAIN].peer), None)
        times = [said(reading), said(own.get(CHECK)), said(own[PRIVATE]), said(own.get(CARD)), said(own[PLAIN])]
        beside = [own[PLAIN].peer or "", said(peer), ratio(own[PRIVATE].ratio), ratio(own[PLAIN].ratio)]
        cells.append((family, str(size), *times, *beside, number(own[PRIVATE].peak_mib, 0)))
    return lines(cells)


def printed_exponents(rows):
    cells = [("problem", "task", "contender", "exponent", "from", "to")]
    for family, task, contender, slope, low, high in exponents(rows):
        cells.append((family, task, contender, f"{slope:.2f}", str(low), str(high)))
    return lines(cells)
