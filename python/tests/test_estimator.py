"""The synthesizer as an estimator: parameters, copies, types that a saved model keeps, and pages."""

from __future__ import annotations

import datetime
import html.parser
import json
import pickle
import re
import subprocess
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from nbclient import NotebookClient

import decoy
from decoy import _html, _program
from decoy._frames import Dtypes, restore, to_arrow

SCHEMA = decoy.Schema("""\
decoy: 1
columns:
  - {name: n, kind: integer, min: 0, max: 9}
  - {name: ward, kind: categorical, categories: [icu, medical, surgical]}
  - {name: grade, kind: categorical, categories: ["1", "2", "3"]}
  - {name: score, kind: integer, min: 1, max: 5}
  - {name: at, kind: timestamp, min: "2020-01-01T00:00:00Z", max: "2021-01-01T00:00:00Z", bins: 4}
  - {name: day, kind: date, min: 2020-01-01, max: 2021-01-01, bins: 4}
  - {name: age, kind: integer, min: 0, max: 99, bins: 4, missing: [""]}
  - {name: died, kind: boolean, missing: [""]}
""")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def frame(n: int = 600) -> pd.DataFrame:
    return pd.DataFrame({
        "n": np.arange(n) % 10,
        "ward": pd.Categorical(["icu", "medical"] * (n // 2), categories=["icu", "medical", "x"]),
        "grade": pd.Categorical([1 + i % 2 for i in range(n)], categories=[1, 2, 77], ordered=True),
        "score": pd.Categorical([1 + i % 3 for i in range(n)]),
        "at": pd.date_range("2020-02-01", periods=n, freq="6h", tz="Europe/Berlin", unit="us"),
        "day": pd.array([datetime.date(2020, 3, 1)] * n, dtype=pd.ArrowDtype(pa.date32())),
        "age": pd.array([None if i % 5 == 0 else i % 90 for i in range(n)], dtype="Int16"),
        "died": pd.array([None if i % 6 == 0 else i % 4 == 0 for i in range(n)], dtype="boolean"),
    })


def polars_frame() -> pl.DataFrame:
    df = pl.from_pandas(frame().astype({"grade": int, "score": "int8"}).drop(columns="day"))
    return df.with_columns(
        pl.col("ward").cast(pl.Enum(["icu", "medical", "x"])),
        pl.col("grade").cast(pl.String).cast(pl.Categorical),
        pl.lit(datetime.date(2020, 3, 1)).alias("day"))


def arrow_table() -> pa.Table:
    out = pa.Table.from_pandas(frame(), preserve_index=False).replace_schema_metadata()
    return out.set_column(0, "n", pa.array([i % 10 for i in range(600)], pa.int8()))


FRAMES = {"pandas": frame, "polars": polars_frame, "pyarrow": arrow_table}


def types_of(given: Any) -> dict[str, str]:
    """Types as texts, those of categories without the categories."""
    if isinstance(given, pl.DataFrame):
        return {n: re.sub(r"\(categories=.*\)", "", str(t)) for n, t in given.schema.items()}
    if isinstance(given, pa.Table):
        return {f.name: re.sub("indices=[a-z0-9]+, ", "", str(f.type)) for f in given.schema}
    return {n: f"category {t.categories.dtype} {t.ordered}" if t == "category" else str(t)
            for n, t in given.dtypes.items()}


def fitted(given: Any = None, **more: Any) -> decoy.Synthesizer:
    parameters = {"epsilon": 20.0, "ledger": "l", "schema": SCHEMA, "method": "mst", **more}
    return decoy.Synthesizer(**parameters).fit(frame() if given is None else given)


@pytest.mark.parametrize("library", FRAMES)
def test_types_are_kept_in_a_saved_model_and_in_a_pickle(library: str) -> None:
    given = FRAMES[library]()
    m = fitted(given)
    m.save("m.decoy")
    for copy in m, decoy.Synthesizer.load("m.decoy"), pickle.loads(pickle.dumps(m)):
        out = copy.sample(200, random_state=1)
        assert type(out) is type(given) and types_of(out) == types_of(given)
    if library == "pandas":
        # the schema's categories, as whole numbers; no private one
        assert list(out["grade"].dtype.categories) == [1, 2, 3]
        assert set(out["grade"].cat.codes) <= {0, 1, 2}
        assert list(out["ward"].dtype.categories) == ["icu", "medical", "surgical"]
        assert set(out["score"].dtype.categories) <= {1, 2, 3, 4, 5}
        assert out["age"].isna().any() and out["died"].isna().any()
    if library == "polars":
        assert out.schema["ward"] == pl.Enum(["icu", "medical", "surgical"])
    Path("m.decoy.dtypes.json").unlink()
    assert isinstance(decoy.Synthesizer.load("m.decoy").sample(5), pa.Table)


def test_a_model_stays_what_the_program_has_written() -> None:
    m = fitted()
    m.save("m.decoy")
    assert Path("m.decoy").read_bytes() == m.model
    assert decoy.Synthesizer.load("m.decoy").claim == m.claim  # verify takes it byte for byte
    Path("m.decoy.dtypes.json").write_text("[]")
    with pytest.raises(decoy.DataError, match="m.decoy.dtypes.json: this is no file of the types"):
        decoy.Synthesizer.load("m.decoy")


def test_nothing_but_names_and_types_of_the_frame_is_saved() -> None:
    secret = frame().assign(note="canary", hidden_column=pd.Categorical(["canary"] * 600))
    secret["ward"] = secret["ward"].cat.add_categories(["canary"])
    secret.attrs["note"] = "canary"
    m = fitted(secret)
    m.save("m.decoy")
    kept = [Path("m.decoy.dtypes.json").read_bytes(), pickle.dumps(m), m.model,
            repr(m).encode(), m._repr_html_().encode()]
    for text in kept:
        assert b"canary" not in text and b"hidden_column" not in text
    assert b"77" not in kept[0]
    saved = json.loads(kept[0])
    assert saved["library"] == "pandas" and list(saved["columns"]) == list(frame())
    assert saved["columns"]["grade"] == "category[number, ordered]"


@pytest.mark.parametrize("cells, other", [
    ([1, 2, 3], [1, 2, None]),           # int64, float64
    ([1, 2, 3], [1, 2, 2**63]),          # int64, uint64
    ([1, 2, 3], [1, 2, 2.5]),
])
def test_no_cell_of_a_number_decides_a_type(cells: list[Any], other: list[Any]) -> None:
    """pandas chooses 64 bits of numbers by the cells: what is kept of the frame must not tell."""
    given = [pd.DataFrame({"x": pd.Series(c)}) for c in (cells, other)]
    assert given[0]["x"].dtype != given[1]["x"].dtype
    dtypes = [to_arrow(g)[1] for g in given]
    assert dtypes[0] == dtypes[1]
    for table in pa.table({"x": [1, 2]}), pa.table({"x": [1, None]}), pa.table({"x": [1.5, 2]}):
        outs = [restore(table, d) for d in dtypes]
        assert outs[0]["x"].dtype == outs[1]["x"].dtype == table["x"].to_pandas().dtype


@pytest.mark.parametrize("cells", [[True, False], [True, None]])
def test_no_missing_cell_of_a_boolean_decides_a_type(cells: list[Any]) -> None:
    out = restore(pa.table({"x": [True, False]}), to_arrow(pd.DataFrame({"x": cells}))[1])
    assert out["x"].dtype == bool


@pytest.mark.parametrize("text", [
    "int8", "Int8", "float32", "bool", "boolean", "object", "number", "str",
    "nullable number", "string[python]", "category[number]", "category[str, ordered]",
    "category[datetime64[us]]", "arrow: decimal128(9, 2)", "decimal128(5, 1)",
    "arrow: dictionary[string]", "datetime64[us, UTC]", "enum", "categorical", "timestamp[us]",
    "no such dtype", "category[no such]", "arrow: no such", "datetime64[us, No/Where]", ""])
@pytest.mark.parametrize("values", [
    pa.array([1, 2, None]), pa.array([1.5, 2.5, 400]), pa.array([True, False, None]),
    pa.array(["a", None, "b"]), pa.array(["1", "2", "300"]).dictionary_encode(),
    pa.array([], pa.int64()), pa.array([None, None], pa.string()).dictionary_encode(),
    pa.array([datetime.date(2020, 1, 1), None]),
])
def test_any_type_is_restored_or_left(text: str, values: pa.Array) -> None:
    """Whatever a file of types says, a frame of the synthetic values comes of it."""
    for library in "pandas", "polars", "pyarrow":
        out = restore(pa.table({"x": values}), Dtypes(library, {"x": text}))
        assert len(out) == len(values) and list(
            out.columns if library != "pyarrow" else out.column_names) == ["x"]


def test_intervals_of_cut_are_categories_of_texts() -> None:
    df = pd.DataFrame({"age": pd.cut(np.arange(600) % 90, [0, 30, 60, 90], right=False)})
    schema = decoy.Schema("decoy: 1\ncolumns:\n  - {name: age, kind: categorical, "
                          'categories: ["[0, 30)", "[30, 60)", "[60, 90)"]}\n')
    out = fitted(df, schema=schema).sample(300)["age"]
    assert list(out.cat.categories) == ["[0, 30)", "[30, 60)", "[60, 90)"] and out.cat.ordered
    assert 60 < (out < "[30, 60)").sum() < 140


def test_parameters() -> None:
    m = decoy.Synthesizer(epsilon=1.0, ledger="l", schema=SCHEMA, steps=5)
    params = m.get_params()
    assert params["steps"] == 5 and params["schema"] is SCHEMA and params["method"] == "auto"
    assert decoy.Synthesizer(**params).get_params() == params
    assert m.set_params(method="mst", epsilon=2) is m and m.method == "mst" and m.epsilon == 2
    with pytest.raises(ValueError, match="there is no parameter 'stepz'; there are epsilon, "):
        m.set_params(stepz=3, epsilon=5)
    with pytest.raises(decoy.UsageError, match="epsilon= must be a number"):
        m.set_params(method="aim", epsilon="x")
    assert m.method == "mst" and m.epsilon == 2
    assert repr(decoy.Synthesizer(epsilon=1.0, ledger="l", steps=5)) == (
        "Synthesizer(epsilon=1.0, ledger='l', steps=5)")
    assert "Schema('decoy: 1" in repr(m) and len(repr(m)) < 200
    assert str(SCHEMA) == SCHEMA.yaml


def test_a_fit_leaves_its_parameters_alone() -> None:
    df = pd.DataFrame({"a": ["x", "y", "y"] * 2000, "b": ["u", "v", "v"] * 2000})
    m = decoy.Synthesizer(epsilon=5.0, ledger="l")
    before = m.get_params()
    m.fit(df)
    assert m.get_params() == before and m.schema is None and "categories" in m.schema_.yaml
    m.set_params(ledger="other")
    assert m.sample(3) is not None  # the model is there as it was


def test_clone() -> None:
    sklearn = pytest.importorskip("sklearn.base")
    state = np.random.RandomState(1)
    m = fitted(random_state=state)
    copy = sklearn.clone(m)
    assert type(copy) is decoy.Synthesizer and repr(copy).replace("at 0x", "")
    assert copy.get_params().keys() == m.get_params().keys() and copy.epsilon == m.epsilon
    assert copy.schema == SCHEMA and copy.random_state is not state
    with pytest.raises(decoy.UsageError, match="call fit"):
        copy.sample()


def test_a_joint_model() -> None:
    for name in "a", "b":
        fitted(ledger=name).save(f"{name}.decoy")
    subprocess.run([_program.program(), "join", "a.decoy", "b.decoy", "--people", "disjoint",
                    "--out", "joint.decoy", "--quiet"], check=True)
    m = decoy.Synthesizer.load("joint.decoy")
    assert "if nobody is at two parties" in str(m.claim) and m.claim.epsilon == 20
    assert m.sample(7).num_rows == 7 and "join" in m._repr_html_()


def test_a_loaded_model_has_no_account() -> None:
    fitted().save("m.decoy")
    m = decoy.Synthesizer.load("m.decoy")
    assert (m.epsilon, m.delta, m.method) == (20, 1e-9, "mst")
    assert m.schema_.yaml and m.claim.epsilon == 20
    with pytest.raises(decoy.UsageError, match="ledger= is empty"):
        m.fit(frame())


def test_random_state() -> None:
    m = fitted(random_state=7)
    assert m.sample(50).equals(m.sample(50))
    assert not m.sample(50).equals(m.sample(50, random_state=8))
    for make in np.random.RandomState, np.random.default_rng:
        m.set_params(random_state=make(3))
        first, second = m.sample(50), m.sample(50)
        assert not first.equals(second)
        m.set_params(random_state=make(3))
        assert m.sample(50).equals(first)
    m.set_params(random_state=None)
    assert not m.sample(50).equals(m.sample(50))


def test_sdv_names() -> None:
    m = fitted()
    assert len(m.sample(num_rows=7)) == 7
    m.save(filepath="m.decoy")
    assert len(decoy.Synthesizer.load(filepath=Path("m.decoy")).sample(7)) == 7
    only = m.sample(200, where="score >= 2 and ward = icu")
    assert set(only["ward"]) == {"icu"} and set(only["score"]) <= {2, 3, 4, 5}
    with pytest.raises(decoy.UsageError, match=r'where.*no column "nope"'):
        m.sample(200, where="nope > 1")


class Page(html.parser.HTMLParser):
    """Whether tags close as they opened, and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.text += data


def test_pages() -> None:
    m = fitted(schema=decoy.Schema(SCHEMA.yaml.replace("surgical", '"<script>"')))
    page = Page(m._repr_html_()).text
    for want in str(m.claim), "mst", "8 columns", "ward", "a noisy count", "<script>":
        assert want in page
    unfitted = Page(decoy.Synthesizer(epsilon=1, ledger="<l>")._repr_html_()).text
    assert "ledger='<l>'" in unfitted and "<l>" not in decoy.Synthesizer(
        epsilon=1, ledger="<l>")._repr_html_()
    out = decoy.evaluate(train=frame(), synthetic=m.sample(), schema=m.schema_)
    page = Page(out._repr_html_()).text
    assert page.strip().startswith("Not private.") and out.verdicts[0].question in page
    assert "NOT PRIVATE" in repr(out) and len(repr(out)) < 1000
    bad = decoy.Verdict("<b>", "good", "<script>alert(1)</script>", "")
    assert "<script>" not in decoy.Evaluation([bad], {})._repr_html_()


def test_contrast() -> None:
    """White on the colours of verdicts passes WCAG's 4.5, and so does the text on white."""
    def light(colour: str) -> float:
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (p / 12.92 if p <= .04045 else ((p + .055) / 1.055) ** 2.4 for p in parts)
        return .2126 * r + .7152 * g + .0722 * b

    colours = re.findall(r"background: (#\w{6})", _html._STYLE) + ["#1b1f24"]
    assert len(colours) == 6
    assert all(1.05 / (light(colour) + .05) >= 4.5 for colour in colours)


# what the program says in a long run, heard in a thread as it is; and a short run
BOOK = """
import decoy, io, threading, numpy as np, pandas as pd, warnings
from decoy import _program
said = io.BytesIO(b"counting: 0 %\\nfitting <b>: 50 %\\nfitting <b>: 75 %\\nwrote m\\n")
thread = threading.Thread(target=_program._listen, args=(said, [], True, {}))
thread.start()
thread.join()
warnings.simplefilter("ignore")
df = pd.DataFrame({"a": ["x", "y"] * 300, "n": np.arange(600) % 10})
schema = decoy.Schema('''decoy: 1
columns:
  - {name: a, kind: categorical, categories: [x, y]}
  - {name: n, kind: integer, min: 0, max: 9}
''')
decoy.Synthesizer(epsilon=1, ledger="l", schema=schema, method="mst").fit(df)
"""


def test_a_notebook_shows_progress_and_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(BOOK)])
    client = NotebookClient(book, timeout=120, kernel_name="python3")
    shown: list[dict[str, str]] = []
    take = client.process_message

    def watch(msg: Any, cell: Any, index: int) -> Any:
        if msg["msg_type"] in ("display_data", "update_display_data"):
            shown.append(msg["content"]["data"])
        return take(msg, cell, index)

    monkeypatch.setattr(client, "process_message", watch)
    client.execute()
    assert [page["text/plain"] for page in shown] == [
        "counting: 0 %", "fitting <b>: 50 %", "fitting <b>: 75 %", ""]
    assert 'value="75"' in shown[2]["text/html"] and "<b>" not in shown[2]["text/html"]
    assert shown[3]["text/html"] == ""
    result = book.cells[0].outputs[-1]
    assert "differential privacy" in result["data"]["text/html"]
