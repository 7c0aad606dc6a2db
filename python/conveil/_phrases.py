"""The engine's texts in the words of `privatize`.

The engine speaks to whoever writes a spec. Whoever calls it from Python has arguments instead of sections and keys, so
each phrase that names a section, a key, a flag of the command line or a Rust type is said again here. The table is read
from top to bottom; `SPEC_WORDS` is what must be left in no text, and a test holds every text of the suite against it.
"""

import re


def _adjacency(found):
    return f"adjacency=conveil.{found.group(1).replace('-', '_')}({found.group(2)})"


_TABLE = [
    # Public data that stand in for the private ones.
    (
        r'in \[private\]: twin = "twin\.csv", a public file of the same form as the private one'
        r"(?: \(an older or a synthetic dataset\), and `--at twin`|, such as an older or a synthetic dataset)",
        'give twin=, public data of the same form, such as older or synthetic ones, and at="twin"',
    ),
    (r'or name a public dataset: twin = "twin\.csv" in \[private\], and `--at twin`', 'or give twin=, public data, and at="twin"'),
    (r"`conveil (explain|frontier|compare|solve|audit) \S*plan\S* --at (nominal|twin)`", r'`plan.\1(at="\2")`'),
    (r"the spec names no `twin`", "there is no twin="),
    (r"`compare --at` tries them", "`plan.compare(at=…)` tries them"),
    (r"`?--at (nominal|twin)`?", r'at="\1"'),
    # What a spec asks for, as an argument.
    (r'`?strategy = "?(output|shifted|projected|program|linear-term|input|truncated|auto)"?`? in \[feasibility\]', r'`strategy="\1"`'),
    (r'\(strategy = "?(output|shifted|projected|program|linear-term|input|truncated|auto)"? in \[feasibility\]\)', r'(`strategy="\1"`)'),
    (r'strategy = "?(output|shifted|projected|program|linear-term|input|truncated|auto)"?', r'strategy="\1"'),
    (r"strategy = (\w+)", r'strategy="\1"'),
    (
        r"add `\[private\.universe\]`, or `bounds` to every \[\[private\.parameter\]\]",
        "give bounds= for every private parameter",
    ),
    (r"needs \[private\.universe\], or public bounds on all demands", "needs bounds= for every private parameter"),
    (r"`?\[private\.universe\]`?", "bounds="),
    (r"every \[\[private\.parameter\]\]", "every private parameter"),
    (r"`?\[\[private\.parameter\]\]`?( with name = )?", "the private parameter "),
    (r'`?sensitivity = \{ by = "declared", [^}]*\}`?', "`sensitivity=conveil.declared(…)`"),
    (r'`?sensitivity = \{ by = "sampled", [^}]*\}`?', "`sensitivity=conveil.sampled(…)`"),
    (r'`?sensitivity = \{ by = "envelope", [^}]*\}`?', "`price=`"),
    (r'`?sensitivity = \{ by = "radius" \}`?', "`sensitivity=conveil.radius()`"),
    (r'`?sensitivity = \{ by = "strong-convexity" \}`?', "`sensitivity=conveil.strong_convexity()`"),
    (
        r'price = ([\d.]+) for all such rows, or prices = \{ ("[^"]*") = ([\d.]+) \} beside the certificate',
        r"price=\1 for all such constraints, or prices={\2: \3}",
    ),
    (r'release = "value" or "cost"', 'release="value"'),
    (r"\b(curvature|price|width) = ([\d.]+\d)", r"\1=\2"),
    (r'\{ by = "(\w+)"[^}]*\}', r"conveil.\1(…)"),
    (r'by = "?(\w+)"?', r"conveil.\1()"),
    (r'shape = "(\w+)"', r'shape="\1"'),
    (r'release = "cost"', 'release="value"'),
    (r'release = "at-most"', 'release="value"'),
    (r'release = "(\w+)"', r"release="),
    (
        r"release it as `at-most` with a public slope, or query the cost as a row over the decisions",
        'release the value (`release="value"`) with slope=, or an affine expression of the decisions',
    ),
    (
        r"declare it a decision \(`stage = \"decision\"` in a spec, `Builder::variable` in Rust\)",
        "name it in decisions=",
    ),
    (
        r"declare `([^`]*)` an epigraph \(`stage = \"epigraph\"` in a spec, `Builder::epigraph` in Rust\)",
        r'leave `\1` out of decisions= and release the value (`release="value"`)',
    ),
    (r" ?\(?`?stage = \"?here-and-now\"?`? in a spec, `Builder::[^`]*` in Rust\)?", " (here_and_now=)"),
    (r" ?\(?`?stage = \"?[\w-]+\"?`?(?: in a spec, `Builder::[^`]*` in Rust)?\)?", " (decisions=)"),
    (r"`Builder::\w+`(?: in Rust)?", "the model"),
    (r'`?on = "deterministic"`?', "the map without noise"),
    (r'split = "?(\w+)"?', r'split="\1"'),
    # Verbs and ledgers.
    (r"`?conveil (explain|frontier|compare|check|solve|audit|sensitivity) \S*plan\S*?`", r"`plan.\1()`"),
    (r"`conveil (audit|sensitivity)`", r"`plan.\1()`"),
    (
        r"; then add\s+\[ledger\]\s+file = \"[^\"]*\"\s+dataset = \"[^\"]*\"\s+or state `--no-ledger`",
        "; then give ledger= and dataset= to `release`,\n  or say not_recorded=True",
    ),
    (
        r"or state `--no-ledger`, and the card will say that nothing keeps count",
        "or say not_recorded=True, and the card will say that nothing keeps count",
    ),
    (r"the spec has a ledger, and `--no-ledger` passes it by", "a ledger is named, and not_recorded=True passes it by"),
    (r"`--decision` needs strategy", "a decision needs strategy"),
    (r"`?planned = true`? in \[ledger\]", "`planned=True`"),
    (r"`--no-ledger`|--no-ledger", "not_recorded=True"),
    (r"`--not-private`|--not-private", "not_private=True"),
    (r"; --row N takes another|; `--row N` takes another", ""),
    (r"`--row(?: N)?`|--row(?: N)?", "row="),
    (r"`--planned`|--planned", "planned=True"),
    (r"`--seed(?: N)?`|--seed(?: N)?", "seed="),
    (r"`--draws(?: N)?`|--draws(?: N)?", "draws="),
    (r"  … and (\d+) more \(see --json\)", r"  … and \1 more"),
    (r"… and (\d+) more \(see --json\)", r"… and \1 more"),
    (r" ?\(see --json\)", ""),
    (r"\(see --details\)", "(see `check(details=True)`)"),
    (r"--pairs|--climbs|--solves|--witness|--replay", lambda m: m.group(0)[2:] + "="),
    (
        r"`?conveil ledger init (\S+) --dataset (\S+) --epsilon (\S+)(?: --spec \S+)?`?",
        r"`plan.create_budget(ledger, dataset, epsilon)`",
    ),
    # Places of the conic form.
    (r"private numbers in q only", "private numbers in the linear cost only"),
    (r"private numbers in b only", "private numbers in right-hand sides only"),
    (r"sensitivity by `strong-convexity`", "sensitivity by `strong_convexity`"),
    # Keys that are arguments of the same name.
    (
        r"`?(epsilon|delta|eta|alpha|bounds|nominal|price|slope|shape|strategy|method|split|factor|rows|tolerance|mechanism)`? (?:to|in) \[(?:privacy|feasibility|private|query|solver)\]",
        r"\1=",
    ),
    (r"add it to \[feasibility\]", "give eta="),
    (
        r" ?(?:in|to|below|of|from) `?\[\[?(?:problem|private|query|privacy|feasibility|risk|lattice|solver|study|ledger)[\w.]*\]\]?`?",
        "",
    ),
    (r"`?\[\[?(?:problem|private|query|privacy|feasibility|risk|lattice|solver|study|ledger)[\w.]*\]\]?`? ?", ""),
    (r'`"?at-most"?`', '`release="value"`'),
    (r"`at-most`", '`release="value"`'),
    (r"query `(?:cost|objective)`", "query of the value"),
    (r"released: `(?:cost|objective)`", "released: `value`"),
    # Places in files that nobody wrote.
    (r"problem: problem\.json: ", "problem: "),
    (r"\bledger:\d+:\d+: ", ""),
    (r"; `init` makes one", ""),
    (r"\bplan:\d+:\d+: ", ""),
    (r"\bplan: ", ""),
    (r"problem: problem\.json: ", "problem: "),
    (r"problem\.json:?", "the problem"),
    (r"declare the sensitivity itself: value = \S+", "declare the sensitivity itself: conveil.declared(value, reason)"),
    (r"objective: cost, the cost being what the program minimises\n", ""),
    (r"theta\.csv(?::\d+(?::\d+)?)?:?", "the private values"),
    (
        r"public bounds on that variable, as wide as you like: a limit in the program, or `bounds = \[low, high\]` of the variable in a spec; slack variables of a loss are bounded by their cost under row-by-row methods",
        "public bounds on that variable, as wide as you like; for a variable that CVXPY introduces, bounds on what is in its expression, or another formulation of it",
    ),
    # The ledger's way to name neighbours.
    (r"; --spec \S+ takes them from its spec", "; plan= takes them from a plan"),
    (r"--spec \S+ takes it from the spec of a release(; by flags, .*? must be as on its card)?", "plan= takes it from a plan"),
    (r"(`plan\.create_budget\(ledger, dataset, epsilon\)`)(?: --[a-z-]+(?: '[^']*'| [^-\s`]+)?)+`?", r"\1"),
    (r"`conveil ledger show[^`]*`", "`ledger.account(dataset)`"),
    (
        r"`conveil ledger plan` shows what each release may spend; `--until-spent` releases as many rows as fit",
        "a declared series (series=) may cost less; row= releases one row",
    ),
    (r"a file that `conveil audit [^`]*` has written", "what an audit has found"),
    (r'`?on = "released"`?', "a sensitivity of the released map"),
    (r'adjacency = \{ kind = "one-record" \}', "adjacency=conveil.one_record(…)"),
    (r'adjacency = \{ kind = "(one-entry|l1|l2)", alpha = (\S+) \}', _adjacency),
    # What is left: keys that are arguments, and flags.
    (r'\b([a-z_]+) = (?=["{\[])', r"\1="),
    (r"(?<![\w-])--([a-z][a-z-]+)(?: [A-Z]+\b)?", lambda m: m.group(1).replace("-", "_") + "="),
    (r"\bthe spec's own\b", "the plan's own"),
    (r"\bin the spec\b|\bin a spec\b", "in the plan"),
    (r"\b(?:the|a|this) spec\b", "the plan"),
]

