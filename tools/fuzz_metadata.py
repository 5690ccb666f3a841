"""Attack the readers with altered HDF5 metadata whose checksums are right again.

    python tools/fuzz_metadata.py --count 5000 --seed 1

alters small files of every dataset: superblock, object headers, heaps, B-trees, chunk indexes. A
plain change would be told by HDF5's checksums (Bob Jenkins' lookup3), so those of all blocks that
were touched are computed again. Each file is validated by the guard, and what passes is read by
``info``, ``verify`` and ``open_dataset`` in a process of its own, which may not crash, hang or take
1 GB. With ``--unguarded`` the guard is left out: then some do.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numba
import numpy as np
from numpy.typing import NDArray

from synthprobe_data import (
    CenteredSquareConfig,
    ColorCodeConfig,
    RdeConfig,
    SynthprobeError,
    make_file,
    open_dataset,
)
from synthprobe_data.convert.merge_split import split
from synthprobe_data.inspect.info import describe
from synthprobe_data.shards import guard
from synthprobe_data.verification.verify import verify

MAX_MEGABYTES = 1000
BATCH = 50
SECONDS = 60
"""A caller that takes longer hangs."""
LIMITS = guard.Limits(seconds=3)
SIGNATURES = (
    b"OHDR", b"OCHK", b"FRHP", b"FHDB", b"FHIB", b"FSHD", b"FSSE", b"BTHD", b"BTLF", b"BTIN",
    b"FAHD", b"FADB", b"EAHD", b"EAIB", b"EASB", b"EADB", b"SMTB", b"SMLI",
)  # fmt: skip
"""What the blocks of metadata begin with that end with a checksum; so does the superblock."""
SUPERBLOCK = b"\x89HDF\r\n\x1a\n"
LONGEST = 1 << 14


@numba.njit(inline="always")
def _turn(x: np.uint32, k: int) -> np.uint32:
    return np.uint32((np.uint64(x) << np.uint64(k)) | (np.uint64(x) >> np.uint64(32 - k)))


@numba.njit(inline="always")
def _word(data: NDArray[np.uint8], at: int) -> np.uint32:
    """Four bytes, the lowest first; zeros beyond the end."""
    word = np.uint64(0)
    for i in range(min(4, len(data) - at)):
        word |= np.uint64(data[at + i]) << np.uint64(8 * i)
    return np.uint32(word)


@numba.njit
def lookup3(data: Any) -> Any:
    """Bob Jenkins' hash of some bytes, as HDF5 has it: the start value is 0."""
    length = len(data)
    a = b = c = np.uint32(0xDEADBEEF + length)
    at = 0
    while length - at > 0:
        a = np.uint32(a + _word(data, at))
        b = np.uint32(b + _word(data, at + 4))
        c = np.uint32(c + _word(data, at + 8))
        at += 12
        if at < length:
            a = np.uint32(np.uint32(a - c) ^ _turn(c, 4))
            c = np.uint32(c + b)
            b = np.uint32(np.uint32(b - a) ^ _turn(a, 6))
            a = np.uint32(a + c)
            c = np.uint32(np.uint32(c - b) ^ _turn(b, 8))
            b = np.uint32(b + a)
            a = np.uint32(np.uint32(a - c) ^ _turn(c, 16))
            c = np.uint32(c + b)
            b = np.uint32(np.uint32(b - a) ^ _turn(a, 19))
            a = np.uint32(a + c)
            c = np.uint32(np.uint32(c - b) ^ _turn(b, 4))
            b = np.uint32(b + a)
        else:
            c = np.uint32(np.uint32(c ^ b) - _turn(b, 14))
            a = np.uint32(np.uint32(a ^ c) - _turn(c, 11))
            b = np.uint32(np.uint32(b ^ a) - _turn(a, 25))
            c = np.uint32(np.uint32(c ^ b) - _turn(b, 16))
            a = np.uint32(np.uint32(a ^ c) - _turn(c, 4))
            b = np.uint32(np.uint32(b ^ a) - _turn(a, 14))
            c = np.uint32(np.uint32(c ^ b) - _turn(b, 24))
    return int(c)


