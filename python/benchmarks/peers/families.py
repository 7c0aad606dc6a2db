"""Which problems there are, in which sizes, and who does what on each."""

from dataclasses import dataclass

PLAIN, PRIVATE, CHECK, CARD = "plain solve", "private release", "check", "charge to card"
REPORT, READ, RESOLVES = "curator's solve", "read the file", "audit, 1000 re-solves"
SAMPLED, LIFTED = "500 sampled pairs", "500 sampled pairs, lifted"

CONVEIL = "Conveil"

# The built-in networks, by their number of buses; others are PGLib's.
BUILT_IN = {5: "5_pjm", 24: "24_ieee_rts", 118: "118_ieee"}


@dataclass(frozen=True)
class Family:
    """A kind of problem. `peers`: (task, contender, what it is called, its largest size); `peer` names what ratios are to."""

    name: str
    unit: str
    sizes: tuple
    large: tuple
    peers: tuple
    peer: tuple
    conveil: tuple = (CHECK, PRIVATE, PLAIN, REPORT)
    private_peer: str | None = None


ANY = 10**9
HIGHS = ((PLAIN, "highs-simplex", "HiGHS simplex", ANY), (PLAIN, "highs-ipm", "HiGHS ipm", ANY))
CLARABEL = (PLAIN, "cvxpy", "CVXPY+Clarabel", ANY)
JSON = (READ, "json-read", "Python json", ANY)
# Conveil's own readers of the spec and the problem, and nothing else.
OWN_READER, OWN_READING = "read_problem", "own reading"
OWN = (READ, OWN_READER, OWN_READING, ANY)
PANDAS = (READ, "pandas-read", "pandas", ANY)
BETTER_HIGHS = ("HiGHS simplex", "HiGHS ipm")

FAMILIES = (
    Family(
        "grid",
        "buses",
        (5, 24, 118, 1354, 2869),
        (9241, 10192, 10480, 13659, 19402, 20758, 24464, 30000, 78484),
        (*HIGHS, (PLAIN, "cvxpy", "CVXPY+Clarabel", 3000)),
        BETTER_HIGHS,
    ),
    Family("envelope", "buses", (24, 118, 1354), (2869, 9241), HIGHS, BETTER_HIGHS),
    Family(
        "staircase",
        "rows",
        (900, 9000, 45000),
        (199998,),
        (*HIGHS, CLARABEL, JSON, OWN, (PRIVATE, "rsome", "RSOME", 9000)),
        BETTER_HIGHS,
        private_peer="RSOME",
    ),
    Family(
        "dense",
        "units",
        (50, 100, 200),
        (400,),
        (*HIGHS, CLARABEL, JSON, (PRIVATE, "rsome", "RSOME", 200)),
        BETTER_HIGHS,
        private_peer="RSOME",
    ),
    Family(
        "classifier",
        "records",
        (1_000, 10_000, 100_000),
        (1_000_000,),
        ((PLAIN, "linear-svc", "LinearSVC", ANY), (PLAIN, "svm-cvxpy", "CVXPY+Clarabel", 10_000), PANDAS),
        ("LinearSVC",),
    ),
    Family(
        "regression",
        "records",
        (1_000, 10_000, 100_000),
        (1_000_000,),
        ((PLAIN, "lstsq", "numpy lstsq", ANY), (PLAIN, "normal-equations", "numpy P, q", ANY), PANDAS),
        ("numpy lstsq",),
    ),
    Family("socp", "assets", (50, 100, 200), (400,), (CLARABEL, JSON), ("CVXPY+Clarabel",)),
    Family("sdp", "order", (5, 10, 20), (30,), (CLARABEL, JSON), ("CVXPY+Clarabel",)),
    Family(
        "resolve",
        "variables",
        (5, 30, 100),
        (),
        (
            CLARABEL,
            (RESOLVES, "cvxpy-loop", "CVXPY loop", ANY),
            (RESOLVES, "clarabel-loop", "bare Clarabel", ANY),
        ),
        ("CVXPY loop",),
        (CHECK, PRIVATE, PLAIN, REPORT, RESOLVES, SAMPLED, LIFTED),
    ),
)


def words(task, folder):
    """What Conveil is called with for a task."""
    spec, plain = str(folder / "spec.toml"), str(folder / "plain.toml")
    release = ["release", "--no-ledger"]
    solve = ["solve", "--json", "--quiet"]
    return {
        CHECK: ["check", "--quiet", spec],
        PRIVATE: [*release, spec],
        PLAIN: [*release, plain],
        REPORT: [*solve, spec],
        # 500 pairs of neighbours on the plain map, without a search for worse ones.
        RESOLVES: ["audit", "--quiet", "--pairs", "500", "--climbs", "0", plain],
        # Planning with a sampled sensitivity, whose pairs are solved on the released map: the plain one, and that with noise.
        SAMPLED: [*solve, str(folder / "resolves.toml")],
        LIFTED: [*solve, str(folder / "sampled.toml")],
    }[task]


def subtracted(task):
    """The run that is taken off another to have the task alone."""
    return REPORT if task in (RESOLVES, SAMPLED, LIFTED) else None
