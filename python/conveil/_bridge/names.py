"""Names that a reader knows: the user's own, unique, and fit to stand on a card."""

import unicodedata

import numpy as np

LONGEST = 100


def clean(text, fallback):
    """One line of visible characters without square brackets, at most `LONGEST` of them."""
    kept = visible(text).replace("[", "(").replace("]", ")").strip()
    if not kept:
        return fallback
    return kept if len(kept) <= LONGEST else kept[: LONGEST - 1] + "…"


def visible(text):
    """One line; controls, formats, private use, unassigned characters and bare marks become question marks."""
    return "".join("?" if unicodedata.category(c)[0] in "CM" else c for c in " ".join(str(text).split()))


class Unique:
    """Hands out each name once; a second use gets a number."""

    def __init__(self):
        self._taken = set()

    def name(self, wanted):
        name, number = wanted, 2
        while name in self._taken:
            name, number = f"{wanted} ({number})", number + 1
        self._taken.add(name)
        return name


def entries(name, shape, positions=None):
    """`name[i]`, `name[i,j]` … for the entries at these positions, counted down the columns; all of them unless said."""
    size = int(np.prod(shape, dtype=int))
    if size == 1 and positions is None:
        return [name]
    flat = np.arange(size) if positions is None else np.asarray(positions, dtype=int)
    index = np.unravel_index(flat, shape, order="F") if shape else (flat,)
    return [f"{name}[{','.join(map(str, entry))}]" for entry in zip(*(axis.tolist() for axis in index))]


def of_expression(expression, limit=60):
    """The expression as CVXPY prints it, on one line, cut where it is long."""
    try:
        # CVXPY has two classes for some atoms, of which the user knows one.
        text = " ".join(str(expression).replace("Approx(", "(").split())
    except Exception:  # an expression that cannot print itself still needs a name
        text = type(expression).__name__
    return text if len(text) <= limit else text[: limit - 1] + "…"
