"""Writes the signatures of the package, from what the program says of its flags and settings:

    python python/signatures.py ./decoy

Without --check it writes src/decoy/_options.py and src/decoy/_calls.py; with --check it fails if
they differ. A flag of the program that is neither a keyword nor named in LEFT_OUT is an error.
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
    "out-dir": "linked tables are made on the command line",
    "randomized": "answers that were made private by each respondent, on the command line",
    "header-is-public": "a call without a schema says so, as its docstring tells",
    "set": "each setting is a keyword", "dry-run": "of schema infer, on the command line",
    "seed": "random_state", "spreadsheet-safe": "is of CSV", "texts": "by the dtypes",
    **{f"{flag} (evaluate)": "figures with noise are published on the command line"
       for flag in ("epsilon", "delta", "adjacency", "ledger", "resume")},
}

PATH, SCHEMA = "str | os.PathLike[str]", "Schema | str | os.PathLike[str]"

# types and texts of what the command line has as a file, or says otherwise than Python does
TYPES = {
    "epsilon": "float", "delta": "float", "adjacency": "Adjacency", "method": "Method",
    "target": "str", "unit": "str", "max_rows_per_unit": "int", "workload": "str",
    "ledger": PATH, "schema": SCHEMA, "rows": "int", "resume": "bool", "where": "str",
    "train": "Any", "synthetic": "Any", "holdout": "Any", "report": PATH,
    "model": "Synthesizer | str | os.PathLike[str]", "positive": "str | int",
    "drop": "Sequence[str]",
}
GIVEN = "public description of the columns, a Schema or the path of one (required)"
TEXTS = {
    "ledger": "file that keeps the account: the same one for everything that is ever done with "
              "these people's rows (required)",
    "schema": "public description of the columns, a Schema or the path of one. Without it a third "
              "of the budget buys one, and the names of the columns become public",
    "schema (plan)": GIVEN, "schema (evaluate)": GIVEN,
    "schema (schema infer)": "partial schema, a Schema or the path of one: only what is open in it "
                             "is bought",
    "unit": "id column: all rows with one id are one privacy unit (a schema names its own)",
    "max_rows_per_unit": "how many rows of a unit are used, where unit is given",
    "train": "real frame that the synthetic one was made from (required)",
    "synthetic": "synthetic frame (required)",
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
REQUIRED = {("fit", "ledger"), ("schema infer", "ledger"), ("plan", "schema"),
            ("evaluate", "schema")}
# flags whose text leaves to the methods what they mean
DETAILED = {"workload"}
# names of settings that a call has for something else
TAKEN = {"rows"}

KINDS = {"number": "float", "whole number": "int", "text": "str", "true or false": "bool",
         "list of text": "Sequence[str]", "list of whole number": "Sequence[int]"}


@dataclass
class Option:
    """A keyword, and how the command line has it."""

    name: str
    kind: str  # type of its values
    to: str  # "--epsilon", or "--set=steps"
    text: str
    required: bool = False
    default: str = "None"
    methods: dict[str, str] = field(default_factory=dict)  # of a setting: texts by method

    @property
    def setting(self) -> bool:
        """Whether it is a setting of methods, and no flag."""
        return self.to.startswith("--set=")

    def parameter(self) -> str:
        if self.required:
            return f"{self.name}: {self.kind},"
        kind = self.kind if self.default != "None" or self.kind == "Any" else f"{self.kind} | None"
        return f"{self.name}: {kind} = {self.default},"

    def doc(self, indent: str) -> str:
        """The lines of a docstring: one text, or below it one for each method."""
        texts = dict(self.methods)
        first = self.text or (f"({', '.join(texts)}) {texts.popitem()[1]}" if len(texts) == 1 else "")
        lines = [fill(f"{self.name}: {first}".rstrip() + "." * bool(first), indent)]
        return "\n".join(lines + [fill(f"{method}: {text}.", indent + "    ")
                                  for method, text in texts.items()])


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
        if name not in TYPES:
            raise SystemExit(f"--{flag} of {verb} is new: give it a type here, or leave it out")
        required = "(required" in text and name != "schema" or (verb, name) in REQUIRED
        text = TEXTS.get(f"{name} ({verb})", TEXTS.get(name)) or plain(text, placeholder)
        setting = settings.pop(name, None)  # a flag that stands for a setting
        if setting and name not in DETAILED:
            text += f" (of {', '.join(', '.join(setting.methods).split(', '))})"
        default = {"method": '"auto"', "resume": "False"}.get(name, "None")
        more = setting.methods if setting and name in DETAILED else {}
        out.append(Option(name, TYPES[name], "--" + flag, text, required, default, more))
    out.sort(key=lambda option: not option.required)
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
                name, Option(name, KINDS[one["type"]], f"--set={one['key']}", ""))
            if option.kind != KINDS[one["type"]]:
                raise SystemExit(f"{name} has two types: name one of them otherwise, as TAKEN does")
            texts.setdefault(name, {}).setdefault(plain(one["text"]), []).append(method)
    for name, option in out.items():
        option.methods = {", ".join(of): text for text, of in texts[name].items()}
    return out


HEAD = '''\
"""{title}

