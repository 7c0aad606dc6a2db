"""The texts that the engine reads: the spec, the problem file, and the private values apart from both."""

import json
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from . import names

PROBLEM_FILE = "problem.json"
THETA_FILE = "theta.csv"

_CONES = {
    "zero": lambda size, _: {"ZeroConeT": size},
    "nonnegative": lambda size, _: {"NonnegativeConeT": size},
    "second-order": lambda size, _: {"SecondOrderConeT": size},
    "exponential": lambda size, _: {"ExponentialConeT": []},
    "power": lambda size, exponents: {"PowerConeT": exponents[0]},
    "generalised-power": lambda size, exponents: {"GenPowerConeT": [list(exponents), size - len(exponents)]},
    "semidefinite": lambda size, _: {"PSDTriangleConeT": int((np.sqrt(8 * size + 1) - 1) / 2)},
}


@dataclass(frozen=True)
class Conic:
    """A model in the words of a spec. Public, but for `theta_csv`."""

    model: object

    def problem_json(self):
        """The problem file. Where private numbers enter, it holds their public offsets."""
        form = self.model.form
        order = self._column_order()
        upper = sp.csc_array(sp.triu(form.P[order][:, order]))
        places = sp.coo_array(
            (np.zeros(len(form.places.row)), (form.places.row, form.places.column)), shape=form.A.shape
        )
        return json.dumps(
            {
                "P": _columns(upper),
                "q": form.q[order].tolist(),
                "A": _columns(_stored(form.A, places)[:, order]),
                "b": form.b.tolist(),
                "cones": [_CONES[r.cone](size, r.exponents) for _, r, size in self._cones()],
            }
        )

    def theta_csv(self, theta):
        """The private numbers that enter the program, by name."""
        lines = ["parameter,value"]
        for name, value in zip(self.model.number_names(), theta[self.model.numbers].tolist()):
            quoted = '"' + name.replace('"', '""') + '"'
            lines.append(f"{quoted},{value!r}")
        return "\n".join(lines) + "\n"

    def spec_text(self, ask):
        """The spec: `ask` adds what is asked (adjacency, mechanism, sensitivity, feasibility) in lines of its own."""
        lines = ["version = 1", "[problem]", 'model = "conic"', f"file = {_text(PROBLEM_FILE)}"]
        sense = "maximize" if self.model.form.is_flipped else "minimize"
        lines.append(f'objective = {{ sense = "{sense}", constant = {_number(self.model.sign * self.model.form.d)} }}')
        lines += self._variables() + self._constraints()
        lines += ["[private]", f"adjacency = {ask.adjacency_text()}", f"data = {_text(THETA_FILE)}"]
        lines += self._parameters() + ask.universe_lines(self.model) + self._query(ask)
        lines += ask.privacy_lines(self.engine_rows()) + ask.feasibility_lines() + ask.other_lines()
        return "\n".join(lines) + "\n"

    @cached_property
    def column_names(self):
        """The engine's name of each column of the form."""
        form = self.model.form
        counts = np.bincount(form.column_block, minlength=len(form.columns))
        seen, found = {}, []
        for block in form.column_block.tolist():
            at = seen.get(block, 0)
            seen[block] = at + 1
            name = form.columns[block].name
            found.append(name if counts[block] == 1 else f"{name}[{at}]")
        return found

    def spoken(self):
        """How the engine's names read to the user: entries of matrices by row and column, brackets where they were."""
        model, form = self.model, self.model.form
        found = {}
        for block in form.columns:
            variable = block.variable
            if block.said:
                found[block.name] = f"a variable that CVXPY introduces for {block.said}"
            if variable is None or len(variable.shape) < 2 or variable.size == 1 or variable.id not in model.variables:
                continue
            matrix = sp.csc_array(model.variables[variable.id][1])
            upper = matrix.indices[matrix.indptr[1:] - 1]
            for k, name in enumerate(names.entries(block.name, variable.shape, upper)):
                found[f"{block.name}[{k}]"] = name
        for rows in form.rows:
            if rows.said and rows.said != rows.name:
                found[rows.name] = rows.said
        return found

    @cached_property
    def row_names(self):
        """The user's name of each row."""
        form, found = self.model.form, []
        for number, rows, size in self._cones():
            entry = form.row_entry[form.row_block == number]
            said = rows.said or rows.name
            if size == 1:
                found.append(said)
            elif rows.shape:
                every = names.entries(said, rows.shape)
                found += [every[k] for k in entry]
            else:
                found += [f"{said}[{k}]" for k in range(size)]
        return found

    def engine_rows(self):
        """The engine's names of constraints and of their rows, by the user's."""
        found = {}
        for number, rows, size in self._cones():
            said = rows.said or rows.name
            found.setdefault(said, rows.name)
            if size > 1 and rows.shape:
                entry = self.model.form.row_entry[self.model.form.row_block == number]
                every, own = names.entries(said, rows.shape), names.entries(rows.name, rows.shape)
                plain = [f"{rows.name}[{k}]" for k in range(size)] if len(rows.shape) == 1 else [own[k] for k in entry]
                found.update({every[k]: name for k, name in zip(entry, plain)})
        return found

    def place(self, where, first, second):
        """An entry of the conic form in words."""
        columns = self._engine_columns
        if where == "q":
            return f"the price of `{columns[int(first)]}`"
        row = self.row_names[int(first)]
        if where == "b":
            return f"the right-hand side of `{row}`"
        return f"the coefficient of `{columns[int(second)]}` in `{row}`"

    @cached_property
    def _engine_columns(self):
        """The names of the columns as the spec lists them."""
        return [self.column_names[j] for j in self._column_order()]

    def _column_order(self):
        """Columns as the spec lists them: block by block."""
        return np.argsort(self.model.form.column_block, kind="stable")

    def by_column(self, pairs):
        """From pairs of the engine's name of a column and a number to numbers by the form's columns."""
        found = dict(pairs)
        return np.array([found[name] for name in self.column_names], dtype=float)

    def _cones(self):
        blocks, sizes = np.unique(self.model.form.row_block, return_counts=True)
        return [(int(b), self.model.form.rows[b], int(s)) for b, s in zip(blocks, sizes)]

    def _variables(self):
        form, lines = self.model.form, []
        counts = np.bincount(form.column_block, minlength=len(form.columns))
        for block, stage, size in zip(form.columns, self.model.stages, counts.tolist()):
            if size:
                lines += [
                    "[[problem.variable]]",
                    f"name = {_text(block.name)}",
                    f"size = {size}",
                    f"stage = {_text(stage)}",
                ]
        return lines

    def _constraints(self):
        form, lines = self.model.form, []
        for number, rows, _ in self._cones():
            lines += ["[[problem.constraint]]", f"name = {_text(rows.name)}"]
            if rows.cone != "zero" and self.model.holds[number] != "with-noise":
                lines.append(f"holds = {_text(self.model.holds[number])}")
            if len(rows.shape) > 1:
                entry = form.row_entry[form.row_block == number]
                every = names.entries(rows.name, rows.shape)
                lines.append(f"rows = {_list(_text(every[k]) for k in entry)}")
        return lines

    def _parameters(self):
        model = self.model
        places = self._places()
        low, high = model.limits()
        nominal = np.concatenate(
            [np.full(e.count, np.nan) if v is None else v for e, v in zip(model.entries, model.nominal)]
        )
        lines = []
        low, high, nominal = low.tolist(), high.tolist(), nominal.tolist()
        for name, k in zip(model.number_names(), model.numbers.tolist()):
            at = ", ".join(places[k])
            lines.append(f"[[private.parameter]]\nname = {_text(name)}\nat = [{at}]")
            if low[k] != -np.inf:
                lines.append(f"bounds = [{low[k]!r}, {high[k]!r}]")
            if nominal[k] == nominal[k]:
                lines.append(f"nominal = {nominal[k]!r}")
        return lines

    def _places(self):
        """For each private number the entries that it enters. The public part of an entry is said once."""
        form = self.model.form
        position = np.empty(form.n, dtype=int)
        position[self._column_order()] = np.arange(form.n)
        p = form.places
        A = sp.coo_array(
            (p.coefficient, (p.row * np.int64(form.n) + p.column, p.number)), shape=(form.m * form.n, form.B.shape[1])
        )
        A.sum_duplicates()
        public = sp.coo_array(form.A)
        found = {int(k): [] for k in self.model.numbers}
        said = set()

        def add(where, number, coefficient, offset):
            coef = "" if coefficient == 1.0 else f", coef = {coefficient!r}"
            shift = f", offset = {offset!r}" if offset != 0.0 and where not in said else ""
            said.add(where)
            found[number].append(f"{{ {where}{coef}{shift} }}")

        b, q, position = form.b.tolist(), form.q.tolist(), position.tolist()
        for row, number, coefficient in _triples(form.B):
            add(f'in = "b", row = {row}', number, coefficient, b[row])
        for column, number, coefficient in _triples(form.C):
            add(f'in = "q", column = {position[column]}', number, coefficient, q[column])
        offsets = {} if not A.nnz else dict(zip(zip(*(c.tolist() for c in public.coords)), public.data.tolist()))
        for at, number, coefficient in _triples(A):
            row, column = divmod(at, form.n)
            where = f'in = "A", row = {row}, column = {position[column]}'
            add(where, number, coefficient, offsets.get((row, column), 0.0))
        return found

    def _query(self, ask):
        query = self.model.query
        column_names = self.column_names if query.kind in ("at-most", "rows") else []
        lines = ["[query]"]
        if query.kind in ("cost", "value"):
            lines.append(f'release = "{query.kind}"')
        elif query.kind == "at-most":
            (epigraph,) = [c.name for c in self.model.form.columns if c.kind == "epigraph"]
            slope = {column_names[j]: query.slope[j] for j in np.flatnonzero(query.slope).tolist()}
            lines += ['release = "at-most"', f"epigraph = {_text(epigraph)}", f"slope = {_weights(slope)}"]
        elif query.kind == "identity":
            blocks = dict.fromkeys(self.model.form.column_block[query.rows.indices].tolist())
            released = [self.model.form.columns[b].name for b in blocks]
            lines += ['release = "identity"', f"variables = {_list(map(_text, released))}"]
        else:
            unique, rows = names.Unique(), []
            said = [unique.name(name) for item in query.items for name in item.entry_names()]
            for i, name in enumerate(said):
                at = slice(query.rows.indptr[i], query.rows.indptr[i + 1])
                weights = zip(query.rows.indices[at].tolist(), query.rows.data[at].tolist())
                rows.append(f"{_text(name)} = {_weights({column_names[j]: w for j, w in weights})}")
            lines += ['release = "rows"', "rows = { " + ", ".join(rows) + " }"]
        return lines + ask.query_lines()