@numba.njit
def _checked_length(data: Any, start: Any, longest: Any) -> Any:
    """The shortest length from ``start`` that its checksum follows; 0 if there is none."""
    for length in range(8, min(longest, len(data) - 4 - start) + 1):
        end = start + length
        if lookup3(data[start:end]) == _word(data, end):
            return length
    return 0


@dataclass(frozen=True)
class Block:
    """Some metadata with a checksum behind them."""

    kind: bytes
    start: int
    end: int
    """Where its checksum is."""


def find_blocks(content: bytes) -> list[Block]:
    """All blocks of a file that end with a checksum, found by their checksums."""
    data = np.frombuffer(content, np.uint8)
    blocks = []
    for kind in (SUPERBLOCK, *SIGNATURES):
        start = content.find(kind)
        while start >= 0:
            length = _checked_length(data, start, LONGEST)
            if length:
                blocks.append(Block(kind, start, start + length))
                # The pages of an array follow its block, each with a checksum.
                at = start + length + 4
                while kind in (b"FADB", b"EADB") and content[at : at + 4] not in SIGNATURES:
                    length = _checked_length(data, at, LONGEST)
                    if not length:
                        break
                    blocks.append(Block(b"page", at, at + length))
                    at += length + 4
            start = content.find(kind, start + 1)
    return blocks


def metadata_of(path: Path) -> list[int]:
    """The places of all bytes of a file that are not stored rows."""
    size = path.stat().st_size
    is_row = np.zeros(size, bool)
    with h5py.File(path) as file:
        for stored in file.values():
            if stored.chunks is None:
                start = stored.id.get_offset()
                is_row[start : start + stored.id.get_storage_size()] = True
                continue
            stored.id.chunk_iter(
                lambda chunk: is_row.__setitem__(
                    slice(chunk.byte_offset, chunk.byte_offset + chunk.size), True
                )
            )
    return [int(place) for place in np.flatnonzero(~is_row)]


@dataclass(frozen=True)
class Base:
    """A file that is as it should be, and where it can be altered."""

    name: str
    content: bytes
    blocks: list[Block]
    places: list[int]
    folder: Path | None
    """The folder of shards that the file is in."""


def alter(base: Base, chance: random.Random) -> bytes:
    """The file with some metadata altered, and the checksums of these made right."""
    data = bytearray(base.content)
    touched: set[int] = set()
    addresses = [block.start for block in base.blocks]
    kinds = sorted({block.kind for block in base.blocks})
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        if kinds and chance.random() < 0.85:
            kind = chance.choice(kinds)
            block = chance.choice([block for block in base.blocks if block.kind == kind])
            place = chance.randrange(block.start + min(4, len(kind)), block.end)
        else:
            place = chance.choice(base.places)
        width = chance.choice([0, 1, 1, 1, 2, 4, 8])
        if width == 0:
            data[place] ^= 1 << chance.randrange(8)
            touched.add(place)
            continue
        odd = [0, 1, 2, 7, 255, 2**15, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1, len(data)]
        old = int.from_bytes(data[place : place + width], "little")
        value = chance.choice([*odd, chance.getrandbits(64), old + 1, old - 1, old * 2, *addresses])
        new = (value % 2 ** (8 * width)).to_bytes(width, "little")
        for i, byte in enumerate(new):
            if place + i < len(data):
                data[place + i] = byte
                touched.add(place + i)
    for block in base.blocks:
        if any(block.start <= place < block.end for place in touched):
            end = _end(data, block)
            checksum = lookup3(np.frombuffer(bytes(data[block.start : end]), np.uint8))
            data[end : end + 4] = struct.pack("<I", checksum)
    return bytes(data)


