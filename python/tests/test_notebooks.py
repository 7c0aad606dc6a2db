"""The example notebooks run in a real kernel, say what is stored of them, and keep what is private in frames that say so."""

import copy
import re
from concurrent.futures import ThreadPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

pytest.importorskip("nbclient")

# By its path: the folder that it stands in has the package's sources without the extension module.
place = spec_from_file_location("notebooks", Path(__file__).parents[1] / "notebooks.py")
notebooks = module_from_spec(place)
place.loader.exec_module(notebooks)

# Other private data of the same kind, put in place right after the cell that has the tag `private-data`.
OTHER = {
    "staffing": "demand.value = np.round(0.97 * demand.value[::-1], 1)",
    "grid_day": "day = (0.95 * day[::-1]).reset_index(drop=True)",
    "classifier": "X_train, y_train = 0.9 * X_train[::-1], np.roll(y_train, 7)\nX_test = 0.9 * X_test",
}


def with_other_data(notebook, more):
    changed = copy.deepcopy(notebook)
    [cell] = [cell for cell in changed.cells if "private-data" in cell.metadata.get("tags", [])]
    cell.source += "\n" + more
    return changed


@pytest.fixture(scope="module")
def runs():
    """Each notebook as it is, and with other data, two kernels at a time."""
    with ThreadPoolExecutor(2) as pool:
        made = {}
        for name, more in OTHER.items():
            notebook = notebooks.stored(name)
            changed = with_other_data(notebook, more)
            made[name] = [pool.submit(notebooks.executed, each) for each in (notebook, changed)]
        yield lambda name: [run.result() for run in made[name]]


def test_every_notebook_is_tested():
    assert notebooks.NAMES == sorted(OTHER)


@pytest.mark.parametrize("name", sorted(OTHER))
def test_a_notebook_says_what_is_stored(name, runs):
    assert notebooks.differences(runs(name)[0], notebooks.stored(name)) == []


@pytest.mark.parametrize("name", sorted(OTHER))
def test_what_depends_on_private_data_is_in_a_frame_that_says_so(name, runs):
    one, other = runs(name)
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
                # Drawn numbers differ anyway. Outside of private frames they must be on a card.
                shown = texts.get("text/html") or texts.get("stdout", "")
                is_card = "<small>(public)</small>" in shown or shown.startswith("RELEASE CARD")
                is_card |= 'svc.card_["answer"]' in cell.source.splitlines()[-1]
                assert is_card or not is_drawn, f"cell {count} shows drawn numbers that are neither on a card nor framed"
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