def _columns(matrix):
    """Compressed columns, sorted within each."""
    matrix = sp.csc_array(matrix)
    matrix.sort_indices()
    m, n = matrix.shape
    return {
        "m": m,
        "n": n,
        "colptr": matrix.indptr.tolist(),
        "rowval": matrix.indices.tolist(),
        "nzval": matrix.data.tolist(),
    }


def _stored(A, places):
    """A with an entry, if only 0, wherever a private number enters."""
    A = sp.coo_array(A)
    row = np.concatenate([A.coords[0], places.coords[0]])
    column = np.concatenate([A.coords[1], places.coords[1]])
    both = sp.coo_array((np.concatenate([A.data, places.data]), (row, column)), shape=A.shape)
    both.sum_duplicates()
    return sp.csc_array(both)


def _triples(matrix):
    coo = sp.coo_array(matrix)
    return zip(coo.coords[0].tolist(), coo.coords[1].tolist(), coo.data.tolist())


def _text(text):
    """A string of TOML: JSON's escapes are among its own."""
    text = str(text)
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _number(value):
    return repr(float(value))


def _list(items):
    return "[" + ", ".join(items) + "]"


def _weights(weights):
    return "{ " + ", ".join(f"{_text(name)} = {_number(value)}" for name, value in weights.items()) + " }"
