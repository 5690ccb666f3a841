"""Files from a web server, which may stop, go on elsewhere, or have changed."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import IO, Any, Final

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.text import printable

TIMEOUT: Final = 30.0
"""Seconds without a byte after which a connection counts as broken."""
ATTEMPTS: Final = 5
"""Attempts in a row in which nothing comes before a transfer is given up."""
_PIECE: Final = 2**20
_PASSING: Final = (408, 425, 429, 500, 502, 503, 504)
"""Answers of a server that may be other ones the next time."""


class WebFolder:
    """The files beside a manifest on a web server.

    Parameters
    ----------
    url
        The address of the manifest.
    pause
        Seconds before the second attempt; twice as many before each further one.
    """

    def __init__(self, url: str, *, pause: float = 1.0) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SynthprobeError(f"{printable(url)} is no address of a web server.")
        if parts.username is not None or parts.password is not None:
            raise SynthprobeError("the address has a name or a password: leave them out.")
        self.name = printable(url)
        self._parts = parts
        self._pause = pause
        self._opener = urllib.request.build_opener(_Redirects())

    def fetch(self, file: str, target: Path, limit: int) -> None:
        """Fetch a file; what is there of it already is gone on with.

        Parameters
        ----------
        file
            Its name, beside the manifest.
        target
            Where to write it.
        limit
            The most bytes that it may have.
        """
        failures = 0
        while True:
            before = target.stat().st_size if target.exists() else 0
            try:
                if self._fetch_rest(file, target, limit):
                    return
                sentence = "the server stopped before its end"
            except urllib.error.HTTPError as error:
                error.close()
                if error.code == 416 and before:  # what is there is no beginning of it
                    target.unlink()
                elif error.code not in _PASSING:
                    raise SynthprobeError(
                        f"{self.name}: the server says {error.code} of {file}."
                    ) from None
                sentence = f"the server says {error.code}"
            except (OSError, http.client.HTTPException) as error:
                reason = getattr(error, "reason", None) or error
                sentence = str(reason).split("\n")[0] or type(error).__name__
            after = target.stat().st_size if target.exists() else 0
            failures = 0 if after > before else failures + 1
            if failures >= ATTEMPTS:
                raise SynthprobeError(
                    f"{self.name}: {file} could not be fetched, {printable(sentence)}. "
                    "The same command continues from here."
                )
            time.sleep(self._pause * 2**failures)

    def _fetch_rest(self, file: str, target: Path, limit: int) -> bool:
        """Fetch what is missing; whether the end was reached."""
        start = target.stat().st_size if target.exists() else 0
        request = urllib.request.Request(self._url(file))
        request.add_header("Accept-Encoding", "identity")
        if start:
            request.add_header("Range", f"bytes={start}-")
        with self._opener.open(request, timeout=TIMEOUT) as answer:
            if answer.status == 206 and not _begins_at(answer.headers["Content-Range"], start):
                raise SynthprobeError(f"{self.name}: the server sent another part of {file}.")
            going_on = answer.status == 206
            start = start if going_on else 0
            length = answer.headers["Content-Length"]
            with open(target, "ab" if going_on else "wb") as out:
                size = _copied(answer, out, limit - start)
            if size is None:
                target.unlink()
                raise SynthprobeError(f"{self.name}: {file} has more bytes than it should have.")
            return length is None or not length.isdecimal() or size == int(length)

    def _url(self, file: str) -> str:
        folder = self._parts.path.rpartition("/")[0]
        name = self._parts.path.rpartition("/")[2]
        path = self._parts.path if file == name else f"{folder}/{urllib.parse.quote(file)}"
        return urllib.parse.urlunsplit(self._parts._replace(path=path, fragment=""))


def _begins_at(stated: str | None, start: int) -> bool:
    return stated is not None and stated.startswith(f"bytes {start}-")


def _copied(answer: Any, out: IO[bytes], limit: int) -> int | None:
    """Copy to the end; the bytes that came, ``None`` if they are more than the limit."""
    size = 0
    try:
        while piece := answer.read(_PIECE):
            size += len(piece)
            if size > limit:
                return None
            out.write(piece)
    except http.client.IncompleteRead as error:
        out.write(error.partial[: max(0, limit - size)])
        raise
    return size


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but not from a safe address to one that is not."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """The next request."""
        if not newurl.startswith("https:" if req.type == "https" else ("http:", "https:")):
            raise SynthprobeError(f"the server leads to {printable(newurl)}, which is not safe.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)
