"""Keywords as the flags of a command line. Ranges are checked by the program, types here."""

from __future__ import annotations

import functools
import inspect
import operator
import os
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter
from typing import Any, TypeVar

from ._errors import UsageError
from ._options import RENAMED, Evaluate, Fit, Infer, Plan, Settings

F = TypeVar("F", bound=Callable[..., Any])

# types of keywords, as texts, by their names
KINDS: dict[str, str] = {name: kind.__forward_arg__ for part in (Infer, Evaluate, Fit)
                         for name, kind in part.__annotations__.items()}
KINDS |= {"epsilon": "float", "ledger": "str | os.PathLike[str]", "rows": "int", "where": "str"}

# keywords that the calls see to
_SKIPPED = ("schema", "partial", "holdout", "model", "random_state", "progress")


def keywords(*parts: type) -> Callable[[F], F]:
    """Gives a function the keywords of TypedDicts in place of its **options.

    They are then in its signature, its text and its TypeErrors. A part that is the base of another
    comes after it.
    """
    names: dict[str, Any] = {}
    for k, part in enumerate(parts):
        later = set().union(*(base.__annotations__ for base in parts[k + 1:]))
        names |= {n: kind for n, kind in part.__annotations__.items() if n not in later}
    more = [Parameter(name, Parameter.KEYWORD_ONLY, default=DEFAULTS.get(name),
                      annotation=kind.__forward_arg__) for name, kind in names.items()]

    def decorate(function: F) -> F:
        own = inspect.signature(function)
        given = [p for p in own.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
        signature = own.replace(parameters=[*given, *more])

        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            try:
                signature.bind(*args, **options)
            except TypeError as error:
                raise TypeError(f"{function.__qualname__}() {error}") from None
            return function(*args, **options)

        call.__signature__ = signature  # type: ignore[attr-defined]
        texts = [inspect.cleandoc(function.__doc__ or "")]
        for part in parts:
            if part is Settings:
                texts.append("\nSettings of methods, which are the method's default where None:\n")
            texts.append(inspect.cleandoc(part.__doc__ or ""))
        call.__doc__ = "\n".join(texts)
        return call  # type: ignore[return-value]

    return decorate


# of keywords whose default is not None
DEFAULTS: dict[str, Any] = {"method": "auto", "progress": True}


def arguments(given: Mapping[str, Any]) -> list[str]:
    """The flags of those keywords that are not None."""
    out = []
    for name, value in given.items():
        if name not in KINDS or name in _SKIPPED or value is None:
            continue
        kind = KINDS[name].removesuffix(" | None")
        if name in ("links", "order"):  # one flag each
            _text(name, value, kind)
            out += [f"--{name.rstrip('s')}={one}" for one in value]
        elif name in Settings.__annotations__:
            out.append(f"--set={RENAMED.get(name, name)}={_text(name, value, kind)}")
        else:
            out.append(f"--{name.replace('_', '-')}={_text(name, value, kind)}")
    return out


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
