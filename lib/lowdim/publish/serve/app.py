"""The server of `lowdim serve`: addresses, and nothing that decides or computes.

It listens on 127.0.0.1 only. Chapters and runs are looked up by name among those that there are;
no path and no code comes from the browser.
"""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import tempfile
import zipfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from tornado import httpserver, netutil, web

from lowdim.publish import chapters
from lowdim.publish.chapters import Chapter, UsageError
from lowdim.publish.running import check_output
from lowdim.publish.serve import guard, panel, runs
from lowdim.publish.serve.desk import Desk, Refused

ADDRESS = "127.0.0.1"
FOLDER = Path("_build", "serve")
BODY = 1 << 18  # bytes of a request
OURS = "default-src 'self'; frame-ancestors 'self'; form-action 'none'; base-uri 'none'"
OPEN = """<!doctype html><html lang="en"><meta charset="utf-8"><title>lowdim</title>
<meta http-equiv="refresh" content="0; url=/"><a href="/">The book</a></html>"""


@dataclass(frozen=True)
class Shared:
    """What all addresses know: the book's folder, its pages, its chapters, and the desk."""

    desk: Desk
    token: str
    port: int
    root: Path
    html: Path
    names: frozenset[str]


class Handler(web.RequestHandler):
    """What every address has in common: who may ask, and what an answer's head says."""

    @property
    def shared(self) -> Shared:
        """What the application knows."""
        return self.application.settings["shared"]

    @property
    def desk(self) -> Desk:
        """Where runs are asked for."""
        return self.shared.desk

    def set_default_headers(self) -> None:
        """No other origin shows our pages, and none is told where a reader came from."""
        self.set_header("Server", "lowdim")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("X-Frame-Options", "SAMEORIGIN")
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("Cross-Origin-Resource-Policy", "same-origin")

    def prepare(self) -> None:
        """Refuse whoever may not ask, before anything is looked up."""
        if not guard.is_host(self.request.headers.get("Host"), self.shared.port):
            return self.refuse(
                403, f"This server is 127.0.0.1:{self.shared.port} and nothing else."
            )
        if self.request.path == "/" and "token" in self.request.query_arguments:
            if guard.same(self.get_query_argument("token"), self.shared.token):
                self.set_cookie(
                    guard.cookie(self.shared.port),
                    self.shared.token,
                    httponly=True,
                    samesite="Strict",
                    path="/",
                )
                self.set_header("Cache-Control", "no-store")
                self.finish(OPEN)
                return None
            return self.refuse(403, "This is not the token that lowdim serve has printed.")
        if not guard.same(self.get_cookie(guard.cookie(self.shared.port)), self.shared.token):
            return self.refuse(
                403, "Open the address that lowdim serve has printed, token and all."
            )
        if self.request.method not in ("GET", "HEAD"):
            if not guard.is_origin(self.request.headers.get("Origin"), self.shared.port):
                return self.refuse(403, "Only pages of this server may ask for that.")
        return None

    def refuse(self, status: int, sentence: str, **more: Any) -> None:
        """Answer with one sentence."""
        self.set_status(status)
        self.set_header("Cache-Control", "no-store")
        self.finish({"error": sentence, **more})

    def write_error(self, status_code: int, **more: Any) -> None:
        """Errors of the server's own, in the same form."""
        words = {404: "There is nothing here.", 405: "This address takes no such request."}
        self.finish({"error": words.get(status_code, "The server could not answer.")})

    def chapter(self, name: str) -> Chapter | None:
        """The chapter of this name as it is on disk now; answers itself if there is none."""
        try:
            if name in self.shared.names:
                return chapters.load(name, root=self.shared.root)
            self.refuse(404, f"There is no chapter '{name}'.")
        except (UsageError, OSError) as error:
            self.refuse(409, f"The chapter cannot be read: {error}")
        return None

    def entry(self, name: str) -> runs.Entry | None:
        """The run of this id; answers itself if there is none."""
        found = self.desk.runs.get(name)
        if found is None:
            self.refuse(404, "There is no such run; it may have been deleted.")
        return found

    def told(self, entry: runs.Entry) -> dict[str, Any]:
        """A run as pages have it."""
        return {
            **asdict(entry),
            "before": self.desk.before(entry),
            "command": panel.again(entry.chapter, entry.values),
            "stem": entry.chapter.partition("/")[2],
        }

    def answer(self, told: Any, status: int = 200) -> None:
        """Answer in JSON, which nobody is to keep."""
        self.set_status(status)
        self.set_header("Cache-Control", "no-store")
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(json.dumps(told))


