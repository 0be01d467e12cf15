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
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.types as kinds

from ._arguments import arguments, keywords
from ._arguments import path as path_text
from ._errors import UsageError
from ._frames import given_of, schema_of
from ._options import Infer
from ._program import run

if TYPE_CHECKING:
    from typing_extensions import Unpack


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
        data (names, addresses) are left out. Of several tables it is the schema of linked tables,
        by the relationships. What orders the rows of a unit is the table's sequence_index, else it
        is open, and so is how many rows of a unit are used.
        """
        if isinstance(metadata, (str, os.PathLike)):
            metadata = json.loads(Path(metadata).read_text(encoding="utf-8"))
        elif hasattr(metadata, "to_dict"):
            metadata = metadata.to_dict()
        tables = metadata.get("tables", {"": metadata})
        if len(tables) == 1:
            (columns,) = (table.get("columns", {}) for table in tables.values())
            return Schema("\n".join(["decoy: 1", *_columns(_of_sdv(columns, set()))]) + "\n")
        parents = {one["child_table_name"]: one for one in metadata.get("relationships", [])}
        roots = [name for name in tables if name not in parents]
        if len(roots) != 1:
            raise UsageError("of several tables one must be no child, that of the units; there are "
                             f"{len(roots)}: {', '.join(roots)}")
        keys = {(one["parent_table_name"], one["parent_primary_key"]) for one in parents.values()}
        keys |= {(name, one["child_foreign_key"]) for name, one in parents.items()}
        lines = ["decoy: 1", f"unit: {_quoted(tables[roots[0]].get('primary_key', ''))}", "tables:"]
        for name, table in sorted(tables.items(), key=lambda item: item[0] in parents):
            lines.append(f"  - name: {_quoted(name)}")
            if name in parents:
                by = _quoted(table["sequence_index"]) if "sequence_index" in table else ""
                lines += [f"    parent: {_quoted(parents[name]['parent_table_name'])}",
                          f"    key: {_quoted(parents[name]['child_foreign_key'])}",
                          f"    order: {{by: {by}, rows: }}"]
            own = {column for of, column in keys if of == name}
            lines += [f"    {line}" for line in _columns(_of_sdv(table.get("columns", {}), own))]
        return Schema("\n".join(lines) + "\n")

    def to_sdv(self) -> dict[str, Any]:
        """Metadata of SDV, for `sdv.metadata.Metadata.load_from_dict`.

        They keep kinds and keys, and of linked tables what orders their rows; SDV has no place for
        bounds and categories. One table is called "table". A schema with open keys is a
        UsageError.
        """
        tables: dict[str, Any] = {}
        relationships = []
        for one in self.tables():
            name, key = one.get("table", "table"), one.get("unit")
            columns = {key: {"sdtype": "id"}} if key else {}
            columns |= {column["name"]: _to_sdv(column) for column in one["each"]}
            tables[name] = {"columns": columns}
            if parent := one.get("parent"):
                tables[name] |= {"sequence_key": key, "sequence_index": one["order"]}
                relationships.append({
                    "parent_table_name": parent, "child_table_name": name, "child_foreign_key": key,
                    "parent_primary_key": tables[parent]["primary_key"]})
            elif key and "table" in one:
                tables[name]["primary_key"] = key
        return {"tables": tables, "relationships": relationships, "METADATA_SPEC_VERSION": "V1"}

    def tables(self) -> list[dict[str, Any]]:
        """What `decoy schema check --json` says of each table, the first that of the units."""
        names: dict[str, str] = {}
        with path_of(self, names) as file:
            text = run(["schema", "check", file, "--json", "--quiet"], names=names).decode()
        out, decoder = [], json.JSONDecoder()
        while text := text.lstrip():
            table, end = decoder.raw_decode(text)
            out.append(table)
            text = text[end:]
        return out

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
        days = {name: pa.date32() if name in dates else kind for name, kind in types.items()}
        return Schema("\n".join(["decoy: 1", *_columns(days)]) + "\n")

    @staticmethod
    @keywords(Infer)
    def infer(
        frame: Any, *, epsilon: float, ledger: str | os.PathLike[str], resume: bool = False,
        **options: Unpack[Infer],
    ) -> Schema:
        """Buys what is open in a partial schema, or all, from noisy counts of a private frame.

        The names of the columns become public.

        frame: private table, as of Synthesizer.fit, but not linked ones.
        epsilon: privacy budget of everything the run reads (required, > 0).
        ledger: file that keeps the account: the same one for everything that is ever done with
            these people's rows (required).
        resume: continue a run that did not come to its end, at no further cost.
        """
        if isinstance(frame, Mapping):
            raise UsageError("linked tables, a dict of frames: their schema is not bought alone")
        given = given_of(frame)
        command = ["schema", "infer", *given.places, "--header-is-public", "--out=-"]
        command += arguments({"epsilon": epsilon, "ledger": ledger, **options})
        command += ["--resume"] if resume else []
        names = dict(given.names)
        with ExitStack() as files:
            if (partial := options.get("partial")) is not None:
                path = files.enter_context(path_of(partial, names, "partial"))
                command.append(f"--schema={path}")
            progress = options.get("progress", True)
            return Schema(run(command, given.tables, progress=progress, names=names).decode())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the schema to a file."""
        Path(path).write_text(self.yaml, encoding="utf-8")


