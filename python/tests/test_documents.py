"""The Python in the documents about the package runs as it stands, each from top to bottom in an empty folder."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

DOCUMENTS = ["README.md", "docs/python.md", "docs/estimators.md"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_python_in_documents_runs(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / document).read_text("utf-8")
    names = {"__name__": document}
    blocks = list(BLOCK.finditer(text))
    assert blocks
    for block in blocks:
        # Errors name the line of the document.
        lines = "\n" * text[: block.start(1)].count("\n")
        exec(compile(lines + block.group(1), document, "exec"), names)