Written by python/signatures.py, from what the program says: do not edit.
"""

from __future__ import annotations

'''

LINE = "        "


def signature(options: list[Option], indent: str = LINE) -> str:
    return "".join(f"{indent}{option.parameter()}\n" for option in options)


def docs(options: list[Option], indent: str = LINE) -> str:
    """A list of keywords, the settings of methods last."""
    own = [option.doc(indent) for option in options if not option.setting]
    settings = [option.doc(indent) for option in options if option.setting]
    if settings:
        own += [f"\n{indent}Settings of methods, which are the method's default where None:\n"]
    return "\n".join(own + settings)


def table(options: list[Option]) -> str:
    """How the command line has each keyword; resume and frames are given by hand."""
    found = {o.name: f'    "{o.name}": ("{o.to}", "{o.kind}"),\n' for o in options
             if o.to and o.kind not in ("Any", "bool", SCHEMA, TYPES["model"])}
    return "".join(found.values())


def write(program: str) -> dict[str, str]:
    """The text of each file."""
    verbs = {verb: options_of(program, verb) for verb in VERBS}
    methods = ", ".join(f'"{m}"' for m in methods_of(program))
    resume = next(o for o in verbs["fit"] if o.name == "resume")
    progress = Option("progress", "bool", "", TEXTS["progress"], default="True")
    state = Option("random_state", "Any", "", TEXTS["random_state"])
    fit = [o for o in verbs["fit"] if o is not resume]
    settings = [o for o in fit if o.setting]
    init = [*(o for o in fit if not o.setting), state, progress, *settings]
    sample = verbs["sample"]
    rows = [o for o in sample if o.name == "rows"]
    generate = [*(o for o in init if not o.setting), *rows, resume, *settings]
    plan = [o for o in verbs["plan"] if o.name != "schema"]
    infer = [*verbs["schema infer"], progress]
    public = Option("random_state", "Any", "", TEXTS["random_state (evaluate)"])
    evaluate = [*verbs["evaluate"], public, progress]
    for option in infer:
        if option.name == "schema":
            option.name = "partial"
    options = HEAD.format(title="Keywords of a fit, and how the command line has them.") + f'''\
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ._schema import Schema

Method = Literal[{methods}]
Adjacency = Literal["add-remove", "replace-one"]

# how the address of a table in another system begins, which a fit takes
ADDRESSES = {addresses_of(program)}

# of all calls: the flag, or the flag and key of a setting, and the type of the value
KEYWORDS: dict[str, tuple[str, str]] = {{
{table([*init, *sample, *plan, *evaluate, *infer])}}}


class Options:
    """What a Synthesizer is made with."""

    def __init__(
        self,
        *,
{signature(init)}    ) -> None:
        """A synthesizer, which has read nothing yet.

{docs(init)}
        """
{"".join(f"{LINE}self.{o.name} = {o.name}{chr(10)}" for o in init)}{LINE}self._check()

    def _check(self) -> None:
        """Refuses values of wrong types, with a UsageError."""
'''
    calls = HEAD.format(title="Functions with all their keywords.") + f'''\
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._options import Adjacency, Method

if TYPE_CHECKING:
    from ._evaluation import Evaluation
    from ._schema import Schema
    from ._synthesizer import Synthesizer


def generate(
    frame: Any,
    *,
{signature(generate, "    ")}) -> Any:
    """A synthetic frame of a private one, in one call: Synthesizer(...).fit(frame).sample(rows).

    frame: private table: a frame of pandas, polars or pyarrow, the path of a .csv, .parquet or
        .arrow file, or the address of a table in another system (docs/scale.md).
{docs(generate, "    ")}
    """
    given = dict(locals())
    from ._synthesizer import generated

    return generated(given)


def plan(
    schema: {SCHEMA},
    *,
{signature(plan, "    ")}) -> dict[str, Any]:
    """What a fit would cost and how noisy it would be, from the schema alone; reads no data.

    schema: {TEXTS["schema (plan)"]}.
{docs(plan, "    ")}
    """
    given = dict(locals())
    from ._synthesizer import planned

    return planned(given)


def infer(
    frame: Any,
    *,
{signature(infer, "    ")}) -> Schema:
    """Buys what is open in a partial schema, or all, from noisy counts of a private frame.

    The names of the columns become public.

    frame: private table, as of Synthesizer.fit.
{docs(infer, "    ")}
    """
    given = dict(locals())
    from ._schema import inferred

    return inferred(given)


def evaluate(
    *,
{signature(evaluate, "    ")}) -> Evaluation:
    """Compares a synthetic frame with the real one, and with real rows that were set aside.

    The figures are of the real rows, without noise: they are NOT PRIVATE.

{docs(evaluate, "    ")}
    """
    given = dict(locals())
    from ._evaluation import evaluated

    return evaluated(given)
'''
    return {"_options.py": options, "_calls.py": calls}


def main() -> None:
    parser = argparse.ArgumentParser(description="write the signatures of the package")
    parser.add_argument("program", help="the program decoy")
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    given = parser.parse_args()
    for name, text in write(given.program).items():
        path = HERE / name
        if not given.check:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            raise SystemExit(f"{path} is not what the program says: run python/signatures.py")


if __name__ == "__main__":
    main()
