"""The example notebooks run in a real kernel, say what is stored of them, and keep what is private in frames that say so."""

import copy
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
pytest.importorskip("nbclient")
notebooks = pytest.importorskip("notebooks")

# Other private data of the same kind, put in place right after the cell that has the tag `private-data`.
OTHER = {
    "staffing": "demand.value = np.round(0.97 * demand.value[::-1], 1)",
    "grid_day": "day = (0.95 * day[::-1]).reset_index(drop=True)",
    "classifier": "X_train, y_train = 0.9 * X_train[::-1], np.roll(y_train, 7)\nX_test = 0.9 * X_test",
}


@pytest.fixture(scope="module")
def runs():
    """Each notebook is run once for all tests."""
    made = {}

    def run(name):
        if name not in made:
            made[name] = notebooks.executed(notebooks.stored(name))
        return made[name]

    return run


def with_other_data(notebook, more):
    changed = copy.deepcopy(notebook)
    [cell] = [cell for cell in changed.cells if "private-data" in cell.metadata.get("tags", [])]
    cell.source += "\n" + more
    return changed


def test_every_notebook_is_tested():
    assert notebooks.NAMES == sorted(OTHER)


@pytest.mark.parametrize("name", sorted(OTHER))
def test_a_notebook_says_what_is_stored(name, runs):
    assert notebooks.differences(runs(name), notebooks.stored(name)) == []


@pytest.mark.parametrize("name", sorted(OTHER))
def test_what_depends_on_private_data_is_in_a_frame_that_says_so(name, runs):
    one = runs(name)
    other = notebooks.executed(with_other_data(notebooks.stored(name), OTHER[name]))
    framed = 0
    for count, (cell, again) in enumerate(zip(one.cells, other.cells), start=1):
        is_drawn = "drawn" in cell.metadata.get("tags", [])
        outputs = list(zip(cell.get("outputs", []), again.get("outputs", []), strict=True))
        for texts, others in ([notebooks.texts(output) for output in pair] for pair in outputs):
            if "private" in texts.get("text/html", "") and notebooks.PRIVATE in texts["text/html"]:
                # The same result as plain text, for who reads no HTML, says it too.
                assert re.search("private", texts["text/plain"], re.IGNORECASE), f"cell {count}"
                framed += 1
            else:
                masked = ([notebooks.masked(text, is_drawn) for text in kinds.values()] for kinds in (texts, others))
                assert len(set(map(tuple, masked))) == 1, f"cell {count} shows private data outside of a private frame"
    assert framed >= 2


@pytest.mark.parametrize("name", sorted(OTHER))
def test_a_stored_notebook_holds_nothing_of_the_machine(name):
    notebook = notebooks.stored(name)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    assert set(notebook.metadata.language_info) == {"name"}
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags"}
        for output in cell.get("outputs", []):
            for text in notebooks.texts(output).values():
                assert not re.search(r"(?<![\w.<])/(?:tmp|home|root|work|Users|var|usr)/|\.py:\d|site-packages", text), text[:200]
                assert output.output_type != "error" and text


def test_what_is_masked_and_what_is_not():
    # A comparison that masked too much would find nothing.
    cell = {"cell_type": "code", "source": "x", "metadata": {}, "outputs": [], "execution_count": 1, "id": "a"}

    def shown(text, tags=()):
        output = {"output_type": "stream", "name": "stdout", "text": text}
        made = {**cell, "metadata": {"tags": list(tags)}, "outputs": [output]}
        return notebooks.nbformat.from_dict({"cells": [made], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    def differs(one, other, tags=()):
        return bool(notebooks.differences(shown(one, tags), shown(other, tags)))

    assert differs("cost 457520", "cost 457530") and not differs("cost 457520.0", "cost 457520.001")
    assert differs("cost 12", "loss 12") and differs("12 34", "12") and differs("a 1", "a -1")
    assert not differs("on 2026-01-02, 0.3 s, head 0123456789abcdef01", "on 2027-11-30, 12.5 s, head ffffffffffffffff01")
    assert not differs("answer 3.5", "answer -1e-3", ["drawn"]) and differs("answer 3.5", "refused 3.5", ["drawn"])
