"""The verbs that make many runs, in cells: audits, measurements of the sensitivity, frontiers.

Without an executor and a folder the engine does them in one go. The result is the same.
"""

from __future__ import annotations

from . import _core
from ._cells import Cell, Run, texts

_RELEASED, _WITHOUT_NOISE = "released", "without noise"


def audit(bench, *, pairs=None, seed=None, draws=None, executor=None, keep=None, observer=None):
    """JSON, text and error of an audit. Answers are drawn here, for the worst pair alone, and never kept."""
    pairs, seed, draws = _number(pairs), _number(seed), _number(draws)
    if executor is None and keep is None:
        return bench.audit(pairs=pairs, seed=seed, draws=draws, observer=observer)[:3]
    (released,) = _probed(bench, [_RELEASED], pairs, seed, executor, keep, observer)
    return _core.audit_of(bench, *released, pairs=pairs, seed=seed, draws=draws)[:3]


def sensitivity(bench, *, pairs=None, seed=None, executor=None, keep=None, observer=None):
    """JSON, text and error of a measurement."""
    pairs, seed = _number(pairs), _number(seed)
    if executor is None and keep is None:
        return bench.sensitivity(pairs=pairs, seed=seed, observer=observer)
    released, without = _probed(bench, [_RELEASED, _WITHOUT_NOISE], pairs, seed, executor, keep, observer)
    return _core.sensitivity_of(bench, released, without, pairs=pairs, seed=seed)


def frontier(bench, data, over, values=None, row=None, *, at=None, executor=None, keep=None, observer=None):
    """JSON and text of a frontier: a cell for each value."""
    if executor is None and keep is None:
        return bench.frontier(data, over, values, row, at=at, observer=observer)
    model = texts(bench)
    cells = [
        Cell("frontier", model, {"data": data, "over": over, "values": [value], "row": row, "at": at})
        for value in _core.frontier_values(bench, over, values)
    ]
    parts = Run(executor, keep, total=len(cells), observer=observer).values(cells)
    return _core.frontier_of(bench, parts)


def _probed(bench, maps, pairs, seed, executor, keep, observer):
    """Blocks and search of each map: first all blocks, then the searches from the worst pairs."""
    model, settings = texts(bench), {"pairs": pairs, "seed": seed}
    blocks = _core.audit_blocks(bench, pairs)
    run = Run(executor, keep, total=len(maps) * (len(blocks) + 1), observer=observer)
    samples = [Cell("sample", model, {"map": m, "block": block, **settings}) for m in maps for block in blocks]
    found = run.values(samples)
    sampled = [found[i * len(blocks) : (i + 1) * len(blocks)] for i in range(len(maps))]
    searches = [Cell("search", model, {"map": m, "blocks": s, **settings}) for m, s in zip(maps, sampled)]
    return list(zip(sampled, run.values(searches)))


def _number(value):
    return None if value is None else int(value)
