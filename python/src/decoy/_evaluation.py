"""Comparisons with real rows, which are not private."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._arguments import arguments, keywords, seed_of
from ._errors import DataError, UsageError
from ._frames import given_of
from ._html import evaluation_page
from ._options import Evaluate
from ._program import run
from ._schema import SchemaLike, model_path, path_of

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class Verdict:
    """One line of the summary of an evaluation."""

    question: str
    status: str  # good, mixed, poor or unknown
    answer: str
    rule: str  # by which the status follows from the figures


@dataclass(frozen=True, repr=False)
class Evaluation:
    """A comparison with real rows. It is NOT PRIVATE: keep it as safe as the real table."""

    verdicts: list[Verdict]
    report: dict[str, Any]

    def __repr__(self) -> str:
        lines = [f"{v.status:8}{v.question}" for v in self.verdicts]
        return "\n".join(["Evaluation, which is NOT PRIVATE:", *lines])

    def _repr_html_(self) -> str:
        return evaluation_page(self.verdicts)


@keywords(Evaluate)
def evaluate(
    *, schema: SchemaLike, synthetic: Any, train: Any, **options: Unpack[Evaluate]
) -> Evaluation:
    """Compares a synthetic frame with the real one, and with real rows that were set aside.

    The figures are of the real rows, without noise: they are NOT PRIVATE.

    schema: public description of the columns: a Schema, the path of one, its text or a dict
        (required).
    synthetic: synthetic frame, or a dict of linked ones (required).
    train: real frame that the synthetic one was made from, or a dict of linked ones (required).
    """
    command = ["evaluate", "--json=-"]
    tables: list[Any] = []
    names: dict[str, str] = {}
    for name, frame in (("train", train), ("synthetic", synthetic),
                        ("holdout", options.get("holdout"))):
        if frame is None and name == "holdout":
            continue
        try:
            given = given_of(frame, name, len(tables))
        except (UsageError, DataError) as error:
            raise type(error)(f"{name}: {error}") from None
        tables += given.tables
        for place, called in given.names.items():
            names |= {f"--{name} {place}": called, place: called}
        command.append(f"--{name}={','.join(given.places)}")
    command += arguments(options)
    command += ["--force"] if options.get("report") is not None else []
    if (seed := seed_of(options.get("random_state"))) is not None:
        command.append(f"--seed={seed}")
    with ExitStack() as files:
        command += [f"--schema={files.enter_context(path_of(schema, names))}"]
        if (model := options.get("model")) is not None:
            command.append(f"--model={files.enter_context(model_path(model, names))}")
        out = run(command, tables, progress=options.get("progress", True), names=names)
    report = json.loads(out)
    keys = ("question", "status", "answer", "rule")
    verdicts = [Verdict(*(line.get(key, "") for key in keys)) for line in report["summary"]]
    return Evaluation(verdicts, report)
