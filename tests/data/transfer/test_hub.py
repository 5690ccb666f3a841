"""To the Hub and back, against a server on loopback that speaks the few endpoints used."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("huggingface_hub")

from synthprobe_data import RdeConfig, SynthprobeError
from synthprobe_data.cli.shards import main
from synthprobe_data.generation.folder import generate_folder
from synthprobe_data.registry import find_dataset
from synthprobe_data.transfer.hub import push
from synthprobe_data.transfer.pull import pull

CONFIG = RdeConfig(height=16, width=16, n_rectangles=2, n_vis=2, n_gap=2, n_par=2, mode="rules")
ROOT = Path(__file__).parents[3]
TOKEN = "hf_averysecrettoken"
REPO = "me/rde"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shards") / "rde"
    splits = {"train": 12, "test": 4}
    generate_folder(path, find_dataset("rde"), CONFIG, shards=3, splits=splits, workers=1)
    return path


class Hub(ThreadingHTTPServer):
    """One dataset repository: its commits, and the large objects that have arrived."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.made: dict[str, Any] | None = None
        self.objects: dict[str, bytes] = {}
        self.commits: list[dict[str, bytes]] = []
        self.refused: set[str] = set()
        """Objects that are not taken."""
        self.put: list[str] = []
        self.tampered: str | None = None
        """A file of which a bit is other than it was."""


class Handler(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self, found: Any, code: int = 200, error: str | None = None) -> None:
        content = json.dumps(found).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if error:
            self.send_header("X-Error-Code", error)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers["Content-Length"] or 0))

    def do_POST(self) -> None:
        hub, body = self.server, self.body()
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            self.answer({"error": "who are you?"}, 401)
        elif self.path == "/api/repos/create":
            if hub.made is not None:
                self.answer({"error": "it is there", "url": f"{hub.url}/datasets/{REPO}"}, 409)
                return
            hub.made = json.loads(body)
            self.answer({"url": f"{hub.url}/datasets/{REPO}", "name": REPO})
        elif self.path == "/api/validate-yaml":
            self.answer({"errors": [], "warnings": []})
        elif re.fullmatch(rf"/api/datasets/{REPO}/preupload/\w+", self.path):
            files = [
                {
                    "path": one["path"],
                    "uploadMode": "lfs" if one["path"].endswith((".h5", ".png")) else "regular",
                    "shouldIgnore": False,
                }
                for one in json.loads(body)["files"]
            ]
            self.answer({"files": files})
        elif self.path == f"/datasets/{REPO}.git/info/lfs/objects/batch":
            objects = [
                one
                if one["oid"] in hub.objects
                else one | {"actions": {"upload": {"href": f"{hub.url}/lfs/{one['oid']}"}}}
                for one in json.loads(body)["objects"]
            ]
            self.answer({"transfer": "basic", "objects": objects})
        elif re.fullmatch(rf"/api/datasets/{REPO}/commit/\w+", self.path):
            lines = [json.loads(line) for line in body.splitlines()]
            commit: dict[str, bytes] = {}
            for line in lines:
                value = line["value"]
                if line["key"] == "file":
                    commit[value["path"]] = base64.b64decode(value["content"])
                elif line["key"] == "lfsFile":
                    commit[value["path"]] = hub.objects[value["oid"]]
            hub.commits.append(commit)
            url = f"{hub.url}/datasets/{REPO}/commit/{sha(len(hub.commits))}"
            found = {"commitUrl": url, "commitOid": sha(len(hub.commits)), "hookOutput": ""}
            self.answer(found)
        else:
            self.answer({"error": self.path}, 404)

    def do_PUT(self) -> None:
        oid, content = self.path.rpartition("/")[2], self.body()
        if oid in self.server.refused:
            self.answer({"error": "broken"}, 400)
            return
        assert hashlib.sha256(content).hexdigest() == oid
        self.server.objects[oid] = content
        self.server.put.append(oid)
        self.answer({})

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        hub = self.server
        if found := re.fullmatch(rf"/api/datasets/{REPO}(/revision/(\w+))?", self.path):
            number = {None: len(hub.commits), "main": len(hub.commits), "first": 1}.get(found[2])
            if number is None:
                self.answer({"error": "no revision"}, 404, "RevisionNotFound")
            else:
                self.answer({"id": REPO, "sha": sha(number), "siblings": [], "tags": []})
        elif found := re.fullmatch(rf"/datasets/{REPO}/resolve/(\w+)/([\w.-]+)", self.path):
            name, files = found[2], hub.commits[int(found[1]) - 1]
            if name not in files:
                self.answer({"error": "no entry"}, 404, "EntryNotFound")
                return
            content = files[name]
            etag = hashlib.sha256(content).hexdigest()
            if name == hub.tampered:
                content = content[:-1] + bytes([content[-1] ^ 1])
            self.send_response(200)
            self.send_header("ETag", f'"{etag}"')
            self.send_header("X-Repo-Commit", found[1])
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)
        else:
            self.answer({"error": "no such repository"}, 404, "RepoNotFound")


