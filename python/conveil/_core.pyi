"""The engine, from Rust. Private: texts in, JSON and text out. `conveil` is the package to use.

Every call works on threads of its own and lets other Python threads run meanwhile. Ctrl-C stops it, as does an exception
of its observer; the bench stays usable. Failures are the classes of `conveil._errors`.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Protocol, TypedDict

from ._errors import ConveilError

__version__: str

_Path = str | PathLike[str]
_Document = tuple[str, str]
"""JSON, and text for people."""

_Judged = tuple[str, str, ConveilError | None]
"""JSON, text, and the error that the report amounts to."""

_Documents = tuple[str, str, str | None, str | None, str | None]
"""Card as JSON and as text, decision as JSON, report as JSON and as text. All but the card are private."""

class Observer(Protocol):
    """Hears a call while it works; a method may be missing. One that raises stops the call. What is said is the curator's."""

    def note(self, text: str) -> None: ...
    def warning(self, text: str) -> None: ...
    def begin(self, stage: str) -> None: ...
    def progress(self, done: int, total: int) -> None: ...
    def end(self, stage: str) -> None: ...

class Neighbours(TypedDict, total=False):
    """A neighbourhood, as a card states it."""

    adjacency: str
    alpha: float | None
    record: int | None
    unit: str | None
    numbers: int
    called: str
    universe: str | None

class Bench:
    """A spec with its public files, all of them texts by name; nothing is read from disk. Private files are given to each
    call as `data`. It is pickled by its texts."""

    def __new__(cls, spec: str, files: Mapping[str, str], name: str = "plan") -> Bench: ...
    def check(self, observer: Observer | None = None, *, details: bool = False) -> _Document: ...
    def solve(
        self,
        data: Mapping[str, str],
        row: int | None = None,
        observer: Observer | None = None,
        *,
        at: str | None = None,
    ) -> _Document: ...
    def rule(
        self, data: Mapping[str, str], row: int | None = None, observer: Observer | None = None
    ) -> _Document: ...
    def compare(
        self,
        data: Mapping[str, str],
        row: int | None = None,
        draws: int | None = None,
        seed: int | None = None,
        observer: Observer | None = None,
        *,
        at: str | None = None,
    ) -> _Document: ...
    def explain(
        self,
        data: Mapping[str, str],
        row: int | None = None,
        observer: Observer | None = None,
        *,
        at: str | None = None,
    ) -> _Document: ...
    def report_page(
        self,
        data: Mapping[str, str],
        row: int | None = None,
        observer: Observer | None = None,
        *,
        at: str | None = None,
    ) -> str:
        """The curator's report as a self-contained page."""

    def frontier(
        self,
        data: Mapping[str, str],
        over: str,
        values: Sequence[float] | None = None,
        row: int | None = None,
        observer: Observer | None = None,
        *,
        at: str | None = None,
    ) -> _Document: ...
    def sensitivity(
        self,
        *,
        pairs: int | None = None,
        seed: int | None = None,
        climbs: int | None = None,
        solves: int | None = None,
        observer: Observer | None = None,
    ) -> _Judged: ...
    def audit(
        self,
        *,
        pairs: int | None = None,
        seed: int | None = None,
        climbs: int | None = None,
        solves: int | None = None,
        draws: int | None = None,
        observer: Observer | None = None,
    ) -> tuple[str, str, ConveilError | None, str | None]:
        """JSON, text, the error that it amounts to, and the worst pair for `replay`."""

    def replay(self, witness: str, observer: Observer | None = None) -> _Judged: ...
    def dry_run(
        self,
        data: Mapping[str, str],
        *,
        ledger: _Path | None = None,
        dataset: str | None = None,
        part: str | None = None,
        part_moves: bool = False,
        series: tuple[int, float | None] | None = None,
        planned: bool = False,
        not_recorded: bool = False,
        row: int | None = None,
        observer: Observer | None = None,
    ) -> _Document: ...
    def release(
        self,
        data: Mapping[str, str],
        *,
        ledger: _Path | None = None,
        dataset: str | None = None,
        part: str | None = None,
        part_moves: bool = False,
        series: tuple[int, float | None] | None = None,
        planned: bool = False,
        not_recorded: bool = False,
        not_private: bool = False,
        seed: int | None = None,
        row: int | None = None,
        decision: bool = True,
        report: bool = False,
        strict: bool = False,
        observer: Observer | None = None,
    ) -> list[_Documents]:
        """Charges, solves, draws once. An error after a charge has `recorded`, and in `answers` what was complete."""

