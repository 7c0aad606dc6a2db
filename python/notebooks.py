"""The example notebooks as tested documents: run in a real kernel, cleaned, and compared with what is stored.

    python python/notebooks.py --write [NAME …]     runs them and stores them with their outputs
    python python/notebooks.py [NAME …]             runs them and says where the outputs differ from the stored ones

A code cell with the tag `drawn` shows numbers that depend on a draw of noise: they are masked where two runs are compared, as
times, dates and hashes are everywhere. All other numbers must agree.
"""

from __future__ import annotations

import argparse
import copy
import os
import re
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.ipynb"))

TIMEOUT_SECONDS = 300
RELATIVE = 1e-5
"""How far numbers that are not drawn may differ: the engine's tolerance is finer, and tables show eight digits at most."""

NUMBER = re.compile(r"(?<![\w.])[-−+]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
HASH = re.compile(r"\b[0-9a-f]{16,}\b")
DATE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| ?UTC)?|\b\d{4}-\d\d-\d\d\b")
TIME = re.compile(r"\bseconds: [^\n<]*|\b\d+(?:\.\d+)? ?(?:µs|ms|s|seconds)\b")

PRIVATE = "private: for the curator, not to be published"
"""What the frame of a private output says."""


def stored(name):
    """The notebook as it is kept."""
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def executed(notebook):
    """A copy with the outputs of a kernel of its own, in an empty folder."""
    made = copy.deepcopy(notebook)
    with tempfile.TemporaryDirectory() as folder:
        # Settings of whoever runs it, such as a profile of IPython, are no part of the document.
        environment = {**os.environ, "IPYTHONDIR": os.path.join(folder, "ipython"), "PYTHONWARNINGS": "default"}
        client = nbclient.NotebookClient(
            made,
            timeout=TIMEOUT_SECONDS,
            kernel_name="python3",
            resources={"metadata": {"path": folder}},
            # It warns of ports of this machine that others on it could listen to. The data here are nobody's.
            extra_arguments=["--log-level=ERROR"],
        )
        client.execute(env=environment)
    return cleaned(made)


def cleaned(notebook):
    """Without times, versions of this machine, and displays that are empty, as a bar of progress leaves one."""
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    for cell in notebook.cells:
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not _is_empty(output)]
    return notebook


def _is_empty(output):
    return output.output_type == "display_data" and not any(output.data.values())


def texts(output):
    """The texts of an output, by kind."""
    if output.output_type == "stream":
        return {output.name: output.text}
    if output.output_type == "error":
        return {"error": output.evalue}
    return dict(sorted(output.data.items()))


def masked(text, is_drawn=False):
    """The text without what differs from run to run."""
    for pattern, word in ((DATE, "DATE"), (HASH, "HASH"), (TIME, "TIME")):
        text = pattern.sub(word, text)
    # Columns of a table are as wide as their numbers.
    return re.sub(r"\s+", " ", NUMBER.sub("#", text)) if is_drawn else text


def differences(found, expected):
    """Where the outputs of two runs differ, each as a sentence."""
    if [cell.source for cell in found.cells] != [cell.source for cell in expected.cells]:
        return ["the cells themselves differ"]
    said = []
    for count, (one, other) in enumerate(zip(found.cells, expected.cells), start=1):
        if one.cell_type != "code":
            continue
        is_drawn = "drawn" in one.metadata.get("tags", [])
        here, there = ([texts(output) for output in cell.outputs] for cell in (one, other))
        if [list(kinds) for kinds in here] != [list(kinds) for kinds in there]:
            said.append(f"cell {count}: other kinds of outputs: {[list(k) for k in here]}, stored {[list(k) for k in there]}")
            continue
        for kinds, wanted in zip(here, there):
            for kind in kinds:
                where = _first_difference(masked(kinds[kind], is_drawn), masked(wanted[kind], is_drawn))
                if where is not None:
                    said.append(f"cell {count}, {kind}: {where}")
    return said


def _first_difference(one, other):
    """None where the words are the same and the numbers close."""
    words, others = NUMBER.split(one), NUMBER.split(other)
    for word, wanted in zip(words, others):
        if word != wanted:
            return f"{word.strip()[:200]!r}, stored {wanted.strip()[:200]!r}"
    if len(words) != len(others):
        return f"{len(words)} pieces of text, stored {len(others)}"
    for number, wanted in zip(NUMBER.findall(one), NUMBER.findall(other)):
        a, b = (float(text.replace("−", "-").replace(",", "")) for text in (number, wanted))
        if abs(a - b) > RELATIVE * max(1.0, abs(a), abs(b)):
            return f"{number}, stored {wanted}"
    return None


def write(name, notebook):
    """Stores a notebook."""
    (FOLDER / f"{name}.ipynb").write_text(nbformat.writes(notebook) + "\n", "utf-8")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--write", action="store_true", help="store them with the new outputs")
    arguments.add_argument("names", nargs="*", choices=[*NAMES, []], help=", ".join(NAMES))
    asked = arguments.parse_args()
    is_same = True
    for name in asked.names or NAMES:
        before = stored(name)
        after = executed(before)
        found = differences(after, before)
        is_same &= not found
        print(f"{name}: {'as stored' if not found else 'differs'}")
        for sentence in found:
            print(f"  {sentence}")
        if asked.write:
            write(name, after)
    return 0 if is_same or asked.write else 1


if __name__ == "__main__":
    sys.exit(main())
