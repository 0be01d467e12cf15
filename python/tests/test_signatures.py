"""Keywords: that they are the program's, that a type checker knows them, and what errors say."""

from __future__ import annotations

import importlib.util
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import decoy
from decoy import _program
from decoy._arguments import arguments
from decoy._errors import in_python

PYTHON = Path(__file__).parents[1]

SCHEMA = decoy.Schema("decoy: 1\ncolumns:\n  - {name: a, kind: categorical, categories: [x, y]}\n"
                      "  - {name: n, kind: integer, min: 0, max: 9}\n")


LINKED = """\
decoy: 1
unit: id
tables:
  - {name: patients, columns: [{name: a, kind: categorical, categories: [x, y]}]}
  - name: visits
    parent: patients
    key: patient
    order: {by: n, rows: 3}
    columns: [{name: n, kind: integer, min: 0, max: 9}]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def frame(n: int = 300) -> pd.DataFrame:
    return pd.DataFrame({"a": ["x", "y", "y"] * (n // 3), "n": range(n)}).assign(
        n=lambda df: df.n % 10)


def test_signatures_are_what_the_program_says() -> None:
    done = subprocess.run([sys.executable, PYTHON / "signatures.py", _program.program(), "--check"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_flag_that_nobody_decided_on_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("signatures", PYTHON / "signatures.py")
    assert spec and spec.loader
    signatures = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "signatures", signatures)
    spec.loader.exec_module(signatures)
    assert len(signatures.options_of(_program.program(), "fit")) > 30
    monkeypatch.delitem(signatures.TYPES, "target")
    with pytest.raises(SystemExit, match="--target of fit is new"):
        signatures.options_of(_program.program(), "fit")


def test_every_keyword_has_a_type_and_a_text() -> None:
    calls: list[Callable[..., Any]] = [decoy.Synthesizer.__init__, decoy.generate, decoy.plan,
                                       decoy.evaluate, decoy.Schema.infer]
    for call in calls:
        given = inspect.signature(call).parameters
        assert not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in given.values())
        for name, parameter in given.items():
            if name != "self":
                assert parameter.annotation is not inspect.Parameter.empty
                assert re.search(rf"^ *{name}:", call.__doc__ or "", re.M), (call, name)
        assert "--" not in (call.__doc__ or "")
    assert {"steps", "target_share", "smalldb_rows", "unit"} <= set(
        inspect.signature(decoy.generate).parameters)


TYPED = """\
import decoy