def sha(number: int) -> str:
    return f"{number:040}"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with Hub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        # Its protocol for chunks needs a server of its own; plain objects are spoken everywhere.
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def shards_of(folder: Path) -> dict[str, bytes]:
    return {
        path.name: path.read_bytes() for path in [*folder.glob("*.h5"), folder / "manifest.json"]
    }


def files_with(text: bytes, folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and text in path.read_bytes()]


def test_a_folder_goes_to_the_hub_and_comes_back(
    hub: Hub, folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "notes.txt").write_text("of my own")
    assert main(["push", str(folder), REPO, "--private"]) == 0
    said = capfd.readouterr()
    assert said.out == f"{hub.url}/datasets/{REPO}/commit/{sha(1)}\n"
    assert hub.made is not None
    assert hub.made.get("private") or hub.made.get("visibility") == "private"
    names = {path.name for path in folder.iterdir()} - {"notes.txt"}
    assert set(hub.commits[0]) == names
    assert main(["pull", REPO, str(tmp_path / "rde"), "-v"]) == 0
    said_too = capfd.readouterr()
    assert shards_of(tmp_path / "rde") == shards_of(folder)
    assert {path.name for path in tmp_path.iterdir()} == {"rde"}
    assert {path.name for path in (tmp_path / "rde").iterdir()} == names
    assert TOKEN not in said.out + said.err + said_too.out + said_too.err
    assert files_with(TOKEN.encode(), tmp_path) == []
    (folder / "notes.txt").unlink()


def test_a_command_that_only_fetches_loads_what_it_needs(
    hub: Hub, folder: Path, tmp_path: Path
) -> None:
    push(folder, REPO)
    # In a process of its own: nothing of the library was imported before.
    words = [sys.executable, "-m", "synthprobe_data", "shards", "pull", REPO, str(tmp_path / "got")]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert shards_of(tmp_path / "got") == shards_of(folder)


def test_a_broken_push_changes_nothing_and_goes_on(
    hub: Hub, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    hashes = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.h5")
    }
    hub.refused = {sorted(hashes.values())[0]}
    assert main(["push", str(folder), REPO]) == 2
    said = capfd.readouterr().err
    assert said.startswith(f"synthprobe-shards: {REPO}: ")
    assert TOKEN not in said
    assert hub.commits == []
    arrived = set(hub.put)
    hub.refused = set()
    hub.put.clear()
    push(folder, REPO)
    assert hub.commits
    assert not arrived & set(hub.put)


def test_a_tampered_file_of_the_hub_gets_no_name(hub: Hub, folder: Path, tmp_path: Path) -> None:
    push(folder, REPO)
    hub.tampered = sorted(path.name for path in folder.glob("*.h5"))[0]
    with pytest.raises(SynthprobeError, match="SHA-256"):
        pull(REPO, tmp_path / "rde")
    assert not (tmp_path / "rde").exists()
    hub.tampered = None
    pull(REPO, tmp_path / "rde")
    assert shards_of(tmp_path / "rde") == shards_of(folder)


def test_a_revision_is_fetched_as_it_was(hub: Hub, folder: Path, tmp_path: Path) -> None:
    push(folder, REPO)
    hub.commits.append({})
    pull(f"{REPO}@first", tmp_path / "rde")
    assert shards_of(tmp_path / "rde") == shards_of(folder)
    with pytest.raises(SynthprobeError, match="no such revision"):
        pull(f"{REPO}@other", tmp_path / "other")
    with pytest.raises(SynthprobeError, match="me/rde"):
        pull(REPO, tmp_path / "other")


def test_what_is_damaged_is_not_pushed(hub: Hub, folder: Path, tmp_path: Path) -> None:
    pushed = tmp_path / "rde"
    pushed.mkdir()
    for name, content in shards_of(folder).items():
        (pushed / name).write_bytes(content)
    shard = sorted(pushed.glob("*.h5"))[0]
    shard.write_bytes(shard.read_bytes()[:-1] + b"0")
    with pytest.raises(SynthprobeError, match=shard.name):
        push(pushed, REPO)
    assert hub.made is None


def test_a_wrong_token_and_a_missing_repository_are_said_in_one_sentence(
    hub: Hub,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_another")
    assert main(["push", str(folder), REPO]) == 2
    assert main(["pull", "me/none", str(tmp_path / "rde")]) == 2
    assert main(["pull", "no/such/name", str(tmp_path / "rde")]) == 2
    said = capfd.readouterr().err
    assert said.count("synthprobe-shards: ") == said.count("\n") == 3
    assert "hf_another" not in said


def test_who_may_not_write_is_told_how_to_log_in(
    hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_another")
    # As if the library were loaded only now: another test may have done so with another server.
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", hub.url)
    assert main(["push", str(folder), REPO]) == 2
    said = capfd.readouterr().err
    assert said == f"synthprobe-shards: {REPO}: you may not: hf auth login, or another HF_TOKEN.\n"


def test_without_the_library_it_says_what_to_install(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(SynthprobeError, match=r"pip install 'synthprobe\[hub\]'"):
        push(folder, REPO)
    with pytest.raises(SynthprobeError, match=r"pip install 'synthprobe\[hub\]'"):
        pull(REPO, tmp_path / "rde")
