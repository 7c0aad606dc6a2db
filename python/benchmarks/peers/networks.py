"""The DC power flow of a network as a linear program, written here from the case file alone.

Nothing of Conveil is used: that both programs have one optimum is what the harness checks.
"""

import re

import numpy as np
import scipy.sparse as sp

# Columns of MATPOWER's matrices.
BUS_I, BUS_TYPE, PD, GS = 0, 1, 2, 4
GEN_BUS, GEN_STATUS, PMAX, PMIN = 0, 7, 8, 9
F_BUS, T_BUS, BR_X, RATE_A, TAP, SHIFT, BR_STATUS = 0, 1, 3, 5, 8, 9, 10
COST_MODEL, COST_COUNT, COST_FIRST = 0, 3, 4
REFERENCE, ISOLATED = 3, 4

# Limits from here on stand for none.
UNLIMITED_MVA = 1e10


class Network:
    """Buses in a row, with what is in service between and at them; powers in MW, shifts in radians."""

    def __init__(self, base, numbers, demand, shunt, reference, units, branches):
        self.base, self.numbers = base, numbers
        self.demand, self.shunt = np.array(demand), np.array(shunt)
        self.reference = np.array(reference)
        # bus, least, greatest, linear cost
        self.units = np.array(units, dtype=float).reshape(-1, 4)
        # from, to, reactance times tap, shift, limit (infinite where there is none)
        self.branches = np.array(branches, dtype=float).reshape(-1, 5)

    def program(self):
        """min c'x subject to Ax = b, low ≤ x ≤ high: generation, then angles, then flows; angles are in radians times the base."""
        buses, units, lines = len(self.numbers), len(self.units), len(self.branches)
        begin, end = self.branches[:, 0].astype(int), self.branches[:, 1].astype(int)
        susceptance, shift, limit = 1.0 / self.branches[:, 2], self.branches[:, 3], self.branches[:, 4]
        line, one = np.arange(lines), np.ones(lines)
        generation = sp.csc_array((np.ones(units), (self.units[:, 0].astype(int), np.arange(units))), (buses, units))
        incidence = sp.csc_array((np.r_[one, -one], (np.r_[begin, end], np.r_[line, line])), (buses, lines))
        # generation − what the lines take away = demand;  flow = b·(angle of from − angle of to − base·shift)
        balance = sp.hstack([generation, sp.csc_array((buses, buses)), -incidence])
        flows = sp.hstack([sp.csc_array((lines, units)), -(incidence @ sp.diags_array(susceptance)).T, sp.eye_array(lines)])
        matrix = sp.vstack([balance, flows]).tocsc()
        right = np.r_[self.demand + self.shunt, -susceptance * self.base * shift]
        free = np.where(self.reference, 0.0, np.inf)
        low = np.r_[self.units[:, 1], -free, -limit]
        high = np.r_[self.units[:, 2], free, limit]
        cost = np.r_[self.units[:, 3], np.zeros(buses + lines)]
        return {"c": cost, "A": matrix, "b": right, "low": low, "high": high}


def read(path):
    """A network from a MATPOWER case, or from the short format of the built-in ones."""
    text = path.read_text(encoding="utf-8")
    return from_case(text) if path.suffix == ".m" else from_short(text)


def matrix(text, field):
    body = re.search(rf"mpc\.{field}\s*=\s*\[(.*?)\]", text, re.DOTALL).group(1)
    lines = (line.split("%")[0].replace(";", " ").replace(",", " ").split() for line in body.splitlines())
    return [[float(word) for word in line] for line in lines if line]


def from_case(text):
    base = float(re.search(r"mpc\.baseMVA\s*=\s*([0-9.eE+-]+)", text).group(1))
    bus, gen, branch, costs = (matrix(text, field) for field in ("bus", "gen", "branch", "gencost"))
    isolated = {row[BUS_I] for row in bus if row[BUS_TYPE] == ISOLATED}
    running = [k for k, row in enumerate(gen) if row[GEN_STATUS] > 0 and row[GEN_BUS] not in isolated]
    lines = [row for row in branch if row[BR_STATUS] > 0 and not isolated & {row[F_BUS], row[T_BUS]}]
    attached = {gen[k][GEN_BUS] for k in running} | {row[end] for row in lines for end in (F_BUS, T_BUS)}
    bus = [row for row in bus if row[BUS_I] in attached]
    index = {row[BUS_I]: k for k, row in enumerate(bus)}
    units = [(index[gen[k][GEN_BUS]], gen[k][PMIN], gen[k][PMAX], linear(costs[k])) for k in running]
    branches = [
        (index[row[F_BUS]], index[row[T_BUS]], row[BR_X] * (row[TAP] or 1.0), np.radians(row[SHIFT]), limit(row[RATE_A])) for row in lines
    ]
    numbers = [int(row[BUS_I]) for row in bus]
    demand, shunt = [row[PD] for row in bus], [row[GS] for row in bus]
    return Network(base, numbers, demand, shunt, [row[BUS_TYPE] == REFERENCE for row in bus], units, branches)


def linear(row):
    """The linear coefficient of a polynomial cost, the powers of which fall."""
    if row[COST_MODEL] != 2:
        raise ValueError("a cost that is no polynomial")
    count = int(row[COST_COUNT])
    return row[COST_FIRST + count - 2] if count >= 2 else 0.0


def limit(rate):
    return rate if 0.0 < rate < UNLIMITED_MVA else np.inf


def from_short(text):
    base, index, demand, shunt, reference, units, branches = 0.0, {}, [], [], [], [], []
    for line in text.splitlines():
        kind, *words = line.split("#")[0].split() or [""]
        if kind == "base":
            base = float(words[0])
        elif kind == "bus":
            index[words[0]] = len(index)
            demand.append(float(words[1]))
            shunt.append(float(words[2]))
            reference.append("reference" in words)
        elif kind == "unit":
            if words[4] == "points":
                raise ValueError("a cost that is no polynomial")
            cost = float(words[6] if words[4] == "quadratic" else words[5])
            units.append((index[words[1]], float(words[2]), float(words[3]), cost))
        elif kind == "branch":
            begin, end, _, x, tap, shift, rate = words[1:8]
            angle = float(shift[:-3]) if shift.endswith("rad") else np.radians(float(shift))
            greatest = np.inf if rate == "-" else float(rate)
            branches.append((index[begin], index[end], float(x) * float(tap), angle, greatest))
    return Network(base, [int(number) for number in index], demand, shunt, reference, units, branches)
