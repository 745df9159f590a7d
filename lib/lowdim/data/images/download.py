"""Downloads, only when asked for: through pooch, checked, and taken up where they broke off.

A file appears under its own name only when it is whole and its checksum is right. A connection that
breaks is taken up again with a range request. If that does not help nothing is left behind; only
what an interrupt by the user left is kept, out of the way, and continued next time. Nothing is
written through a link that leads out of the data folder.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import requests
from tqdm import tqdm

from lowdim import checks
from lowdim.data.images._pooch import pooch
from lowdim.data.images.catalogue import CATALOGUE, File
from lowdim.data.images.readers import DataError, wanted

ATTEMPTS = 4
TIMEOUT = 30.0  # seconds without a byte


class _Resuming:
    """A downloader for pooch that continues a part instead of starting over."""

    def __init__(self, part: Path, *, progress: bool) -> None:
        self.part, self.progress = part, progress

    def __call__(self, url: str, output: str, pooch_instance: object, **more: object) -> None:
        self.part.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(ATTEMPTS):
            try:
                if self._some(url):
                    break
            except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
                if not self._have():  # refused before anything came: no reason to insist
                    raise
        else:
            raise DataError(f"the server stops sending {url} after {self._have()} bytes.")
        Path(output).write_bytes(b"")
        self.part.replace(output)

    def _have(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _some(self, url: str) -> bool:
        """One request; whether the file is whole now."""
        have = self._have()
        headers = {"Range": f"bytes={have}-"} if have else {}
        with requests.get(url, stream=True, timeout=TIMEOUT, headers=headers) as answer:
            if answer.status_code == 416:  # nothing is left to send
                return True
            answer.raise_for_status()
            if answer.status_code != 206:
                have = 0
            left = answer.headers.get("Content-Length")
            total = have + int(left) if left else None
            with (
                open(self.part, "ab" if have else "wb") as stream,
                tqdm(
                    total=total, initial=have, unit="B", unit_scale=True, disable=not self.progress,
                    desc=url.rpartition("/")[2],
                ) as bar,
            ):  # fmt: skip
                for piece in answer.iter_content(1 << 16):
                    stream.write(piece)
                    bar.update(len(piece))
        return total is None or self._have() == total


def fetch(
    name: str,
    *,
    split: str | None = None,
    at: Path | str | None = None,
    progress: bool = True,
) -> list[Path]:
    """Download the official files of a data set into ``<folder>/<name>/``; return their paths.

    A file that is there and has the right checksum is left alone. ``split`` asks for the files of
    one split only, where splits are in different files.

    Raises
    ------
    DataError
        If a file cannot be had whole, or a link leads out of the folder: one sentence, and no half
        file.
    ValueError
        If there is no such data set or split.

    Examples
    --------
    >>> fetch("mnist", split="neither")
    Traceback (most recent call last):
    ValueError: ...
    """
    from lowdim.data.images import folder

    checks.choice(name, tuple(CATALOGUE), "name")
    entry = CATALOGUE[name]
    if split is not None:
        checks.choice(split, entry.splits, "split")
    needed = wanted(entry, split) if split else tuple(file.name for file in entry.files)
    home = (folder() if at is None else Path(at)) / name
    return [_one(file, home, progress) for file in entry.files if file.name in needed]


def _one(file: File, home: Path, progress: bool) -> Path:
    part = home / ".partial" / file.name
    _stays(home.parent, (home, home / file.name, part.parent, part))
    pooch.get_logger().setLevel("WARNING")  # there is a progress bar already
    try:
        path = pooch.retrieve(
            file.url, f"md5:{file.md5}", fname=file.name, path=home,
            downloader=_Resuming(part, progress=progress),
        )  # fmt: skip
    except KeyboardInterrupt:
        raise  # the part stays, to be continued
    except DataError:
        _tidy(home, part)
        raise
    except ValueError as error:  # pooch's word for a checksum that does not fit
        _tidy(home, part)
        raise DataError(
            f"what {file.url} sends is not the published file: its MD5 sum should be {file.md5}."
        ) from error
    except (requests.RequestException, OSError) as error:
        _tidy(home, part)
        reason = str(error).partition("(Caused by")[0].strip(" (:") or type(error).__name__
        raise DataError(f"{file.url} could not be downloaded: {reason}.") from error
    _tidy(home, part)
    return Path(path)


def _stays(folder: Path, paths: Iterable[Path]) -> None:
    """Refuse a path that a link leads out of ``folder``."""
    for path in paths:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise DataError(f"{path} is a link out of {folder}: remove it, and fetch again.")


def _tidy(home: Path, part: Path) -> None:
    """Remove the part, and folders that are empty."""
    part.unlink(missing_ok=True)
    for empty in (part.parent, home):
        if empty.is_dir() and not any(empty.iterdir()):
            empty.rmdir()