m = decoy.Synthesizer(epsilon=1.0, ledger="l", method="wgan", steps=5, hidden=[64])
rate: float | None = m.rate
decoy.Synthesizer(epsilon="1", ledger="l")
decoy.Synthesizer(epsilon=1, ledger="l", method="ctgan")
decoy.generate(None, epsilon=1, ledger="l", stepz=5)
decoy.generate(None, epsilon=1)
decoy.plan("s.yaml", epsilon=1, sets=[1])
"""


def test_a_type_checker_knows_them() -> None:
    pytest.importorskip("mypy")
    Path("typed.py").write_text(TYPED)
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", ".mypy",
                           "typed.py"], capture_output=True, text=True)
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if "error:" in line}
    assert lines == {5, 6, 7, 8, 9}, done.stdout


def fit(given: object, **more: Any) -> Callable[[], object]:
    parameters = {"epsilon": 1.0, "ledger": "l", "schema": SCHEMA, **more}
    return lambda: decoy.Synthesizer(**parameters).fit(given)


def with_column(column: object) -> pd.DataFrame:
    return frame().assign(z=column)


WRONG: list[tuple[Callable[[], object], type[Exception], str]] = [
    (fit(frame()["a"]), decoy.UsageError, r"a Series is one column: give a frame"),
    (fit(pl.Series([1])), decoy.UsageError, r"a Series is one column"),
    (fit(pl.LazyFrame({"a": [1]})), decoy.UsageError, r"call collect\(\)"),
    (fit(pa.chunked_array([[1]])), decoy.UsageError, r"a ChunkedArray is one column"),
    (fit({"p": frame()}, schema=None), decoy.UsageError, r"linked tables need schema=, or links="),
    (fit({}), decoy.UsageError, r"the dict of linked tables is empty"),
    (fit({"p": frame()["a"]}), decoy.UsageError, r"^p: a Series is one column"),
    (fit({"p": {"q": frame()}}), decoy.UsageError, r"^p: a dict of frames is linked tables, and"),
    (fit({1: frame()}), decoy.UsageError, r"by their names, such as 'visits', not 1"),
    (fit({"../p": frame()}), decoy.UsageError, r"by their names, such as 'visits', not '\.\./p'"),
    (fit({f"p{k}": frame() for k in range(10)}), decoy.UsageError, r"at most nine frames"),
    (fit({"people": frame(), "visits": frame()}, schema=LINKED), decoy.UsageError,
     r"^the frame of people is none of the tables patients, visits: its key in the dict is"),
    (fit({"patients": frame()}, schema=LINKED), decoy.UsageError, r"the table visits"),
    (fit({"patients": frame(), "visits": frame()}, schema=LINKED), decoy.DataError,
     r"patients.*no column \"id\""),
    (lambda: decoy.evaluate(train={"patients": frame()}, synthetic=frame(), schema=LINKED),
     decoy.UsageError, r"train.*the table visits"),
    (fit(np.zeros((3, 2))), decoy.UsageError, r"a frame of pandas, polars or pyarrow, not ndarray"),
    (fit(None), decoy.UsageError, r"not None"),
    (fit(with_column(pd.arrays.SparseArray([0] * 300))), decoy.DataError,
     r"'z' is Sparse.*df\['z'\]\.sparse\.to_dense\(\)"),
    (fit(with_column(1j)), decoy.DataError, r"'z' is complex128.*numpy\.real\(df\['z'\]\)"),
    (fit(with_column(pd.Period("2020-01", freq="M"))), decoy.DataError, r"dt\.to_timestamp"),
    (fit(with_column(pd.Timedelta("1h"))), decoy.DataError, r"dt\.total_seconds"),
    (fit(frame().set_axis([0, 1], axis=1)), decoy.UsageError, r"names of the columns must be text"),
    (fit("patients.csv"), decoy.UsageError, r"'patients.csv' is neither a file nor an address"),
    (fit("mysql://h/t"), decoy.UsageError, r"neither a file nor an address .* postgres://"),
    (fit("a,n\nx,1\n"), decoy.UsageError, r"^a long text is neither"),
    (fit("sc://localhost:1/t"), decoy.DecoyError, r"decoy-spark|localhost"),
    (fit("postgres://u@127.0.0.1:1/d/t"), decoy.DecoyError, r"no connection to 127\.0\.0\.1"),
    (fit("duckdb:nope.db?table=t"), decoy.DecoyError, r"duckdb|nope\.db"),
    (fit("duckdb:nope.db?table=t", schema=None), decoy.UsageError, r"schema= is required for duckdb:"),
    (fit(frame(), epsilon="1"), decoy.UsageError, r"epsilon= must be a number, not '1'"),
    (fit(frame(), epsilon=-1), decoy.UsageError, r"epsilon=-1 must be above 0"),
    (fit(frame(), epsilon=True), decoy.UsageError, r"epsilon= must be a number, not True"),
    (fit(frame(), epsilon=None), decoy.UsageError, r"epsilon= is required"),
    (fit(frame(), epsilon=frame()), decoy.UsageError, r"epsilon= must be a number, not a DataFrame"),
    (fit(frame(), delta=1), decoy.UsageError, r"delta=1 must be from 0 to 0.001"),
    (fit(frame(), epsilom=1), TypeError, r"Synthesizer.__init__\(\) got .* 'epsilom'"),
    (fit(frame(), method="ctgan"), decoy.UsageError, r'^method "ctgan" is unknown; there is auto'),
    (fit(frame(), steps=5), decoy.UsageError, r'^method aim has no setting "steps"; there is'),
    (fit(frame(), method="wgan", steps=1.5), decoy.UsageError, r"steps= must be a whole number"),
    (fit(frame(), target_share=3), decoy.UsageError, r"target_share 3 must be from 0 to 1"),
    (fit(frame(), sets="a*n"), decoy.UsageError, r"sets= must be a list, not 'a\*n'"),
    (fit(frame(), workload="sets", sets=["a,n"]), decoy.UsageError, r"sets= .* comma"),
    (fit(frame(), target=["a"]), decoy.UsageError, r"target= must be a text, not a list"),
    (fit(frame(), target="b"), decoy.UsageError, r'target: the schema has no column "b"'),
    (fit(frame(), unit="id"), decoy.UsageError, r"^unit= is for a table without a schema"),
    (fit(frame(), schema={"columns": {}}), decoy.UsageError, r"decoy\.Schema\.from_sdv"),
    (fit(frame(), schema="a\nb"), decoy.UsageError, r"^schema"),
    (fit(frame(), schema={"decoy": 1, "columns": []}), decoy.UsageError, r"^schema: line 1: a schema needs at least one column"),
    (fit(frame(), schema=decoy.Schema.from_dtypes(frame())), decoy.UsageError,
     r"^schema: line 3.*decoy\.Schema\.infer\(frame, partial=\.\.\.\)"),
    (fit(frame(), ledger=""), decoy.UsageError, r"ledger= is empty"),
    (fit(frame(), ledger=None), decoy.UsageError, r"ledger= must be the path of a file, not None"),
    (fit(frame(), ledger="no/l"), decoy.DecoyError, r"^ledger=no/l: cannot create a file there"),
    (fit(frame(), random_state="a"), decoy.UsageError, r"random_state= must be a whole number"),
    (fit(frame(), random_state=-1), decoy.UsageError, r"random_state=-1 must be at least 0"),
    (lambda: decoy.generate(frame(), epsilon=1, ledger="l", rows=0), decoy.UsageError, r"^rows=0"),
    (lambda: decoy.plan(SCHEMA, epsilon=0), decoy.UsageError, r"^epsilon=0 must be above 0"),
    (lambda: decoy.plan(frame(), epsilon=1), decoy.UsageError, r"^schema= is a decoy\.Schema"),
    (lambda: decoy.evaluate(train=frame(), synthetic=frame()["a"], schema=SCHEMA),
     decoy.UsageError, r"^synthetic: a Series"),
    (lambda: decoy.evaluate(train=frame(), synthetic=frame()[["a"]], schema=SCHEMA),
     decoy.DataError, r'^synthetic: .*no column "n"'),
    (lambda: decoy.evaluate(train=frame(), synthetic=frame(), schema=SCHEMA, drop="a"),
     decoy.UsageError, r"drop= must be a list"),
    (lambda: decoy.evaluate(train=frame(), synthetic=frame(), schema=SCHEMA, target="b"),
     decoy.UsageError, r'^target: the schema has no column "b"'),
    (lambda: decoy.Schema.infer({}, epsilon=1, ledger="l"), decoy.UsageError, r"linked tables"),
    (lambda: decoy.Schema.from_dtypes(frame()["a"]), decoy.UsageError, r"a Series is one column"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_errors_speak_python_and_cost_nothing(number: int) -> None:
    call, kind, match = WRONG[number]
    with pytest.raises(kind, match=match) as raised:
        call()
    assert "--" not in str(raised.value) and "/tmp" not in str(raised.value)
    assert "decoy fit" not in str(raised.value) and "arrow:-" not in str(raised.value)
    shown = subprocess.run([_program.program(), "ledger", "show", "l"], capture_output=True,
                           text=True)
    assert not Path("l").exists() or "spent   epsilon 0" in shown.stdout, shown.stdout


@pytest.mark.parametrize("said, heard", [
    ("--delta 2 must be from 0 to 0.001; see 'decoy fit --help'",
     "delta=2 must be from 0 to 0.001"),
    ("the same command with --resume goes on", "the same call with resume=True goes on"),
    ("more relations are kept with --method aim, or --target COLUMN for the one",
     'more relations are kept with method="aim", or target=COLUMN for the one'),
    ("decoy: --set: hidden: \"x\" is not a list", "decoy: hidden: \"x\" is not a list"),
    ("--where workload: \"b > 1\": there is no", "where: \"b > 1\": there is no"),
    ("by a schema, and --schema is missing (decoy help schema)",
     "by a schema, and schema= is missing (docs/schema.md)"),
    ("--train sc://h/t is a table", "train=sc://h/t is a table"),
    ("columns left out of the schema: 1 of 2", "columns left out of the schema: 1 of 2"),
])
def test_what_the_program_says_in_python(said: str, heard: str) -> None:
    assert in_python(said) == heard


def test_numbers_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    made = decoy.generate(frame(), epsilon=np.float64(2), delta=np.float32(1e-6), ledger="l",
                          rows=np.int64(50), schema=SCHEMA, method="mst",
                          iterations=np.int32(20), random_state=np.uint8(3))
    assert len(made) == 50
    m = decoy.Synthesizer(epsilon=np.float32(0.1), ledger="l", schema=SCHEMA, method="wgan",
                          steps=np.int16(2), hidden=np.array([4]), distil_steps=2)
    assert m.fit(frame()).claim.epsilon == float(np.float32(0.1))


def test_a_file_and_its_address() -> None:
    frame().to_csv("p.csv", index=False)
    m = decoy.Synthesizer(epsilon=2, ledger="l", schema=SCHEMA).fit(Path("p.csv"))
    assert isinstance(m.sample(3), pa.Table)
    out = decoy.evaluate(train="p.csv", synthetic=m.sample(), schema=SCHEMA, report="r.html",
                         model=m, random_state=3)
    assert out.verdicts and "html" in Path("r.html").read_text()[:100]


def test_keywords_as_flags() -> None:
    given = {"steps": 3, "smalldb_rows": 4, "max_rows_per_unit": np.int8(5), "epsilon": 1,
             "order": ["visits.date", "tests.at"], "links": ("visits.patient_id=patients.id",),
             "sets": ["a*b", "c"], "unit": None, "schema": "s.yaml", "progress": True}
    assert arguments(given) == [
        "--set=steps=3", "--set=rows=4", "--max-rows-per-unit=5", "--epsilon=1.0",
        "--order=visits.date", "--order=tests.at", "--link=visits.patient_id=patients.id",
        "--set=sets=a*b,c"]
    with pytest.raises(decoy.UsageError, match="links= must be a list, not 'a.b=c.d'"):
        arguments({"links": "a.b=c.d"})
