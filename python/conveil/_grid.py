"""Power networks as the workbench reads them: a built-in name, or the text of a MATPOWER case."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ._errors import InputError
from ._frames import csv_text, labelled

# Columns of a MATPOWER case, version 2: what tables of names are put in order by.
_COLUMNS = {
    "bus": "bus_i type Pd Qd Gs Bs area Vm Va baseKV zone Vmax Vmin",
    "gen": "bus Pg Qg Qmax Qmin Vg mBase status Pmax Pmin",
    "branch": "fbus tbus r x b rateA rateB rateC ratio angle status angmin angmax",
}

# What a column is where a table leaves it out; the other columns must be there.
_USUAL = {
    "type": 1.0, "Pd": 0.0, "Qd": 0.0, "Gs": 0.0, "Bs": 0.0, "area": 1.0, "Vm": 1.0, "Va": 0.0, "baseKV": 1.0,
    "zone": 1.0, "Vmax": 1.1, "Vmin": 0.9, "Pg": 0.0, "Qg": 0.0, "Qmax": 0.0, "Qmin": 0.0, "Vg": 1.0, "mBase": 100.0,
    "status": 1.0, "Pmin": 0.0, "r": 0.0, "b": 0.0, "rateA": 0.0, "rateB": 0.0, "rateC": 0.0, "ratio": 0.0,
    "angle": 0.0, "angmin": -360.0, "angmax": 360.0,
}  # fmt: skip


@dataclass
class Network:
    """What `[problem]` says of a network, the public files it needs, and how its buses are numbered."""

    problem: dict
    files: dict[str, str] = field(default_factory=dict)
    bus_numbers: Mapping | None = None

    @classmethod
    def of(cls, network) -> Network:
        """From a built-in name, the path of a MATPOWER case, tables of one, or a pandapower net."""
        if isinstance(network, os.PathLike) or isinstance(network, str) and (network.endswith(".m") or os.sep in network):
            with open(network, encoding="utf-8") as case:
                return cls({"file": "network.m"}, {"network.m": case.read()})
        if isinstance(network, str):
            return cls({"network": network})
        if type(network).__module__.partition(".")[0] == "pandapower":
            return _from_pandapower(network)
        if isinstance(network, Mapping):
            return cls({"file": "network.m"}, {"network.m": _case_text(network)})
        raise InputError(
            "a network is the name of a built-in one, the path of a MATPOWER case, a mapping of its tables "
            f"(bus, gen, branch, gencost), or a pandapower net; found {type(network).__name__}"
        )

    def bus_number(self, bus) -> int:
        """The number of a bus in the network."""
        if self.bus_numbers is None:
            return int(bus)
        try:
            return self.bus_numbers[bus]
        except KeyError:
            raise InputError(f"the net has no bus {bus!r}") from None

    def demand_text(self, demand, labels=None) -> str:
        """Demands in MW: a Series or mapping by bus, or a DataFrame with a column for each bus and a row for each dataset."""
        if hasattr(demand, "columns"):
            numbers = [self.bus_number(bus) for bus in demand.columns]
            rows = np.asarray(demand, dtype=float)
            if len(set(numbers)) != len(numbers):
                raise InputError("two columns of `demand` are one bus of the network: add them up first")
            return csv_text(*labelled(numbers, rows.tolist(), labels))
        totals: dict[int, float] = {}
        for bus, mw in _items(demand, "demand"):
            number = self.bus_number(bus)
            totals[number] = totals.get(number, 0.0) + float(mw)
        return csv_text(["bus", "demand"], totals.items())

    def bounds_text(self, bounds) -> str:
        """Bounds in MW: a mapping of buses to (low, high), or a DataFrame with the columns low and high."""
        if hasattr(bounds, "columns"):
            pairs = [(bus, (low, high)) for bus, low, high in zip(bounds.index, bounds["low"], bounds["high"])]
        else:
            pairs = _items(bounds, "bounds")
        return csv_text(["bus", "low", "high"], [[self.bus_number(bus), float(low), float(high)] for bus, (low, high) in pairs])


def _items(values, what: str):
    if isinstance(values, Mapping) or hasattr(values, "index") and hasattr(values, "items"):
        return list(values.items())
    raise InputError(f"`{what}` must say which bus each number is of: a mapping or Series by bus, or a DataFrame")


def _case_text(case: Mapping) -> str:
    """A MATPOWER case from its tables: arrays in MATPOWER's order of columns, or DataFrames with its names."""
    unknown = set(case) - {"bus", "gen", "branch", "gencost", "baseMVA", "version"}
    if unknown:
        raise InputError(f"a network has the tables bus, gen, branch and gencost, and baseMVA; found {sorted(unknown)[0]!r}")
    lines = ["function mpc = network", "mpc.version = '2';", f"mpc.baseMVA = {float(case.get('baseMVA', 100.0))!r};"]
    for name in ("bus", "gen", "branch", "gencost"):
        if name not in case:
            raise InputError(f"the network has no table {name!r}")
        rows = np.asarray(case[name] if name == "gencost" else _in_order(name, case[name]), dtype=float)
        lines.append(f"mpc.{name} = [")
        lines += [" ".join(map(repr, row)) + ";" for row in rows.tolist()]
        lines.append("];")
    return "\n".join(lines) + "\n"


def _in_order(name: str, table):
    columns = _COLUMNS[name].split()
    if not hasattr(table, "columns"):
        return table
    for column in table.columns:
        if column not in columns:
            raise InputError(f"the table {name!r} has the columns {', '.join(columns)}; found {column!r}")
    for column in columns:
        if column not in table.columns and column not in _USUAL:
            raise InputError(f"the table {name!r} needs the column {column!r}")
    rows = [table[c].to_numpy(dtype=float) if c in table.columns else np.full(len(table), _USUAL[c]) for c in columns]
    return np.stack(rows, axis=1)


# A rating beyond this many MVA is how pandapower writes "no limit".
_NO_LIMIT = 1e6


def _from_pandapower(net) -> Network:
    """A pandapower net; bus b of the net is bus b + 1 of the network, buses joined by a switch being one."""
    from pandapower.converter.pypower.to_ppc import to_ppc

    case = to_ppc(net, mode="opf", init="flat", calculate_voltage_angles=True)
    if "gencost" not in case or len(case["gencost"]) < len(case["gen"]):
        raise InputError("every unit of the net needs a cost: pandapower.create_poly_cost or create_pwl_cost")
    lookup = net._pd2ppc_lookups["bus"]
    numbers = {int(bus): int(lookup[bus]) + 1 for bus in net.bus.index if lookup[bus] >= 0}
    bus, gen, branch = (np.real(case[name]).astype(float) for name in ("bus", "gen", "branch"))
    bus, gen, branch = bus[:, :13], gen[:, :10], branch[:, :13]
    bus[:, 0] += 1
    gen[:, 0] += 1
    branch[:, :2] += 1
    # pandapower widens the limits of units by 1e-10, so that equal ones do not exclude each other.
    gen[:, 8:10] = np.round(gen[:, 8:10], 8)
    branch[branch[:, 5] > _NO_LIMIT, 5] = 0.0
    tables = {"bus": bus, "gen": gen, "branch": branch, "gencost": np.real(case["gencost"])[: len(gen)]}
    tables = {name: np.nan_to_num(rows) + 0.0 for name, rows in tables.items()}
    text = _case_text({"baseMVA": case["baseMVA"], **tables})
    return Network({"file": "network.m"}, {"network.m": text}, numbers)
