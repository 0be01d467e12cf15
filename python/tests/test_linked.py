"""Linked tables: dicts of frames go in and come out."""

from __future__ import annotations

import json
import pickle
import subprocess
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import decoy
from decoy import _program, _synthesizer

SCHEMA = """\
decoy: 1
unit: id
tables:
  - name: patients
    columns:
      - {name: sex, kind: categorical, categories: [f, m]}
      - {name: born, kind: date, min: 1920-01-01, max: 2020-01-01, format: DD.MM.YYYY}
  - name: visits
    parent: patients
    key: patient
    order: {by: day, rows: 4}
    columns:
      - {name: day, kind: integer, min: 0, max: 99, bins: 10}
      - {name: state, kind: categorical, categories: [well, ill]}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("clinic.yaml").write_text(SCHEMA)
    return tmp_path


def frames(units: int = 600) -> dict[str, Any]:
    """Men are ill twice as often; ids are texts."""
    patients = pd.DataFrame({"id": [f"P{i:04}" for i in range(units)],
                             "sex": pd.Categorical(["f" if i % 2 else "m" for i in range(units)]),
                             "born": [f"0{1 + i % 9}.05.{1930 + i % 80}" for i in range(units)]})
    rows = [(f"P{i:04}", 10 * k + i % 10, "ill" if (i + k) % (2 + 2 * (i % 2)) == 0 else "well")
            for i in range(units) for k in range(i % 5)]
    visits = pd.DataFrame(rows, columns=["patient", "day", "state"]).astype({"day": "int16"})
    return {"patients": patients, "visits": visits}


LIBRARIES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "pandas": lambda df: df, "polars": pl.DataFrame, "pyarrow": pa.Table.from_pandas}


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_in_and_out(library: str) -> None:
    given = {name: LIBRARIES[library](df) for name, df in frames().items()}
    m = decoy.Synthesizer(schema=SCHEMA, epsilon=20, ledger="l").fit(given)
    assert m.claim.unit == "id" and "all its rows in all tables" in str(m.claim)
    out = m.sample(300, random_state=1)
    assert list(out) == ["patients", "visits"] or set(out) == {"patients", "visits"}
    for name, frame in out.items():
        assert type(frame) is type(given[name])
    if library == "pyarrow":
        assert out["visits"].schema.field("day").type == pa.int16()
        return
    patients, visits = out["patients"], out["visits"]
    assert list(patients.dtypes) == list(given["patients"].dtypes) or library == "pandas"
    assert visits["day"].dtype == given["visits"]["day"].dtype
    assert len(patients) == 300 and patients["id"].dtype == given["patients"]["id"].dtype
    assert set(visits["patient"]) <= set(patients["id"])
    assert all(len(born) == 10 and born[2] == "." for born in patients["born"])


def test_a_model_that_is_kept() -> None:
    m = decoy.Synthesizer(schema="clinic.yaml", epsilon=5, ledger="l", random_state=7)
    m.fit(frames())
    m.save("m.decoy")
    kept = Path("m.decoy.dtypes.json").read_text()
    assert "P0001" not in kept and json.loads(kept)["tables"]["visits"]["columns"]["day"] == "int16"
    want = m.sample(50)
    for other in (decoy.Synthesizer.load("m.decoy"), pickle.loads(pickle.dumps(m))):
        got = other.sample(50, random_state=7)
        for name in want:
            pd.testing.assert_frame_equal(got[name], want[name])
    Path("m.decoy.dtypes.json").unlink()
    assert isinstance(decoy.Synthesizer.load("m.decoy").sample(5)["visits"], pa.Table)
    assert "visits.day" in m._repr_html_() and "P0001" not in m._repr_html_()
    with pytest.raises(decoy.UsageError, match="where= is for one table"):
        m.sample(where="sex = f")


def test_evaluated() -> None:
    given = frames()
    out = decoy.generate(given, schema=SCHEMA, epsilon=20, ledger="l", rows=600)
    found = decoy.evaluate(train=given, synthetic=out, schema=SCHEMA, report="r.html")
    assert "html" in Path("r.html").read_text()[:100]
    status = {v.question: v.status for v in found.verdicts}
    assert list(status)[-1] == "Are real histories copied?" and len(status) == 10
    assert status["Has every row a unit, and its place?"] == "good"
    out["visits"]["patient"] = "nobody"
    found = decoy.evaluate(train=given, synthetic=out, schema=SCHEMA)
    status = {v.question: v.status for v in found.verdicts}
    assert status["Has every row a unit, and its place?"] == "poor"


def test_no_private_row_is_written_to_disk(folder: Path) -> None:
    decoy.generate(frames(), schema=SCHEMA, epsilon=1, ledger="l")
    assert sorted(path.name for path in folder.iterdir()) == ["clinic.yaml", "l"]
    assert b"P0001" not in Path("l").read_bytes()


def test_without_a_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def run(command: list[str], tables: list[pa.Table] = [], **_: object) -> bytes:
        commands.append([*command, f"{len(tables)} tables"])
        raise decoy.UsageError("enough")

    monkeypatch.setattr(_synthesizer, "run", run)
    with pytest.raises(decoy.UsageError, match="enough"):
        decoy.generate(frames(), epsilon=1, ledger="l", links=["visits.patient=patients.id"],
                       order=["visits.day"])
    assert commands == [["fit", "arrow:-/patients.arrow", "arrow:-2/visits.arrow", "--epsilon=1.0",
                         "--ledger=l", "--link=visits.patient=patients.id", "--order=visits.day",
                         "--method=auto", "--model=l.fit.decoy", "--force",
                         "--header-is-public", "2 tables"]]


SDV = {
    "METADATA_SPEC_VERSION": "V1",
    "tables": {
        "visits": {"columns": {"patient": {"sdtype": "id"}, "visit": {"sdtype": "id"},
                               "day": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d"},
                               "state": {"sdtype": "categorical"}},
                   "sequence_key": "patient", "sequence_index": "day"},
        "patients": {"primary_key": "id", "columns": {
            "id": {"sdtype": "id"}, "name": {"sdtype": "name"},
            "age": {"sdtype": "numerical", "computer_representation": "Int64"}}},
        "bills": {"columns": {"of": {"sdtype": "id"}, "sum": {"sdtype": "numerical"}}},
    },
    "relationships": [
        {"parent_table_name": "patients", "parent_primary_key": "id",
         "child_table_name": "visits", "child_foreign_key": "patient"},
        {"parent_table_name": "patients", "parent_primary_key": "id",
         "child_table_name": "bills", "child_foreign_key": "of"}],
}

DRAFT = """\
decoy: 1
unit: "id"
tables:
  - name: "patients"
    columns:
      - name: "age"
        kind: integer
        min:
        max:
  - name: "visits"
    parent: "patients"
    key: "patient"
    order: {by: "day", rows: }
    columns:
      - name: "day"
        kind: date
        min:
        max:
      - name: "state"
        kind: categorical
        categories:
  - name: "bills"
    parent: "patients"
    key: "of"
    order: {by: , rows: }
    columns:
      - name: "sum"
        kind: real
        min:
        max:
