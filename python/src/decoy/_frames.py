"""Tables of pandas, polars and pyarrow, to Arrow and back with the types they had.

Only names and types of a private table are kept for the way back, never a value: a synthetic
categorical has the categories of the schema, not those of the private column. Nor is a type kept
that a library chooses by the cells where nobody names one: whole numbers with one missing cell are
float64 in pandas. So numbers of 64 bits come back as the schema has them, integer or real.
"""

from __future__ import annotations

import json
import os
import re
import reprlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.types as kinds

from ._errors import DataError, UsageError
from ._options import ADDRESSES

OBJECTS = ("object", "str", "string")  # dtypes of pandas whose cells may be anything, or any text

NUMBERS = ("int64", "uint64", "float64", "double")


@dataclass(frozen=True)
class Dtypes:
    """The library of a frame, and the types of its columns as texts.

    Beside the library's own there are "number", of 64 bits; "nullable number", of pandas;
    "category[TYPE]" and "category[TYPE, ordered]"; "enum" of polars; and "arrow: TYPE" of pandas.
    """

    library: str
    columns: dict[str, str]

    @property
    def texts(self) -> set[str]:
        """The columns that were given as texts. Objects that are no categories tell no type."""
        return {name for name, text in self.columns.items() if re.match(_TEXT, text)}

    def of(self, names: list[str]) -> Dtypes:
        """Those of some columns alone."""
        return Dtypes(self.library, {n: self.columns[n] for n in names if n in self.columns})

    @staticmethod
    def write(path: Path, tables: dict[str, Dtypes]) -> None:
        """Writes the types of a frame, or of linked ones by their tables, for `Dtypes.read`."""
        each = {table: {"library": one.library, "columns": one.columns}
                for table, one in tables.items()}
        whole = each[""] if "" in each else {"tables": each}
        path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    @staticmethod
    def read(path: Path) -> dict[str, Dtypes]:
        """The types in a file, by table. Another file is a DataError."""
        try:
            given = json.loads(path.read_text(encoding="utf-8"))
            each = given["tables"] if "tables" in given else {"": given}
            tables = {str(table): Dtypes(str(one["library"]), {
                str(name): str(kind) for name, kind in one["columns"].items()})
                for table, one in each.items()}
            if all(one.library in _RESTORE for one in tables.values()):
                return tables
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
        raise DataError(f"{path}: this is no file of the types of a frame")


_TEXT = (r"(category\[|arrow: |dictionary\[)?(str|string|large_string|string_view)\b"
         r"|category\[object\b|(enum|categorical)$")


def source_of(frame: Any) -> str | None:
    """What of a table is its own address: that of a file, or in another system. None of a frame."""
    if not isinstance(frame, (str, os.PathLike)):
        return None
    text = os.fspath(frame)
    if text.startswith((*ADDRESSES, "postgresql:")) or os.path.isfile(text):
        return "./" * text.startswith("-") + text
    # a long one may be a table itself
    shown = repr(text) if len(text) < 200 and "\n" not in text else "a long text"
    raise UsageError(f"{shown} is neither a file nor an address that begins with "
                     f"{' or '.join(ADDRESSES)}")


@dataclass(frozen=True)
class Given:
    """A frame, linked frames or an address, as a call takes them to the program."""

    places: list[str]  # as the program names them
    tables: list[pa.Table]  # that go through the pipe
    dtypes: dict[str, Dtypes]  # by table, "" of the only one; none of a file or an address
    names: dict[str, str]  # what the places are called in Python


def given_of(frame: Any, name: str = "the frame", before: int = 0) -> Given:
    """What is given as an argument of that name, behind so many tables on the pipe."""
    if (place := source_of(frame)) is not None:
        return Given([place], [], {}, {})
    linked = isinstance(frame, Mapping)
    each = frame.items() if linked else [("", frame)]
    out = Given([], [], {}, {})
    for k, (table, one) in enumerate(each, before + 1):
        place = f"arrow:-{k if k > 1 else ''}"
        if linked:
            if not isinstance(table, str) or not re.fullmatch(r"[^/\\,\"\s.][^/\\,\"]*", table):
                raise UsageError(f"linked tables are a dict of frames by their names, such as "
                                 f"'visits', not {reprlib.repr(table)}")
            place += f"/{table}.arrow"
        try:
            arrow, dtypes = to_arrow(one)
        except (UsageError, DataError) as error:
            raise (type(error)(f"{table}: {error}") if linked else error) from None
        out.places.append(place)
        out.tables.append(arrow)
        out.dtypes[table] = dtypes
        out.names[place] = f"{name} of {table}" if linked else name
    if before + len(out.tables) > 9:
        raise UsageError("at most nine frames go to the program at once")
    if not out.places:
        raise UsageError("the dict of linked tables is empty")
    return out


