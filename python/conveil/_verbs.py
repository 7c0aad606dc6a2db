"""The verbs of every plan: what the engine is asked, and its answer as a value in Python's words.

`Plan` (a CVXPY problem) and `ModelPlan` (a ready-made model) differ in how they state the problem and in how they name a
dataset. Both make the engine's texts, and leave the calls to this base.
"""

from __future__ import annotations

import json
import re

from . import _core, _html, _many
from ._errors import InputError, NotWithThisNoise
from ._progress import Watched
from ._results import Audit, Check, Comparison, DryRun, Explanation, Frontier, Guarantee, Movement

_EXPLAINS = re.compile(r"`plan\.explain\([^)]*\)` finds the smallest epsilon or eta, or the largest alpha, that fits")
_INSTEAD = "a larger epsilon or eta, or a smaller alpha, may fit"

AXES = ("epsilon", "alpha", "eta", "width", "curvature", "price")
"""What a frontier can be over."""


class Verbs:
    """What would be released and guaranteed. Public, until a verb reads the private numbers."""

    def _open(self, spec, files, speaker):
        """Plans and checks: `spec` and public `files` are texts, `speaker` says the engine's texts to the user."""
        self._speaker = speaker
        try:
            with speaker, Watched(speaker) as heard:
                self._bench = _core.Bench(spec, files, "plan")
                document, text = self._bench.check(observer=heard)
        except NotWithThisNoise as error:
            # There is no plan whose `explain` could be called.
            error.args = tuple(_EXPLAINS.sub(_INSTEAD, said) if isinstance(said, str) else said for said in error.args)
            raise
        self._checked = json.loads(document)
        self._check_text = speaker.say(text)

    @property
    def guarantee(self):
        """What is promised: final before any data is read."""
        return Guarantee(self._speaker.say(self._checked["text"]), self._checked["guarantee"])

    @property
    def warnings(self):
        """What a careful reader should know before anything is released."""
        return [self._speaker.say(warning) for warning in self._checked["warnings"]]

    def check(self, *, details=False):
        """The blocks of the problem, what is private, the guarantee and the warnings. Public.

        ``details=True`` shortens nothing: every private number with every row that it enters, every block and decision.
        """
        if not details:
            return Check(self._check_text, self._checked)
        with self._speaker, Watched(self._speaker) as heard:
            _, text = self._bench.check(observer=heard, details=True)
        return Check(self._speaker.say(text), self._checked)

    def sensitivity(self, pairs=None, seed=None, *, executor=None, keep=None, allow_private=False):
        """How far neighbouring datasets between the public bounds move the answer, beside the sensitivity in use.

        ``executor``, a `concurrent.futures.Executor`, computes it in cells, with the same result; ``keep`` is a private folder
        for finished cells, from which a broken run goes on. No private number is used, with or without ``allow_private``.
        """
        with self._speaker, Watched(self._speaker) as heard:
            document, text, error = _many.sensitivity(
                self._bench, pairs=pairs, seed=seed, executor=executor, keep=keep, observer=heard
            )
        return Movement(self._speaker.say(text), json.loads(document), error)

    def audit(self, pairs=None, seed=None, *, draws=None, executor=None, keep=None, allow_private=False):
        """Looks for neighbouring datasets between the public bounds that the noise hides less well than claimed.

        With ``draws``, so many answers are drawn from each side of the worst pair as a release would draw them, and bound ε
        from below; a false alarm has probability 1e-6 in the whole audit, as one pair is drawn for.

        ``executor``, a `concurrent.futures.Executor`, computes it in cells, with the same result; ``keep`` is a private folder
        for finished cells, from which a broken run goes on. Answers are always drawn here. No private number is used, with or
        without ``allow_private``.
        """
        with self._speaker, Watched(self._speaker) as heard:
            document, text, error = _many.audit(
                self._bench, pairs=pairs, seed=seed, draws=draws, executor=executor, keep=keep, observer=heard
            )
        return Audit(self._speaker.say(text), json.loads(document), error)

    def create_budget(self, ledger, dataset, epsilon, delta=0.0, *, basic=False):
        """Gives a dataset its budget in a ledger, between the neighbours of this plan; makes the file where there is none."""
        with self._speaker:
            account = _path(ledger)
            _core.ledger_init(account, dataset, float(epsilon), float(delta), basic=basic, bench=self._bench)

    # The verbs that read private numbers: `data` are the private files, `row` is the dataset among them; `at` names public data
    # that stand in for them. Each returns its document, and the warnings that the engine gave.

    def _solve(self, data, row=None, at=None):
        return self._heard_from(self._bench.solve, data, row=row, at=at)

    def _compare(self, data, row, draws, seed, private=True, at=None):
        document, text, warnings = self._heard_from(self._bench.compare, data, row=row, draws=draws, seed=seed, at=at)
        document["advice"] = [self._speaker.say(advice) for advice in document.get("advice", [])]
        for line in document.get("rows", []):
            if isinstance(line.get("status"), str):
                line["status"] = self._speaker.say(line["status"])
        return Comparison(text, document, private), warnings

    def _explain(self, data, row, private=True, at=None):
        document, text, warnings = self._heard_from(self._bench.explain, data, row=row, at=at)
        return Explanation(text, document, private), warnings

    def _report(self, data, path, row=None, at=None, note=None):
        """Writes the report's page to a new file that its owner alone may read; its path."""
        heard = Watched(self._speaker, self.warnings)
        with self._speaker, heard:
            page = self._bench.report_page(data, row=row, at=at, observer=heard)
        page = _html.said(page, self._speaker.say, note)
        return _html.written(page, path)

    def _frontier(self, data, over, values, row, private=True, *, at=None, executor=None, keep=None):
        if over not in AXES:
            known = ", ".join(f'"{axis}"' for axis in AXES[:-1])
            raise InputError(f'a frontier is over {known} or "{AXES[-1]}"; found {over!r}')
        values = None if values is None else [float(value) for value in values]
        heard = Watched(self._speaker, self.warnings)
        with self._speaker, heard:
            document, text = _many.frontier(
                self._bench, data, over, values, row, at=at, executor=executor, keep=keep, observer=heard
            )
        document, text, warnings = json.loads(document), self._speaker.say(text), heard.warnings
        return Frontier(text, document, private), warnings

    def _release(self, data, *, ledger, not_private, seed, report, **more):
        """The documents of each row, and the warnings."""
        if seed is not None and not not_private:
            raise InputError("seed= repeats the noise, which is for studies alone: say not_private=True with it")
        heard = Watched(self._speaker, self.warnings)
        with self._speaker, heard:
            documents = self._bench.release(
                data,
                ledger=None if ledger is None else _path(ledger),
                not_private=not_private,
                seed=seed,
                # A private choice among several releases no decision.
                decision=self._checked["strategy"] == "program" and "tuning" not in self._checked,
                report=report,
                observer=heard,
                **more,
            )
        return documents, heard.warnings

    def _dry_run(self, data, *, ledger, not_private, **more):
        """What a release would charge. Public."""
        if not_private:
            raise InputError("a dry run is of a release, and a run that is not private charges nothing: make the run itself")
        ledger = None if ledger is None else _path(ledger)
        document, text, _ = self._heard_from(self._bench.dry_run, data, ledger=ledger, **more)
        return DryRun(text, document, private=False)

    def _heard_from(self, verb, *given, **named):
        """What a verb of the engine says: its document, its text in Python's words, and its warnings."""
        heard = Watched(self._speaker, self.warnings)
        with self._speaker, heard:
            document, text = verb(*given, observer=heard, **named)
        return json.loads(document), self._speaker.say(text), heard.warnings

    def _repr_html_(self):
        return self.guarantee.warned(self.warnings)._repr_html_()

    def __repr__(self):
        return f"<conveil.{type(self).__name__}: {str(self.guarantee).splitlines()[0]}>"


def _path(ledger):
    """Where a ledger is: a `Ledger`, or its path."""
    return str(getattr(ledger, "path", ledger))