"""


def test_metadata_of_sdv() -> None:
    assert decoy.Schema.from_sdv(SDV).yaml == DRAFT
    Path("metadata.json").write_text(json.dumps(SDV))
    assert decoy.Schema.from_sdv("metadata.json").yaml == DRAFT
    with pytest.raises(decoy.UsageError, match="there are 3: visits, patients, bills"):
        decoy.Schema.from_sdv({**SDV, "relationships": []})

    told = decoy.Schema(SCHEMA).to_sdv()
    assert told["relationships"] == [
        {"parent_table_name": "patients", "child_table_name": "visits",
         "child_foreign_key": "patient", "parent_primary_key": "id"}]
    assert told["tables"]["patients"] == {"primary_key": "id", "columns": {
        "id": {"sdtype": "id"}, "sex": {"sdtype": "categorical"},
        "born": {"sdtype": "datetime", "datetime_format": "%d.%m.%Y"}}}
    again = decoy.Schema.from_sdv(told).yaml
    assert 'order: {by: "day", rows: }' in again and 'key: "patient"' in again
    one = decoy.Schema("decoy: 1\ncolumns: [{name: a, kind: real, min: 0, max: 1}]\n").to_sdv()
    assert one == {"METADATA_SPEC_VERSION": "V1", "relationships": [], "tables": {"table": {
        "columns": {"a": {"sdtype": "numerical", "computer_representation": "Float"}}}}}
    with pytest.raises(decoy.UsageError, match="columns of linked tables need their values"):
        decoy.Schema.from_sdv(told).to_sdv()


def test_a_schema_is_a_file_a_text_or_a_dict() -> None:
    day = {"name": "n", "kind": "integer", "min": 0, "max": 9}
    tables = [{"name": "p", "columns": [{"name": "a", "kind": "boolean"}]},
              {"name": "v", "parent": "p", "key": "of", "order": {"by": "n", "rows": 2},
               "columns": [day]}]
    given = {"decoy": 1, "unit": "id", "tables": tables}
    plans = [decoy.plan(schema, epsilon=1) for schema in
             (given, json.dumps(given, indent=1), decoy.Schema(json.dumps(given)))]
    assert plans[0]["columns"] == 2 and plans[0] == plans[1] == plans[2]


@pytest.mark.parametrize("dtype", ["datetime64[ns]", "datetime64[s]", "datetime64[us, UTC]"])
def test_rows_follow_each_other_by_times_of_day(dtype: str) -> None:
    first = pd.Timestamp("2024-01-01 07:10")
    rows = [(i, first + pd.Timedelta(minutes=97 * i % 40000 + 1200 * k), "ab"[(i + k) % 2])
            for i in range(2000) for k in range(i % 5)]
    visits = pd.DataFrame(rows, columns=["who", "at", "state"])
    visits["at"] = visits["at"].dt.tz_localize("UTC" if "UTC" in dtype else None).astype(dtype)
    out = decoy.generate(visits, unit="who", order=["at"], epsilon=4, ledger="l")
    assert out["at"].dtype == visits["at"].dtype and (out["at"].dt.minute > 0).mean() > .9
    assert out.groupby("who")["at"].apply(lambda s: s.is_monotonic_increasing).all()


def test_parquet_files_keep_their_types(folder: Path) -> None:
    n, first = 2000, datetime(2024, 1, 1, 7, 10)
    pq.write_table(pa.table({"id": [f"P{i}" for i in range(n)],
                             "sex": pa.array(["fm"[i % 2] for i in range(n)]).dictionary_encode(),
                             "height": [1.5 + i % 40 / 100 for i in range(n)]}), "people.parquet")
    rows = [(f"P{i}", first + timedelta(minutes=97 * i % 40000 + 1200 * k),
             date(2020, 1, 1) + timedelta(days=i % 900), (i + k) % 9, (i + k) % 2 == 0)
            for i in range(n) for k in range(i % 5)]
    names = ["who", "at", "seen", "n", "ill"]
    pq.write_table(pa.table(dict(zip(names, zip(*rows)))), "visits.parquet")
    bought = ["--link", "visits.who=people.id", "--order", "visits.at", "--header-is-public"]
    described = ["--schema", "made/tables.schema.yaml"]
    for source, how, made in ((".", bought, "made"), (".", described, "more"),
                              ("more", described, "again")):
        files = [f"{source}/people.parquet", f"{source}/visits.parquet"]
        run = [_program.program(), "generate", *files, *how, "--epsilon", "8", "--out-dir", made]
        subprocess.run(run, check=True, capture_output=True)
        people, visits = (pq.read_table(f"{made}/{name}.parquet") for name in ("people", "visits"))
        assert [str(t) for t in people.schema.types] == [
            "string", "dictionary<values=string, indices=int32, ordered=0>", "double"]
        assert [str(t) for t in visits.schema.types] == [
            "string", "timestamp[us, tz=UTC]", "date32[day]", "int64", "bool"]
        assert visits.column_names == names and 1500 < people.num_rows < 2500
        assert set(visits["who"].to_pylist()) <= set(people["id"].to_pylist())
        df = visits.to_pandas()
        assert df.groupby("who")["at"].apply(lambda s: s.is_monotonic_increasing).all()
        sexes = people["sex"].to_pandas().value_counts(normalize=True)
        assert set(df["n"]) <= set(range(32)) and {"f", "m"} <= set(sexes.index)
        # what is bought may be "(other)" by noise, in few rows
        assert sexes["f"] + sexes["m"] >= 0.98