def to_arrow(frame: Any) -> tuple[pa.Table, Dtypes]:
    """The table of a frame, and its types."""
    if isinstance(frame, pa.Table):
        return _plain(frame), _named("pyarrow", frame.schema.names,
                                     [_kind_text(kind) for kind in frame.schema.types])
    module, kind = type(frame).__module__.partition(".")[0], type(frame).__name__
    if module == "polars" and kind == "DataFrame":
        return _polars(frame)
    if module == "pandas" and hasattr(frame, "columns"):
        return _pandas(frame)
    raise UsageError(_no_frame(frame, kind))


def schema_of(frame: Any) -> list[tuple[str, pa.DataType]]:
    """Names and types; of no rows."""
    if hasattr(frame, "columns") or isinstance(frame, pa.Table):
        frame = frame[:0] if not isinstance(frame, pa.Table) else frame.slice(0, 0)
    table, _ = to_arrow(frame)
    return list(zip(table.schema.names, table.schema.types))


def restore(table: pa.Table, dtypes: Dtypes) -> Any:
    """A synthetic table as a frame of such types, where its values allow it."""
    return _RESTORE[dtypes.library](table, dtypes.columns)


def _no_frame(frame: Any, kind: str) -> str:
    """Why what was given is no frame, and what would be."""
    if isinstance(frame, Mapping):
        return "a dict of frames is linked tables, and this takes one frame"
    if kind in ("Series", "ChunkedArray", "Array"):
        return f"a {kind} is one column: give a frame, such as df[[NAME]] or series.to_frame()"
    if kind == "LazyFrame":
        return "a LazyFrame has no rows: call collect() first"
    if kind == "RecordBatch":
        return "a RecordBatch is a part of a table: pyarrow.Table.from_batches([batch]) is one"
    kind = "None" if frame is None else kind
    return f"a table must be a frame of pandas, polars or pyarrow, not {kind}"


def _named(library: str, names: list[str], texts: list[str]) -> Dtypes:
    if not all(isinstance(name, str) for name in names):
        raise UsageError("the names of the columns must be texts: df.columns = df.columns.map(str)")
    if len(set(names)) != len(names):
        raise UsageError("two columns have one name")
    return Dtypes(library, dict(zip(names, texts)))


# Arrow: texts of types


def _kind_text(kind: pa.DataType) -> str:
    """A type as a text: of a dictionary without its values."""
    if kinds.is_dictionary(kind):
        return f"dictionary[{_kind_text(kind.value_type)}{', ordered' * kind.ordered}]"
    return "number" if str(kind) in NUMBERS else str(kind)


def _kind(text: str) -> pa.DataType | None:
    """The type of a text, or None for one that a synthetic table cannot have."""
    if found := re.fullmatch(r"timestamp\[(\w+), tz=(.+)\]", text):
        return pa.timestamp(found[1], found[2])
    if found := re.fullmatch(r"decimal(128|256)\((\d+), (-?\d+)\)", text):
        decimal = pa.decimal128 if found[1] == "128" else pa.decimal256
        return decimal(int(found[2]), int(found[3]))
    try:
        return pa.type_for_alias(text)
    except ValueError:
        return None


def _plain(table: pa.Table) -> pa.Table:
    """The table in types that the program reads."""
    columns = []
    for name, column in zip(table.schema.names, table.columns):
        kind = column.type
        if kinds.is_dictionary(kind) and not is_text(kind.value_type):
            kind = kind.value_type
        if kinds.is_null(kind) or _is_view(kind):
            kind = pa.string()
        elif kinds.is_dictionary(kind) and _is_view(kind.value_type):
            kind = pa.dictionary(pa.int32(), pa.string())
        if kind != column.type:
            try:
                column = column.cast(kind)
            except pa.ArrowException:
                raise DataError(f"column {name!r} of type {column.type} cannot be read") from None
        columns.append(column)
    return pa.table(columns, names=table.schema.names)


def is_text(kind: pa.DataType) -> bool:
    """Whether values are texts, also those of a dictionary."""
    if kinds.is_dictionary(kind):
        kind = kind.value_type
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind) or _is_view(kind))


