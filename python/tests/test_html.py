"""What notebooks show: whose it is, the answer first, nothing unescaped, and nothing private in what is public."""

import re
from html.parser import HTMLParser

import conveil
import cvxpy as cp
import numpy as np
import pytest
from conveil._phrases import SPEC_WORDS


class Balance(HTMLParser):
    """Finds tags that are not closed, and scripts."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        assert tag != "script"
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def well_formed(page):
    balance = Balance()
    balance.feed(page)
    balance.close()
    assert balance.open == []
    return page


@pytest.fixture(scope="module")
def plan():
    x = cp.Variable(2, name="<script>x", nonneg=True)
    d = cp.Parameter(2, name="d<b>", value=np.array([3.0, 11.0]))
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [x >= d, x <= 400])
    return conveil.privatize(
        problem,
        private=[d],
        epsilon=1.0,
        adjacency=conveil.one_entry(1),
        bounds={d: (0, 10)},
        price=2,
        eta=0.05,
        nominal={d: 5.0},
    )


def test_private_documents_say_that_they_are(plan):
    private = [plan.solve(), plan.compare(draws=10), plan.explain(), plan.frontier(values=[0.5, 1.0]), plan.audit(pairs=5)]
    for document in private:
        page = well_formed(document._repr_html_())
        assert "private: for the curator" in page and "<script>" not in page
    # The one value outside its bounds is told in all that look at the data.
    assert all("outside its public bounds" in document._repr_html_() for document in private[:4])
    assert "<svg" in private[3]._repr_html_()


def test_public_documents_hold_nothing_of_the_data(plan):
    released = plan.release(not_recorded=True)
    public = [plan, plan.guarantee, plan.check(), released, released.card, plan.solve(at="nominal")]
    for document in public:
        page = well_formed(document._repr_html_())
        assert "(public)" in page and "private: for the curator" not in page and "outside its public bounds" not in page
    assert released._repr_html_() == released.card._repr_html_()


def test_the_answer_comes_first(plan):
    card = plan.release(not_recorded=True).card
    page = card._repr_html_()
    number = f"{card['answer'][0]['value']:.8g}"
    assert number in page and page.index(number) < page.index("differential privacy")
    report = plan.solve()
    page = report._repr_html_()
    assert page.index(f"{report.objective:.8g}") < page.index("<details>")


def test_an_audit_says_what_it_amounts_to(plan):
    audit = plan.audit(pairs=20)
    assert audit.error is None
    assert audit["audited_epsilon"] <= audit["claimed_epsilon"]


def test_at_nominal_values_no_text_says_that_it_is_private(plan):
    nominal = [plan.solve(at="nominal"), plan.compare(at="nominal", draws=10), plan.explain(at="nominal")]
    nominal.append(plan.frontier(values=[0.5, 1.0], at="nominal"))
    for public, private in zip(nominal, [plan.solve(), plan.compare(draws=10), plan.explain(), plan.frontier(values=[0.5, 1.0])]):
        assert "PRIVATE" not in public.text and "public, at the nominal values" in public.text.splitlines()[0]
        assert "PRIVATE" in private.text.splitlines()[0]


def test_a_value_of_your_own_can_be_framed_as_private():
    pd = pytest.importorskip("pandas")
    for value in (pd.DataFrame({"hours": [1.5]}), np.array([1.5]), "<script>", None):
        framed = conveil.as_private(value, "My <b>title")
        page = well_formed(framed._repr_html_())
        assert "private: for the curator" in page and "<script>" not in page and "<b>title" not in page
        assert "private: for the curator" in repr(framed)
    assert "<td>1.5</td>" in conveil.as_private(pd.DataFrame({"hours": [1.5]}))._repr_html_()


def test_an_account_shows_what_is_left(plan, tmp_path):
    ledger = conveil.Ledger(tmp_path / "budget.sqlite")
    ledger.create_budget("d", epsilon=3.0, plan=plan)
    plan.release(ledger=ledger, dataset="d")
    page = well_formed(ledger.account("d")._repr_html_())
    assert "(public)" in page and page.index("a pure charge of ε = 2") < page.index("<details>")


def test_a_comparison_of_classifiers_shows_accuracies():
    X, y = [[20.0, 1.0], [90.0, 6.0]] * 50, ["ok", "fail"] * 50
    comparison = conveil.svm(X, y, bounds=([0, 0], [120, 12]), classes=("ok", "fail"), epsilon=1.0).compare(draws=10)
    page = well_formed(comparison._repr_html_())
    assert "accuracy mean" in page and f"{comparison['rows'][0]['accuracy_before_noise']:.8g}" in page


def test_a_report_is_one_page_in_the_words_of_python(plan, tmp_path):
    path = plan.report(tmp_path / "report.html")
    page = path.read_text(encoding="utf-8")
    assert "PRIVATE" in page and "<script" not in page and "Report on plan" in page
    assert path.stat().st_mode & 0o077 == 0
    told = re.sub(r"<style>.*?</style>|<svg.*?</svg>|<[^>]*>", " ", page, flags=re.DOTALL)
    assert not SPEC_WORDS.search(told), SPEC_WORDS.search(told)
    with pytest.raises(FileExistsError):
        plan.report(path)


def test_a_report_at_nominal_values_has_nothing_private(plan, tmp_path):
    (d,) = plan.private
    before = d.value
    first = plan.report(tmp_path / "first.html", at="nominal").read_text(encoding="utf-8")
    try:
        d.value = np.array([1.0, 2.0])
        second = plan.report(tmp_path / "second.html", at="nominal").read_text(encoding="utf-8")
        third = plan.report(tmp_path / "third.html").read_text(encoding="utf-8")
    finally:
        d.value = before
    assert first == second != third
    assert "PUBLIC" in first and "PUBLIC" not in third


def test_a_card_is_a_page_too(plan):
    card = plan.release(not_recorded=True).card
    page = card.to_html()
    assert "<script" not in page and "Release card" in page
    assert str(card["answer"][0]["value"]) in page
    assert "&lt;script&gt;x" in page or "value" in page
