"""Fetching from a web server: what arrives is checked, and what breaks off goes on."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from synthprobe_data import RdeConfig, SynthprobeError
from synthprobe_data.cli.shards import main
from synthprobe_data.generation.folder import generate_folder
from synthprobe_data.registry import find_dataset
from synthprobe_data.transfer import web
from synthprobe_data.transfer.pull import pull
from synthprobe_data.verification.verify import verify

CONFIG = RdeConfig(height=16, width=16, n_rectangles=2, n_vis=2, n_gap=2, n_par=2, mode="rules")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shards") / "rde"
    splits = {"train": 12, "test": 4}
    generate_folder(path, find_dataset("rde"), CONFIG, shards=3, splits=splits, workers=1)
    return path


class Server(ThreadingHTTPServer):
    """A folder on loopback, with ranges; ``change`` alters what is sent."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.ranges = True
        self.asked: list[tuple[str, str | None]] = []
        self.change: Callable[[str, bytes], bytes] = lambda name, content: content
        self.stop_after: dict[str, int] = {}
        """Bytes after which the connection ends, once for each file."""
        self.codes: list[int] = []
        """What the next requests are answered with."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/manifest.json"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        name = self.path.lstrip("/")
        wanted = self.headers["Range"]
        self.server.asked.append((name, wanted))
        if self.server.codes:
            self.send_error(self.server.codes.pop(0))
            return
        path = self.server.folder / name
        if not path.is_file():
            self.send_error(404)
            return
        content = self.server.change(name, path.read_bytes())
        start = 0
        if wanted and self.server.ranges:
            start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])  # type: ignore[index]
            if start >= len(content):
                self.send_error(416)
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        part = content[start:]
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        stop = self.server.stop_after.pop(name, None)
        self.wfile.write(part if stop is None else part[:stop])


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    with Server(folder) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("synthprobe_data.transfer.web.time.sleep", lambda seconds: None)


def shards_of(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes() for path in [*folder.glob("*.h5"), folder / "manifest.json"]
    }


def test_the_command_fetches_the_folder_as_it_is(
    server: Server, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "rde"
    assert main(["pull", server.url, str(out)]) == 0
    digest = json.loads((folder / "manifest.json").read_text())["content_digest"]
    assert capsys.readouterr().out == f"{out}: 16 samples; content digest {digest}\n"
    assert shards_of(out) == shards_of(folder)
    assert verify(out, workers=1).ok
    assert {path.name for path in tmp_path.iterdir()} == {"rde"}
    assert {path.name for path in out.iterdir()} == {path.name for path in folder.iterdir()}


def names_of(folder: Path) -> list[str]:
    """The shards, in the order in which they are fetched."""
    manifest = json.loads((folder / "manifest.json").read_text())
    return [shard["file"] for shard in manifest["shards"]]


@pytest.mark.parametrize("ranges", [True, False])
def test_a_server_that_stops_is_asked_for_the_rest(
    server: Server, folder: Path, tmp_path: Path, ranges: bool
) -> None:
    first = names_of(folder)[0]
    server.ranges = ranges
    server.stop_after = {first: 1000}
    pull(server.url, tmp_path / "rde")
    assert shards_of(tmp_path / "rde") == shards_of(folder)
    asked = [wanted for name, wanted in server.asked if name == first]
    assert asked == [None, "bytes=1000-"]


def test_an_interrupted_pull_goes_on_later(server: Server, folder: Path, tmp_path: Path) -> None:
    last = names_of(folder)[-1]
    content = (folder / last).read_bytes()

    def missing(name: str, content: bytes) -> bytes:
        if name == last:
            server.stop_after[name] = 0 if server.asked[-1][1] else 700
        return content

    server.change = missing
    with pytest.raises(SynthprobeError, match="same command continues"):
        pull(server.url, tmp_path / "rde")
    assert not (tmp_path / "rde").exists()
    server.change = lambda name, content: content
    server.asked.clear()
    pull(server.url, tmp_path / "rde")
    assert server.asked == [("manifest.json", None), (last, "bytes=700-")]
    assert (tmp_path / "rde" / last).read_bytes() == content
    assert {path.name for path in tmp_path.iterdir()} == {"rde"}


def test_a_beginning_that_is_not_of_the_file_is_fetched_again(
    server: Server, folder: Path, tmp_path: Path
) -> None:
    first = names_of(folder)[0]
    begun = tmp_path / "rde.part" / ".pull"
    begun.mkdir(parents=True)
    (begun / first).write_bytes(b"wrong" * 100)
    pull(server.url, tmp_path / "rde")
    assert shards_of(tmp_path / "rde") == shards_of(folder)
    assert [wanted for name, wanted in server.asked if name == first] == ["bytes=500-", None]


def flipped(content: bytes) -> bytes:
    return content[:-1] + bytes([content[-1] ^ 1])


@pytest.mark.parametrize("how", ["one bit", "longer", "shorter"])
def test_a_wrong_hash_leaves_nothing_under_the_name(
    server: Server, folder: Path, tmp_path: Path, how: str
) -> None:
    first = names_of(folder)[0]
    changes = {
        "one bit": flipped,
        "longer": lambda content: content + b"0",
        "shorter": lambda content: content[:-1],
    }
    server.change = lambda name, content: changes[how](content) if name == first else content
    with pytest.raises(SynthprobeError, match=first):
        pull(server.url, tmp_path / "rde")
    assert not (tmp_path / "rde").exists()
    server.change = lambda name, content: content
    pull(server.url, tmp_path / "rde")
    assert shards_of(tmp_path / "rde") == shards_of(folder)


def test_shards_with_right_hashes_and_a_wrong_content_digest_are_refused(
    server: Server, tmp_path: Path
) -> None:
    def other(name: str, content: bytes) -> bytes:
        if name != "manifest.json":
            return content
        manifest = json.loads(content)
        manifest["content_digest"] = hashlib.sha256(b"other").hexdigest()
        return json.dumps(manifest).encode()

    server.change = other
    with pytest.raises(SynthprobeError, match="content digest"):
        pull(server.url, tmp_path / "rde")
    assert list(tmp_path.iterdir()) == []


def test_what_was_there_before_stays_until_the_new_one_is_right(
    server: Server, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "rde"
    pull(server.url, out)
    before = shards_of(out)
    server.asked.clear()
    with pytest.raises(SynthprobeError, match="--force"):
        pull(server.url, out)
    assert server.asked == []
    server.change = lambda name, content: flipped(content) if name.endswith(".h5") else content
    with pytest.raises(SynthprobeError, match="SHA-256"):
        pull(server.url, out, force=True)
    assert shards_of(out) == before
    server.change = lambda name, content: content
    pull(server.url, out, force=True)
    assert shards_of(out) == before


@pytest.mark.parametrize("name", ["../a.h5", "/a.h5", "a.txt", "b/a.h5"])
def test_a_manifest_cannot_name_files_elsewhere(server: Server, tmp_path: Path, name: str) -> None:
    def other(file: str, content: bytes) -> bytes:
        manifest = json.loads(content)
        manifest["shards"][0]["file"] = name
        return json.dumps(manifest).encode()

    server.change = other
    with pytest.raises(SynthprobeError, match="not a file beside it"):
        pull(server.url, tmp_path / "rde")
    assert [file for file, _ in server.asked] == ["manifest.json"]


def test_errors_that_pass_are_tried_again_and_others_said(
    server: Server, folder: Path, tmp_path: Path
) -> None:
    server.codes = [503, 500, 429]
    pull(server.url, tmp_path / "rde")
    assert shards_of(tmp_path / "rde") == shards_of(folder)
    with pytest.raises(SynthprobeError, match="404"):
        pull(server.url.replace("manifest", "none/manifest"), tmp_path / "other")
    server.codes = [503] * 9
    with pytest.raises(SynthprobeError, match="503"):
        pull(server.url, tmp_path / "third")


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/manifest.json",
        "ftp://example.org/manifest.json",
        "http:///manifest.json",
        "https://example.org/rde/",
    ],
)
def test_what_is_no_address_of_a_manifest_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(SynthprobeError):
        pull(url, tmp_path / "rde")


def test_a_password_in_the_address_is_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(SynthprobeError) as said:
        pull("https://me:secret@example.org/manifest.json", tmp_path / "rde")
    assert "secret" not in str(said.value)


def test_the_part_of_a_generation_is_left_alone(server: Server, tmp_path: Path) -> None:
    part = tmp_path / "rde.part"
    part.mkdir()
    (part / "train-00000-of-00001.h5").write_bytes(b"a shard")
    with pytest.raises(SynthprobeError, match="did not fetch"):
        pull(server.url, tmp_path / "rde")
    assert (part / "train-00000-of-00001.h5").read_bytes() == b"a shard"


def test_a_redirect_that_is_not_safe_is_not_followed() -> None:
    request = urllib.request.Request("https://example.org/manifest.json")
    follow = web._Redirects().redirect_request
    with pytest.raises(SynthprobeError, match="not safe"):
        follow(request, None, 302, "", {}, "http://example.org/manifest.json")
    assert follow(request, None, 302, "", {}, "https://example.com/manifest.json") is not None
