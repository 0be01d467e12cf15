"""The package, as it is installed: pytest on a wheel in a clean environment."""

from __future__ import annotations

import datetime
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import decoy
from decoy import _program
from decoy._frames import to_arrow

SCHEMA = """\
decoy: 1
columns:
  - {name: age, kind: integer, min: 0, max: 120, bins: 8, missing: [""]}
  - {name: small, kind: integer, min: 0, max: 9}
  - {name: lactate, kind: real, min: 0, max: 1, bins: 5, missing: [""]}
  - {name: ward, kind: categorical, categories: [icu, medical, surgical]}
  - {name: name, kind: categorical, categories: [a, b]}
  - {name: died, kind: boolean}
  - {name: seen, kind: boolean, missing: [""]}
  - {name: day, kind: date, min: 2020-01-01, max: 2021-01-01, bins: 8}
  - {name: at, kind: timestamp, min: "2020-01-01T00:00:00Z", max: "2021-01-01T00:00:00Z", bins: 8}
  - {name: wall, kind: timestamp, min: "2020-01-01T00:00:00Z", max: "2021-01-01T00:00:00Z", bins: 8}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def frame(n: int = 400) -> pd.DataFrame:
    day = datetime.date(2020, 3, 1)
    at = pd.date_range("2020-02-01", periods=n, freq="6h", unit="us")
    return pd.DataFrame({
        "age": pd.array([None if i % 5 == 0 else i % 90 for i in range(n)], dtype="Int64"),
        "small": pd.Series([i % 10 for i in range(n)], dtype="int8"),
        "lactate": pd.Series([i % 7 / 7 for i in range(n)], dtype="float32"),
        "ward": pd.Categorical(["icu" if i % 3 else "medical" for i in range(n)]),
        "name": pd.Series(["a" if i % 2 else "b" for i in range(n)], dtype=object),
        "died": [i % 4 == 0 for i in range(n)],
        "seen": pd.array([None if i % 6 == 0 else i % 4 == 0 for i in range(n)], dtype="boolean"),
        "day": [day + datetime.timedelta(days=i % 100) for i in range(n)],
        "at": at.tz_localize("Europe/Berlin"),
        "wall": at,
    })


def exported() -> tuple[pd.DataFrame, Path]:
    """The embedded, simulated example, and its schema."""
    subprocess.run([_program.program(), "datasets", "export", "icu-mortality", "--out", "p.csv",
                    "--schema-out", "patients.yaml", "--quiet"], check=True)
    return pd.read_csv("p.csv"), Path("patients.yaml")


def test_session() -> None:
    df, schema = exported()
    syn = decoy.generate(df, epsilon=3.0, ledger="patients.ledger", target="mortality", rows=500)
    assert isinstance(syn, pd.DataFrame) and len(syn) == 500 and "mortality" in syn
    m = decoy.Synthesizer(schema=schema, method="auto", epsilon=1.0, ledger="patients.ledger")
    assert m.fit(df) is m
    m.save("m.decoy")
    assert m.claim == decoy.Claim(epsilon=1, delta=1e-9, adjacency="add-remove")
    assert "(ε = 1, δ = 1e-09)" in str(m.claim)
    same = m.sample(1000, random_state=5)
    assert len(same) == 1000 and list(same.columns) == list(df.columns)
    assert (same.dtypes == df.dtypes).all()
    again = decoy.Synthesizer.load("m.decoy")
    assert again.claim == m.claim
    assert again.sample(1000, random_state=5).equals(same)
    out = decoy.evaluate(train=df[:1400], holdout=df[1400:], synthetic=same, schema=schema)
    assert len(out.verdicts) >= 4
    assert out.verdicts[0].status in ("good", "mixed", "poor")
    assert out.report["not_private"] is True
    assert decoy.plan(schema, epsilon=1)["cost"]["epsilon"] == 1
    spent = subprocess.run([_program.program(), "ledger", "show", "patients.ledger"],
                           capture_output=True, text=True).stdout
    assert re.search(r"epsilon 4\b", spent)
    assert not list(Path().glob("patients.ledger.*"))  # nothing is left beside the ledger


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_types(kind: str) -> None:
    df = frame()
    table = pa.Table.from_pandas(df, preserve_index=False).replace_schema_metadata()
    given = {"pandas": df, "polars": pl.from_pandas(df), "pyarrow": table}[kind]
    schema = decoy.Schema(SCHEMA)
    syn = decoy.generate(given, epsilon=5.0, ledger="l", schema=schema, rows=300)
    assert type(syn) is type(given)
    if kind == "pandas":
        for name in df:
            if name != "ward":
                assert syn[name].dtype == df[name].dtype, name
        # the schema's categories, of which the private column has two
        assert list(syn["ward"].dtype.categories) == ["icu", "medical", "surgical"]
        assert isinstance(syn["day"][0], datetime.date) and syn["age"].isna().any()
        assert isinstance(syn["name"][0], str)
    if kind == "polars":
        for name, dtype in given.schema.items():
            assert syn.schema[name] == dtype or name == "ward", name
        assert isinstance(syn.schema["ward"], (pl.Categorical, pl.Enum))
    if kind == "pyarrow":
        for field in table.schema:
            got = syn.schema.field(field.name).type
            assert got == field.type or pa.types.is_dictionary(got), field


TEXTS = """\
decoy: 1
columns:
  - {name: dead, kind: boolean, categories: [nein, ja]}
  - {name: admitted, kind: date, format: DD.MM.YYYY, min: 01.01.2020, max: 31.12.2020, bins: 4,
     missing: [""]}
  - {name: age, kind: integer, min: 0, max: 99, bins: 4}
