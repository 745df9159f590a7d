"""The server as a program meets it: who may ask, what is refused, what is kept."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = pytest.mark.chapter


def test_only_who_may_ask_is_answered(served) -> None:
    """Host, cookie and origin, each alone, are enough to be refused; a page of ours is not."""
    own = f"127.0.0.1:{served.port}"
    assert served.ask("/", Cookie=None)[0] == 403
    assert served.ask("/", Cookie=f"lowdim-{served.port}=wrong")[0] == 403
    assert served.ask("/", Host="evil.example")[0] == 403
    assert served.ask("/", Host=f"evil.example:{served.port}")[0] == 403
    assert served.ask("/?token=wrong", Cookie=None)[0] == 403
    assert served.ask("/")[0] == 200
    assert served.ask("/", Host=f"localhost:{served.port}")[0] == 200
    asked = {"chapter": "preserve/weyl", "preset": None, "values": {"seed": "9"}}
    for origin in (None, "null", "http://evil.example", "http://127.0.0.1:1", f"https://{own}"):
        assert served.ask("/_lowdim/runs", "POST", asked, Origin=origin)[0] == 403
    assert served.ask("/_lowdim/runs", "POST", asked, Cookie=None)[0] == 403
    assert served.ask("/_lowdim/runs", "POST", asked, Content_Type="text/plain")[0] == 400
    assert json.loads(served.ask("/_lowdim/runs")[1]) == []
    status, body = served.ask(f"/?token={served.token}", Cookie=None)
    assert status == 200
    assert b'url=/"' in body


@pytest.mark.skipif(not Path("/proc/net/tcp").is_file(), reason="reads /proc")
def test_only_the_loopback_address_listens(served) -> None:
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    listening = [line.split()[1] for line in lines if line.split()[3] == "0A"]
    own = [at for at in listening if int(at.partition(":")[2], 16) == served.port]
    assert own == [f"0100007F:{served.port:04X}"]


@pytest.mark.parametrize(
    "path",
    [
        "/../secret", "/%2e%2e/secret", "/..%2fsecret", "/notebooks/../../../secret",
        "/_lowdim/static/../app.py", "/_lowdim/static/app.py", "/_lowdim/chapters/../../secret",
        "/_lowdim/chapters/preserve/nothing", "/_lowdim/runs/0000000000000000",
        "/_lowdim/runs/0000000000000000/made/run.json", "/_lowdim/runs/../../secret",
    ],
)  # fmt: skip
def test_nothing_but_the_book_and_its_runs_is_found(served, path: str) -> None:
    (served.root / "_build" / "secret").write_text("secret")
    (served.root / "secret").write_text("secret")
    status, body = served.ask(path)
    assert status in (403, 404)
    assert b"secret" not in body.replace(b"is not in root static directory", b"")


def test_bad_requests_get_one_sentence_and_nothing_is_kept(served) -> None:
    cases = [
        ({"trials": "ten"}, "trials must be a whole number, 1 or more; you gave 'ten'.", "trials"),
        ({"noise": "0"}, "noise must be above 0; you gave 0.", "noise"),
        ({"nose": "1"}, "weyl has no parameter 'nose'", "nose"),
        ({"kind": "uniforn"}, "did you mean 'uniform'?", "kind"),
        ({"trials": "1" * 20_000}, "20,000 characters", "trials"),
        ({"trials": 5}, "values must be texts", ""),
    ]
    for values, sentence, name in cases:
        asked = {"chapter": "preserve/weyl", "preset": None, "values": values}
        status, told = served.ask("/_lowdim/runs", "POST", asked)
        assert status == 400
        assert sentence in json.loads(told)["error"]
        assert json.loads(told)["parameter"] == name
    others = [
        {"chapter": "preserve/weyl", "preset": "papre", "values": {}},
        {"chapter": "preserve/weyl", "preset": ["paper"], "values": {}},
        {"chapter": "../weyl", "values": {}},
        {"chapter": 5},
        ["preserve/weyl"],
        b"{",
        b"\xff",
        b"[" * 100_000,
    ]
    for other in others:
        assert served.ask("/_lowdim/runs", "POST", other)[0] in (400, 404)
    with suppress(ConnectionError):  # it may hang up before all is sent
        assert served.ask("/_lowdim/runs", "POST", b"x" * 300_000)[0] == 400
    assert served.ask("/_lowdim/runs", "PUT", {})[0] == 405
    assert json.loads(served.ask("/_lowdim/runs")[1]) == []


def test_a_queue_is_limited_and_survives_a_kill_with_its_list_intact(served, mark, helpers) -> None:
    first = served.run(seed="9")
    process = int(helpers.until(lambda: mark.is_file() and mark.read_text()))
    helpers.until(lambda: served.entry(first["id"])["cell"] == 3)
    assert served.entry(first["id"])["cells"] == 4
    waiting = [served.run(seed="9", trials=str(n)) for n in range(1, 21)]
    asked = {"chapter": "preserve/weyl", "preset": None, "values": {}}
    status, told = served.ask("/_lowdim/runs", "POST", asked)
    assert status == 429
    assert "20 runs wait already" in json.loads(told)["error"]
    assert served.entry(waiting[3]["id"])["before"] == 4
    assert served.ask(f"/_lowdim/runs/{waiting[0]['id']}", "DELETE")[0] == 409
    for each in waiting[1:]:
        assert served.ask(f"/_lowdim/runs/{each['id']}/cancel", "POST", {})[0] == 200
    assert served.ask(f"/_lowdim/runs/{waiting[1]['id']}", "DELETE")[0] == 200
    again = subprocess.run(
        [*helpers.lowdim, "serve", "--port", "0"], capture_output=True, text=True, check=False
    )
    assert again.returncode == 2
    assert "Another process serves this book already" in again.stderr

    served.end(signal.SIGKILL)
    helpers.until(lambda: not helpers.alive(process), 30)  # no run outlives its server
    served.start()
    states = {run["id"]: run["state"] for run in json.loads(served.ask("/_lowdim/runs")[1])}
    assert len(states) == 20
    assert states[first["id"]] == "interrupted"
    assert states[waiting[2]["id"]] == "cancelled"
    assert states[waiting[0]["id"]] in ("waiting", "running"), "what waited goes on waiting"

    mark.unlink()
    process = int(helpers.until(lambda: mark.is_file() and mark.read_text()))
    assert served.ask(f"/_lowdim/runs/{waiting[0]['id']}/cancel", "POST", {})[0] == 200
    helpers.until(lambda: not helpers.alive(process), 30)
    failed = served.run(seed="8")
    found = helpers.until(lambda: (e := served.entry(failed["id"]))["ended"] and e)
    assert found["state"] == "failed"
    assert "eight is refused" in found["said"]
    assert served.end() == 0, "asked to end, it ends well"
    served.start()


def test_what_a_run_made_can_be_had_and_deleted(served, helpers) -> None:
    made = served.run(trials="7", seed="1")
    found = helpers.until(lambda: (e := served.entry(made["id"]))["ended"] and e)
    assert found["state"] == "done", found
    assert found["page"]
    assert found["command"] == "lowdim run preserve/weyl -p trials=7 -p seed=1"
    base = f"/_lowdim/runs/{made['id']}"
    status, page = served.ask(f"{base}/made/weyl.html")
    assert status == 200
    assert b"A run of your own" in page
    assert served.ask(f"{base}/made/../../../secret")[0] in (403, 404)
    status, packed = served.ask(f"{base}/download")
    assert status == 200
    names = zipfile.ZipFile(io.BytesIO(packed)).namelist()
    folder = f"preserve-weyl-{made['id']}"
    assert {f"{folder}/weyl.ipynb", f"{folder}/weyl.record.json", f"{folder}/run.json"} <= set(
        names
    )
    assert served.ask(base, "DELETE")[0] == 200
    assert served.ask(base)[0] == 404
    assert not (served.root / "_build" / "serve" / made["id"]).exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--port", "99999"], "--port must be between 0 and 65535; you gave 99999."),
        (["--port", "x"], "invalid int value: 'x'"),
        ([], "There is no book under _build/html to serve"),
    ],
)
def test_bad_requests_on_the_command_line(book, helpers, words, sentence) -> None:
    book.chapter()
    before = book.files()
    done = subprocess.run(
        [*helpers.lowdim, "serve", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert book.files() == before


def test_a_port_that_is_taken_gets_one_sentence(served, helpers) -> None:
    words = [*helpers.lowdim, "serve", "--port", str(served.port)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"Port {served.port} cannot be used (address already in use)" in done.stderr
