"""Untrusted files are first opened in a child process with limits.

With metadata that are altered on purpose, checksums and all, a file can make the HDF5 library
crash, loop or take all memory, and no Python code can catch that. So a file that is not trusted is
first validated by `guarded`, in a process that may take only so much memory and time. Only
what passes there is opened by the process itself.

A file that has passed is not validated again by this process while it is the same file, of the
same size and times; nor is one that this process has written. That a file is exchanged or changed
between the check and the reading is not guarded against: who can write to your files while you read
them has other ways.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import h5py
import numpy as np

from synthprobe_data.errors import SynthprobeError
from synthprobe_data.shards.header import MAX_CHUNK_BYTES, MAX_ROWS, MAX_TEXT_BYTES
from synthprobe_data.shards.reasons import reason_of

_CHILD: Final = Path(__file__).with_name("guarded.py")
_START_SECONDS: Final = 60.0
_MAX_PASSED: Final = 1_000_000

FileKey = tuple[int, int, int, int, int]
_passed: set[FileKey] = set()
"""The files that need not be validated: device, number, size and times of change of each."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What the HDF5 library may take to validate one file."""

    memory: int = 512 * 2**20
    """Bytes, beside what a Python process with h5py takes."""
    seconds: int = 10
    """Of processor time, for a small file; a large one has a second more for each 20 MB."""
    patience: int = 6
    """How many times as long the child may take by the clock, on a busy machine or a slow disk."""

    def seconds_for(self, size: int) -> int:
        """Processor time for a file of this size."""
        return self.seconds + size // 20_000_000


LIMITS: Final = Limits()


def check_file(path: Path) -> None:
    """Raise `SynthprobeError` if it is not safe to open this file; it says why."""
    for _, sentence in validate_files([path]):
        if sentence is not None:
            raise SynthprobeError(sentence)


def check_files(paths: Iterable[Path]) -> None:
    """Raise `SynthprobeError` at the first of these files that is not safe to open."""
    with closing(validate_files(paths)) as found:  # the child ends also when a file is refused
        for path, sentence in found:
            if sentence is not None:
                raise SynthprobeError(f"{path} cannot be read: {sentence}")


def validate_files(
    paths: Iterable[Path], limits: Limits | None = None
) -> Generator[tuple[Path, str | None], None, None]:
    """Each of these files with what is wrong with it, ``None`` where it may be opened.

    One child looks at all of them; where a file ends it, another one goes on with the rest. What is
    no regular file is left to those who read it, who find that out before they open it.
    """
    limits = limits or LIMITS
    child: _Child | None = None
    too_slow: str | None = None
    try:
        for path in paths:
            key = _key(path)
            if key is None or key in _passed:
                yield path, None
                continue
            if too_slow is not None:
                yield path, f"it was not looked at, as looking at {too_slow} took too long."
                continue
            child = child or _Child(limits)
            fresh = child.answered == 0
            verdict = child.ask(path, limits.seconds_for(key[2]))
            if verdict.crashed and not fresh:
                # The file before may have done the harm: this one is judged by itself.
                child.end()
                child = _Child(limits)
                verdict = child.ask(path, limits.seconds_for(key[2]))
            if verdict.ended:
                child.end()
                child = None
            if verdict.late:
                too_slow = path.name
            if verdict.sentence is None:
                _remember(key)
            yield path, verdict.sentence
    finally:
        if child is not None:
            child.end()


def trust(path: Path) -> None:
    """Note that a file need not be validated: this process, or its worker, has written it."""
    key = _key(path)
    if key is not None:
        _remember(key)


def _remember(key: FileKey) -> None:
    if len(_passed) >= _MAX_PASSED:
        _passed.clear()
    _passed.add(key)


def _key(path: Path) -> FileKey | None:
    """What tells a regular file from others, and from itself when it is changed."""
    try:
        if not path.is_file():
            return None
        found = path.stat()
    except (OSError, ValueError):
        return None
    # The second time is the system's own: a copy that keeps times (cp -p) does not set it back.
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