"""


@pytest.mark.parametrize("kind", ["pandas", "categorical", "polars", "pyarrow"])
def test_texts_come_back_as_texts(kind: str) -> None:
    df = pd.DataFrame({
        "dead": ["ja" if i % 3 else "nein" for i in range(400)],
        "admitted": [None if i % 9 == 0 else f"{i % 28 + 1:02}.03.2020" for i in range(400)],
        "age": [str(i % 90) for i in range(400)],
    })
    table = pa.Table.from_pandas(df, preserve_index=False).replace_schema_metadata()
    given = {"pandas": df, "categorical": df.astype("category"), "polars": pl.from_pandas(df),
             "pyarrow": table}[kind]
    schema = decoy.Schema(TEXTS)
    syn = decoy.generate(given, epsilon=5.0, ledger="l", schema=schema, rows=300)
    cells = {name: [x for x in list(syn[name] if kind != "pyarrow" else syn[name].to_pylist())
                    if isinstance(x, str)] for name in df}
    assert set(cells["dead"]) == {"nein", "ja"} and len(cells["age"]) == 300
    assert 0 < len(cells["admitted"]) < 300
    assert all(re.fullmatch(r"\d\d\.\d\d\.2020", x) for x in cells["admitted"])
    out = decoy.evaluate(train=given, synthetic=syn, schema=schema)
    assert out.verdicts


def test_days_that_are_datetimes() -> None:
    df = pd.DataFrame({"Admitted": pd.date_range("2020-01-01", periods=300), "x": [1] * 300})
    draft = decoy.Schema.from_dtypes(df, dates=["Admitted"])
    assert '"Admitted"\n    kind: date\n' in draft.yaml
    schema = decoy.Schema("decoy: 1\ncolumns:\n  - {name: Admitted, kind: date, min: 2020-01-01, "
                          "max: 2020-12-31, bins: 4}\n  - {name: x, kind: integer, min: 0, max: 3}\n")
    syn = decoy.generate(df, epsilon=5.0, ledger="l", schema=schema, rows=100)
    assert syn["Admitted"].dtype == df["Admitted"].dtype
    assert (syn["Admitted"].dt.normalize() == syn["Admitted"]).all()
    for dates, match in [(["Nope"], "no column 'Nope'"), (["x"], "holds no dates"),
                         ("Admitted", "list of names")]:
        with pytest.raises(decoy.UsageError, match=match):
            decoy.Schema.from_dtypes(df, dates=dates)


def test_warnings() -> None:
    df = pd.DataFrame({
        "PatientID": [f"p{i}" for i in range(3000)],
        "ward": [["icu", "er", f"rare {i}"][i % 3] for i in range(3000)],
    })
    with pytest.warns(decoy.DecoyWarning) as seen:
        decoy.generate(df, epsilon=30.0, ledger="l")
    texts = "\n".join(str(w.message) for w in seen)
    for want in ["epsilon 30 is above 10", '"PatientID" looks like an id',
                 'columns left out of the schema: 1 of 2.*\n  "PatientID"',
                 r'texts in fewer than about .*"\(other\)": "ward"']:
        assert re.search(want, texts), texts
    assert {w.filename for w in seen if w.category is decoy.DecoyWarning} == {__file__}
    wider = frame().assign(more=1)
    with pytest.warns(decoy.DecoyWarning, match="the schema does not name"):
        decoy.generate(wider, epsilon=1.0, ledger="l2", schema=decoy.Schema(SCHEMA))
    with warnings.catch_warnings():  # a result that is paid for is not lost
        warnings.simplefilter("error")
        assert len(decoy.generate(wider, epsilon=1.0, ledger="l2", schema=decoy.Schema(SCHEMA)))
        assert len(decoy.generate(frame(), epsilon=1.0, ledger="l2", schema=decoy.Schema(SCHEMA)))


def test_categories_of_the_private_column_stay_private() -> None:
    df = frame()
    df["ward"] = df["ward"].cat.add_categories(["a secret"])
    polars = pl.from_pandas(df).with_columns(
        pl.col("ward").cast(pl.Enum(["icu", "medical", "a secret"])))
    for i, given in enumerate([df, polars]):
        syn = decoy.generate(given, epsilon=5.0, ledger=f"l{i}", schema=decoy.Schema(SCHEMA))
        kept = getattr(syn.schema["ward"], "categories", []) if i else syn["ward"].cat.categories
        assert "a secret" not in list(kept) and set(syn["ward"]) <= {"icu", "medical", "surgical"}
        assert "secret" not in decoy.Schema.from_dtypes(given).yaml


class Odd:
    def __str__(self) -> str:
        raise ValueError("a secret")


@pytest.mark.parametrize("odd", [7, 2.5, True, b"\xff", "\ud800", [1], {}, Odd(), pd.NA, pd.NaT,
                                 np.array([1, 2]), datetime.date(2020, 1, 1)])
def test_no_cell_decides_a_type(odd: object) -> None:
    """A cell unlike the others is read by itself: no error, and no other type for the column."""
    plain = pd.Series(["a", "b", None] * 50, dtype=object)
    for column in [plain, plain.astype("category")]:
        other = plain.copy()
        other[4] = odd
        try:
            other = other.astype(column.dtype if column.dtype == object else "category")
        except (TypeError, UnicodeError):  # what cannot be hashed is no category
            continue
        types = [to_arrow(pd.DataFrame({"c": c}))[0].schema for c in (column, other)]
        assert types[0] == types[1]
    schema = decoy.Schema("decoy: 1\ncolumns:\n  - {name: c, kind: categorical, "
                          "categories: [a, b], missing: [\"\"]}\n")
    syn = decoy.generate(pd.DataFrame({"c": other}), epsilon=1.0, ledger="l", schema=schema)
    assert set(syn["c"].dropna()) <= {"a", "b"}


def test_objects_come_back_as_the_schema_has_them() -> None:
    day = datetime.date(2020, 3, 1)
    df = pd.DataFrame({"n": pd.Series([1, None] * 200, dtype=object), "day": [day] * 400})
    schema = decoy.Schema("decoy: 1\ncolumns:\n"
                          "  - {name: n, kind: integer, min: 0, max: 9, missing: [\"\"]}\n"
                          "  - {name: day, kind: date, min: 2020-01-01, max: 2021-01-01, bins: 8}\n")
    syn = decoy.generate(df, epsilon=100.0, ledger="l", schema=schema, rows=300)
    assert (syn.dtypes == object).all() and syn["n"].isna().any()
    assert (syn["n"].dropna() == 1).mean() > .9 and isinstance(syn["day"][0], datetime.date)


def test_schema_in_one_call() -> None:
    draft = decoy.Schema.from_dtypes(frame())
    assert "{" not in draft.yaml and "name: \"age\"\n    kind: integer\n    min:" in draft.yaml
    assert not re.search(r"icu|medical|2020", draft.yaml)
    sdv = decoy.Schema.from_sdv({"columns": {"age": {"sdtype": "numerical"},
                                             "ward": {"sdtype": "categorical"},
                                             "day": {"sdtype": "datetime",
                                                     "datetime_format": "%Y-%m-%d"},
                                             "n": {"sdtype": "numerical",
                                                   "computer_representation": "Int64"},
                                             "id": {"sdtype": "id"}},
                                 "METADATA_SPEC_VERSION": "SINGLE_TABLE_V1"})
    assert [line.strip() for line in sdv.yaml.splitlines() if "kind:" in line] == [
        "kind: real", "kind: categorical", "kind: date", "kind: integer"]
    assert "ward" in sdv.yaml and "categories:" in sdv.yaml and '"id"' not in sdv.yaml
    with pytest.raises(decoy.UsageError, match="several tables one must be no child"):
        decoy.Schema.from_sdv({"tables": {"a": {"columns": {}}, "b": {"columns": {}}}})
    bought = decoy.Schema.infer(frame(5000), epsilon=5.0, ledger="l", partial=draft)
    syn = decoy.generate(frame(5000), epsilon=5.0, ledger="l", schema=bought)
    assert "ward" in syn


def test_errors() -> None:
    df, schema = frame(), decoy.Schema(SCHEMA)
    with pytest.raises(TypeError):
        decoy.generate(df, epsilon=1.0)  # type: ignore[call-arg]
    with pytest.raises(decoy.UsageError, match="ledger= is empty"):
        decoy.generate(df, epsilon=1.0, ledger="", schema=schema)
    with pytest.raises(decoy.UsageError, match="epsilon"):
        decoy.generate(df, epsilon=-1.0, ledger="l", schema=schema)
    with pytest.raises(decoy.UsageError, match="min"):
        decoy.generate(df, epsilon=1.0, ledger="l", schema=decoy.Schema.from_dtypes(df))
    with pytest.raises(decoy.DataError):
        decoy.generate(df.drop(columns="age"), epsilon=1.0, ledger="l", schema=schema)
    with pytest.raises(decoy.UsageError, match="pandas, polars or pyarrow"):
        decoy.generate([1, 2], epsilon=1.0, ledger="l", schema=schema)
    with pytest.raises(decoy.UsageError, match="call fit"):
        decoy.Synthesizer(epsilon=1.0, ledger="l").sample()
    subprocess.run([_program.program(), "ledger", "limit", "l", "--epsilon", "1", "--delta", "1e-6",
                    "--unit", "row", "--quiet"], check=True)
    decoy.generate(df, epsilon=1.0, ledger="l", schema=schema)
    with pytest.raises(decoy.BudgetError, match="limit"):
        decoy.generate(df, epsilon=1.0, ledger="l", schema=schema)
    Path("m.decoy").write_bytes(b"PK no model")
    Path("patients.csv").write_text("a,b\n1,2\n")
    for path in ["m.decoy", "patients.csv"]:
        with pytest.raises(decoy.DecoyError, match="not a decoy model"):
            decoy.Synthesizer.load(path)


@pytest.mark.skipif(os.name != "posix", reason="locks a file as the program does on Unix")
def test_a_locked_ledger() -> None:
    import fcntl

    with open("l", "a") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        with pytest.raises(decoy.LedgerLockedError):
            decoy.generate(frame(), epsilon=1.0, ledger="l", schema=decoy.Schema(SCHEMA))


def test_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    class Bar:
        n = 0

        def set_description_str(self, text: str, refresh: bool) -> None:
            seen.append(text)

        def refresh(self) -> None:
            seen.append(self.n)

        def close(self) -> None:
            seen.append("closed")

    monkeypatch.setattr(_program, "_bar", Bar)
    lines = io.BytesIO("fitting: 25 %\nfitting: 50 %\nwrote m\ndecoy: no\n".encode())
    said: list[str] = []
    _program._listen(lines, said, True, {})
    assert seen == ["fitting", 25, 50, "closed"] and said == ["wrote m", "decoy: no"]


LONG = """
import sys, pandas as pd, decoy
df = pd.read_csv("p.csv")
try:
    m = decoy.Synthesizer(epsilon=3.0, ledger="l", schema="patients.yaml", method="wgan",
                          steps=int(sys.argv[1]))
    m.fit(df, resume="resume" in sys.argv).save("m.decoy")
