"""What a notebook shows: the progress of a run, a model, and an evaluation.

The colours pass WCAG's contrast of 4.5 on light and on dark pages, and each says in a word what it
says in colour.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def notebook() -> bool:
    """Whether this runs in a notebook, or another front end that shows HTML."""
    if "ipykernel" not in sys.modules and "google.colab" not in sys.modules:
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")


class NotebookBar:
    """A bar of progress in a notebook, with the interface that is used of tqdm's."""

    n = 0
    _stage = ""
    _shown: Any = None

    def _page(self) -> dict[str, str]:
        stage = escape(self._stage)
        return {
            "text/html": f'<label>{stage} <progress max="100" value="{self.n}" '
                         f'aria-label="{stage}"></progress> {self.n} %</label>',
            "text/plain": f"{self._stage}: {self.n} %",
        }

    def set_description_str(self, text: str, refresh: bool) -> None:
        self._stage = text

    def refresh(self) -> None:
        from IPython.display import display

        if self._shown is None:
            self._shown = display(self._page(), raw=True, display_id=True)
        else:
            self._shown.update(self._page(), raw=True)

    def close(self) -> None:
        self._shown.update({"text/html": "", "text/plain": ""}, raw=True)


_STYLE = """\
<style>
div.decoy { font: 14px/1.45 system-ui, sans-serif; max-width: 52em; color: #1b1f24;
  background: #fff; border: 1px solid #8a9099; border-radius: 6px; padding: .8em 1em;
  overflow-x: auto }
div.decoy table { border-collapse: collapse; table-layout: auto; margin: .6em 0 0; font-size: 13px;
  color: inherit }
div.decoy tr { background: none !important }
div.decoy tr > th, div.decoy tr > td { text-align: left !important; vertical-align: top;
  white-space: normal; max-width: none; padding: .25em 1.2em .25em 0;
  border-top: 1px solid #c9ced6 }
div.decoy summary { font-weight: 600; margin-top: .6em; cursor: pointer }
div.decoy p { margin: 0 0 .4em } div.decoy p.a { white-space: pre-line; margin: .2em 0 0 }
div.decoy section { border-top: 1px solid #c9ced6; padding: .6em 0 }
div.decoy pre { white-space: pre-wrap; background: none; color: inherit }
div.decoy .verdict { padding: .05em .5em; border-radius: 3px; color: #fff; font-weight: 600 }
div.decoy .good { background: #0b6b35 } div.decoy .mixed { background: #8a5300 }
div.decoy .poor { background: #a4161a } div.decoy .unknown { background: #4d545d }
div.decoy p.warning { background: #a4161a; color: #fff; padding: .4em .7em; border-radius: 4px }
</style>
"""


def model_page(
    about: Iterable[tuple[str, str]], columns: Sequence[dict[str, Any]], parameters: str
) -> str:
    """A fitted model: its guarantee first, then its columns. about are names with their texts."""
    rows = "".join(f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>'
                   for name, text in about)
    heads = ("column", "kind", "codes", "missing", "from", "to")
    cells = [[c["name"], c["kind"], c["codes"], "yes" if c["missing"] else "no", c.get("from", ""),
              c.get("to", "")] for c in columns]
    head = "".join(f'<th scope="col">{head}</th>' for head in heads)
    each = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>"
                   for row in cells)
    return (f'{_STYLE}<div class="decoy"><p><b>Synthesizer</b>, fitted. This page holds no private '
            f"row, and neither does the model.</p><table>{rows}</table>"
            f"<details><summary>{len(cells)} columns</summary><table><tr>{head}</tr>{each}</table>"
            f"</details><details><summary>Parameters</summary><pre>{escape(parameters)}</pre>"
            "</details></div>")


def evaluation_page(verdicts: Iterable[Any]) -> str:
    """An evaluation: that it is not private first, then each question with its answer."""
    each = "".join(
        f'<section><span class="verdict {escape(v.status)}">{escape(v.status)}</span> '
        f'<b>{escape(v.question)}</b><p class="a">{escape(v.answer)}</p></section>'
        for v in verdicts)
    return (f'{_STYLE}<div class="decoy"><p class="warning"><b>Not private.</b> The figures are of '
            "the real rows, without noise. A notebook that is saved keeps them: keep it as safe as "
            f"the real table, or clear this output.</p>{each}</div>")
