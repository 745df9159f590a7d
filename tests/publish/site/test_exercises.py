"""The index of exercises: each once, with its kind and the time that it names itself."""

from __future__ import annotations

import json
import re

import pytest
from lowdim.publish import chapters, words
from lowdim.publish.site import book, exercises

ROOT = chapters.find_root()
SOURCES = {
    name: (ROOT / "notebooks" / f"{name}.md").read_text(encoding="utf-8")
    for name in chapters.discover(ROOT)
}
LINE = "```{{exercise}}\n:label: {label}\n*{says}.* {text}\n```\n"


def one(says: str, text: str, after: str = "") -> exercises.Exercise:
    source = LINE.format(label="weyl-1", says=says, text=text) + after
    (found,) = exercises.read(source, "preserve/weyl", "Weyl — a bound", {"share": 0.5})
    return found


def test_every_exercise_of_the_sources_names_its_time() -> None:
    known = {*exercises.MINUTES, "Warm-up", "Open"}
    for name, source in SOURCES.items():
        blocks = [block for block in words.blocks(source) if block.name == "exercise"]
        assert len(blocks) >= 3, name
        for block in blocks:
            lead = exercises._LEAD.match(block.body)
            assert lead, f"{name}, line {block.line}: how long does it take?"
            assert lead[1].partition("-ended")[0] in known, f"{name}, line {block.line}: {lead[1]}"
            assert block.options["label"]


@pytest.mark.parametrize("name", SOURCES)
def test_every_exercise_serves_a_goal_of_its_chapter(name: str) -> None:
    values = dict.fromkeys(words.names(SOURCES[name]), 1)
    text = re.sub(r"\{(value|when)\}`+[^`]*`+", "x", SOURCES[name])
    for each in exercises.read(text, name, name, values):
        assert each.goal, f"{each.label}: the option goal is a number of 'You will learn'"
        assert each.level in exercises.LEVELS, each.label
        assert (each.minutes is None) == (each.level == "open") == (each.kind == "open"), each.label


@pytest.mark.book
def test_the_page_has_each_exercise_once() -> None:
    known = book.load(ROOT)
    if len(known.chapters) < len(SOURCES):
        pytest.skip("not all chapters have been run: make book")
    found = exercises.of_book(ROOT, known)
    labels = [
        block.options["label"]
        for source in SOURCES.values()
        for block in words.blocks(source)
        if block.name == "exercise"
    ]
    assert sorted(each.label for each in found) == sorted(labels)
    page = exercises.page(found)
    assert all(page.count(f"<{label}>`") == 1 for label in labels)
    assert f"There are {len(labels)} exercises." in page
    held = json.loads(re.search(r"<script[^>]*>(.*)</script>", page)[1])  # type: ignore[index]
    assert sorted(held) == sorted(labels)
    assert all(known["goal"] and "$" not in known["goal"] for known in held.values())
    assert page.count("Goal: ") == len(labels)
    assert {each.kind for each in found} == set(exercises.KINDS)
    assert "{value}" not in page and "{when}" not in page


@pytest.mark.parametrize(
    ("says", "text", "kind", "minutes", "level"),
    [
        ("Warm-up", "Show that $a=b$.", "prove", 10, "warm-up"),
        ("Half an hour", "Write `f(x)`. The cell checks.", "compute", 30, "practice"),
        ("Ten minutes", "For which $x$ does the printed bound fail?", "slip", 10, "warm-up"),
        ("Open-ended", "Write `f(x)`.", "open", None, "open"),
        ("An hour", "Plot the loss against the width.", "compute", 60, "hard"),
    ],
)
def test_kind_time_and_level(
    says: str, text: str, kind: str, minutes: int | None, level: str
) -> None:
    found = one(says, text)
    assert (found.kind, found.minutes, found.level) == (kind, minutes, level)


def test_goal_and_level_are_options() -> None:
    head = "```{masthead}\nYou will learn\n: a bound; its $x$\n```\n"
    block = "```{exercise}\n:label: w-1\n:goal: 2\n:level: hard\n*Warm-up.* Why?\n```\n"
    (found,) = exercises.read(head + block, "preserve/weyl", "Weyl", {})
    assert (found.goal, found.level, found.minutes) == ("its $x$", "hard", 10)
    (none,) = exercises.read(head + block.replace("2", "3"), "preserve/weyl", "Weyl", {})
    assert none.goal == ""


def test_what_a_script_reads_closes_nothing() -> None:
    page = exercises.page([one("Warm-up", "Is </script> safe?")])
    assert page.count("</script>") == 2  # its own end, and the exercise as text in the table


def test_a_cell_that_judges_makes_it_an_exercise_to_compute() -> None:
    cell = "```{code-cell} python\ncheck\n```\n"
    assert one("An hour", "Find $f$.", cell).kind == "compute"
    folded = "```{solution} weyl-1\nSo.\n```\n"
    assert one("An hour", "Find $f$.", folded + cell).kind == "prove"


def test_numbers_are_those_of_the_run() -> None:
    assert one("Warm-up", "Is {value}`share:.1f` much?").text == "Is 0.5 much?"


def test_long_ones_end_with_a_sentence_and_no_formula_is_cut() -> None:
    text = "Let $x. Y=1$ hold. Show that " + "it is so " * 40 + "for `a. B`."
    assert exercises.shortened(text) == "Let $x. Y=1$ hold. …"
    for name, source in SOURCES.items():
        for block in words.blocks(source):
            if block.name == "exercise":
                short = exercises.shortened(block.body)
                assert len(re.findall(r"(?<!\\)\$", short)) % 2 == 0, f"{name}: {short}"
                assert short.count("`") % 2 == 0, f"{name}: {short}"