except decoy.Interrupted as e:
    print(e)
    sys.exit(7)
"""


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT")
def test_interrupt() -> None:
    exported()
    for steps in "50", "500":  # a fast machine may end the first before the interrupt arrives
        run = subprocess.Popen([sys.executable, "-c", LONG, steps], stdout=subprocess.PIPE,
                               text=True)
        while not any(p.stat().st_size > 2000 for p in Path().glob("l.*.journal")):
            assert run.poll() is None, "the run ended before it could be interrupted"
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=120)
        if run.returncode != -signal.SIGINT:
            break
        for path in Path().glob("l*"):
            path.unlink()
    assert run.returncode == 7 and "resume=True goes on, at no further cost" in out, out
    assert not Path("m.decoy").exists() and list(Path().glob("l.*.journal"))
    subprocess.run([sys.executable, "-c", LONG, steps, "resume"], check=True)
    assert decoy.Synthesizer.load("m.decoy").claim.epsilon == 3
    shown = subprocess.run([_program.program(), "ledger", "show", "l", "--json"],
                           capture_output=True, text=True).stdout
    assert json.loads(shown)["spent"]["epsilon"] == 3


SECRET = """
import pandas as pd, decoy
df = pd.DataFrame({"note": ["canary-%d" % (i % 700) for i in range(1400)], "x": [1.5] * 1400})
m = decoy.Synthesizer(epsilon=1.0, ledger="l").fit(df)
m.sample(10)
decoy.evaluate(train=df, holdout=df, synthetic=df[:5], schema=m.schema_)
"""


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace")
def test_no_private_row_is_written_to_disk() -> None:
    done = subprocess.run(
        ["strace", "-f", "-y", "-s", "4000000", "-o", "trace", "-e",
         "trace=write,pwrite64,writev,pwritev,sendto,mmap,ftruncate", sys.executable, "-c", SECRET],
        capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stderr
    through_pipes = 0
    for line in Path("trace").read_text(errors="replace").splitlines():
        if "canary-" in line:
            assert re.search(r"(write|writev)\(\d+<pipe:", line), line[:200]
            through_pipes += 1
        # no file is shared with memory that could be written to
        if "MAP_SHARED" in line and "PROT_WRITE" in line:
            assert re.search(r"-1, 0\)|<anon_inode|<pipe|/dev/", line), line[:200]
    assert through_pipes >= 3


def test_dictionaries_that_do_not_fit_are_told_before_anything_is_spent(tmp_path: Path) -> None:
    values = [[f"{part}{i}" for i in range(100)] for part in "ab"]
    parts = [pa.DictionaryArray.from_arrays(pa.array(range(100), pa.int8()), v) for v in values]
    frame = pa.table({"a": pa.chunked_array(parts)})
    ledger = tmp_path / "l"
    with pytest.raises(decoy.DataError):
        decoy.Synthesizer(epsilon=1, ledger=ledger).fit(frame)
    assert not ledger.exists()


def test_a_model_that_was_not_taken_is_paid_for_once(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": ["x", "y"] * 300, "b": ["u", "v", "v"] * 200})
    ledger = str(tmp_path / "l")
    schema = tmp_path / "s.yaml"
    schema.write_text("decoy: 1\ncolumns:\n  - {name: a, kind: categorical, categories: [x, y]}\n"
                      "  - {name: b, kind: categorical, categories: [u, v]}\n")
    made = decoy.Synthesizer(epsilon=1, ledger=ledger, schema=schema, method="mst").fit(frame)
    Path(ledger + ".fit.decoy").write_bytes(made.model)  # as if Python had been killed at the end
    again = decoy.Synthesizer(epsilon=1, ledger=ledger, schema=schema, method="mst")
    with pytest.raises(decoy.UsageError, match="paid for and never taken"):
        again.fit(frame)
    other = decoy.Synthesizer(epsilon=2, ledger=ledger, schema=schema, method="mst")
    with pytest.raises(decoy.UsageError, match="another call"):
        other.fit(frame, resume=True)
    assert again.fit(frame, resume=True).model == made.model
    assert not Path(ledger + ".fit.decoy").exists()