class ChapterHandler(Handler):
    """The parameters of a chapter."""

    def get(self, name: str) -> None:
        """Answer with what the panel shows."""
        if (chapter := self.chapter(name)) is not None:
            self.answer(panel.describe(chapter))


class RunsHandler(Handler):
    """The list of runs; a new one."""

    def get(self) -> None:
        """All runs, the newest first."""
        self.answer([self.told(entry) for entry in reversed(list(self.desk.runs))])

    def post(self) -> None:
        """Queue a run: chapter, preset and values, checked as on the command line."""
        try:
            if not self.request.headers.get("Content-Type", "").startswith("application/json"):
                raise ValueError
            given = json.loads(self.request.body)
            if not isinstance(given, dict) or not isinstance(given.get("chapter"), str):
                raise ValueError
        except (ValueError, RecursionError):
            return self.refuse(400, "A run is asked for in JSON: chapter, preset and values.")
        chapter = self.chapter(given["chapter"])
        if chapter is None:
            return None
        try:
            values, preset = panel.asked(chapter, given)
            entry = self.desk.take(chapter.name, values, preset)
        except panel.WrongValue as error:
            return self.refuse(400, str(error), parameter=error.parameter)
        except Refused as error:
            return self.refuse(429, str(error))
        except OSError as error:
            return self.refuse(507, f"The run could not be written down ({error.strerror}).")
        return self.answer(self.told(entry), 201)


class RunHandler(Handler):
    """One run: how far it is; delete it."""

    def get(self, name: str) -> None:
        """What is known of it."""
        if (entry := self.entry(name)) is not None:
            self.answer(self.told(entry))

    def delete(self, name: str) -> None:
        """Remove it with all that it made."""
        if (entry := self.entry(name)) is not None:
            try:
                self.desk.delete(entry)
            except Refused as error:
                return self.refuse(409, str(error))
            self.answer({"deleted": name})
        return None


class CancelHandler(Handler):
    """Cancel a run."""

    def post(self, name: str) -> None:
        """End it, or take it out of the queue."""
        if (entry := self.entry(name)) is not None:
            self.desk.cancel(entry)
            self.answer(self.told(entry))


class DownloadHandler(Handler):
    """All that a run made, in one file."""

    async def get(self, name: str) -> None:
        """Answer with a zip file."""
        if (entry := self.entry(name)) is None:
            return
        stem = entry.chapter.replace("/", "-")
        self.set_header("Content-Type", "application/zip")
        self.set_header("Content-Disposition", f'attachment; filename="{stem}-{entry.id}.zip"')
        with tempfile.TemporaryFile() as packed:
            place = self.desk.runs.place(entry)
            await asyncio.to_thread(_pack, place, packed, f"{stem}-{entry.id}")
            packed.seek(0)
            while chunk := packed.read(1 << 18):
                self.write(chunk)
                await self.flush()


