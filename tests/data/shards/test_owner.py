"""Two runs on one output, what the dead leave behind, and outputs that are symbolic links."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from synthprobe_data import SynthprobeError, open_dataset
from synthprobe_data.atomic.folder import held_folder, held_part
from synthprobe_data.atomic.lock import hold, is_held
from synthprobe_data.atomic.owner import begin, host_name, left_by_the_dead
from synthprobe_data.cli.gen import main as gen
from synthprobe_data.convert.export import export_png
from synthprobe_data.convert.merge_split import merge, split
from synthprobe_data.verification.verify import verify
from tests.children import Start
from tests.data.damage import SMALL_OPTIONS, small_file, small_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks and links of POSIX")

ROOT = Path(__file__).parents[3]
LOOK = """
import sys
from pathlib import Path
from synthprobe_data.atomic.lock import is_held
print(is_held(Path(sys.argv[1])))
"""
MAKE = """
import sys
from pathlib import Path
from tests.data.damage import small_file
small_file(Path(sys.argv[1]))
"""
BUSY = "is being written by another run"


def dead_process() -> int:
    process = subprocess.Popen(["true"])
    process.wait()  # so that no living process has its number
    return process.pid


def test_a_lock_is_seen_by_others_until_it_is_released(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "file"):
        if path != tmp_path:
            path.touch()
        assert not is_held(path)
        held = hold(path)
        assert held is not None
        assert is_held(path)
        assert hold(path) is None
        said = subprocess.run(
            [sys.executable, "-c", LOOK, str(path)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert said.stdout == "True\n"
        held.release()
        assert not is_held(path)


@pytest.mark.parametrize("options", [{}, {"force": True}, {"resume": True}])
def test_a_second_run_on_a_folder_is_refused(tmp_path: Path, options: dict[str, bool]) -> None:
    with held_part(tmp_path / "d", new=True) as part:
        (part / "train-00000-of-00004.h5").write_bytes(b"of the first run")
        with pytest.raises(SynthprobeError, match=BUSY):
            small_folder(tmp_path / "d", **options)
        assert [path.read_bytes() for path in part.iterdir()] == [b"of the first run"]
    small_folder(tmp_path / "d", resume=True)
    assert os.listdir(tmp_path) == ["d"]


def test_a_second_run_on_a_folder_that_is_being_set_right_is_refused(tmp_path: Path) -> None:
    folder = small_folder(tmp_path / "d")
    with held_folder(folder), pytest.raises(SynthprobeError, match=BUSY):
        small_folder(folder, resume=True)
    assert small_folder(folder, resume=True) == folder


def test_a_second_run_on_a_file_or_another_command_on_a_folder_is_refused(tmp_path: Path) -> None:
    whole = small_file(tmp_path / "whole.h5")
    part, held = begin(tmp_path / "a.h5", ".part")
    for force in (False, True):
        with pytest.raises(SynthprobeError, match=BUSY):
            small_file(tmp_path / "a.h5", force=force)
        with pytest.raises(SynthprobeError, match=BUSY):
            merge([whole], tmp_path / "a.h5", force=force)
    assert part.exists()
    held.release()
    small_file(tmp_path / "a.h5")
    part, held = begin(tmp_path / "d", ".part", folder=True)
    with pytest.raises(SynthprobeError, match=BUSY):
        split(whole, tmp_path / "d", 2)
    with pytest.raises(SynthprobeError, match=BUSY):
        export_png(whole, tmp_path / "d")
    with pytest.raises(SynthprobeError, match=BUSY):
        small_folder(tmp_path / "d")
    held.release()
    assert sorted(os.listdir(part)) == []


@pytest.mark.parametrize("shards", [[], ["--shards", "200"]])
def test_a_run_that_is_under_way_goes_on_when_a_second_is_refused(
    tmp_path: Path, start: Start, capsys: pytest.CaptureFixture[str], shards: list[str]
) -> None:
    words = ["rde", "--out", str(tmp_path / "d"), *SMALL_OPTIONS, "--train", "20000", *shards]
    words += ["--test", "0", "--workers", "1"]
    first = start([sys.executable, "-m", "synthprobe_data.cli.gen", *words], cwd=ROOT)
    while first.poll() is None and not list(tmp_path.glob("d*.part")):
        time.sleep(0.01)
    for more in ([], ["--force"], ["--resume"]):
        assert gen([*words, *more]) == 2
        said = capsys.readouterr().err
        assert BUSY in said
        assert len(said.splitlines()) == 1
    assert first.wait(200) == 0
    assert len(open_dataset(tmp_path / "d")) == 20000
    assert [name for name in os.listdir(tmp_path) if name.endswith(".part")] == []


def test_what_is_locked_is_not_of_the_dead_though_its_process_cannot_be_seen(
    tmp_path: Path,
) -> None:
    # As when it belongs to another container, whose processes have numbers of their own.
    path = tmp_path / "a.h5"
    left = tmp_path / f"a.h5.{host_name()}-{dead_process()}-00000000.part"
    left.touch()
    held = hold(left)
    assert held is not None
    assert list(left_by_the_dead(path, ".part")) == []
    with pytest.raises(SynthprobeError, match=BUSY):
        small_file(path)
    assert left.exists()
    held.release()
    assert list(left_by_the_dead(path, ".part")) == [left]
    small_file(path)
    assert not left.exists()


def test_another_pid_namespace_is_another_machine(tmp_path: Path) -> None:
    apart = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    if not shutil.which("unshare") or subprocess.run([*apart, "true"], check=False).returncode:
        pytest.skip("no namespaces here")
    left = tmp_path / f"a.h5.{host_name()}-{os.getpid()}-00000000.part"
    left.touch()
    path = tmp_path / "a.h5"
    subprocess.run([*apart, sys.executable, "-c", MAKE, str(path)], cwd=ROOT, check=True)
    assert path.exists()
    assert left.exists()


@pytest.mark.parametrize("command", ["split", "export", "merge"])
def test_what_a_killed_command_left_does_not_block_the_next(tmp_path: Path, command: str) -> None:
    whole = small_file(tmp_path / "whole.h5")
    out = tmp_path / "new"
    calls = {
        "split": f"edit.split({str(whole)!r}, {str(out)!r}, 3)",
        "export": f"export.export_png({str(whole)!r}, {str(out)!r})",
        "merge": f"edit.merge([{str(whole)!r}], {str(out)!r})",
    }
    script = f"""
