"""Specs as TOML text: the one format that the workbench reads."""

import json
import math
from collections.abc import Mapping
from numbers import Integral, Real


def document(tables: Mapping) -> str:
    """A document of top-level tables; a list of mappings becomes an array of tables.

    >>> print(document({"problem": {"model": "opf"}, "query": {"release": "cost"}}), end="")
    [problem]
    model = "opf"
    [query]
    release = "cost"
    """
    return "".join(_table(name, table) for name, table in tables.items() if table)


def _table(path: str, table: Mapping, of_array: bool = False) -> str:
    lines, nested = [f"[[{path}]]\n" if of_array else f"[{path}]\n"], []
    for key, value in table.items():
        if value is None:
            continue
        if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            nested += [_table(f"{path}.{_key(key)}", item, of_array=True) for item in value]
        else:
            lines.append(f"{_key(key)} = {written(value)}\n")
    return "".join(lines + nested)


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if bare else written(key)


def written(value) -> str:
    """One value: a text, a number, a truth value, a list, an inline table, or what says itself by ``text()``."""
    if hasattr(value, "text"):
        return value.text()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return "true" if value else "false"
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        if not math.isfinite(value):
            raise ValueError(f"a number of a spec must be finite, found {float(value)!r}")
        return repr(float(value))
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {written(v)}" for k, v in value.items() if v is not None) + " }"
    if hasattr(value, "tolist"):
        value = value.tolist()
    return "[" + ", ".join(written(item) for item in value) + "]"
