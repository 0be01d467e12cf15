"""Writes the signatures of the package, from what the program says of its flags and settings:

    python python/signatures.py ./decoy

Without --check it writes src/decoy/_options.py; with --check it fails if that differs. A flag of
the program that is neither a keyword nor named in LEFT_OUT or BY_HAND is an error.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent / "src" / "decoy"

VERBS = ["fit", "sample", "plan", "evaluate", "schema infer"]

# flags that are no keyword, and what the package has in their place
LEFT_OUT = {
    "config": "keywords are the configuration", "help": "help() prints the docstrings",
    "quiet": "progress=False, and the logger", "json": "results are objects",
    "force": "the package keeps no two results under one name",
    "input": "the first argument", "dataset": "a simulated table is a file like another",
    "model (fit)": "Synthesizer.save", "out": "what is returned",
    "out-dir": "a folder of what is returned", "link": "links, a list", "order": "a list",
    "randomized": "answers that were made private by each respondent, on the command line",
    "header-is-public": "a call without a schema says so, as its docstring tells",
    **{flag: "frames hold texts, and have a header" for flag in ("encoding", "header-line", "sheet")},
    "set": "each setting is a keyword", "dry-run": "of schema infer, on the command line",
    "seed": "random_state", "spreadsheet-safe": "is of CSV", "texts": "by the dtypes",
    **{f"{flag} (plan)": "plan takes a schema" for flag in ("unit", "max-rows-per-unit")},
    **{f"{flag} (evaluate)": "figures with noise are published on the command line"
       for flag in ("epsilon", "delta", "adjacency", "ledger", "resume")},
}

# keywords that are written in each call, as they must be given or differ from call to call
BY_HAND = {"epsilon", "ledger", "resume", "rows", "where", "train", "synthetic", "schema (plan)",
           "schema (evaluate)"}

PATH = "str | os.PathLike[str]"
SCHEMA = "Schema | Mapping[str, Any] | str | os.PathLike[str]"

# types and texts of what the command line has as a file, or says otherwise than Python does
TYPES = {
    "delta": "float", "adjacency": "Adjacency", "method": "Method", "target": "str", "unit": "str",
    "max_rows_per_unit": "int", "workload": "str", "schema": SCHEMA, "holdout": "Any",
    "report": PATH, "model": "Synthesizer | str | os.PathLike[str]", "positive": "str | int",
    "drop": "Sequence[str]", "links": "Sequence[str]", "order": "Sequence[str]",
    "random_state": "Any", "progress": "bool",
}
TEXTS = {
    "schema": "public description of the columns: a Schema, the path of one, its text or a dict. "
              "Without it a third of the budget buys one, and the names of the columns become "
              "public",
    "schema (schema infer)": "partial schema, as schema of a fit: only what is open in it is "
                             "bought",
    "unit": "id column: all rows with one id are one privacy unit (a schema names its own)",
    "max_rows_per_unit": "how many rows of a unit are used, where unit is given",
    "links": "of linked tables without a schema: which column of a table holds the ids of which of "
             "another, as in [\"visits.patient_id=patients.patient_id\"]",
    "order": "of linked tables without a schema: the columns that order the rows of a unit, as in "
             "[\"visits.date\"]",
    "holdout": "frame of other real rows, which the synthesizer did not see",
    "report": "page of HTML to write, with all figures. It is not private, either",
    "model": "model of the synthetic frame, fitted or a file: its guarantee is verified and shown",
    "drop": "columns not to predict from, such as those that give the answer away",
    "random_state": "of sampling, which is public: a whole number gives the same rows each time; a "
                    "numpy RandomState or Generator is drawn from; None is random. The noise of a "
                    "fit has no seed",
    "random_state (evaluate)": "of subsamples and bootstraps, which is public (default 1)",
    "progress": "whether a long run shows a bar, in a terminal or a notebook",
}
# flags whose text leaves to the methods what they mean
DETAILED = {"workload"}
# names of settings that a call has for something else
TAKEN = {"rows"}

KINDS = {"number": "float", "whole number": "int", "text": "str", "list of text": "Sequence[str]",
         "list of whole number": "Sequence[int]"}


@dataclass
class Option:
    """A keyword."""

    name: str
    kind: str  # type of its values
    text: str
    setting: str = ""  # of methods: its name there; "" of a flag
    methods: dict[str, str] = field(default_factory=dict)  # of a setting: texts by method

    def attribute(self) -> str:
        kind = self.kind if self.kind in ("Any", "bool", "Method") else f"{self.kind} | None"
        return f"    {self.name}: {kind}\n"

    def doc(self) -> str:
        """The lines of a docstring: one text, or below it one for each method."""
        texts = dict(self.methods)
        first = self.text or (f"({', '.join(texts)}) {texts.popitem()[1]}" if len(texts) == 1 else "")
        lines = [fill(f"{self.name}: {first}".rstrip() + "." * bool(first), INDENT)]
        return "\n".join(lines + [fill(f"{method}: {text}.", INDENT + "    ")
                                  for method, text in texts.items()])


INDENT = "    "


def fill(text: str, indent: str) -> str:
    return textwrap.fill(text, 96, initial_indent=indent, subsequent_indent=indent + "    ",
                         break_on_hyphens=False)


def ask(program: str, *arguments: str) -> str:
    done = subprocess.run([program, *arguments], check=True, capture_output=True, encoding="utf-8")
    return done.stdout


def flags_of(program: str, verb: str) -> dict[str, tuple[str, str]]:
    """The flags of a verb, each with its placeholder and its text, as its help has them."""
    page = ask(program, *verb.split(), "--help")
    part = page.partition("\nFlags:\n")[2].partition("\nFlags of every verb:")[0]
    out: dict[str, tuple[str, str]] = {}
    name = ""
    for line in part.splitlines():
        if start := re.match(r" +(?:-\w, )?--([a-z-]+)(?: (\S+))?  +(.*)", line):
            name = start[1]
            out[name] = (start[2] or "", start[3].strip())
        elif line.strip():
            out[name] = (out[name][0], f"{out[name][1]} {line.strip()}")
    return out


def plain(text: str, placeholder: str = "") -> str:
    """The text of a flag or setting, as a docstring has it."""
    if len(placeholder) == 1:
        text = re.sub(rf",? {placeholder}\b", "", text)
    text = re.sub(r" ?\(of the methods that have this setting\)", "", text)
    text = re.sub(r"^COLUMN\b|\bthe VALUE\b", lambda word: word[0].lower(), text)
    text = re.sub(r"^column NAME\b", "column", text)
    text = re.sub(r"^[A-Z]\w+ is (the |a )?", "", text)
    text = re.sub(r", see rowsFor", "", text)  # a function of the program
    text = re.sub(r"\bas in (\d+),(\d+)", r"as in [\1, \2]", text)
    text = re.sub(r"\b(Sets|Alpha)\b", lambda word: word[0].lower(), text)
    text = re.sub(r"--([a-z-]+)", lambda flag: flag[1].replace("-", "_"), text)
    return text.rstrip(".")


def options_of(program: str, verb: str) -> list[Option]:
    """The keywords of a verb: its flags, and, where it has --set, the settings of all methods."""
    found = flags_of(program, verb)
    settings = settings_of(program) if "set" in found else {}
    out = []
    for flag, (placeholder, text) in found.items():
        if flag in LEFT_OUT or f"{flag} ({verb})" in LEFT_OUT:
            continue
        name = flag.replace("-", "_")
        if name not in TYPES and flag not in BY_HAND:
            raise SystemExit(f"--{flag} of {verb} is new: give it a type here, or leave it out")
        setting = settings.pop(name, None)  # a flag that stands for a setting
        if name in TYPES and f"{flag} ({verb})" not in BY_HAND:
            text = TEXTS.get(f"{name} ({verb})", TEXTS.get(name)) or plain(text, placeholder)
            if setting and name not in DETAILED:
                text += f" (of {', '.join(', '.join(setting.methods).split(', '))})"
            more = setting.methods if setting and name in DETAILED else {}
            out.append(Option(name, TYPES[name], text, "", more))
    return out + list(settings.values())


def addresses_of(program: str) -> str:
    page = ask(program, "fit", "--help").partition("\nOperands:\n")[2].partition("\nFlags:\n")[0]
    found = re.findall(r"\b([a-z]+:(?://)?)(?=[A-Z])", page)
    return "(" + ", ".join(f'"{address}"' for address in found) + ")"


def methods_of(program: str) -> list[str]:
    text = flags_of(program, "fit")["method"][1]
    return re.split(", ", re.sub(r"^.*?: | \(default.*", "", text))


def settings_of(program: str) -> dict[str, Option]:
    """The settings of all methods. Methods that say the same of one stand together."""
    out: dict[str, Option] = {}
    texts: dict[str, dict[str, list[str]]] = {}
    for method in methods_of(program)[1:]:
        for one in json.loads(ask(program, "config", "settings", "--json", "--method", method)):
            name = f"{method}_{one['key']}" if one["key"] in TAKEN else one["key"]
            option = out.setdefault(
                name, Option(name, KINDS[one["type"]], "", one["key"]))
            if option.kind != KINDS[one["type"]]:
                raise SystemExit(f"{name} has two types: name one of them otherwise, as TAKEN does")
            texts.setdefault(name, {}).setdefault(plain(one["text"]), []).append(method)
    for name, option in out.items():
        option.methods = {", ".join(of): text for text, of in texts[name].items()}
    return out


def kept(title: str, options: list[Option], base: str = "TypedDict") -> str:
    """A class of keywords: each with its type, and in the docstring its text."""
    texts = "\n".join(option.doc() for option in options)
    return (f'class {title}({base}, total=False):\n    """\n{texts}\n    """\n\n'
            + "".join(option.attribute() for option in options) + "\n\n")


def write(program: str) -> str:
    """The text of the file."""
    verbs = {verb: options_of(program, verb) for verb in VERBS}
    more = {verb: [Option(name, TYPES[name], TEXTS.get(f"{name} ({verb})", TEXTS[name]))
                   for name in ("links", "order", "random_state", "progress") if use(name, verb)]
            for verb in VERBS}
    settings = [o for o in verbs["fit"] if o.setting]
    plan = [o for o in verbs["plan"] if not o.setting]
    names = {o.name for o in plan}
    fit = [o for o in verbs["fit"] if not o.setting and o.name not in names] + more["fit"]
    infer = verbs["schema infer"] + more["schema infer"]
    for option in infer:
        option.name = "partial" if option.name == "schema" else option.name
    renamed = ", ".join(f'"{o.name}": "{o.setting}"' for o in settings if o.name != o.setting)
    methods = ", ".join(f'"{m}"' for m in methods_of(program))
    return f'''\
"""Keywords, each with its type and its text.