def _end(data: bytearray, block: Block) -> int:
    """Where the checksum of a block belongs: an object header may now state another size."""
    if block.kind != b"OHDR":
        return block.end
    flags = data[block.start + 5]
    at = block.start + 6 + (16 if flags & 32 else 0) + (4 if flags & 16 else 0)
    width = 1 << (flags & 3)
    end = at + width + int.from_bytes(data[at : at + width], "little")
    return end if end + 4 <= len(data) else block.end


def _row_chunks(given: Callable[[h5py.Dataset], dict[str, Any]], d: h5py.Dataset) -> dict[str, Any]:
    return {**given(d), "chunks": (1, *d.shape[1:])}


def make_bases(folder: Path) -> list[Base]:
    """Small files of every dataset, as they are written and as others may write them."""
    rde = RdeConfig(height=40, width=32, n_rectangles=4, n_vis=3, n_gap=2, n_par=3)
    square = CenteredSquareConfig(height=33, width=33, square=9)
    code = ColorCodeConfig(positions=32)
    for name, config, rows in (
        ("rde", rde, 5),
        ("centered-square", square, 5),
        ("color-code", code, 5),
    ):
        make_file(name, folder / f"{name}.h5", train=rows, test=2, config=config, cards=False)
    make_file("color-code", folder / "many.h5", train=1100, test=50, config=code, cards=False)
    split(folder / "rde.h5", folder / "shards", 3)
    ways: dict[str, Callable[[h5py.Dataset], dict[str, Any]]] = {
        "extensible": lambda d: {"maxshape": (None, *d.shape[1:])},
        "tree": lambda d: {"maxshape": (None,) * d.ndim},
        "plain": lambda _: {"compression": None},
        "contiguous": lambda _: {"compression": None, "chunks": None},
    }
    for way, options in ways.items():
        _rewrite(folder / "rde.h5", folder / f"rde-{way}.h5", options)
    _rewrite(folder / "rde.h5", folder / "rde-old.h5", lambda _: {}, libver="earliest")
    for way in ("fixed", "extensible", "tree"):
        given = ways.get(way, lambda _: {})
        _rewrite(
            folder / "many.h5",
            folder / f"many-{way}.h5",
            partial(_row_chunks, given),
        )
    found = [*sorted(folder.glob("*.h5")), min((folder / "shards").glob("*.h5"))]
    bases = []
    for path in found:
        content = path.read_bytes()
        inside = path.parent if path.parent != folder else None
        bases.append(Base(path.name, content, find_blocks(content), metadata_of(path), inside))
    return bases


def _rewrite(
    path: Path,
    out: Path,
    options: Callable[[h5py.Dataset], dict[str, Any]],
    libver: str | tuple[str, str] = ("v110", "v110"),
) -> None:
    """Store the same rows in another way."""
    with h5py.File(path) as old, h5py.File(out, "w", libver=libver) as new:
        for name, stored in old.items():
            kept = {"chunks": stored.chunks, "compression": "gzip", **options(stored)}
            new.create_dataset(name, data=stored[()], **kept)
        for name, value in old.attrs.items():
            new.attrs[name] = np.bytes_(value) if isinstance(value, bytes) else value


def use(path: Path) -> bool:
    """Do with a file or a folder what users do; return whether it is accepted."""
    accepted = True
    for act in (describe, lambda path: verify(path, workers=1), _read_all):
        try:
            act(path)
        except SynthprobeError as error:
            if "\n" in str(error):
                raise ValueError("it is more than one line") from error
            accepted = False
    return accepted


def _read_all(path: Path) -> None:
    with open_dataset(path) as data:
        for name, size in data.splits.items():
            for start in range(0, size, 64):
                data[name][start : start + 64]


def outcome_of(path: Path, call: Callable[[Path], bool] = use) -> tuple[str, float]:
    """How a process ends that uses a file, and the most memory that it takes, in MB."""
    sys.stdout.flush()
    process = os.fork()
    if not process:
        code = 9
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))  # spares the machine
            code = 0 if call(path) else 3
        finally:
            os._exit(code)
    end = time.monotonic() + SECONDS
    while True:
        found, status, usage = os.wait4(process, os.WNOHANG)
        if found:
            break
        if time.monotonic() > end:
            os.kill(process, signal.SIGKILL)
            _, _, usage = os.wait4(process, 0)
            return "hung", usage.ru_maxrss / 1024
        time.sleep(0.002)
    code = os.waitstatus_to_exitcode(status)
    ends = {0: "accepted", 3: "refused", 9: "ended in an exception"}
    how = ends.get(code) or f"crashed: {signal.Signals(-code).name if code < 0 else code}"
    return how, usage.ru_maxrss / 1024


