"""Changes of the library: what is changed, which tests are asked, and who notices."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import mutants  # noqa: E402

SOURCE = '''\
"""Add 1 + 1."""
from dataclasses import dataclass
Pair = tuple[int, int] | None


@dataclass(frozen=True)
class Ball:
    size: float = 0.5


def f(x: int | float, é="2 < 3") -> "int | None":
    """Is 1 < 2?"""
    if not x >= -1 and len("ü") == 1:  # 1 + 1
        raise ValueError(f"{x + 1} is more than {2 * 2}")
    ax.set(xlim=(0, 1 + 1))
    axes[0, 0].plot(x - 1)
    return list(zip([x ** 2], [True], strict=True))
'''


def test_what_computes_is_changed_and_what_is_said_is_not() -> None:
    found = mutants.changes(SOURCE)
    assert [(change.old, change.new) for change in found] == [
        ("0.5", "0.75"), (">=", ">"), ("-", ""), ("1", "2"), ("and", "or"), ("==", "!="),
        ("1", "2"), ("**", "*"), ("2", "3"), ("True", "False"),
    ]  # fmt: skip
    for change in found:
        changed = change.apply(SOURCE)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(SOURCE))
        [(number, line)] = [
            (k, new)
            for k, (old, new) in enumerate(
                zip(SOURCE.splitlines(), changed.splitlines(), strict=True), start=1
            )
            if old != new
        ]
        assert number == change.line and change.text in SOURCE.splitlines()[number - 1]
        assert line.strip() != change.text


def test_every_change_of_the_library_can_be_read_by_python() -> None:
    drawn = mutants.draw(ROOT, 300, seed=1)
    assert len(set(drawn)) == 300 and drawn == mutants.draw(ROOT, 300, seed=1)
    for change in drawn:
        source = (ROOT / change.path).read_text(encoding="utf-8")
        assert source[change.start : change.end] == change.old
        ast.parse(change.apply(source))


def test_a_module_is_judged_by_its_own_tests_first() -> None:
    own = mutants.own_tests(ROOT, "lib/lowdim/linalg/ranks.py")
    assert own == ["lib/lowdim/linalg/ranks.py", "tests/linalg/test_ranks.py"]
    others = mutants.other_tests(ROOT, "lib/lowdim/linalg/ranks.py")
    assert "tests/collapse/test_growth.py" in others and not set(own) & set(others)
    assert not [name for name in others if name.startswith(("tests/book", "tests/chapters"))]
    # importers first, then the rest of the room, which may import by a name that is computed
    near, far = others.index("tests/collapse/test_growth.py"), "tests/linalg/test_parallel.py"
    assert near < others.index(far)
    some = mutants.other_tests(ROOT, "lib/lowdim/exercises/bridge.py")
    assert "tests/exercises/test_checking_answers.py" in some


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A library of one module: one function is tested, one is not, one never ends when changed."""
    for folder in ("lib/lowdim/room", "tests/room", "tools"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "lib/lowdim/__init__.py").touch()
    (tmp_path / "lib/lowdim/room/__init__.py").touch()
    (tmp_path / "lib/lowdim/room/sums.py").write_text(
        "def total(a, b):\n    return a + b\n\n\ndef untested(a, b):\n    return a - b\n\n\n"
        "def count(n):\n    k = 0\n    while k < n:\n        k = k + 1\n    return k\n"
    )
    (tmp_path / "tests/room/test_sums.py").write_text(
        "from lowdim.room.sums import count, total\n\n\ndef test_total():\n"
        "    assert total(2, 3) == 5\n    assert count(3) == 3\n"
    )
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    return tmp_path


def test_survivors_are_told_and_the_tree_is_left_alone(small: Path) -> None:
    module = small / "lib/lowdim/room/sums.py"
    before = module.read_text()

    def tried() -> tuple[int, str]:  # in a process of its own: it forks
        command = [sys.executable, str(ROOT / "tools/mutants.py"), "--root", str(small)]
        ended = subprocess.run(
            [*command, "--workers", "1", "--slowest", "3"], capture_output=True, text=True
        )
        return ended.returncode, ended.stdout

    code, said = tried()
    assert code == 1 and "survived: lib/lowdim/room/sums.py:6: - -> +    return a - b" in said
    assert "4 of 6 changes were noticed (66.7%), seed 0." in said
    assert module.read_text() == before
    report = json.loads((small / "_build/mutants.json").read_text())
    assert {
        (each["line"], each["old"]): each["outcome"] for each in report["changes"]
    } == {
        (2, "+"): "noticed", (6, "-"): "survived",
        (10, "0"): "survived", (11, "<"): "noticed", (12, "+"): "noticed", (12, "1"): "noticed",
    }  # fmt: skip

    (small / mutants.EQUIVALENT).write_text(
        "- {path: lib/lowdim/room/sums.py, text: return a - b, old: '-', new: +, why: dead}\n"
        "- {path: lib/lowdim/room/sums.py, text: k = 0, old: 0, new: 1, why: counted anyway}\n"
    )
    code, said = tried()
    assert code == 0 and "equivalent (dead)" in said


def test_a_run_that_is_stopped_reports_what_it_tried(small: Path) -> None:
    begun = small / "begun"
    (small / "tests/room/test_sums.py").write_text(
        "import time\nfrom pathlib import Path\nfrom lowdim.room import sums\n\n\n"
        f"def test_it():\n    Path({str(begun)!r}).touch()\n    time.sleep(600)\n"
    )
    command = [sys.executable, str(ROOT / "tools/mutants.py"), "--root", str(small), "--green"]
    job = subprocess.Popen([*command, "--workers", "1"], stdout=subprocess.PIPE, text=True)
    until = time.monotonic() + 300
    while not begun.exists() and time.monotonic() < until:
        time.sleep(0.1)
    job.terminate()
    said, _ = job.communicate(timeout=300)
    assert job.returncode == 1 and "0 of 0 changes were noticed (0.0%), seed 0." in said
    assert json.loads((small / "_build/mutants.json").read_text())["drawn"] == 0


def test_what_cannot_be_drawn_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert mutants.main(["-n", "0"]) == 2
    assert mutants.main(["--only", "nowhere"]) == 2
    said = capsys.readouterr().out.splitlines()
    assert len(said) == 2 and "1 or more, not 0" in said[0] and "nowhere in its path" in said[1]


def test_what_is_listed_as_equivalent_is_there_and_has_a_reason() -> None:
    for (path, text, old, new), why in mutants.equivalents(ROOT).items():
        offered = mutants.changes((ROOT / path).read_text(encoding="utf-8"), path)
        assert (text, old, new) in [(c.text, c.old, c.new) for c in offered], (path, text)
        assert len(why) > 10