def _pack(place: Path, packed: Any, name: str) -> None:
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for path in sorted(place.rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                made.write(path, Path(name, path.relative_to(place)))


class PageHandler(Handler):
    """A page of ours, whose script asks for the rest."""

    def get(self, *_: str) -> None:
        """The page: the list of runs, or one beside the book's."""
        name = "beside.html" if self.path_args else "runs.html"
        if self.path_args and self.entry(self.path_args[0]) is None:
            return
        self.set_header("Content-Security-Policy", OURS)
        self.set_header("Cache-Control", "no-store")
        self.finish(files(__package__).joinpath(name).read_text(encoding="utf-8"))


class FileHandler(Handler, web.StaticFileHandler):
    """Files of one folder; what lies outside is not found."""

    def compute_etag(self) -> str | None:
        """Of a file; what is no file, such as a refusal or a page with a panel, has none."""
        return super().compute_etag() if getattr(self, "absolute_path", None) else None

    def set_extra_headers(self, path: str) -> None:
        """A page that was built anew is seen at once."""
        self.set_header("Cache-Control", "no-cache")


class BookHandler(FileHandler):
    """The built book; a chapter's page gets the panel."""

    async def get(self, path: str, include_body: bool = True) -> None:
        """A page or a file of the book."""
        name = path.removeprefix("notebooks/").removesuffix(".html")
        page = self.shared.html / "notebooks" / f"{name}.html"
        if path != f"notebooks/{name}.html" or name not in self.shared.names or not page.is_file():
            return await super().get(path, include_body)
        self.set_header("Cache-Control", "no-cache")
        self.set_header("Content-Type", "text/html; charset=utf-8")
        text = panel.put_into(page.read_text(encoding="utf-8"), name)
        await self.finish(text if include_body else None)
        return None


class MadeHandler(FileHandler):
    """What a run made: its page, and the files beside it."""

    async def get(self, name: str, path: str) -> None:  # type: ignore[override]  # two parts
        """A file of the run's own folder."""
        if (entry := self.entry(name)) is None:
            return
        self.root = str(self.desk.runs.place(entry))
        await super().get(path)


def _application(root: Path, desk: Desk, token: str, port: int, static: Path) -> web.Application:
    """All addresses; the book stands at the top, ours below ``/_lowdim``."""
    html = root / "_build" / "html"
    shared = Shared(desk, token, port, root, html, frozenset(chapters.discover(root)))
    p, run = panel.PREFIX, "([0-9a-f]{16})"
    book = {"path": str(html), "default_filename": "index.html"}
    return web.Application(
        [
            (rf"{p}/chapters/([a-z0-9_]+/[a-z0-9_]+)", ChapterHandler),
            (rf"{p}/runs", RunsHandler),
            (rf"{p}/runs/{run}", RunHandler),
            (rf"{p}/runs/{run}/cancel", CancelHandler),
            (rf"{p}/runs/{run}/download", DownloadHandler),
            (rf"{p}/runs/{run}/made/(.+)", MadeHandler, {"path": str(desk.runs.folder)}),
            (rf"{p}/list", PageHandler),
            (rf"{p}/beside/{run}", PageHandler),
            (rf"{p}/static/([a-z]+\.(?:js|css))", FileHandler, {"path": str(static)}),
            (r"/(.*)", BookHandler, book),
        ],
        shared=shared,
        log_function=lambda handler: None,
        default_handler_class=Handler,
    )


def serve(root: Path, *, port: int) -> int:
    """Serve the book until interrupted; returns 0.

    Raises
    ------
    UsageError
        If there is no built book, if the port is taken or not allowed, or if another process
        serves this book.
    """
    if not (root / "_build" / "html" / "index.html").is_file():
        raise UsageError("There is no book under _build/html to serve: make book builds it.")
    folder = root / FOLDER
    check_output(folder)
    try:
        sockets = netutil.bind_sockets(port, address=ADDRESS, family=socket.AF_INET)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise UsageError(f"Port {port} cannot be used ({why}); give another with --port.") from None
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise UsageError("Another process serves this book already; end it first.") from None
    try:
        with as_file(files(__package__)) as static:
            asyncio.run(_serve(root, sockets, static))
    finally:
        lock.release()
        for each in sockets:
            each.close()
    return 0


async def _serve(root: Path, sockets: list[socket.socket], static: Path) -> None:
    port = sockets[0].getsockname()[1]
    desk, token = Desk(root, runs.Runs(root / FOLDER)), guard.new_token()
    made = _application(root, desk, token, port, static)
    server = httpserver.HTTPServer(made, max_body_size=BODY, max_header_size=1 << 16)
    server.add_sockets(sockets)
    over = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, over.set)
    work = asyncio.create_task(desk.work())
    print(f"http://{ADDRESS}:{port}/?token={token}  (stop with Ctrl-C)", flush=True)
    try:
        ended = asyncio.create_task(over.wait())
        await asyncio.wait({work, ended}, return_when=asyncio.FIRST_COMPLETED)
        if work.done():
            work.result()  # it never ends by itself
    finally:
        server.stop()
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work
        await server.close_all_connections()
