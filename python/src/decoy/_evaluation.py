"""Comparisons with real rows, which are not private."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from ._arguments import arguments, seed_of
from ._errors import DataError, UsageError
from ._frames import source_of, to_arrow
from ._html import evaluation_page
from ._program import run
from ._schema import model_path, path_of


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


def evaluated(given: dict[str, Any]) -> Evaluation:
    """`decoy.evaluate`, with its keywords as a dict."""
    command, tables = ["evaluate", "--json=-"], []
    names: dict[str, str] = {}
    for name in ("train", "synthetic", "holdout"):
        if (frame := given[name]) is None and name == "holdout":
            continue
        try:
            if (place := source_of(frame)) is None:
                tables.append(to_arrow(frame)[0])
                place = "arrow:-" + (str(len(tables)) if len(tables) > 1 else "")
                names |= {f"--{name} {place}": name, place: name}
        except (UsageError, DataError) as error:
            raise type(error)(f"{name}: {error}") from None
        command.append(f"--{name}={place}")
    command += [*arguments(given), *(["--force"] if given["report"] is not None else [])]
    if (seed := seed_of(given["random_state"])) is not None:
        command.append(f"--seed={seed}")
    with ExitStack() as files:
        schema = files.enter_context(path_of(given["schema"], names))
        command += [f"--schema={schema}"]
        if given["model"] is not None:
            command.append(f"--model={files.enter_context(model_path(given['model'], names))}")
        out = run(command, tables, progress=given["progress"], names=names)
    report = json.loads(out)
    keys = ("question", "status", "answer", "rule")
    verdicts = [Verdict(*(line.get(key, "") for key in keys)) for line in report["summary"]]
    return Evaluation(verdicts, report)
