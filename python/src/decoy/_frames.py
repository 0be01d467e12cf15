"""Tables of pandas, polars and pyarrow, to Arrow and back with the types they had.

Only names and types of a private table are kept for the way back, never a value: a synthetic
categorical has the categories of the schema, not those of the private column.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.types as kinds

from ._errors import DataError, UsageError

Restore = Callable[[pa.Table], Any]

OBJECTS = "objects"

TEXTS = ("object", "str", "string")  # dtypes of pandas whose cells may be anything, or any text


def to_arrow(frame: Any) -> tuple[pa.Table, Restore]:
    """The table of a frame, and the way back for one with the same names."""
    if isinstance(frame, pa.Table):
        types = dict(zip(frame.schema.names, frame.schema.types))
        return _plain(frame), lambda out: _cast(out, types)
    module = type(frame).__module__.partition(".")[0]
    if module == "polars":
        return _polars(frame)
    if module == "pandas":
        return _pandas(frame)
    raise UsageError(f"a table must be of pandas, polars or pyarrow, not {type(frame).__name__}")


def schema_of(frame: Any) -> list[tuple[str, pa.DataType]]:
    """Names and types; of no rows."""
    table, _ = to_arrow(frame[:0] if not isinstance(frame, pa.Table) else frame.slice(0, 0))
    return list(zip(table.schema.names, table.schema.types))


def _plain(table: pa.Table) -> pa.Table:
    """The table in types that the program reads."""
    if len(set(table.schema.names)) != len(table.schema.names):
        raise UsageError("two columns have one name")
    columns = []
    for name, column in zip(table.schema.names, table.columns):
        kind = column.type
        if kinds.is_dictionary(kind) and not is_text(kind.value_type):
            kind = kind.value_type
        if kinds.is_null(kind) or _is_view(kind):
            kind = pa.string()
        elif kinds.is_dictionary(kind) and _is_view(kind.value_type):
            kind = pa.dictionary(pa.int32(), pa.string())
        columns.append(column if kind == column.type else _to(name, column, kind))
    return pa.table(columns, names=table.schema.names)


def _to(name: str, column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    try:
        return column.cast(kind)
    except pa.ArrowException:
        raise DataError(f"column {name!r} of type {column.type} cannot be read") from None


def texts_of(table: pa.Table) -> set[str]:
    """The columns that were given as texts. Objects, sent as texts, tell no type of their own."""
    objects = json.loads((table.schema.metadata or {}).get(OBJECTS.encode(), b"[]"))
    return {f.name for f in table.schema if is_text(f.type) and f.name not in objects}


def is_text(kind: pa.DataType) -> bool:
    """Whether values are texts, also those of a dictionary."""
    if kinds.is_dictionary(kind):
        kind = kind.value_type
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind) or _is_view(kind))


def _is_view(kind: pa.DataType) -> bool:
    return str(kind) == "string_view"


def _cast(out: pa.Table, types: dict[str, pa.DataType]) -> pa.Table:
    """A synthetic table in the types of the private one, where its values allow it."""
    columns = []
    for name, column in zip(out.schema.names, out.columns):
        kind = types.get(name, column.type)
        if kinds.is_dictionary(kind) and is_text(kind.value_type):
            if not kinds.is_dictionary(column.type):
                column = column.cast(pa.string()).dictionary_encode()
            kind = pa.dictionary(column.type.index_type, column.type.value_type, kind.ordered)
        elif kinds.is_dictionary(kind):
            kind = kind.value_type
        if kinds.is_dictionary(column.type) and not kinds.is_dictionary(kind):
            column = column.cast(column.type.value_type)
        if not kinds.is_null(kind):
            try:
                column = column.cast(kind)
            except pa.ArrowException:  # such as a bound of the schema beyond an int8
                pass
        columns.append(column)
    return pa.table(columns, names=out.schema.names)


def _polars(frame: Any) -> tuple[pa.Table, Restore]:
    import polars as pl

    if isinstance(frame, pl.LazyFrame):
        raise UsageError("a LazyFrame has no rows: call collect() first")
    private = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    types = dict(zip(private.schema.names, private.schema.types))

    def restore(out: pa.Table) -> Any:
        return pl.from_arrow(_cast(out, types))

    return _plain(private), restore


def _pandas(frame: Any) -> tuple[pa.Table, Restore]:
    if not all(isinstance(name, str) for name in frame.columns):
        raise UsageError("the names of the columns must be texts")
    if not frame.columns.is_unique:
        raise UsageError("two columns have one name")
    dtypes = {name: frame.dtypes[name] for name in frame.columns}
    columns = []
    for name in frame.columns:
        try:
            columns.append(_column(frame[name]))
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise DataError(f"column {name!r} of type {dtypes[name]} cannot be read") from None
    private = pa.table(columns, names=list(frame.columns))
    objects = [name for name, d in dtypes.items() if d.name == "object"]
    types = {f.name: f.type for f in private.schema if f.name not in objects}
    # of a categorical only that it is one: its categories may be private
    kept = {name: None if d.name == "category" else d for name, d in dtypes.items()}

    def restore(out: pa.Table) -> Any:
        pandas = sys.modules["pandas"]
        back = _cast(out, types)
        return pandas.DataFrame(
            {n: _series(pandas, back[n], kept.get(n)) for n in back.schema.names}
        )

    return _plain(private).replace_schema_metadata({OBJECTS: json.dumps(objects)}), restore


def _column(series: Any) -> pa.ChunkedArray:
    """The column in a type that its dtype decides, and no cell: an odd one must not show."""
    dtype = series.dtype
    if dtype.name == "category" and dtype.categories.dtype.name in TEXTS:
        return _texts(series.astype(object)).dictionary_encode()
    if dtype.name in TEXTS:
        return _texts(series)
    column = pa.Array.from_pandas(series)
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


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


def _series(pandas: Any, column: pa.ChunkedArray, dtype: Any) -> Any:
    if dtype is None:
        return column.to_pandas()
    if column.null_count and isinstance(dtype.type, type):
        if dtype.kind in "iu" and not pandas.api.types.is_extension_array_dtype(dtype):
            name = dtype.name.replace("u", "U").replace("int", "Int").replace("UInt", "UInt")
            dtype = pandas.api.types.pandas_dtype(name)
        elif dtype.kind == "b" and not pandas.api.types.is_extension_array_dtype(dtype):
            dtype = pandas.BooleanDtype()
    if pandas.api.types.is_extension_array_dtype(dtype) and hasattr(dtype, "__from_arrow__"):
        try:
            return column.to_pandas(types_mapper=lambda _: dtype)
        except (TypeError, ValueError, NotImplementedError):
            pass
    series = column.to_pandas()
    if series.dtype == dtype:
        return series
    try:
        return series.astype(dtype)
    except (TypeError, ValueError, OverflowError):  # such as a value beyond an int8
        return series
