"""Every entry of a folder or a zip file becomes one row, with bytes or with a reason."""

from __future__ import annotations

import json
import os
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lowdim.course import submissions
from lowdim.course.keys import CourseError
from lowdim.course.submissions import NoNotebook, collect, read


def notebook(text: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": text}]})


def rows(place: Path) -> dict[str, str]:
    """Student to the source of the one cell, or to the reason."""
    return {s.student: s.refused or read(s.data)[0].source for s in collect(place, "projectors")}


def test_the_usual_places_are_found(tmp_path: Path) -> None:
    for path in (
        "Ada.ipynb",
        "Emmy/projectors.ipynb",
        "Kurt/projectors/projectors.ipynb",
        "Sofja/my solution.ipynb",
        "Sofja/.ipynb_checkpoints/my solution-checkpoint.ipynb",
        "Maria/projectors.ipynb",
        "Maria/scratch.ipynb",
        ".DS_Store",
    ):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(notebook(path))
    assert rows(tmp_path) == {
        "Ada": "Ada.ipynb",
        "Emmy": "Emmy/projectors.ipynb",
        "Kurt": "Kurt/projectors/projectors.ipynb",
        "Maria": "Maria/projectors.ipynb",
        "Sofja": "Sofja/my solution.ipynb",
    }


def test_what_cannot_be_taken_is_told(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    secret = tmp_path / "secret" / "x.ipynb"
    secret.write_text(notebook("secret"))
    place = tmp_path / "in"
    place.mkdir()
    (place / "link.ipynb").symlink_to(secret)
    (place / "linked").symlink_to(secret.parent)
    (place / "inside").mkdir()
    (place / "inside" / "projectors.ipynb").symlink_to(secret)
    os.mkfifo(place / "pipe.ipynb")
    (place / "empty").mkdir()
    (place / "essay.docx").write_text("words")
    (place / "twice.ipynb").write_text(notebook("one"))
    (place / "twice").mkdir()
    (place / "twice" / "projectors.ipynb").write_text(notebook("two"))
    (place / "same.ipynb").write_text(notebook("same"))
    (place / "same").mkdir()
    (place / "same" / "projectors.ipynb").write_text(notebook("same"))
    (place / "many").mkdir()
    for k in "ab":
        (place / "many" / f"{k}.ipynb").write_text(notebook(k))
    (place / "a\nb.ipynb").write_text(notebook("x"))
    (place / "big.ipynb").write_bytes(b" " * (submissions.LARGEST + 1))
    (place / os.fsdecode(b"\xff\xfe.ipynb")).write_text(notebook("bytes"))
    found = rows(place)
    assert len(found) == 12
    assert found["link"] == found["inside"] == "The notebook is a symbolic link."
    assert "does not end in .ipynb" in found["linked"]
    assert found["pipe"] == "The notebook is no ordinary file."
    assert found["empty"] == "There is no notebook in the folder."
    assert found["essay"] == "essay.docx is no notebook: its name does not end in .ipynb."
    assert found["twice"].startswith("There are 2 different notebooks: twice.ipynb, twice/")
    assert found["same"] == "same"
    assert found["many"].startswith("There are 2 different notebooks: many/a.ipynb")
    assert "invisible character" in found["a\nb"]
    assert found["big"] == "The notebook has more than 16 MB."
    assert "secret" not in found.values()


def test_a_zip_file_is_read_and_never_unpacked(tmp_path: Path) -> None:
    place = tmp_path / "all.zip"
    with zipfile.ZipFile(place, "w") as made:
        made.writestr("Ada.ipynb", notebook("ada"))
        made.writestr("Kurt/projectors.ipynb", notebook("kurt"))
        made.writestr("../../evil.ipynb", notebook("evil"))
        made.writestr("/etc/evil.ipynb", notebook("evil"))
        made.writestr("__MACOSX/._Ada.ipynb", "x")
        made.writestr("Emmy.pdf", "x")
        made.writestr("bomb.ipynb", b" " * (submissions.LARGEST + 1), zipfile.ZIP_DEFLATED)
        link = zipfile.ZipInfo("link.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        made.writestr(link, "/etc/passwd")
    found = rows(place)
    assert found["Ada"] == "ada" and found["Kurt"] == "kurt"
    assert "symbolic link" in found["link"] and "more than 16 MB" in found["bomb"]
    assert "no notebook" in found["Emmy.pdf"]
    assert [name for name in found if "evil" in name] == ["../../evil.ipynb", "/etc/evil.ipynb"]
    assert "evil" not in found.values() and [p.name for p in tmp_path.iterdir()] == ["all.zip"]


def test_with_a_list_everyone_has_a_row_and_nobody_else_is_graded(tmp_path: Path) -> None:
    known = {"KurtG-1": "Kurt G", "Kurt G": "Kurt G", "Ada": "Ada", "Noël": "Noël", "Zoe": "Zoe"}
    for path in ("KurtG-1/projectors.ipynb", "Ada.ipynb", "Noe\u0308l.ipynb", "Mallory.ipynb"):
        file = tmp_path / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(notebook(path))
    (tmp_path / "Ada").mkdir()
    (tmp_path / "Ada" / "projectors.ipynb").write_text(notebook("another"))
    found = {s.student: s for s in collect(tmp_path, "projectors", known=known)}
    assert list(found) == ["Ada", "Kurt G", "Mallory", "Noël", "Zoe"]
    assert read(found["Kurt G"].data)[0].source == "KurtG-1/projectors.ipynb"
    assert found["Noël"].data and not found["Noël"].refused
    assert found["Ada"].refused.startswith("There are 2 different notebooks")
    assert found["Mallory"] == submissions.Submission("Mallory", refused=submissions.UNLISTED)
    assert found["Zoe"].refused == submissions.NOTHING


def test_a_strange_name_is_no_reason_to_be_left_out(tmp_path: Path) -> None:
    for name in ("_x.ipynb", "..y.ipynb", ".z.ipynb", "__w/projectors.ipynb"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(notebook(name))
    for name in ("._x.ipynb", ".DS_Store", "Thumbs.db", ".git/config", "__MACOSX/a.ipynb"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("left behind")
    packed = tmp_path.with_suffix(".zip")
    with zipfile.ZipFile(packed, "w") as made:
        for path in tmp_path.rglob("*"):
            made.write(path, path.relative_to(tmp_path))
    for place in (tmp_path, packed):
        assert list(rows(place)) == ["..y", ".z", "__w", "_x"]


def test_a_name_has_one_form(tmp_path: Path) -> None:
    """Composed or not, with blanks around it or not: it is one student, who handed in twice."""
    for name in ("Noël", "Noe\u0308l", "Noël "):
        (tmp_path / f"{name}.ipynb").write_text(notebook(name))
    (row,) = collect(tmp_path, "projectors")
    assert row.student == "Noël" and row.refused.startswith("There are 3 different notebooks")


def test_a_place_without_submissions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="no submissions in"):
        collect(tmp_path, "x")
    with pytest.raises(CourseError, match="no folder and no zip file"):
        collect(tmp_path / "nowhere", "x")


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff", b"[]", b"{}", b'{"cells": 3}', b"[" * 100_000, b'{"cells": "abc"}'],
)
def test_bytes_that_are_no_notebook_are_refused(data: bytes) -> None:
    with pytest.raises(NoNotebook, match="is no notebook"):
        read(data)


def test_too_many_cells_are_refused() -> None:
    cell = {"cell_type": "code", "source": ""}
    with pytest.raises(NoNotebook, match="3000 cells"):
        read(json.dumps({"cells": [cell] * 3000}).encode())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["cells", "cell_type", "source", "metadata", "lowdim", "question"]),
            inner | st.sampled_from(["code", "markdown"]),
            max_size=4,
        )
    ),
)


@given(JSON, st.lists(JSON, max_size=3))
def test_no_json_does_anything_but_be_refused_or_read(whole: object, cells: list) -> None:
    for each in (whole, {"cells": cells}):
        try:
            found = read(json.dumps(each).encode())
        except NoNotebook:
            continue
        for cell in found:
            assert isinstance(cell.source, str) and isinstance(cell.question, str)
            cell.source.encode()
