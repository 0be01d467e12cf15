"""Runs the program: tables go in and out through pipes, as Arrow."""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from ._errors import BY_CODE, DataError, DecoyError, DecoyWarning, Interrupted, in_python
from ._html import NotebookBar, notebook

log = logging.getLogger("decoy")

_PROGRESS = re.compile(r"^(.+): (\d+) %$")

# what a person should know who sees nothing else of what the program says
_WARNING = re.compile(
    r"^(warning|advice|check [^:]+|--target [^:]+): |^(.*: )?ignored: the schema does not name "
    r"|^(columns left out|ends|texts|numbers|relations|dates|nearly all cells|more relations) "
    r"|^\d+ of \d+ pairs |^(no|the) outcome |^epsilon \S+ is above |^delta \S+ is not below "
    r"|^about \d+ rows are too few ")


def program() -> str:
    """The path of the program in this package."""
    name = "decoy.exe" if os.name == "nt" else "decoy"
    path = Path(__file__).parent / "bin" / name
    if not path.is_file():
        raise DecoyError(f"this package holds no program for {sys.platform}: install a wheel")
    return str(path)


def run(
    arguments: Sequence[str],
    tables: Sequence[pa.Table] = (),
    *,
    progress: bool = False,
    names: Mapping[str, str] = {},
) -> bytes:
    """Runs the program, with tables on its standard input as Arrow streams.

    Returns its standard output. What it says goes to the logger "decoy", in the words of Python,
    and what of it is a warning or advice is a DecoyWarning, too. names are texts that it says
    something else for, such as the path of a temporary file. A failure is an error by its exit
    code. An interrupt is passed on, and waits until the program has put its account in order; a
    second one kills it.
    """
    tables = [_whole(table) for table in tables]
    # a terminal would interrupt it a second time
    alone: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        alone = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith("DECOY_") or k == "DECOY_SPARK_TOKEN"}
    child = subprocess.Popen(
        [program(), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        **alone,
    )
    assert child.stdin and child.stdout and child.stderr
    out: list[bytes] = []
    said: list[str] = []
    work = [
        threading.Thread(target=_send, args=(child.stdin, tables), daemon=True),
        threading.Thread(target=_listen, args=(child.stderr, said, progress, names), daemon=True),
        threading.Thread(target=_receive, args=(child.stdout, out), daemon=True),
    ]
    for thread in work:
        thread.start()
    interrupted = False
    while True:
        try:
            child.wait()
            for thread in work:
                thread.join()
            break
        except KeyboardInterrupt:
            if interrupted:
                child.kill()
            elif child.poll() is None:
                if sys.platform == "win32":
                    child.send_signal(signal.CTRL_BREAK_EVENT)
                else:
                    child.send_signal(signal.SIGINT)
            interrupted = True
    child.stdout.close()
    child.stderr.close()
    errors = [line.removeprefix("decoy: ") for line in said if line.startswith("decoy: ")]
    text = "\n".join(errors) or f"the program ended with status {child.returncode}"
    if interrupted and child.returncode != 0:
        raise Interrupted(text)
    if child.returncode != 0:
        notes = [line for line in said if not line.startswith("decoy: ")]
        text = "\n".join([text, *(line for line in notes if "spent" in line)])
        raise BY_CODE.get(child.returncode, DecoyError)(text)
    if interrupted:
        raise KeyboardInterrupt
    _warn(text for text in _whole_texts(said) if _WARNING.match(text))
    return b"".join(out)


def _whole_texts(lines: Iterable[str]) -> list[str]:
    """What was said: a line, with the indented ones below that belong to it."""
    texts: list[str] = []
    for line in lines:
        if line.startswith("  ") and texts:
            texts[-1] += "\n" + line
        else:
            texts.append(line)
    return texts


def _warn(lines: Iterable[str]) -> None:
    """Warns, at the line that called the package.

    A filter that makes errors of warnings does not make them of these: the result of the run, which
    is paid for, would be lost.
    """
    frame, level = sys._getframe(), 1
    here = os.path.dirname(__file__)
    while frame.f_back and os.path.dirname(frame.f_code.co_filename) == here:
        frame, level = frame.f_back, level + 1
    for line in lines:
        try:
            warnings.warn(line, DecoyWarning, stacklevel=level)
        except DecoyWarning:
            log.warning("%s", line)


def _whole(table: pa.Table) -> pa.Table:
    """The table with one dictionary a column, as a stream has it."""
    try:
        return table.unify_dictionaries()
    except (pa.ArrowException, OverflowError):
        raise DataError("the categories of a column do not fit its dictionary: decode it "
                        "first") from None


def _send(pipe: IO[bytes], tables: Sequence[pa.Table]) -> None:
    try:
        for table in tables:
            writer = pa.ipc.new_stream(pa.PythonFile(pipe, mode="w"), table.schema)
            writer.write_table(table, max_chunksize=1 << 16)
            writer.close()  # writes the mark of the end, without which the program refuses a stream
    except OSError:  # the program has ended, and says why
        pass
    finally:
        try:
            pipe.close()
        except OSError:
            pass


def _receive(pipe: IO[bytes], out: list[bytes]) -> None:
    out.append(pipe.read())


def _listen(
    pipe: IO[bytes], said: list[str], progress: bool, names: Mapping[str, str]
) -> None:
    bar: Any = None
    stage = ""
    for raw in pipe:
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        step = _PROGRESS.match(line)
        if not step:
            said.append(in_python(line, names))
            if line and not line.startswith("decoy: "):
                log.info("%s", said[-1])
            continue
        if not progress:
            continue
        if bar is None:
            bar = _bar()
        if step[1] != stage:
            stage = step[1]
            bar.set_description_str(stage, refresh=False)
        bar.n = int(step[2])
        bar.refresh()
    if bar is not None:
        bar.close()


def _bar() -> Any:
    """A bar in a terminal or a notebook; elsewhere one that shows nothing."""
    if notebook():
        return NotebookBar()
    from tqdm import tqdm

    style = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}"
    return tqdm(total=100, leave=False, disable=not sys.stderr.isatty(), bar_format=style)