@dataclass(frozen=True, kw_only=True)
class _Verdict:
    """What came of looking at a file."""

    sentence: str | None
    ended: bool = False
    """The child is gone."""
    crashed: bool = False
    """It went without being told to."""
    late: bool = False
    """It took longer than it may."""


class _Child:
    """The process that looks at files; `synthprobe_data.shards.guarded` is its program."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.answered = 0
        settings = {
            "paths": _where_h5py_is(),
            "memory": limits.memory,
            "max_rows": MAX_ROWS,
            "max_text_bytes": MAX_TEXT_BYTES,
            "max_chunk_bytes": MAX_CHUNK_BYTES,
        }
        # Isolated and without site-packages: it starts in a tenth of a second.
        command = [sys.executable, "-I", "-S", str(_CHILD), json.dumps(settings)]
        one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
        with _start_explained():
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **one_thread},
            )
        self._lines: queue.Queue[bytes] = queue.Queue()
        assert self._process.stdout is not None
        threading.Thread(
            target=_pass_on, args=(self._process.stdout, self._lines), daemon=True
        ).start()
        with _start_explained():
            try:
                if not self._line(_START_SECONDS):
                    raise OSError(f"it ended with exit code {self._process.wait()}")
            except BaseException:
                self.end()
                raise

    def ask(self, path: Path, seconds: int) -> _Verdict:
        """Let it look at one file."""
        request = {"path": os.fsencode(path).hex(), "seconds": seconds}
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            line = self._line(seconds * self._limits.patience)
        except queue.Empty:
            sentence = f"looking at it takes more than {seconds * self._limits.patience} s."
            return _Verdict(sentence=sentence, ended=True, late=True)
        except OSError:  # a broken pipe: it is gone
            line = b""
        if not line:
            return self._last_words(seconds)
        self.answered += 1
        found: dict[str, Any] = json.loads(line)
        if "refused" in found:
            return _Verdict(sentence=found["refused"])
        if "memory" in found or "memory allocation failed" in found.get("said", ""):
            megabytes = self._limits.memory // 2**20
            return _Verdict(sentence=f"the HDF5 library takes more than {megabytes} MB for it.")
        if "said" in found:
            return _Verdict(sentence=f"{reason_of(found['said'])}.")
        return _Verdict(sentence=None)

    def end(self) -> None:
        """End the process, if it has not ended, and wait for that."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()

    def _line(self, seconds: float) -> bytes:
        """The next line that it says, empty if it is gone; `queue.Empty` if that takes longer."""
        return self._lines.get(timeout=seconds)

    def _last_words(self, seconds: int) -> _Verdict:
        """Why it is gone."""
        code = self._process.wait()
        if code == -getattr(signal, "SIGXCPU", 0) != 0:
            return _Verdict(
                sentence=f"the HDF5 library takes more than {seconds} s of processor time for it.",
                ended=True,
                late=True,
            )
        try:
            how = signal.Signals(-code).name
        except ValueError:
            how = f"exit code {code}"
        sentence = f"the HDF5 library crashes on it ({how})."
        return _Verdict(sentence=sentence, ended=True, crashed=True)


def _where_h5py_is() -> list[str]:
    """The folders that h5py and NumPy are imported from, and then the others that there are."""
    found = [str(Path(module.__file__ or "").parent.parent) for module in (h5py, np)]
    others = [path for path in sys.path if os.path.isabs(path)]
    return list(dict.fromkeys([*found, *others]))


def _pass_on(pipe: IO[bytes], lines: queue.Queue[bytes]) -> None:
    """Pass on the lines from a pipe, and an empty one at its end; closes it."""
    with pipe:
        for line in pipe:
            lines.put(line)
    lines.put(b"")


@contextmanager
def _start_explained() -> Iterator[None]:
    """Turn what is in the way of starting the child into one sentence."""
    try:
        yield
    except (OSError, queue.Empty) as error:
        raise SynthprobeError(
            "it cannot be validated in a process of its own, as that does not start: "
            f"{str(error) or 'it says nothing'}."
        ) from error
