"""The exit codes of the program, as exceptions, and what it says, in the words of Python."""

from __future__ import annotations

import re
from collections.abc import Mapping


class DecoyError(RuntimeError):
    """The program failed; the text is what it said."""


class UsageError(DecoyError, ValueError):
    """Wrong usage, or a bad schema (exit code 2). Nothing was spent."""


class BudgetError(DecoyError):
    """The limit of the ledger would be exceeded (10). No row was read, and nothing was spent."""


class LedgerLockedError(DecoyError):
    """Another process kept the ledger locked, or works on the same output (11)."""


class DataError(DecoyError, ValueError):
    """The rows break the schema (12)."""


class Interrupted(KeyboardInterrupt):
    """The run was interrupted; the text says what is spent and how to go on."""


class DecoyWarning(UserWarning):
    """A line of warning or advice of the program."""


BY_CODE: dict[int, type[DecoyError]] = {
    2: UsageError,
    10: BudgetError,
    11: LedgerLockedError,
    12: DataError,
}

_WORDS = [
    (r";? ?see 'decoy [a-z ]+ --help'", ""),
    (r"\bthe same command with --resume\b", "the same call with resume=True"),
    (r"--resume\b", "resume=True"),
    (r"^(decoy: )?--set: ", r"\1"),
    (r"^(decoy: )?--where workload: ", r"\1--where: "),
    (r"^(decoy: )?INPUT: (?=the frame of |no file is that)", r"\1"),
    (r": a file has the name of its table, such as \S+", ": its key in the dict is its table"),
    (r"no file is that of the table (\S+), such as \S+: name the files.*",
     r"the dict has no frame of the table \1"),
    (r"--([a-z-]+): (?=(--)?\1\b)", ""),  # a flag that is named twice
    (r"\bdecoy help ([a-z]+)", r"docs/\1.md"),
    (r"\bdecoy schema infer TABLE --schema FILE", "decoy.Schema.infer(frame, partial=...)"),
    (r"\bdecoy schema infer TABLE\b", "decoy.Schema.infer(frame)"),
    (r"\bwhat fit writes, and generate --model", "what Synthesizer.save writes"),
    (r"--([a-z][a-z-]*) +([a-z]+:\S+|\S*/\S+)(?=[ :,])", r"--\1=\2"),
    (r"--([a-z][a-z-]*) +(-?\d[\w.+-]*(?<![.])|\"[^\"]*\")(?= |,|;|$)", r"--\1=\2"),
    (r"--([a-z][a-z-]*) +([A-Z]{2,})\b", r"--\1=\2"),
    (r"--(method|by) ([a-z]+)\b", r'--\1="\2"'),
    (r"--([a-z][a-z-]*)(?![a-z=:-])", r"--\1="),
]


def in_python(text: str, names: Mapping[str, str] = {}) -> str:
    """What the program says, with keywords in place of flags.

    names are texts that stand for something else in this call, such as the path of a file that is
    there for as long as it lasts.
    """
    for name, meaning in sorted(names.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(name, meaning)
    for pattern, words in _WORDS:
        text = re.sub(pattern, words, text)
    return re.sub(r"--([a-z][a-z-]*)", lambda flag: flag[1].replace("-", "_"), text)