def mutations(
    bases: list[Base], count: int, seed: int, work: Path
) -> Iterator[list[tuple[int, Path, Path]]]:
    """Batches of altered files, each with its number and what is to be opened."""
    for first in range(0, count, BATCH):
        batch = []
        for number in range(first, min(first + BATCH, count)):
            chance = random.Random(f"{seed} {number}")
            base = chance.choice(bases)
            place = work / str(number)
            if base.folder is None:
                place.mkdir()
            else:
                shutil.copytree(base.folder, place)
            path = place / base.name
            path.write_bytes(alter(base, chance))
            batch.append((number, path, path if base.folder is None else place))
        yield batch
        for number, _, _ in batch:
            shutil.rmtree(work / str(number))


def attack(
    bases: list[Base],
    count: int,
    seed: int,
    work: Path,
    *,
    guarded: bool,
    keep: Path | None = None,
) -> dict[str, Any]:
    """Alter, validate and use so many files; return how often what came of it."""
    guards: Counter[str] = Counter()
    callers: Counter[str] = Counter()
    peak, bad = 0.0, []
    for batch in mutations(bases, count, seed, work):
        refused = _refused([path for _, path, _ in batch], guards) if guarded else {}
        for number, path, opened in batch:
            if not guarded:
                for shard in opened.glob("*.h5") if opened.is_dir() else [path]:
                    guard.trust(shard)
            elif path in refused and number % 10:
                continue  # of those that the guard refused, a tenth is tried all the same
            how, megabytes = outcome_of(opened)
            callers[how] += 1
            peak = max(peak, megabytes)
            if how not in ("accepted", "refused") or megabytes > MAX_MEGABYTES:
                bad.append({"number": number, "file": path.name, "how": how, "MB": megabytes})
                if keep is not None:
                    keep.mkdir(exist_ok=True)
                    shutil.copy(path, keep / f"{seed}-{number}-{path.name}")
    return {
        "mutations": count,
        "guard": dict(guards),
        "callers": dict(callers),
        "peak MB of a caller": round(peak),
        "peak MB of any process": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
        "bad": bad,
    }


def _refused(paths: list[Path], guards: Counter[str]) -> set[Path]:
    """The files that the guard refuses; counts why."""
    refused: set[Path] = set()
    while paths:
        again = []
        for path, sentence in guard.validate_files(paths, LIMITS):
            if sentence is None:
                guards["passed"] += 1
            elif "was not looked at" in sentence:
                again.append(path)
            else:
                refused.add(path)
                known = ("crashes on it", "processor time", "looking at it takes", "MB for it")
                kind = next((words for words in known if words in sentence), "refused in words")
                if kind == "crashes on it":
                    kind = sentence.split("(")[1].rstrip(").")
                guards[kind] += 1
        paths = again
    return refused


def main() -> int:
    """Attack, print the figures as JSON, and return 1 if anything got through."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=5000, help="how many altered files")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--unguarded", action="store_true", help="show that the attack bites")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what got through here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, work = Path(name) / "bases", Path(name) / "work"
        folder.mkdir()
        work.mkdir()
        bases = make_bases(folder)
        for base in bases:
            path = folder / "shards" if base.folder else folder / base.name
            assert use(path), base.name  # also compiles the kernels, before there are children
        found = attack(
            bases, given.count, given.seed, work, guarded=not given.unguarded, keep=given.keep
        )
    print(json.dumps(found, indent=1))
    return 1 if found["bad"] else 0


if __name__ == "__main__":
    sys.exit(main())
