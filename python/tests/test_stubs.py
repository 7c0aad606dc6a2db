"""The stubs say what the extension module has: every function and method, with its parameters and defaults."""

import ast
import inspect
from pathlib import Path

import conveil
import pytest
from conveil import _core

STUBS = ast.parse((Path(conveil.__file__).parent / "_core.pyi").read_text("utf-8"))


def functions(body):
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


BENCH = next(node for node in STUBS.body if isinstance(node, ast.ClassDef) and node.name == "Bench")
DECLARED = {**functions(STUBS.body), **{f"Bench.{name}": node for name, node in functions(BENCH.body).items()}}


def stated(function):
    """Names, kinds and defaults of the stub's parameters, without `self` and `cls`."""
    a = function.args
    plain = [p.arg for p in a.args]
    defaults = [None] * (len(plain) - len(a.defaults)) + a.defaults
    found = [(name, False, default and ast.literal_eval(default)) for name, default in zip(plain, defaults)]
    found += [(p.arg, True, default and ast.literal_eval(default)) for p, default in zip(a.kwonlyargs, a.kw_defaults)]
    return [parameter for parameter in found if parameter[0] not in ("self", "cls")]


def found(function):
    """The same of the module's function."""
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    return [
        (p.name, p.kind is p.KEYWORD_ONLY, None if p.default is p.empty else p.default) for p in parameters
    ]


@pytest.mark.parametrize("name", DECLARED)
def test_a_stub_has_the_parameters_of_its_function(name):
    function = _core.Bench if name == "Bench.__new__" else _core
    for part in () if name == "Bench.__new__" else name.split("."):
        function = getattr(function, part)
    assert stated(DECLARED[name]) == found(function)


def test_nothing_is_without_a_stub():
    public = {name for name in vars(_core) if not name.startswith("_")}
    public |= {f"Bench.{name}" for name in vars(_core.Bench) if not name.startswith("_")}
    assert public - {"Bench"} == set(DECLARED) - {"Bench.__new__"}


def test_everything_public_is_documented():
    assert set(conveil.__all__) <= set(dir(conveil))
    for name in conveil.__all__:
        assert name == "__version__" or inspect.getdoc(getattr(conveil, name)), name
