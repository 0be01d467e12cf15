"""Synthetic tables under differential privacy: https://pypi.org/project/decoy-dp.

A thin layer over the program decoy, which is in this package. Frames of pandas, polars or pyarrow
go to it through a pipe: no private row is written to disk.
"""

from __future__ import annotations

from ._errors import (
    BudgetError,
    DataError,
    DecoyError,
    DecoyWarning,
    Interrupted,
    LedgerLockedError,
    UsageError,
)
from ._evaluation import Evaluation, Verdict, evaluate
from ._schema import Schema
from ._synthesizer import Claim, Synthesizer, generate, plan

__all__ = [
    "BudgetError", "Claim", "DataError", "DecoyError", "DecoyWarning", "Evaluation",
    "Interrupted", "LedgerLockedError", "Schema", "Synthesizer", "UsageError", "Verdict",
    "evaluate", "generate", "plan",
]

for _name in __all__:  # tracebacks and help name them as users do
    globals()[_name].__module__ = __name__
