"""What is put into pages for those who do not see or point."""

from __future__ import annotations

from docutils import nodes
from docutils.utils import new_document
from lowdim.publish.site import access, boxes

EXERCISE = """<div class="exercise admonition" id="warm-up">

<p class="admonition-title"><span class="caption-number">Exercise 1 </span> (so)</p>"""


def test_an_exercise_has_a_sign_once() -> None:
    made = access.mended(EXERCISE)
    assert made.count('<a class="headerlink" href="#warm-up"') == made.count("#</a></p>") == 1
    assert access.mended(made) == made


def test_a_solution_has_none() -> None:
    solution = EXERCISE.replace("exercise admonition", "solution admonition")
    assert access.mended(solution) == solution


def test_a_fold_of_the_article_is_left_alone() -> None:
    fold = "<p><a href='x'>y</a></p><details><summary>z</summary>"
    assert access.mended(fold) == fold


def test_the_insides_of_boxes_lose_their_common_id() -> None:
    document = new_document("page")
    for name in ("solution-content", "solution-content", "mine"):
        document += nodes.section("", ids=[name])
    access.OwnIds(document).run()
    assert [section["ids"] for section in document] == [[], [], ["mine"]]


def test_a_box_keeps_its_id_and_the_label_leads_to_the_title() -> None:
    document = new_document("page")
    section = nodes.section("", ids=["lemma-1-it-holds", "part-lemma-1"])
    box = boxes.element("div", classes=["lowdim-box"])
    box["ids"] = ["part-lemma-1", "part.lemma-1"]
    section += box
    document += section
    document.nameids = {"part-lemma-1": "part-lemma-1", "other": "other"}
    access.ClaimsFirst(document).apply()
    assert section["ids"] == ["lemma-1-it-holds"] and box["ids"][0] == "part-lemma-1"
    assert document.nameids == {"part-lemma-1": "lemma-1-it-holds", "other": "other"}