Written by python/signatures.py, from what the program says: do not edit.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from ._schema import Schema
    from ._synthesizer import Synthesizer

Method = Literal[{methods}]
Adjacency = Literal["add-remove", "replace-one"]

# how the address of a table in another system begins, which a fit takes
ADDRESSES = {addresses_of(program)}

# settings of methods that have another name there
RENAMED = {{{renamed}}}


{kept("Settings", settings)}{kept("Plan", plan, "Settings")}{kept("Fit", fit, "Plan")}\
{kept("Infer", infer)}{kept("Evaluate", verbs["evaluate"] + more["evaluate"])}'''.rstrip() + "\n"


def use(name: str, verb: str) -> bool:
    """Whether a call has a keyword that is no flag of its verb."""
    return verb == "fit" or name in {"evaluate": ("random_state", "progress"),
                                     "schema infer": ("progress",)}.get(verb, ())


def main() -> None:
    parser = argparse.ArgumentParser(description="write the signatures of the package")
    parser.add_argument("program", help="the program decoy")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    given = parser.parse_args()
    path, text = HERE / "_options.py", write(given.program)
    if not given.check:
        path.write_text(text, encoding="utf-8")
    elif path.read_text(encoding="utf-8") != text:
        raise SystemExit(f"{path} is not what the program says: run python/signatures.py")


if __name__ == "__main__":
    main()
