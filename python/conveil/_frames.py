"""Numbers and names out of numpy, scipy.sparse and pandas, and the CSV texts that the workbench reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

import numpy as np

from ._errors import InputError


def rows_of(X, what: str = "X") -> np.ndarray:
    """A table of finite numbers, by rows."""
    X = X.toarray() if hasattr(X, "toarray") else X
    try:
        rows = np.asarray(X, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must hold numbers: {error}") from None
    if rows.ndim != 2:
        raise InputError(f"{what} must have rows and columns, found {rows.ndim} dimension(s)")
    if not np.isfinite(rows).all():
        raise InputError(f"{what} must hold finite numbers; missing ones must be filled or left out first")
    return rows


def column_of(y, what: str) -> np.ndarray:
    """A column of finite numbers, as a table."""
    column = np.asarray(y, dtype=float)
    if column.ndim != 1:
        raise InputError(f"{what} must be one column, found {column.ndim} dimension(s)")
    return rows_of(column[:, None], what)


def column_names(X) -> list[str]:
    """The columns' names, or x0, x1, … where they have none. Public."""
    columns = getattr(X, "columns", None)
    if columns is not None:
        names = [str(name) for name in columns]
        if len(set(names)) != len(names):
            raise InputError("the names of the columns must differ")
        return names
    shape = np.shape(X)
    if len(shape) != 2:
        raise InputError(f"X must have rows and columns, found {len(shape)} dimension(s)")
    return [f"x{i}" for i in range(shape[1])]


def counted(X, y) -> int:
    """How many records there are. Public."""
    records, labels = np.shape(X)[0], np.shape(y)[0]
    if records != labels:
        raise InputError(f"X has {records} records and y has {labels}")
    return records


def require_bounds(bounds, argument: str = "bounds"):
    """Refuses missing bounds: they are stated, never read from the data."""
    if bounds is None:
        raise InputError(
            f"{argument} must be given: the public lower and upper bounds of every feature, from what is known about it; "
            "they must not be read from the data"
        )


def per_feature(bounds, names: list[str], argument: str = "bounds") -> list[tuple[float, float]]:
    """Public bounds of every feature: ``(low, high)`` of numbers or of one number for each, or a mapping of names."""
    require_bounds(bounds, argument)
    if isinstance(bounds, Mapping):
        missing = [name for name in names if name not in bounds]
        if missing:
            raise InputError(f"{argument} has no entry for the feature {missing[0]!r}")
        pairs = [as_pair(bounds[name], f"{argument}[{name!r}]") for name in names]
    else:
        if len(bounds) != 2:
            raise InputError(f"{argument} must be (low, high), each a number or one for each feature; found {len(bounds)} entries")
        try:
            low, high = (np.broadcast_to(np.asarray(side, dtype=float), len(names)) for side in bounds)
        except ValueError:
            raise InputError(f"{argument} must be (low, high), each a number or one for each of {len(names)} features") from None
        pairs = list(zip(low.tolist(), high.tolist()))
    for name, (low, high) in zip(names, pairs):
        if not (np.isfinite([low, high]).all() and low < high):
            raise InputError(f"the bounds of the feature {name!r} must be finite and increase, found ({low!r}, {high!r})")
    return pairs


def as_pair(bounds, argument: str) -> tuple[float, float]:
    """``(low, high)``."""
    try:
        low, high = bounds
        return float(low), float(high)
    except (TypeError, ValueError):
        raise InputError(f"{argument} must be two numbers, (low, high)") from None


def csv_text(header, rows) -> str:
    """A CSV text; numbers in full."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


LABEL = "label"
"""What the column of the labels is called in a spec."""


def row_labels(frame, wanted: bool, argument: str) -> list[str] | None:
    """The index of a DataFrame as labels of its rows, where they are asked for. Public: they stand on the cards."""
    if not wanted:
        return None
    if not hasattr(frame, "columns"):
        raise InputError(f"labels=True takes the index of a DataFrame: `{argument}` is {type(frame).__name__}")
    labels = [str(label) for label in frame.index]
    for label in labels:
        if any(mark in label for mark in ',"\n\r'):
            raise InputError(f"a label must not hold commas, quotes or line ends: {label!r} in the index of `{argument}`")
    return labels


def labelled(header, rows, labels: list[str] | None):
    """Header and rows of a table, with a first column of labels where there are any."""
    if labels is None:
        return header, rows
    return [LABEL, *header], [[label, *row] for label, row in zip(labels, rows, strict=True)]


def numbers_text(header, rows: np.ndarray) -> str:
    """A CSV text of numbers alone."""
    return csv_text(header, rows.tolist())