def card_page(json: str) -> str:
    """A card as a self-contained page, from its JSON."""

def ledger_init(
    file: _Path,
    dataset: str,
    epsilon: float,
    delta: float = 0.0,
    *,
    basic: bool = False,
    bench: Bench | None = None,
    neighbours: Neighbours | None = None,
    observer: Observer | None = None,
) -> _Document: ...
def ledger_show(file: _Path, dataset: str | None = None) -> _Document: ...
def ledger_spend(
    file: _Path,
    dataset: str,
    epsilon: float,
    delta: float = 0.0,
    *,
    basis: str,
    rho: float | None = None,
    like_budget: bool = False,
    bench: Bench | None = None,
    neighbours: Neighbours | None = None,
    everywhere: bool = False,
    gamma: float | None = None,
    beta: float | None = None,
    part: str | None = None,
    planned: bool = False,
    observer: Observer | None = None,
) -> _Judged: ...
def ledger_adopt(
    file: _Path,
    dataset: str,
    *,
    charges: Sequence[int] | None = None,
    budget: bool = False,
    bench: Bench | None = None,
    neighbours: Neighbours | None = None,
    everywhere: bool = False,
    gamma: float | None = None,
    beta: float | None = None,
    planned: bool = False,
    observer: Observer | None = None,
) -> _Document: ...
def ledger_verify(file: _Path, dataset: str | None = None, head: str | None = None) -> _Document: ...
def ledger_export(file: _Path, dataset: str | None = None) -> str: ...
def audit_blocks(bench: Bench, pairs: int | None = None) -> list[tuple[int, int]]: ...
def audit_sample(
    bench: Bench,
    map: str,
    block: tuple[int, int],
    *,
    pairs: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    observer: Observer | None = None,
) -> str: ...
def audit_search(
    bench: Bench,
    map: str,
    blocks: Sequence[str],
    *,
    pairs: int | None = None,
    seed: int | None = None,
    climbs: int | None = None,
    solves: int | None = None,
    threads: int | None = None,
    observer: Observer | None = None,
) -> str: ...
def audit_of(
    bench: Bench,
    blocks: Sequence[str],
    search: str,
    *,
    pairs: int | None = None,
    seed: int | None = None,
    climbs: int | None = None,
    solves: int | None = None,
    draws: int | None = None,
    observer: Observer | None = None,
) -> tuple[str, str, ConveilError | None, str | None]: ...
def sensitivity_of(
    bench: Bench,
    released: tuple[Sequence[str], str],
    without_noise: tuple[Sequence[str], str],
    *,
    pairs: int | None = None,
    seed: int | None = None,
    climbs: int | None = None,
    solves: int | None = None,
    observer: Observer | None = None,
) -> _Judged: ...
def frontier_values(bench: Bench, over: str, values: Sequence[float] | None = None) -> list[float]: ...
def frontier_cell(
    bench: Bench,
    data: Mapping[str, str],
    over: str,
    values: Sequence[float],
    row: int | None = None,
    *,
    at: str | None = None,
    threads: int | None = None,
    observer: Observer | None = None,
) -> str: ...
def frontier_of(bench: Bench, parts: Sequence[str]) -> _Document: ...
def study_names() -> list[tuple[str, str]]: ...
def study_parts(name: str, flags: Sequence[str]) -> tuple[int, list[str]]: ...
def study_cell(
    name: str, flags: Sequence[str], part: int, *, threads: int | None = None, observer: Observer | None = None
) -> _Document: ...
def study_of(parts: Sequence[_Document]) -> _Document: ...
