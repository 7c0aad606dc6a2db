"""Conveil beside its peers: CPU seconds, wall and memory of child processes, and whether all solve the same problem.

    python python/benchmarks/peers --conveil target/debug/conveil --out target/peers [--cases DIR] [--readers DIR] [--only NAME,…]
        [--full] [--json FILE]

`cargo xtask bench --against-peers` sets up what is needed and calls this. Nothing is asserted about seconds. Contenders
that do not agree on the optimum to 1e-6 end the run with exit code 1.
"""

import argparse
import json
import re
import sys
from pathlib import Path

import families
import measure
import pglib
import table
from families import CARD, CHECK, CONVEIL, FAMILIES, PLAIN, PRIVATE, READ, REPORT
from table import Row

HERE = Path(__file__).resolve().parent
NETWORKS = HERE.parents[2] / "crates" / "conveil-grid" / "networks"

# Seconds of wall time after which a child is ended, by default and in full.
LIMITS = (60.0, 600.0)

# Of the generators' output; another number makes all problems anew.
EDITION = 2

# The name that asks for all of PGLib's files, each checked beside its reading.
PGLIB = "pglib"


class Harness:
    def __init__(self, options):
        self.conveil, self.out, self.cases = options.conveil, options.out, options.cases
        self.readers, self.edition = options.readers, EDITION
        self.full, self.limit = options.full, options.limit or LIMITS[options.full]
        self.wanted = options.sizes
        self.rows, self.wrong, self.beyond = [], [], set()

    def case(self, buses):
        if buses in families.BUILT_IN:
            return NETWORKS / f"{families.BUILT_IN[buses]}.txt"
        found = sorted(self.cases.glob(f"pglib_opf_case{buses}_*.m")) if self.cases else []
        return found[0] if found else None

    def sizes(self, family):
        wanted = self.wanted or family.sizes + (family.large if self.full else ())
        return [size for size in wanted if family.unit != "buses" or self.case(size)]

    def made(self, family, size):
        """The folder of a problem, written if it is not there."""
        folder = self.out / f"{family.name}-{size}-{EDITION}"
        if not (folder / "complete").exists():
            folder.mkdir(parents=True, exist_ok=True)
            self.make(family.name, size, folder, self.case(size) if family.unit == "buses" else None)
        return folder

    def make(self, name, size, folder, case=None):
        """Writes a problem, as a child: this process stays small."""
        command = [sys.executable, str(HERE / "make.py"), name, str(size), str(folder)]
        if case is not None:
            command.append(str(case))
        run = measure.once(command, 10 * LIMITS[1], self.out)
        if run.failure:
            raise SystemExit(f"{name} {size}: {run.failure}")

    def run(self, family, size, task, contender, command):
        """A row. A contender that is over the limit is not asked for larger sizes."""
        key = (family.name, task, contender)
        # A release plans too.
        if key in self.beyond or (contender == CONVEIL and (family.name, CHECK, CONVEIL) in self.beyond and task != PLAIN):
            return Row(family.name, size, task, contender, None, note="not tried")
        print(f"{family.name} {size}: {task}, {contender}", file=sys.stderr, flush=True)
        run = measure.best(command, self.limit, self.out)
        row = Row(family.name, size, task, contender, run.cpu, run.cpu, run.wall, run.peak_mib)
        if run.failure:
            row.cpu, row.note = None, run.failure
            if run.failure.startswith("over"):
                self.beyond.add(key)
        elif contender not in (CONVEIL, families.OWN_READING):
            said = json.loads(run.output.splitlines()[-1])
            row.cpu, row.objective = said["cpu"], said["objective"]
        row.output, row.errors = run.output, run.errors
        return row

    def problem(self, family, size):
        folder = self.made(family, size)
        rows, scale, planned = [], None, None
        for task in family.conveil:
            row = self.run(family, size, task, CONVEIL, [str(self.conveil), *families.words(task, folder)])
            if task == REPORT and row.cpu is not None:
                row.objective, scale = stated(row.output, "optimum"), stated(row.output, "scale")
                planned = stated(row.output, "objective")
            rows.append(row)
        for task, name, called, largest in family.peers:
            if size > largest or (name == "rsome" and scale is None):
                continue
            if name == families.OWN_READER:
                if self.readers:
                    files = [str(folder / file) for file in ("spec.toml", "problem.json")]
                    rows.append(self.run(family, size, task, called, [str(self.readers / name), *files]))
                continue
            command = [sys.executable, str(HERE / "contenders.py"), name, str(folder)]
            if name == "rsome":
                command += ["--private", repr(scale)]
            rows.append(self.run(family, size, task, called, command))
        objectives = {row.contender: row.objective for row in rows if row.task != PRIVATE}
        if family.private_peer:
            private = {row.contender: row.objective for row in rows if row.task == PRIVATE}
            self.agree(family, size, "private", {**private, CONVEIL: planned})
        self.agree(family, size, "plain", objectives)
        loops = [row for row in rows if row.task == families.RESOLVES and row.contender != CONVEIL and row.cpu is not None]
        sums = {row.contender: json.loads(row.output.splitlines()[-1])["sum"] for row in loops}
        self.agree(family, size, "1000 datasets", sums)
        derived(rows)
        ratios(family, rows)
        self.rows += rows

    def agree(self, family, size, which, objectives):
        wrong = table.disagreement(objectives)
        if wrong:
            self.wrong.append(f"{family.name} {size}, {which}: {wrong}")


