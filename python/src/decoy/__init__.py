"""Synthetic tables under differential privacy: https://pypi.org/project/decoy-dp.

A thin layer over the program decoy, which is in this package. Frames of pandas, polars or pyarrow
go to it through a pipe: no private row is written to disk.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from ._errors import (
    BudgetError,
    DataError,
    DecoyError,
    DecoyWarning,
    Interrupted,
    LedgerLockedError,
    UsageError,
)
from ._frames import Restore, is_text, texts_of, to_arrow
from ._program import run
from ._schema import Schema, path_of, temporary

__all__ = [
    "BudgetError", "Claim", "DataError", "DecoyError", "DecoyWarning", "Evaluation",
    "Interrupted", "LedgerLockedError", "Schema", "Synthesizer", "UsageError", "Verdict",
    "evaluate", "generate", "load", "plan",
]

_Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Claim:
    """The guarantee of a model, and of all that is sampled from it."""

    epsilon: float
    delta: float
    adjacency: str
    unit: str = ""  # id column; "" is one row
    max_rows_per_unit: int = 1

    def __str__(self) -> str:
        what = "one row" if not self.unit else (
            f"all rows of one {self.unit!r}, of which at most {self.max_rows_per_unit} are used")
        verb = "replacing" if self.adjacency == "replace-one" else "adding or removing"
        return (f"(ε = {self.epsilon:g}, δ = {self.delta:g})-differential privacy "
                f"under {verb} {what}")


class Synthesizer:
    """Fits a model to a private frame, and samples synthetic ones from it.

    epsilon is the budget of the fit (> 0), delta the probability in its guarantee (the default is
    the program's, 1e-9). ledger names the file that keeps the account: the same one for everything
    that is ever done with these people's rows. schema is the public description of the columns, a
    path or a Schema; without it a third of the budget buys one, and the names of the columns become
    public. method and settings are as on the command line (`decoy config settings`); target is a
    column that the synthetic table will be used to predict.
    """

    def __init__(
        self,
        *,
        epsilon: float,
        ledger: _Path,
        schema: Schema | _Path | None = None,
        method: str = "auto",
        delta: float | None = None,
        target: str | None = None,
        unit: str | None = None,
        max_rows_per_unit: int | None = None,
        settings: Mapping[str, Any] | None = None,
        progress: bool = True,
    ) -> None:
        if not os.fspath(ledger):
            raise UsageError("ledger is empty: name the file that keeps the account")
        self.ledger = os.fspath(ledger)
        self.epsilon = epsilon
        self.schema: Schema | _Path | None = schema
        self._progress = progress
        self._model: bytes | None = None
        self._restore: Restore | None = None
        self._texts: set[str] = set()  # names of the columns of texts that were fitted
        self._fit = ["--method", method, f"--epsilon={epsilon!r}"]
        if delta is not None:
            self._fit.append(f"--delta={delta!r}")
        if target is not None:
            self._fit += ["--target", target]
        if unit is not None:
            self._fit += ["--unit", unit]
        if max_rows_per_unit is not None:
            self._fit.append(f"--max-rows-per-unit={max_rows_per_unit}")
        for key, value in (settings or {}).items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            self._fit.append(f"--set={key}={text}")

    def fit(self, frame: Any, *, resume: bool = False) -> Synthesizer:
        """Fits the model. The budget is in the ledger before a row is read.

        frame is a table, or the address of one in another system, such as "postgres://..." or
        "duckdb:file.db?table=name" (docs/scale.md), whose rows stay there.

        After an interrupt or a crash the same call with resume=True goes on at no further cost, or
        takes the model if the program came to its end alone.
        """
        source, table = "arrow:-", pa.table({})
        restore: Restore | None = None
        if isinstance(frame, str) and ":" in frame:
            source = frame
        else:
            table, restore = to_arrow(frame)
        tables = [table] if source == "arrow:-" else []
        # beside the ledger, where a run that goes on looks for it; moved into memory in the end
        model = Path(self.ledger + ".fit.decoy")
        bought = Path(self.ledger + ".fit.schema.yaml")
        if model.exists():
            if not resume:
                raise UsageError(f"{model} is a model that was paid for and never taken: "
                                 "fit(..., resume=True) takes it; or move it away")
            return self._take(model, bought, table, restore)
        arguments = ["fit", source, *self._fit, "--ledger", self.ledger, "--model", str(model),
                     "--force"]
        if resume:
            arguments.append("--resume")
        if self.schema is None:
            run([*arguments, "--header-is-public"], tables, progress=self._progress)
        else:
            with path_of(self.schema) as path:
                run([*arguments, "--schema", path], tables, progress=self._progress)
        return self._take(model, bought, table, restore)

    def _take(self, model: Path, bought: Path, table: pa.Table, restore: Any) -> Synthesizer:
        """Moves what a run has left beside the ledger into memory."""
        self._model, self._restore = model.read_bytes(), restore
        if (claim := self.claim).epsilon != self.epsilon:
            self._model = None
            raise UsageError(f"{model} is of another call, with epsilon {claim.epsilon}: move it away")
        self._texts = texts_of(table)
        if self.schema is None:
            self.schema = Schema.read(bought)
            bought.unlink()
        model.unlink()
        return self

    def sample(self, rows: int | None = None, *, seed: int | None = None) -> Any:
        """A synthetic frame, of the kind that was fitted; of a loaded model a pyarrow.Table.

        It costs nothing. rows is by default the noisy number of private rows. What was fitted as
        texts, such as dates as DD.MM.YYYY, comes as the texts of the schema.
        """
        arguments = ["sample", "--out", "arrow:-"]
        if rows is not None:
            arguments.append(f"--rows={rows}")
        if seed is not None:
            arguments.append(f"--seed={seed}")
        with temporary("m.decoy", self.model) as path:
            if self._texts:  # which of them the model holds as other values
                one = _table(run(["sample", "--out", "arrow:-", "--rows=1", "--seed=1", path]))
                arguments += [f"--texts={field.name}" for field in one.schema
                              if field.name in self._texts and not is_text(field.type)]
            table = _table(run([*arguments, path], progress=self._progress))
        return self._restore(table) if self._restore else table

    @property
    def model(self) -> bytes:
        """The model file, which is public."""
        if self._model is None:
            raise UsageError("there is no model yet: call fit")
        return self._model

    @property
    def claim(self) -> Claim:
        """The guarantee, recomputed from the account in the model."""
        with temporary("m.decoy", self.model) as path:
            claim = json.loads(run(["verify", path, "--json"]))["claim"]
        return Claim(**claim)

    def save(self, path: _Path) -> None:
        """Writes the model, which may be given away."""
        Path(path).write_bytes(self.model)


def _table(arrow: bytes) -> pa.Table:
    return pa.ipc.open_file(pa.BufferReader(arrow)).read_all()


def load(path: _Path) -> Synthesizer:
    """A model from its file: to sample from, and for its claim.

    A file that is no model is a DecoyError.
    """
    out = Synthesizer(epsilon=0, ledger=os.devnull)
    out._model = Path(path).read_bytes()
    with temporary(Path(path).name, out._model) as copy:
        run(["sample", "--out", "arrow:-", "--rows=1", copy])
    return out


def generate(
    frame: Any,
    *,
    epsilon: float,
    ledger: _Path,
    rows: int | None = None,
    seed: int | None = None,
    resume: bool = False,
    **options: Any,
) -> Any:
    """A synthetic frame of a private one: Synthesizer(**options).fit(frame).sample(rows)."""
    fitted = Synthesizer(epsilon=epsilon, ledger=ledger, **options).fit(frame, resume=resume)
    return fitted.sample(rows, seed=seed)


def plan(
    schema: Schema | _Path, *, epsilon: float, delta: float | None = None, method: str = "auto"
) -> dict[str, Any]:
    """What a fit would cost and how noisy it would be, from the schema alone; reads no data."""
    arguments = ["plan", f"--epsilon={epsilon!r}", "--method", method, "--json"]
    if delta is not None:
        arguments.append(f"--delta={delta!r}")
    with path_of(schema) as path:
        out: dict[str, Any] = json.loads(run([*arguments, "--schema", path]))
    return out


@dataclass(frozen=True)
class Verdict:
    """One line of the summary of an evaluation."""

    question: str
    status: str  # good, mixed, poor or unknown
    answer: str
    rule: str  # by which the status follows from the figures


@dataclass(frozen=True)
class Evaluation:
    """A comparison with real rows. It is NOT PRIVATE: keep it as safe as the real table."""

    verdicts: list[Verdict]
    report: dict[str, Any]


def evaluate(
    *,
    train: Any,
    synthetic: Any,
    schema: Schema | _Path,
    holdout: Any = None,
    target: str | None = None,
    progress: bool = True,
) -> Evaluation:
    """Compares a synthetic frame with the real one, and with real rows that were set aside.

    The figures are of the real rows, without noise: they are NOT PRIVATE.
    """
    given = {"--train": train, "--synthetic": synthetic, "--holdout": holdout}
    arguments = ["evaluate", "--json", "-"]
    tables = []
    for flag, frame in given.items():
        if frame is not None:
            tables.append(to_arrow(frame)[0])
            arguments += [flag, "arrow:-" + (str(len(tables)) if len(tables) > 1 else "")]
    if target is not None:
        arguments += ["--target", target]
    with path_of(schema) as path:
        report = json.loads(run([*arguments, "--schema", path], tables, progress=progress))
    keys = ("question", "status", "answer", "rule")
    verdicts = [Verdict(*(line.get(key, "") for key in keys)) for line in report["summary"]]
    return Evaluation(verdicts, report)