def _is_view(kind: pa.DataType) -> bool:
    return str(kind) == "string_view"


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if kinds.is_dictionary(column.type) else column


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of numbers: codes that are written as texts in the schema are read as such."""
    column = _decoded(column)
    for kind in (pa.int64(), pa.float64()):
        if is_text(column.type) or kinds.is_boolean(column.type):
            column = _cast(column, kind)
    return column


def _cast(column: pa.ChunkedArray, kind: pa.DataType | None) -> pa.ChunkedArray:
    """A column in a type, or as it is where its values do not allow it."""
    column = _decoded(column)
    try:
        if kind is not None and kinds.is_decimal(kind) and not is_text(column.type):
            column = column.cast(pa.decimal256(76, kind.scale))  # of which any precision is a part
        return column if kind is None or kinds.is_null(kind) else column.cast(kind)
    except pa.ArrowException:  # such as a bound of the schema beyond an int8
        return column


def _categories(column: pa.ChunkedArray) -> tuple[pa.Array, pa.Array]:
    """Codes and categories: those of the schema, or, where it has none, the synthetic values."""
    if kinds.is_dictionary(column.type):
        whole = _one(column.unify_dictionaries())
        return whole.indices, whole.dictionary
    values = _one(column.unique().drop_null())
    values = values.take(compute.sort_indices(values))
    return compute.index_in(_one(column), values), values


def _one(column: Any) -> pa.Array:
    """The column as one array, whatever this pyarrow makes of its chunks."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.chunk(0) if isinstance(column, pa.ChunkedArray) else column


def _arrow_column(column: pa.ChunkedArray, text: str) -> pa.ChunkedArray:
    if text == "number":
        return _numbers(column)
    if found := re.fullmatch(r"dictionary\[(.+?)(, ordered)?\]", text):
        codes, values = _categories(column)
        values = _one(_arrow_column(pa.chunked_array([values]), found[1]))
        return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, values,
                                                                ordered=bool(found[2]))])
    return _cast(column, _kind(text))


def _restore_arrow(table: pa.Table, types: Mapping[str, str]) -> pa.Table:
    columns = [_arrow_column(column, types[name]) if name in types else column
               for name, column in zip(table.schema.names, table.columns)]
    return pa.table(columns, names=table.schema.names)


# polars


def _polars(frame: Any) -> tuple[pa.Table, Dtypes]:
    import polars as pl

    private = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    own = {"Enum": "enum", "Categorical": "categorical"}
    texts = [own.get(type(dtype).__name__) or _kind_text(kind)
             for dtype, kind in zip(frame.dtypes, private.schema.types)]
    return _plain(private), _named("polars", frame.columns, texts)


def _restore_polars(table: pa.Table, types: Mapping[str, str]) -> Any:
    import polars as pl

    columns = []
    for name, column in zip(table.schema.names, table.columns):
        text = types.get(name, "")
        if text in ("enum", "categorical"):
            codes, values = _categories(column)
            values = [str(value) for value in values.to_pylist()]
            column = pa.DictionaryArray.from_arrays(codes, pa.array(values, pa.string()))
            kind = pl.Enum(values) if text == "enum" else pl.Categorical
            columns.append(pl.Series(name, pl.from_arrow(column.cast(pa.string())), dtype=kind))
        else:
            columns.append(pl.Series(name, pl.from_arrow(_arrow_column(column, text))))
    return pl.DataFrame(columns)


# pandas


def _pandas(frame: Any) -> tuple[pa.Table, Dtypes]:
    texts = [_dtype_text(dtype) for dtype in frame.dtypes]
    dtypes = _named("pandas", list(frame.columns), texts)
    columns = []
    for name, dtype in zip(frame.columns, frame.dtypes):
        for word, hint in _HINTS.items():
            if word in dtype.name:
                raise DataError(f"column {name!r} is {dtype.name}, which cannot be read: "
                                f"{hint.format(column=f'df[{name!r}]')}, or leave it out")
        try:
            columns.append(_column(frame[name]))
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise DataError(f"column {name!r} of type {dtype.name} cannot be read") from None
    return _plain(pa.table(columns, names=list(frame.columns))), dtypes


# what cannot be read, by a part of its dtype's name, and what can
_HINTS = {
    "Sparse": "take {column}.sparse.to_dense()",
    "complex": "take numpy.real({column}) and numpy.imag({column})",
    "timedelta": "take {column}.dt.total_seconds()",
    "period": "take {column}.dt.to_timestamp()",
    "interval": "take {column}.astype(str)",
}