def stated(text, name):
    """A number of Conveil's JSON, which may be too long to be read whole."""
    found = re.search(rf'"{name}": ([-+0-9.eE]+)', text)
    return float(found.group(1)) if found else None


def derived(rows):
    """Charge to card is a release less a `check`, its wall time what the release says itself; audits and sampled pairs are
    a run less one that solves a single program."""
    cpu = {(row.task, row.contender): row.cpu for row in rows}
    whole, check = cpu.get((PRIVATE, CONVEIL)), cpu.get((CHECK, CONVEIL))
    if whole is not None and check is not None:
        first = rows[0]
        said = re.search(r"charge ([0-9.]+) s, solve and draw ([0-9.]+) s", rows[1].errors)
        wall = sum(map(float, said.groups())) if said else None
        rows.insert(2, Row(first.family, first.size, CARD, CONVEIL, max(whole - check, 0.0), wall=wall))
    for row in rows:
        off = cpu.get((families.subtracted(row.task), CONVEIL))
        if row.contender == CONVEIL and row.cpu is not None and off is not None:
            row.cpu = max(row.cpu - off, 0.0)


def ratios(family, rows):
    """Every row beside its peer: the reading of the file for `check`, else the family's own, the better one where there are two."""
    reading = [row for row in rows if row.task == READ and row.cpu]
    solving = [row for row in rows if row.contender in family.peer and row.cpu]
    once = [row for row in rows if row.task == PLAIN and row.contender != CONVEIL and row.cpu]
    for row in rows:
        candidates = solving
        if row.task in (CHECK, READ) and reading:
            candidates = reading
        elif family.name == "resolve" and row.task in (CHECK, CARD, PRIVATE, PLAIN, REPORT):
            candidates = once
        if candidates and row.cpu is not None:
            peer = min(candidates, key=lambda row: row.cpu)
            row.ratio, row.peer = row.cpu / peer.cpu, peer.contender


def read(arguments):
    names = [family.name for family in FAMILIES] + [PGLIB]
    parser = argparse.ArgumentParser(prog="peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conveil", type=Path, required=True, help="the binary")
    parser.add_argument("--out", type=Path, required=True, help="where problems are written")
    parser.add_argument("--cases", type=Path, help="the folder of PGLib's cases")
    parser.add_argument("--readers", type=Path, help="the folder of the examples that only read a case or a problem")
    parser.add_argument("--only", type=lambda text: text.split(","), default=names[:-1], help=f"some of {', '.join(names)}")
    parser.add_argument("--full", action="store_true", help="large sizes too")
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], help="these sizes only")
    parser.add_argument("--limit", type=float, help="seconds of wall time after which a child is ended")
    parser.add_argument("--json", type=Path, help="a file for the numbers")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.only if name not in names]
    if unknown:
        parser.error(f"no problem is called {unknown[0]!r}: there are {', '.join(names)}")
    if options.cases is not None and not options.cases.is_dir():
        options.cases = None
    return options


def main(arguments=None):
    options = read(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    harness = Harness(options)
    for family in FAMILIES:
        if family.name in options.only:
            for size in harness.sizes(family):
                harness.problem(family, size)
    if PGLIB in options.only and options.readers:
        print("\n".join(pglib.printed(pglib.measured(harness))))
    if not harness.rows:
        return 0
    print("\n".join(table.printed(harness.rows)))
    print("\nIn short, CPU seconds:\n")
    print("\n".join(table.condensed(harness.rows)))
    growth = table.printed_exponents(harness.rows)
    if len(growth) > 2:
        print("\nGrowth: the slope of log CPU over log size, where a run takes at least", table.SHORTEST, "s\n")
        print("\n".join(growth))
    if options.json:
        found = {"rows": [row.as_json() for row in harness.rows], "different": harness.wrong}
        options.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    for line in harness.wrong:
        print(f"not the same problem: {line}", file=sys.stderr)
    return 1 if harness.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
