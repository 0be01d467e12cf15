"""The exit codes of the program, as exceptions."""

from __future__ import annotations


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