_ENTRY = re.compile(r"\[\d+\]$")
"""The end of the engine's name of an entry."""
_PLACES = re.compile(r"((?:found|enters|enters at|stands at) )((?:, )?[bqA]\[\d+(?:, \d+)?\](?:, [bqA]\[\d+(?:, \d+)?\])*)")
"""Entries of the conic form, after a word that shows that no variable is meant."""
_PLACE = re.compile(r"([bqA])\[(\d+)(?:, (\d+))?\]")

_COMPILED = [(re.compile(pattern), said) for pattern, said in _TABLE]

SPEC_WORDS = re.compile(
    r"\[\[?(?:problem|private|query|privacy|feasibility|risk|lattice|solver|study|ledger)[\w.]*\]\]?"
    r"|\b[a-z_]+ = [\"{\[]|\bTOML\b"
    r"|\b(?:by|stage|strategy|release|split|shape|in|file|dataset|planned) = |`conveil [a-z]|--[a-z][a-z-]+|\bspec\b|\.toml|problem\.json|theta\.csv|Builder::"
)
"""What no text for a user of Python contains."""


def in_python(text):
    """The text in the words of Python."""
    for pattern, said in _COMPILED:
        text = pattern.sub(said, text)
    return text


class Heard:
    """Hears the warnings of one call. Progress has no listener; notes cost searches of their own and are not asked for."""

    def __init__(self, speaker, known):
        self._speaker, self._known, self._warnings = speaker, known, []

    def warning(self, text):
        """Called by the engine."""
        self._warnings.append(text)

    @property
    def warnings(self):
        """In the words of Python, without those that the plan has said before."""
        said = [self._speaker.say(text) for text in self._warnings]
        return [text for text in said if text not in self._known]


