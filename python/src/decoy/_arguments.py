"""Keywords as the flags of a command line. Ranges are checked by the program, types here."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ._errors import UsageError
from ._options import KEYWORDS


def arguments(given: Mapping[str, Any]) -> list[str]:
    """The flags of those keywords that are not None."""
    return [f"{flag}={_text(name, given[name], kind)}" for name, (flag, kind) in KEYWORDS.items()
            if given.get(name) is not None]


def seed_of(random_state: Any) -> int | None:
    """A seed of sampling, from what scikit-learn takes as a random_state, or a numpy Generator."""
    for name in ("randint", "integers"):  # of a RandomState, and of a Generator
        draw = getattr(random_state, name, None)
        if callable(draw):
            return int(draw(0, 2**31 - 1))
    seed = None if random_state is None else whole("random_state", random_state)
    if seed is not None and not 0 <= seed < 2**64:
        raise UsageError(f"random_state={seed} must be at least 0, and below 2**64")
    return seed


def whole(name: str, value: Any) -> int:
    """A whole number, also one of numpy."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise _wrong(name, "a whole number", value)


def _text(name: str, value: Any, kind: str) -> str:
    """A value as the command line has it."""
    if kind == "float":
        return repr(_number(name, value))
    if kind == "int":
        return str(whole(name, value))
    if kind.startswith("Sequence"):
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise _wrong(name, "a list", value)
        parts = [_text(name, part, kind[len("Sequence["):-1]) for part in value]
        if any("," in part or '"' in part for part in parts):
            raise UsageError(f"{name}= cannot have names with a comma or a quotation mark in them")
        return ",".join(parts)
    if "PathLike" in kind:
        return path(name, value)
    if kind == "str | int" and not isinstance(value, str):
        return str(whole(name, value))
    if not isinstance(value, str):
        raise _wrong(name, "a text", value)
    return str(value)


def path(name: str, value: Any) -> str:
    """The path of a file, as text."""
    if not isinstance(value, (str, os.PathLike)):
        raise _wrong(name, "the path of a file", value)
    if not (text := os.fspath(value)):
        raise UsageError(f"{name}= is empty: name the file")
    return text


def _number(name: str, value: Any) -> float:
    try:
        if not isinstance(value, (bool, str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise _wrong(name, "a number", value)


def _wrong(name: str, what: str, value: Any) -> UsageError:
    # a frame in the wrong place must not be printed
    short = isinstance(value, (str, int, float)) and len(str(value)) < 100
    shown = repr(value) if value is None or short else f"a {type(value).__name__}"
    return UsageError(f"{name}= must be {what}, not {shown}")
