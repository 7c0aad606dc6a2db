"""All of PGLib's files: what `check` takes beside reading the same case, each a process of its own."""

import re

import measure
from table import lines, number, ratio

# `check` takes at most so many times what reading its case does.
MOST = 20.0

HEAD = ("case", "buses", "read", "check", "check ÷ read", "MiB")


def measured(harness):
    """(file, buses, CPU seconds of the reading, of the check, its MiB or what went wrong) for every case, the smallest first."""
    reader = harness.readers / "read_case"
    found = []
    for case in sorted(harness.cases.glob("*.m") if harness.cases else [], key=lambda case: case.stat().st_size):
        name = case.stem.removeprefix("pglib_opf_case")
        folder = harness.out / f"pglib-{name}-{harness.edition}"
        if not (folder / "complete").exists():
            folder.mkdir(parents=True, exist_ok=True)
            harness.make("grid", 0, folder, case)
        reading = measure.best([str(reader), str(folder / "case.m")], harness.limit, harness.out)
        checking = measure.best([str(harness.conveil), "check", "--quiet", str(folder / "spec.toml")], harness.limit, harness.out)
        buses = re.search(r": (\d+) buses", reading.output)
        found.append((name, int(buses.group(1)) if buses else 0, reading.cpu, checking.cpu, checking.peak_mib, checking.failure))
    return found


def printed(found):
    cells = [HEAD]
    for name, buses, reading, checking, peak, failure in found:
        times = checking / reading if reading else None
        cells.append((name, str(buses), number(reading, 4), failure or number(checking, 4), ratio(times), number(peak, 0)))
    told = [(checking / reading, name) for name, _, reading, checking, _, failure in found if reading and not failure]
    worst = max(told, default=(0.0, "none"))
    over = sum(times > MOST for times, _ in told)
    summary = f"At most {ratio(worst[0])} times the reading ({worst[1]}); above {MOST:.0f} times: {over} of {len(found)} cases."
    return [*lines(cells), "", summary]
