"""The unit-seconds of a build, from the newest report of `cargo build --timings`: what each crate took, and the sum.

    CARGO_TARGET_DIR=target/timings cargo build --timings
    python python/benchmarks/build_units.py target/timings

A unit is one run of the compiler, or of a build script. Their durations are of the clock: on a busy machine they are too long.
"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

# How many crates are named.
NAMED = 25


def newest(target: Path) -> Path:
    """The report that was written last."""
    reports = list((target / "cargo-timings").glob("cargo-timing*.html"))
    if not reports:
        sys.exit(f"{target}/cargo-timings has no report: run `cargo build --timings` first")
    return max(reports, key=lambda report: report.stat().st_mtime)


def seconds(report: Path) -> dict[str, float]:
    """What the units of each package took together."""
    found = re.search(r"const UNIT_DATA = (\[.*?\n?\]);\n", report.read_text(), re.DOTALL)
    if not found:
        sys.exit(f"{report} has no list of units: another version of cargo wrote it?")
    spent = defaultdict(float)
    for unit in json.loads(found[1]):
        spent[f"{unit['name']} {unit['version']}"] += unit["duration"]
    return spent


def main() -> None:
    report = newest(Path(sys.argv[1] if len(sys.argv) > 1 else "target"))
    spent = seconds(report)
    ordered = sorted(spent.items(), key=lambda entry: -entry[1])
    for package, duration in ordered[:NAMED]:
        print(f"{duration:7.1f}  {package}")
    rest = sum(duration for _, duration in ordered[NAMED:])
    print(f"{rest:7.1f}  {len(ordered[NAMED:])} others")
    print(f"{sum(spent.values()):7.1f}  unit-seconds in {report.name}")


if __name__ == "__main__":
    main()
