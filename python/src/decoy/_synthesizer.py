"""The estimator: fit, sample, save and load."""

from __future__ import annotations

import inspect
import json
import os
import re
from dataclasses import dataclass, field, fields
from html import escape
from pathlib import Path
from typing import Any

import pyarrow as pa

from ._arguments import arguments, path, seed_of, whole
from ._errors import UsageError
from ._frames import Dtypes, is_text, restore, source_of, to_arrow
from ._html import model_page
from ._options import Options
from ._program import run
from ._schema import Schema, path_of, temporary

_Path = str | os.PathLike[str]

_SIGNATURE = inspect.signature(Options)


@dataclass(frozen=True)
class Claim:
    """The guarantee of a model, and of all that is sampled from it."""

    epsilon: float
    delta: float
    adjacency: str
    unit: str = ""  # id column; "" is one row
    max_rows_per_unit: int = 1
    text: str = field(default="", compare=False)  # the guarantee as a sentence

    def __str__(self) -> str:
        return self.text


Options.__init__.__qualname__ = "Synthesizer.__init__"  # as a TypeError should name it


class Synthesizer(Options):
    """Fits a model to a private frame, and samples synthetic ones from it.

    An estimator in the manner of scikit-learn: its keywords are its parameters, which a fit does
    not change. What a fit has made is in model, claim and schema_. A pickle holds the parameters,
    the model, and of the frame no more than names and types of the model's columns.
    """

    _model: bytes | None = None
    _dtypes: Dtypes | None = None  # of the model's columns, or None: tables of pyarrow
    _about: dict[str, Any]  # what the model file says of itself
    _texts: list[str]  # columns that come as the texts of the schema, and are none in the model

    def _check(self) -> None:
        path("ledger", self.ledger)
        if isinstance(self.random_state, (int, str, float)):
            seed_of(self.random_state)
        arguments(self.get_params())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by their names; deep is there for scikit-learn."""
        return {name: getattr(self, name) for name in _SIGNATURE.parameters}

    def set_params(self, **params: Any) -> Synthesizer:
        """Changes parameters, of the next fit. A model that is there stays as it is."""
        before = self.get_params()
        for name in params:
            if name not in before:
                raise UsageError(f"there is no parameter {name!r}; there are {', '.join(before)}")
        try:
            self.__dict__.update(params)
            self._check()
        except UsageError:
            self.__dict__.update(before)
            raise
        return self

    def __repr__(self) -> str:
        given = [f"{name}={value!r}" for name, value in self.get_params().items()
                 if value is not _SIGNATURE.parameters[name].default]
        return f"Synthesizer({', '.join(given)})"

    def _repr_html_(self) -> str:
        if self._model is None:
            return f"<pre>{escape(repr(self))}</pre>"
        with path_of(self.schema_, {}) as file:
            columns = json.loads(run(["schema", "check", file, "--json"]))["each"]
        about = [("guarantee", str(self.claim)), ("method", self._about["method"]),
                 ("rows", f"about {self._about['rows']:,.0f}, a noisy count")]
        return model_page(about, columns, repr(self))

    def fit(self, frame: Any, *, resume: bool = False) -> Synthesizer:
        """Fits the model. The budget is in the ledger before a row is read.

        frame is a frame of pandas, polars or pyarrow; the path of a .csv, .parquet or .arrow file;
        or the address of a table in another system, such as "postgres://...", "sc://..." or
        "duckdb:file.db?table=name" (docs/scale.md), whose rows stay there.

        After an interrupt or a crash the same call with resume=True goes on at no further cost, or
        takes the model if the program came to its end alone.
        """
        self._check()
        place, tables, dtypes = source_of(frame), [], None
        if place is None:
            table, dtypes = to_arrow(frame)
            place, tables = "arrow:-", [table]
        # beside the ledger, where a run that goes on looks for it; moved into memory in the end
        model = Path(os.fspath(self.ledger) + ".fit.decoy")
        bought = Path(os.fspath(self.ledger) + ".fit.schema.yaml")
        if model.exists():
            if not resume:
                raise UsageError(f"{model} is a model that was paid for and never taken: "
                                 "fit(..., resume=True) takes it; or move it away")
            return self._take(model, bought, dtypes)
        command = ["fit", place, *arguments(self.get_params()), f"--model={model}", "--force"]
        command += ["--resume"] if resume else []
        names = {"arrow:-": "the frame", f"--model {model}": f"ledger={os.fspath(self.ledger)}"}
        if self.schema is None:
            run([*command, "--header-is-public"], tables, progress=self.progress, names=names)
        else:
            with path_of(self.schema, names) as file:
                run([*command, f"--schema={file}"], tables, progress=self.progress, names=names)
        return self._take(model, bought, dtypes)

    def _take(self, model: Path, bought: Path, dtypes: Dtypes | None) -> Synthesizer:
        """Moves what a run has left beside the ledger into memory."""
        before = self.__dict__.copy()
        self._model = model.read_bytes()
        self._open(dtypes)
        if (claim := self.claim).epsilon != self.epsilon:
            self.__dict__ = before
            raise UsageError(f"{model} is of another call, with epsilon={claim.epsilon}: "
                             "move it away")
        if self.schema is None:
            bought.unlink(missing_ok=True)
        model.unlink()
        return self

    def _open(self, dtypes: Dtypes | None, name: str = "the model") -> None:
        """Learns from the model what it is, and which columns its tables have."""
        with temporary("m.decoy", self.model) as file:
            names = {file: name}
            about = json.loads(run(["inspect", file, "--json"], names=names))
            shown = run(["inspect", file], names=names).decode()
            row = ["sample", "--out=arrow:-", "--rows=1", "--seed=1", file]
            one = _table(run(row, names=names))
        self._about = {key: about[key] for key in ("method", "rows", "schema", "claim")}
        self._about["guarantee"] = re.findall(r"^guarantee +(.*)$", shown, re.M)[0]
        self._dtypes = dtypes and dtypes.of(one.schema.names)
        given = self._dtypes.texts if self._dtypes else ()
        self._texts = [f.name for f in one.schema if f.name in given and not is_text(f.type)]

    def sample(
        self, num_rows: int | None = None, *, where: str | None = None, random_state: Any = None
    ) -> Any:
        """A synthetic frame, of the library and the types that were fitted.

        It costs nothing. num_rows is by default the noisy number of private rows, or its share
        under where. where keeps only rows that satisfy a condition, such as
        "age >= 30 and not (sex = F)". random_state takes the place of the synthesizer's.

        What was fitted as texts, such as dates as DD.MM.YYYY, comes as the texts of the schema. Of
        a file, an address, or a loaded model without its types, it is a pyarrow.Table.
        """
        model = self.model
        seed = seed_of(self.random_state if random_state is None else random_state)
        command = ["sample", "--out=arrow:-", *arguments({"rows": num_rows, "where": where})]
        command += [f"--seed={seed}"] if seed is not None else []
        command += [f"--texts={name}" for name in self._texts]
        with temporary("m.decoy", model) as file:
            table = _table(run([*command, file], progress=self.progress, names={file: "the model"}))
        return restore(table, self._dtypes) if self._dtypes else table

    @property
    def model(self) -> bytes:
        """The model file, which is public."""
        if self._model is None:
            raise UsageError("there is no model yet: call fit")
        return self._model

    @property
    def claim(self) -> Claim:
        """The guarantee, recomputed from the account in the model."""
        with temporary("m.decoy", self.model) as file:
            claim = json.loads(run(["verify", file, "--json"], names={file: "the model"}))["claim"]
        known = {f.name: claim[f.name] for f in fields(Claim) if f.name in claim}
        return Claim(**known, text=self._about["guarantee"])

    @property
    def schema_(self) -> Schema:
        """The schema of the model: the one that was given, with what was bought."""
        self.model  # which there must be
        return Schema(self._about["schema"])

    def save(self, filepath: _Path) -> None:
        """Writes the model, which may be given away, and beside it the types of the frame.

        The types are in filepath + ".dtypes.json", for `load`: names and types of the model's
        columns. A model without that file is whole, and its tables are of pyarrow.
        """
        file = path("filepath", filepath)
        Path(file).write_bytes(self.model)
        if self._dtypes:
            Path(file + _DTYPES).write_text(self._dtypes.json(), encoding="utf-8")
        else:
            Path(file + _DTYPES).unlink(missing_ok=True)

    @staticmethod
    def load(filepath: _Path) -> Synthesizer:
        """A model from its file: to sample from, and for its claim.

        Types come from the file that `save` writes beside it. A file that is no model is a
        DecoyError. To fit again, set_params(ledger=...) first.
        """
        file = path("filepath", filepath)
        out = Synthesizer(epsilon=1, ledger=file)
        out._model = Path(file).read_bytes()
        types = Path(file + _DTYPES)
        out._open(Dtypes.read(types) if types.is_file() else None, file)
        out.epsilon, out.delta = out._about["claim"]["epsilon"], out._about["claim"]["delta"]
        out.method, out.ledger = out._about["method"], ""  # a model is no account
        return out


def generated(given: dict[str, Any]) -> Any:
    """`decoy.generate`, with its keywords as a dict."""
    made = Synthesizer(**{name: given[name] for name in _SIGNATURE.parameters})
    if given["rows"] is not None and not 1 <= whole("rows", given["rows"]) < 2**31:
        raise UsageError(f"rows={given['rows']} must be at least 1, and below 2**31")
    return made.fit(given["frame"], resume=given["resume"]).sample(given["rows"])


def planned(given: dict[str, Any]) -> dict[str, Any]:
    """`decoy.plan`, with its keywords as a dict."""
    names: dict[str, str] = {}
    with path_of(given["schema"], names) as file:
        command = ["plan", "--json", f"--schema={file}", *arguments(given)]
        out: dict[str, Any] = json.loads(run(command, names=names))
    return out


def _table(arrow: bytes) -> pa.Table:
    return pa.ipc.open_file(pa.BufferReader(arrow)).read_all()


_DTYPES = ".dtypes.json"