import os
from synthprobe_data.convert import merge_split as edit
from synthprobe_data.convert import export
edit.ShardWriter.finish = export.png = lambda *_, **__: os._exit(9)
{calls[command]}
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False)
    assert done.returncode == 9
    assert [name for name in os.listdir(tmp_path) if name.endswith(".part")]
    if command == "split":
        split(whole, out, 3)
    elif command == "export":
        export_png(whole, out)
    else:
        merge([whole], out)
    assert [name for name in os.listdir(tmp_path) if name.endswith(".part")] == []
    assert out.exists()


@pytest.mark.parametrize("force", [False, True])
def test_a_linked_folder_is_replaced_where_it_is(tmp_path: Path, force: bool) -> None:
    (tmp_path / "disk").mkdir()
    link = tmp_path / "d"
    link.symlink_to("disk/real")  # at first, to nothing
    small_folder(link)
    if force:
        small_folder(link, seed=1, force=True)
        split(small_file(tmp_path / "one.h5", seed=2, cards=False), link, 2, force=True)
        assert open_dataset(link).seed == 2
        (tmp_path / "one.h5").unlink()
    small_folder(link, seed=3, force=True)
    assert link.is_symlink()
    assert open_dataset(tmp_path / "disk/real").seed == 3
    assert os.listdir(tmp_path / "disk") == ["real"]
    assert sorted(os.listdir(tmp_path)) == ["d", "disk"]
    small_folder(link, seed=3, resume=True)
    assert verify(link).ok


def test_a_linked_file_is_replaced_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    real, link = tmp_path / "disk/real.h5", tmp_path / "a.h5"
    small_file(real)
    link.symlink_to("disk/real.h5")
    small_file(link, seed=1, force=True)
    assert link.is_symlink()
    assert open_dataset(real).seed == 1
    for path in (link, real):  # neither has the cards of the file before
        assert verify(path).ok
        assert open_dataset(real).content_digest in path.with_suffix(".md").read_text("utf-8")
    assert sorted(os.listdir(tmp_path)) == ["a.croissant.json", "a.h5", "a.md", "a.png", "disk"]
    assert len(os.listdir(tmp_path / "disk")) == 4
