"""The public description of a table."""

from __future__ import annotations

import json
import os
import re
import reprlib
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.types as kinds

from ._arguments import arguments
from ._arguments import path as path_text
from ._calls import infer as _infer
from ._errors import UsageError
from ._frames import schema_of, source_of, to_arrow
from ._program import run


@dataclass(frozen=True)
class Schema:
    """A schema, as YAML (`decoy help schema`).

    What of it is open, a key without a value, `Schema.infer` buys, or a person fills in.
    """

    yaml: str

    def __str__(self) -> str:
        return self.yaml

    def __repr__(self) -> str:
        return f"Schema({reprlib.repr(self.yaml)})"

    @staticmethod
    def read(path: str | os.PathLike[str]) -> Schema:
        """A schema from a file."""
        return Schema(Path(path).read_text(encoding="utf-8"))

    @staticmethod
    def from_sdv(metadata: Any) -> Schema:
        """A schema from metadata of SDV: a dict, an object with to_dict(), or the path of a file.

        They say neither bounds nor categories: these are left open. Columns of ids and of personal
        data (names, addresses) are left out. Of several tables there must be one.
        """
        if isinstance(metadata, (str, os.PathLike)):
            metadata = json.loads(Path(metadata).read_text(encoding="utf-8"))
        elif hasattr(metadata, "to_dict"):
            metadata = metadata.to_dict()
        if len(tables := list(metadata.get("tables", {"": metadata}).values())) != 1:
            raise UsageError("the metadata are of several tables: give those of one")
        lines = ["decoy: 1", "columns:"]
        for name, column in tables[0].get("columns", {}).items():
            kind = _SDV.get(column.get("sdtype"))
            if kind == pa.float64() and "Int" in str(column.get("computer_representation")):
                kind = pa.int64()
            if kind == pa.timestamp("us") and not re.search("%[HIMSfpcXs]", _format(column)):
                kind = pa.date32()
            if kind is not None:
                lines.append(f"  - name: {json.dumps(name, ensure_ascii=False)}")
                lines += [f"    {line}" for line in _open(kind)]
        if len(lines) == 2:
            raise UsageError("the metadata have no column of a kind that a table can be made of")
        return Schema("\n".join(lines) + "\n")

    @staticmethod
    def from_dtypes(frame: Any, *, dates: Collection[str] = ()) -> Schema:
        """A draft from the names and types of a frame, never from its values.

        Bounds and categories are open, also those of a categorical: its categories may be private.
        dates names columns of days, whose type, such as datetime64, is that of times of day.
        """
        if isinstance(dates, str):
            raise UsageError("dates is a list of names")
        types = dict(schema_of(frame))
        for name in dates:
            if name not in types:
                raise UsageError(f"dates: the frame has no column {name!r}")
            if not (kinds.is_timestamp(types[name]) or kinds.is_date(types[name])):
                raise UsageError(f"dates: column {name!r} holds no dates, but {types[name]}")
        lines = ["decoy: 1", "columns:"]
        for name, kind in types.items():
            kind = pa.date32() if name in dates else kind
            lines.append(f"  - name: {json.dumps(name, ensure_ascii=False)}")
            lines += [f"    {line}" for line in _open(kind)]
        return Schema("\n".join(lines) + "\n")

    infer = staticmethod(_infer)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the schema to a file."""
        Path(path).write_text(self.yaml, encoding="utf-8")


def inferred(given: dict[str, Any]) -> Schema:
    """`Schema.infer`, with its keywords as a dict."""
    place, tables = source_of(given["frame"]), []
    if place is None:
        place, tables = "arrow:-", [to_arrow(given["frame"])[0]]
    command = ["schema", "infer", place, "--header-is-public", "--out=-", *arguments(given)]
    command += ["--resume"] if given["resume"] else []
    names = {"arrow:-": "the frame"}
    with ExitStack() as files:
        if given["partial"] is not None:
            path = files.enter_context(path_of(given["partial"], names, "partial"))
            command.append(f"--schema={path}")
        return Schema(run(command, tables, progress=given["progress"], names=names).decode())


@contextmanager
def path_of(schema: Any, names: dict[str, str], name: str = "schema") -> Iterator[str]:
    """The path of a schema's file. names learns what a temporary one is called."""
    if isinstance(schema, Schema):
        with temporary("schema.yaml", schema.yaml) as path:
            names |= {f"--schema {path}": f"{name}=", path: name}
            yield path
        return
    if isinstance(schema, str) and "\n" in schema:
        raise UsageError(f"{name}= is the path of a file, or decoy.Schema(text)")
    if isinstance(schema, Mapping) or hasattr(schema, "to_dict"):
        raise UsageError(f"{name}= is a decoy.Schema or the path of one: decoy.Schema.from_sdv "
                         "makes one of the metadata of SDV")
    yield path_text(name, schema)


@contextmanager
def model_path(model: Any, names: dict[str, str]) -> Iterator[str]:
    """The path of a model's file, or of that of a synthesizer. names is as in path_of."""
    if not hasattr(model, "model"):
        yield path_text("model", model)
        return
    with temporary("m.decoy", model.model) as path:
        names |= {f"--model {path}": "model=", path: "the model"}
        yield path


@contextmanager
def temporary(name: str, content: str | bytes) -> Iterator[str]:
    """A file of something public, for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="decoy-") as folder:
        path = Path(folder) / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        yield str(path)


_SDV = {
    "boolean": pa.bool_(),
    "categorical": pa.string(),
    "numerical": pa.float64(),
    "datetime": pa.timestamp("us"),
}


def _format(column: dict[str, Any]) -> str:
    """How the dates of a column are written; SDV's default has a time of day."""
    return str(column.get("datetime_format") or "%H")


def _open(kind: pa.DataType) -> list[str]:
    bounds = ["min:", "max:"]
    if kinds.is_boolean(kind):
        return ["kind: boolean"]
    if kinds.is_integer(kind):
        return ["kind: integer", *bounds]
    if kinds.is_floating(kind) or kinds.is_decimal(kind):
        return ["kind: real", *bounds]
    if kinds.is_date(kind):
        return ["kind: date", *bounds]
    if kinds.is_timestamp(kind):
        return ["kind: timestamp", *bounds]
    return ["kind: categorical", "categories:"]
