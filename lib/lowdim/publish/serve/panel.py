"""What a chapter's page needs to ask for a run: its parameters, and the script that shows them."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

from lowdim.publish.chapters import Chapter, UsageError, chosen_values
from lowdim.publish.comparison import Moved, command, shown
from lowdim.publish.parameters import check_all

PREFIX = "/_lowdim"
LONGEST = 10_000  # characters of a value


def describe(chapter: Chapter) -> dict[str, Any]:
    """Parameters and presets as the panel has them: values as they are typed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from lowdim.publish.parameters import parse_cell
    >>> cell = parse_cell("sizes = [1, 2]  # N; a list, each 1 or more")
    >>> chapter = Chapter("a/b", Path("b.md"), "B", (), tuple(cell), {"paper": {"sizes": [3]}})
    >>> found = describe(chapter)
    >>> found["parameters"][0]["default"], found["presets"]
    ('1,2', {'paper': {'sizes': '3'}})
    """
    return {
        "chapter": chapter.name,
        "title": chapter.title,
        "parameters": [
            {
                "name": parameter.name,
                "meaning": parameter.meaning,
                "range": parameter.allowed.text,
                "default": shown(parameter.default),
                "choices": ["true", "false"]
                if parameter.type is bool
                else [shown(choice) for choice in parameter.allowed.choices or ()],
            }
            for parameter in chapter.parameters
        ],
        "presets": {
            name: {key: shown(value) for key, value in values.items()}
            for name, values in chapter.presets.items()
        },
    }


def asked(chapter: Chapter, given: Any) -> tuple[dict[str, Any], str | None]:
    """The values and the preset that a page asks for, checked as on the command line.

    Raises
    ------
    WrongValue
        If they are no texts by name, or a name, a value or the preset is wrong.

    Examples
    --------
    >>> from pathlib import Path
    >>> from lowdim.publish.parameters import parse_cell
    >>> cell = parse_cell("sizes = [1, 2]  # N; a list, each 1 or more")
    >>> chapter = Chapter("a/b", Path("b.md"), "B", (), tuple(cell), {"paper": {"sizes": [3]}})
    >>> asked(chapter, {"values": {"sizes": "4,5"}, "preset": "paper"})
    ({'sizes': [4, 5]}, 'paper')
    """
    values, preset = given.get("values", {}), given.get("preset") or None
    texts = isinstance(values, Mapping) and all(isinstance(v, str) for v in values.values())
    if not texts or not isinstance(preset, str | None):
        raise WrongValue("values must be texts by the names of parameters, and preset a name.")
    for name, text in values.items():
        try:
            if len(text) > LONGEST:
                raise UsageError(f"{name} has {len(text):,} characters; {LONGEST:,} are the most.")
            check_all(chapter.parameters, {name: text}, owner=chapter.stem)
        except UsageError as error:
            raise WrongValue(str(error), name) from None
    try:
        return chosen_values(chapter, values, preset=preset), preset
    except UsageError as error:
        raise WrongValue(str(error)) from None


class WrongValue(ValueError):
    """One sentence, and the parameter that it is about, if it is about one."""

    def __init__(self, sentence: str, parameter: str = "") -> None:
        super().__init__(sentence)
        self.parameter = parameter


def again(chapter: str, values: Mapping[str, Any]) -> str:
    """The command that makes the same run.

    Examples
    --------
    >>> again("a/b", {"seed": 1})
    'lowdim run a/b -p seed=1'
    """
    return command(chapter, [Moved(name, None, value) for name, value in values.items()])


def put_into(page: str, chapter: str) -> str:
    """A built page with the panel's script and style in it; the rest stays as it is.

    Examples
    --------
    >>> put_into("<head></head><body>x</body>", "a/b").count("a/b")
    1
    """
    style = f'<link rel="stylesheet" href="{PREFIX}/static/panel.css">'
    name = html.escape(chapter, quote=True)
    script = f'<script src="{PREFIX}/static/panel.js" data-chapter="{name}" defer></script>'
    page = re.sub(r"</head>", lambda end: style + end[0], page, count=1, flags=re.IGNORECASE)
    head, end, rest = page.rpartition("</body>")
    return f"{head}{script}{end}{rest}" if end else page + script