SchemaLike: TypeAlias = "Schema | Mapping[str, Any] | str | os.PathLike[str]"


@contextmanager
def path_of(schema: Any, names: dict[str, str], name: str = "schema") -> Iterator[str]:
    """The path of a schema's file. names learns what a temporary one is called."""
    if isinstance(schema, str) and "\n" in schema:
        schema = Schema(schema)
    elif isinstance(schema, Mapping) and ("columns" in schema or "tables" in schema) and (
            "decoy" in schema):
        schema = Schema(json.dumps(schema, ensure_ascii=False, default=str) + "\n")  # is YAML, too
    if isinstance(schema, Schema):
        with temporary("schema.yaml", schema.yaml) as path:
            names |= {f"--schema {path}": f"{name}=", path: name}
            yield path
        return
    if isinstance(schema, Mapping) or hasattr(schema, "to_dict"):
        raise UsageError(f"{name}= is a decoy.Schema, the path of one, its text or a dict with the "
                         "key 'decoy': decoy.Schema.from_sdv makes one of the metadata of SDV")
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


def _to_sdv(column: dict[str, Any]) -> dict[str, str]:
    """A column of `Schema.tables` as metadata."""
    kind = column["kind"]
    if kind in ("integer", "real"):
        number = "Int64" if kind == "integer" else "Float"
        return {"sdtype": "numerical", "computer_representation": number}
    if "format" in column:
        text = re.sub("|".join(map(re.escape, _LAYOUT)), lambda part: _LAYOUT[part[0]],
                      column["format"])
        return {"sdtype": "datetime", "datetime_format": text}
    return {"sdtype": kind}


# parts of a layout, in which the program writes 2 January 2006, 15:04:05; longer ones first
_LAYOUT = {
    "2006": "%Y", "January": "%B", "Jan": "%b", "01": "%m", "02": "%d", "15": "%H", "03": "%I",
    "04": "%M", "05": "%S", "PM": "%p", ".000000": ".%f", ".000": ".%f", "Z07:00": "%z",
    "-07:00": "%z", "-0700": "%z", "06": "%y", "1": "%m", "2": "%d",
}


def _quoted(text: str) -> str:
    """A text as YAML."""
    return json.dumps(text, ensure_ascii=False)


def _of_sdv(columns: Mapping[str, Any], keys: set[str]) -> dict[str, pa.DataType]:
    """The types of columns, without keys and those that no table can be made of."""
    out = {}
    for name, column in columns.items():
        kind = _SDV.get(column.get("sdtype"))
        if kind == pa.float64() and "Int" in str(column.get("computer_representation")):
            kind = pa.int64()
        if kind == pa.timestamp("us") and not re.search("%[HIMSfpcXs]", _format(column)):
            kind = pa.date32()
        if kind is not None and name not in keys:
            out[name] = kind
    if not out:
        raise UsageError("the metadata have no column of a kind that a table can be made of")
    return out


def _columns(types: Mapping[str, pa.DataType]) -> list[str]:
    """The lines of columns that are open."""
    lines = ["columns:"]
    for name, kind in types.items():
        lines.append(f"  - name: {_quoted(name)}")
        lines += [f"    {line}" for line in _open(kind)]
    return lines


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