class Speaker:
    """Says the engine's texts in Python's words, with the names that the user knows.

    `spoken` maps the engine's names to the user's; `place` says an entry of the conic form, such as `b[3]`, by the names
    of its row and column.
    """

    def __init__(self, spoken=None, place=None):
        self._spoken, self._place = spoken or {}, place
        # Entries are found by their block, of which there are few, and looked up by their number.
        blocks = {name[: name.rindex("[")] for name in self._spoken if _ENTRY.search(name)}
        patterns = [re.escape(name) + r"\[\d+\]" for name in blocks]
        patterns += [re.escape(name) for name in self._spoken if not _ENTRY.search(name)]
        self._names = re.compile("|".join(sorted(patterns, key=len, reverse=True))) if patterns else None

    def say(self, text):
        text = in_python(text)
        if self._place is not None:
            text = _PLACES.sub(lambda m: m.group(1) + _PLACE.sub(lambda p: self._place(*p.groups()), m.group(2)), text)
        if self._names is not None:
            text = self._names.sub(lambda m: self._spoken.get(m.group(0), m.group(0)), text)
        return text

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        from ._errors import ConveilError

        if isinstance(error, ConveilError):
            error.args = tuple(self.say(a) if isinstance(a, str) else a for a in error.args)
            for word in ("what", "why", "instead"):
                if isinstance(getattr(error, word, None), str):
                    setattr(error, word, self.say(getattr(error, word)))
        return False