def _dtype_text(dtype: Any) -> str:
    """A dtype as a text, without the categories of a categorical."""
    module, kind = type(dtype).__module__.partition(".")[0], type(dtype).__name__
    if kind == "CategoricalDtype":
        inner = "str" if _as_texts(dtype) else _dtype_text(dtype.categories.dtype)
        return f"category[{inner}{', ordered' * bool(dtype.ordered)}]"
    if kind == "ArrowDtype":
        return "arrow: " + _kind_text(dtype.pyarrow_dtype)
    if kind == "StringDtype" and str(dtype) == "string":
        return f"string[{dtype.storage}]"
    if dtype.name in NUMBERS:
        return "number" if module == "numpy" else "nullable number"
    if module == "pandas" and dtype.name.lower() in NUMBERS:
        return "nullable number"
    return str(dtype)


def _column(series: Any) -> pa.ChunkedArray:
    """The column in a type that its dtype decides, and no cell: an odd one must not show."""
    dtype = series.dtype
    if dtype.name == "category" and (_as_texts(dtype) or dtype.categories.dtype.name in OBJECTS):
        return _texts(series.astype(object)).dictionary_encode()
    if dtype.name in OBJECTS:
        return _texts(series)
    column = pa.Array.from_pandas(series)
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def _as_texts(dtype: Any) -> bool:
    """Whether categories are read as texts, though they are none: intervals, as of pandas.cut."""
    return bool(re.match(r"interval|period|timedelta", dtype.categories.dtype.name))


def _texts(series: Any) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(map(_text, series), pa.string(), size=len(series))])


def _text(value: Any) -> str | None:
    """A cell as text, by a rule of that cell alone: None where it has none."""
    try:
        if value is None or value != value:
            return None
        text = value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
        return text.decode("utf-8", "replace")
    except Exception:  # whatever a foreign object raises, pandas.NA among them
        return None


def _restore_pandas(table: pa.Table, types: Mapping[str, str]) -> Any:
    import pandas

    return pandas.DataFrame({
        name: _series(pandas, column, types.get(name, ""))
        for name, column in zip(table.schema.names, table.columns)})


def _series(pandas: Any, column: pa.ChunkedArray, text: str) -> Any:
    if text == "number":
        return _numbers(column).to_pandas()
    if text == "nullable number":
        column = _numbers(column)
        own = {pa.int64(): pandas.Int64Dtype(), pa.float64(): pandas.Float64Dtype()}
        return column.to_pandas(types_mapper=own.get)
    if found := re.fullmatch(r"category\[(.+?)(, ordered)?\]", text):
        codes, values = _categories(column)
        categories = pandas.Index(_series(pandas, pa.chunked_array([values]), found[1]))
        codes = codes.fill_null(-1).to_numpy(zero_copy_only=False)
        return pandas.Series(pandas.Categorical.from_codes(codes, categories,
                                                           ordered=bool(found[2])))
    if text.startswith("arrow: "):
        column = _arrow_column(column, text[len("arrow: "):])
        return column.to_pandas(types_mapper=pandas.ArrowDtype)
    column = _decoded(column)
    if text == "bool" and is_text(column.type):
        column = _cast(column, pa.bool_())
    if text in ("bool", "object") and kinds.is_boolean(column.type):
        return column.to_pandas()  # bool, or object where cells are missing
    try:
        dtype = pandas.api.types.pandas_dtype(text or "object")
        if dtype.kind == "U":  # what pandas 2 makes of "str"
            dtype = pandas.api.types.pandas_dtype("object")
        return _as_dtype(pandas, column, dtype)
    except (TypeError, ValueError, OverflowError, NotImplementedError):  # of another pandas
        return column.to_pandas()


def _as_dtype(pandas: Any, column: pa.ChunkedArray, dtype: Any) -> Any:
    """The column in a dtype, or in the nearest one that holds its values."""
    if dtype.kind in "iub" and column.null_count:
        name = {"i": "Int", "u": "UInt", "b": "boolean"}[dtype.kind]
        size = "" if dtype.kind == "b" else str(8 * dtype.itemsize)
        dtype = pandas.api.types.pandas_dtype(name + size)
    if dtype.name not in OBJECTS:
        given = pa.Array.from_pandas(pandas.Series([], dtype=dtype))
        column = _cast(column, given.type)
    if hasattr(dtype, "__from_arrow__"):
        return column.to_pandas(types_mapper=lambda _: dtype)
    return column.to_pandas().astype(dtype)


_RESTORE = {"pandas": _restore_pandas, "polars": _restore_polars, "pyarrow": _restore_arrow}
