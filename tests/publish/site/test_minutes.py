"""Minutes to read: counted from what a page shows, and rounded."""

from __future__ import annotations

import pytest
from lowdim.publish.site.minutes import Counts, counts, minutes, of_text

PAGE = """\
---
jupytext: {text_representation: {format_name: myst}}
---

# Two words

```{masthead}
We find
: nothing that is counted
```

One $x$ and two $y$. $$x=y$$

```{code-cell} python
---
tags: [remove-input]
mystnb:
  figure:
    name: fig-one
---
hidden = 1
```

```{code-cell} python
shown = 1

also = 2
```

```{prf:lemma} Weyl
:label: preserve.lemma-1
:source: somebody
Three words here.
```

```{code-cell} python
:tags: [hide-input]
Table(("n",), rows)
```

```{prf:proof}
Four words and $z$.
```

```{exercise}
*Ten minutes.* Find a table.
```

```{solution} one
Folded words.
```
"""


def test_what_is_shown_is_counted_and_what_is_folded_is_not() -> None:
    found = counts(PAGE)
    assert (found.inline, found.display, found.code, found.figure) == (2, 1, 2, 1)
    assert found.table == 1
    # Two words, One and two, lemma's directive and name, its source, three words.
    assert found.words == 2 + 3 + 1 + 2 + 3


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (Counts(), 1),
        (Counts(words=15 * 220), 15),
        (Counts(words=16 * 220), 15),
        (Counts(words=18 * 220), 20),
        (Counts(display=5), 1),
        (Counts(inline=30, display=5, code=20, figure=3), 4),
        (Counts(words=2200, code=200, figure=6, inline=150), 25),
    ],
)
def test_above_a_quarter_of_an_hour_five_minutes_are_one_step(found: Counts, expected: int) -> None:
    assert minutes(found) == expected


def test_longer_is_never_shorter() -> None:
    told = [minutes(Counts(words=words)) for words in range(0, 12000, 50)]
    assert told == sorted(told)


def test_proofs_are_told_apart_and_slowly() -> None:
    proof = "```{prf:proof}\n" + "word " * 440 + "\n```\n"
    assert of_text(PAGE) == (1, 1)
    assert of_text(PAGE + proof + proof) == (1, 20)
    assert of_text(PAGE.replace("prf:proof", "prf:remark")) == (1, 0)
    # A proof that is part of a solution is folded with it.
    assert of_text("````{solution} one\n" + proof + "````\n") == (1, 0)
