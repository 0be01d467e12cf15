"""The page on Python and the notebook, run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient

from decoy import _program

DOCS = Path(__file__).parents[2] / "docs"


def test_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    subprocess.run([_program.program(), "datasets", "export", "icu-mortality", "--out", "p.csv",
                    "--schema-out", "patients.yaml", "--quiet"], check=True)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "python.md").read_text(), re.S)
    assert len(blocks) == 3
    linked = re.findall(r"<<'END'\n(.*?)  - name: drugs", (DOCS / "linked.md").read_text(), re.S)[0]
    Path("clinic.yaml").write_text(linked.replace("    id: [patient, visit]\n", ""))
    visits = [(i, 10 * k, "ill" if (i + k) % 3 else "well") for i in range(500) for k in range(i % 5)]
    names: dict[str, object] = {
        "df": pd.read_csv("p.csv"),
        "patients": pd.DataFrame({"id": range(500), "sex": ["f", "m"] * 250}),
        "visits": pd.DataFrame(visits, columns=["patient", "day", "state"])}
    for block in blocks:
        exec(compile(block, "python.md", "exec"), names)
    assert str(names["m"].claim) in blocks[0]  # type: ignore[attr-defined]


def test_notebook(tmp_path: Path) -> None:
    book = nbformat.read(DOCS / "python.ipynb", as_version=4)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert len(code) >= 6 and all(cell.outputs for cell in code if "import" not in cell.source)
    NotebookClient(book, timeout=120, kernel_name="python3",
                   resources={"metadata": {"path": str(tmp_path)}}).execute()
