"""The estimator: fit, sample, save and load."""

from __future__ import annotations

import inspect
import json
import os
import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, fields
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ._arguments import DEFAULTS, arguments, keywords, path, seed_of, whole
from ._errors import UsageError
from ._frames import Dtypes, given_of, is_text, restore
from ._html import model_page
from ._options import Fit, Plan, Settings
from ._program import run
from ._schema import Schema, SchemaLike, path_of, temporary

if TYPE_CHECKING:
    from typing_extensions import Unpack

_Path = str | os.PathLike[str]

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


class Synthesizer:
    """Fits a model to a private frame, and samples synthetic ones from it.

    An estimator in the manner of scikit-learn: its keywords are its parameters, which a fit does
    not change. What a fit has made is in model, claim and schema_. A pickle holds the parameters,
    the model, and of the frame no more than names and types of the model's columns.
    """

    epsilon: float
    ledger: _Path
    schema: Any
    random_state: Any
    progress: bool
    _model: bytes | None = None
    _dtypes: dict[str, Dtypes] = {}  # of the model's columns by table; none: tables of pyarrow
    _about: dict[str, Any]  # what the model file says of itself
    _texts: list[str]  # columns that come as the texts of the schema, and are none in the model

    if TYPE_CHECKING:  # the other parameters

        def __getattr__(self, name: str) -> Any: ...

    @keywords(Fit, Plan, Settings)
    def __init__(self, *, epsilon: float, ledger: _Path, **options: Unpack[Fit]) -> None:
        """A synthesizer, which has read nothing yet.

        epsilon: privacy budget of everything the run reads (required, > 0).
        ledger: file that keeps the account: the same one for everything that is ever done with
            these people's rows (required).
        """
        given = {"epsilon": epsilon, "ledger": ledger, **options}
        self.__dict__.update({name: given.get(name, DEFAULTS.get(name)) for name in _PARAMETERS})
        self._check()

    def _check(self) -> None:
        """Refuses values of wrong types, with a UsageError."""
        path("ledger", self.ledger)
        if isinstance(self.random_state, (int, str, float)):
            seed_of(self.random_state)
        arguments(self.get_params())

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by their names; deep is there for scikit-learn."""
        return {name: getattr(self, name) for name in _PARAMETERS}

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
                 if name in ("epsilon", "ledger") or value is not DEFAULTS.get(name)]
        return f"Synthesizer({', '.join(given)})"

    def _repr_html_(self) -> str:
        if self._model is None:
            return f"<pre>{escape(repr(self))}</pre>"
        about = [("guarantee", str(self.claim)), ("method", self._about["method"]),
                 ("rows", f"about {self._about['rows']:,.0f}, a noisy count")]
        each = self.schema_.tables()
        columns = [{**column, "name": ".".join(filter(None, [one.get("table"), column["name"]]))}
                   for one in each for column in one["each"]]
        return model_page(about, columns, repr(self))

    def fit(self, frame: Any, *, resume: bool = False) -> Synthesizer:
        """Fits the model. The budget is in the ledger before a row is read.

        frame is a frame of pandas, polars or pyarrow; linked tables, a dict of such frames by the
        names of their tables; the path of a .csv, .xlsx, .jsonl, .parquet or .arrow file, or of a
        .zip of one; or the address of a table in another system, such as "postgres://...",
        "sc://..." or "duckdb:file.db?table=name" (docs/scale.md), whose rows stay there.

        After an interrupt or a crash the same call with resume=True goes on at no further cost, or
        takes the model if the program came to its end alone.
        """
        self._check()
        if isinstance(frame, Mapping) and self.schema is None and not self.get_params()["links"]:
            raise UsageError("linked tables need schema=, or links=, such as "
                             'links=["visits.patient_id=patients.patient_id"]')
        given = given_of(frame)
        # beside the ledger, where a run that goes on looks for it; moved into memory in the end
        model = Path(os.fspath(self.ledger) + ".fit.decoy")
        bought = Path(os.fspath(self.ledger) + ".fit.schema.yaml")
        if model.exists():
            if not resume:
                raise UsageError(f"{model} is a model that was paid for and never taken: "
                                 "fit(..., resume=True) takes it; or move it away")
            return self._take(model, bought, given.dtypes)
        command = ["fit", *given.places, *arguments(self.get_params()), f"--model={model}",
                   "--force"]
        command += ["--resume"] if resume else []
        names = {**given.names, f"--model {model}": f"ledger={os.fspath(self.ledger)}"}
        with ExitStack() as files:
            if self.schema is None:
                command.append("--header-is-public")
            else:
                command.append(f"--schema={files.enter_context(path_of(self.schema, names))}")
            run(command, given.tables, progress=self.progress, names=names)
        return self._take(model, bought, given.dtypes)

    def _take(self, model: Path, bought: Path, dtypes: dict[str, Dtypes]) -> Synthesizer:
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

    def _open(self, dtypes: dict[str, Dtypes], name: str = "the model") -> None:
        """Learns from the model what it is, and which columns its tables have."""
        with temporary("m.decoy", self.model) as file:
            names = {file: name}
            about = json.loads(run(["inspect", file, "--json"], names=names))
            shown = run(["inspect", file], names=names).decode()
        self._about = {key: about[key] for key in ("method", "rows", "schema", "claim")}
        self._about["guarantee"] = re.findall(r"^guarantee +(.*)$", shown, re.M)[0]
        one = self._draw(["--rows=1", "--seed=1"], name)
        self._dtypes = {table: dtypes[table].of(drawn.schema.names)
                        for table, drawn in one.items() if table in dtypes}
        self._texts = sorted({f.name for table, drawn in one.items() if table in self._dtypes
                              for f in drawn.schema
                              if f.name in self._dtypes[table].texts and not is_text(f.type)})

    @property
    def _linked(self) -> bool:
        """Whether the model is of several tables."""
        return bool(re.search(r"^tables:", self._about["schema"], re.M))

    def _draw(self, flags: list[str], name: str, progress: bool = False) -> dict[str, pa.Table]:
        """Synthetic tables by their names, "" of the only one."""
        with temporary("m.decoy", self.model) as file:
            command = ["sample", *flags, file]
            if not self._linked:
                out = run([*command, "--out=arrow:-"], progress=progress, names={file: name})
                return {"": pa.ipc.open_file(pa.BufferReader(out)).read_all()}
            folder = Path(file).parent / "tables"
            run([*command, f"--out-dir=arrow:{folder}"], progress=progress, names={file: name})
            return {one.name[:-len(".arrow")]: pa.ipc.open_file(one.read_bytes()).read_all()
                    for one in folder.iterdir()}

    def sample(
        self, num_rows: int | None = None, *, where: str | None = None, random_state: Any = None
    ) -> Any:
        """A synthetic frame, of the library and the types that were fitted.

        It costs nothing. num_rows is by default the noisy number of private rows, or its share
        under where. where keeps only rows that satisfy a condition, such as
        "age >= 30 and not (sex = F)". random_state takes the place of the synthesizer's.

        Of linked tables it is a dict of frames, and num_rows is of the table of units.

        What was fitted as texts, such as dates as DD.MM.YYYY, comes as the texts of the schema. Of
        a file, an address, or a loaded model without its types, it is a pyarrow.Table.
        """
        self.model  # which there must be
        if self._linked and where is not None:
            raise UsageError("where= is for one table, and the model is of linked ones")
        seed = seed_of(self.random_state if random_state is None else random_state)
        flags = [*arguments({"rows": num_rows, "where": where}),
                 *(f"--texts={name}" for name in self._texts)]
        flags += [f"--seed={seed}"] if seed is not None else []
        out = {table: restore(drawn, self._dtypes[table]) if table in self._dtypes else drawn
               for table, drawn in self._draw(flags, "the model", self.progress).items()}
        return out if self._linked else out[""]

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
            Dtypes.write(Path(file + _DTYPES), self._dtypes)
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
        out._open(Dtypes.read(types) if types.is_file() else {}, file)
        claim = out._about["claim"]
        out.__dict__ |= {"epsilon": claim["epsilon"], "delta": claim["delta"],
                         "method": out._about["method"], "ledger": ""}  # a model is no account
        return out


_PARAMETERS = list(inspect.signature(Synthesizer.__init__).parameters)[1:]


@keywords(Fit, Plan, Settings)
def generate(
    frame: Any, *, epsilon: float, ledger: _Path, rows: int | None = None, resume: bool = False,
    **options: Unpack[Fit],
) -> Any:
    """A synthetic frame of a private one, in one call: Synthesizer(...).fit(frame).sample(rows).

    frame: private table, as of Synthesizer.fit: a frame of pandas, polars or pyarrow, a dict of
        linked ones, a file or an address. Of a dict it returns a dict.
    epsilon: privacy budget of everything the run reads (required, > 0).
    ledger: file that keeps the account: the same one for everything that is ever done with
        these people's rows (required).
    rows: number of synthetic rows, at least 1, of linked tables in the table of units (default
        the noisy row count in the model).
    resume: continue a run that did not come to its end, at no further cost.
    """
    made = Synthesizer(epsilon=epsilon, ledger=ledger, **options)
    if rows is not None and not 1 <= whole("rows", rows) < 2**31:
        raise UsageError(f"rows={rows} must be at least 1, and below 2**31")
    return made.fit(frame, resume=resume).sample(rows)


@keywords(Plan, Settings)
def plan(
    schema: SchemaLike, *, epsilon: float, rows: int | None = None, **options: Unpack[Plan]
) -> dict[str, Any]:
    """What a fit would cost and how noisy it would be, from the schema alone; reads no data.

    schema: public description of the columns: a Schema, the path of one, its text or a dict
        (required).
    epsilon: privacy budget of everything the run reads (required, > 0).
    rows: public or guessed number of rows (default 10000).
    """
    names: dict[str, str] = {}
    given = {"epsilon": epsilon, "rows": rows, **options}
    with path_of(schema, names) as file:
        command = ["plan", "--json", f"--schema={file}", *arguments(given)]
        out: dict[str, Any] = json.loads(run(command, names=names))
    return out


_DTYPES = ".dtypes.json"
