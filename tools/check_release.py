"""Check what a release consists of: complete, small, and at work in an environment of its own.

``make release`` builds ``dist`` and runs this.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("synthprobe_data", "synthprobe_models")
MOST_BYTES = 5_000_000
FILL = """\
import h5py, sys
with h5py.File(sys.argv[1], "r+") as file:
    for data in file.values():
        data[...] = 0
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dist", type=Path, help="the folder with one wheel and one source archive")
    parser.add_argument("--python", default=sys.executable, help="makes the environment")
    parser.add_argument("--extra", default="", help="to install, such as models")
    given = parser.parse_args()
    (wheel,) = given.dist.glob("*.whl")
    (source,) = given.dist.glob("*.tar.gz")
    wrong = [*wrong_sizes(wheel, source), *missing_files(wheel, source)]
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    if wrong:
        return 1
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, source)
    with tempfile.TemporaryDirectory() as name:
        try_out(wheel, given.python, given.extra, Path(name))
    for path in (wheel, source):
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")
    return 0


def wrong_sizes(*paths: Path) -> list[str]:
    sizes = {path.name: path.stat().st_size for path in paths}
    return [f"{name} has {size} bytes" for name, size in sizes.items() if size > MOST_BYTES]


def missing_files(wheel: Path, source: Path) -> list[str]:
    """What a checkout has and these lack: the wheel of the packages, the archive of everything."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=True
    )
    tracked = set(listed.stdout.splitlines())
    in_wheel = set(zipfile.ZipFile(wheel).namelist())
    with tarfile.open(source) as archive:
        in_source = {name.partition("/")[2] for name in archive.getnames()}
    ours = {name for name in tracked if name.startswith(tuple(f"{one}/" for one in PACKAGES))}
    return [
        *(f"{wheel.name} has no {name}" for name in sorted(ours - in_wheel)),
        *(f"{source.name} has no {name}" for name in sorted(tracked - in_source)),
    ]


def try_out(wheel: Path, python: str, extra: str, folder: Path) -> None:
    """What the README shows, from the wheel alone, in a new environment of another folder.

    All but the profile, which takes minutes.
    """
    run(python, "-m", "venv", folder / "venv")
    programs = folder / "venv" / "bin"
    what = f"{wheel.resolve()}[{extra}]" if extra else str(wheel.resolve())
    pins = ROOT / "constraints.txt"
    run(programs / "python", "-m", "pip", "install", "-q", "-c", pins, what)
    readme = (ROOT / "README.md").read_text("utf-8")
    structure = next(text for text in code(readme, "python") if "@structure" in text)
    (folder / "my_structures.py").write_text(structure, "utf-8")
    for text in code(readme, "python"):
        if text != structure:
            run(programs / "python", "-c", text, cwd=folder)
    probe = {"inspect", "score"} if extra else set()
    tried = {"gen": {"rde"}, "shards": {"verify"}, "probe": probe}
    for line in "\n".join(code(readme, "sh")).splitlines():
        found = re.match(r"synthprobe-(\w+) (\w+)", line)
        if found and found[2] in tried[found[1]]:
            name, *words = shlex.split(line, comments=True)
            run(programs / name, *words, cwd=folder)
            if "--template" in words:
                run(
                    programs / "python",
                    "-c",
                    FILL,
                    words[words.index("--template") + 1],
                    cwd=folder,
                )
    run(programs / "synthprobe-gen", "--version", cwd=folder)
    run(programs / "python", "-m", "synthprobe_data", "shards", "ready", "rde", cwd=folder)


def code(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def run(*words: str | Path, cwd: Path | None = None) -> None:
    print("$", shlex.join(map(str, words)), flush=True)
    subprocess.run([str(word) for word in words], check=True, cwd=cwd)


if __name__ == "__main__":
    sys.exit(main())
