"""Mutate a dataset many times and look at each: a program, so that a crash or a hang can be seen.

    python fuzz.py DATASET WORK FIRST LAST

makes mutations FIRST up to LAST of a file or a folder at WORK. Each must be refused with one
sentence, or read as it was, or, where rows read back as others than they were, be told by
``verify``. HDF5 keeps checksums of its metadata and zlib of the rows, which tell nearly all damage,
but not that rows were exchanged: only the content digest does, and no reader computes that.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py

from synthprobe_data import SynthprobeError, open_dataset
from synthprobe_data.shards.digest import digest_of_rows, row_digests
from synthprobe_data.shards.verify import verify

MEMORY = 4 * 2**30
ODD: list[Any] = [None, True, -1, 0, 1, 2**70, 1.5, "", "a\0.h5", "\ud800.h5", "train", [], {}, [1]]


def mutate_bytes(path: Path, chance: random.Random) -> None:
    """Change some bytes of a file."""
    data = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 1, 2, 8, 64])):
        kind = chance.choice(["bit", "byte", "zeros", "cut", "copy"])
        place = chance.randrange(len(data))
        length = chance.randrange(1, 512)
        if kind == "bit":
            data[place] ^= 1 << chance.randrange(8)
        elif kind == "byte":
            data[place] = chance.choice([0, 1, 127, 128, 254, 255])
        elif kind == "zeros":
            data[place : place + length] = bytes(len(data[place : place + length]))
        elif kind == "cut" and len(data) > 2048:
            del data[-length:]
        elif kind == "copy":
            source = chance.randrange(len(data))
            piece = data[source : source + length]
            data[place : place + len(piece)] = piece
    path.write_bytes(data)


def mutate_values(path: Path, chance: random.Random) -> None:
    """Change, remove or repeat some values of a JSON file."""
    top = json.loads(path.read_text("utf-8"))
    for _ in range(chance.choice([1, 1, 2, 4])):
        inside: Any = top
        while True:
            keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
            if not keys:
                break
            key = chance.choice(keys)
            if isinstance(inside[key], (dict, list)) and chance.random() < 0.8:
                inside = inside[key]
                continue
            kind = chance.choice(["odd", "remove", "other"])
            if kind == "remove":
                del inside[key]
            else:
                inside[key] = chance.choice(ODD if kind == "odd" else [inside[k] for k in keys])
            break
    path.write_text(json.dumps(top), "utf-8")


def exchange_files(folder: Path, chance: random.Random) -> None:
    """Exchange two shards of a folder, copy one over another, or remove one."""
    one, other = chance.sample(sorted(folder.glob("*.h5")), 2)
    kind = chance.choice(["exchange", "copy", "remove"])
    content = one.read_bytes()
    if kind == "exchange":
        one.write_bytes(other.read_bytes())
    if kind == "remove":
        other.unlink()
    else:
        other.write_bytes(content)


def exchange_rows(path: Path, chance: random.Random) -> None:
    """Exchange two rows of a dataset, each of which decodes as before."""
    with h5py.File(path, "r+") as file:
        stored = file[chance.choice(sorted(file))]
        one, other = (chance.randrange(len(stored)) for _ in range(2))
        rows = stored[()]
        stored[one], stored[other] = rows[other], rows[one]


def mutate(work: Path, chance: random.Random) -> None:
    """Change a file, or something in a folder."""
    if not work.is_dir():
        change = exchange_rows if chance.random() < 0.1 else mutate_bytes
        change(work, chance)
        return
    manifest = work / "manifest.json"
    shard = chance.choice(sorted(work.glob("*.h5")))
    changes: list[Callable[[], None]] = [
        lambda: mutate_values(manifest, chance),
        lambda: mutate_values(manifest, chance),
        lambda: mutate_bytes(manifest, chance),
        lambda: mutate_bytes(shard, chance),
        lambda: exchange_rows(shard, chance),
        lambda: exchange_files(work, chance),
    ]
    chance.choice(changes)()


def read(path: Path) -> dict[str, Any]:
    """All that a reader gives: the digest of the rows as they are read, and what is said of them.

    That a digest is stated is not looked at, as no reader compares it.
    """
    with open_dataset(path) as data:
        digests = [row_digests(reader.read_rows(0, len(reader))) for reader in data.readers]
        return {
            "rows": digest_of_rows(b"".join(digests)),
            "splits": data.splits,
            "starts": [data[name].index_start for name in data.splits],
            "config": data.config,
            "seed": data.seed,
            "content_digest": data.content_digest,
        }


def main(good: Path, work: Path, first: int, last: int) -> None:
    """Make these mutations, each after its number has been printed."""
    truth = read(good)
    assert truth["rows"] == truth["content_digest"]
    assert verify(good, workers=1).ok  # compiles what it needs, before memory is bounded
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    counts = {"refused": 0, "right": 0, "told by verify": 0}
    for number in range(first, last):
        print(number, file=sys.stderr, flush=True)
        if good.is_dir():
            shutil.rmtree(work, ignore_errors=True)
            shutil.copytree(good, work)
        else:
            shutil.copy(good, work)
        mutate(work, random.Random(number))
        try:
            found = read(work)
        except SynthprobeError as error:
            found, sentence = None, str(error)
        if found == truth:
            counts["right"] += 1
            continue
        if found is None:
            assert "\n" not in sentence, number
            counts["refused"] += 1
            if not work.is_dir():  # of which verify says just that
                continue
        failed = verify(work, workers=1).failed
        assert failed, number
        if found is not None:
            assert found["rows"] == truth["rows"] or "content_digest" in failed, (number, failed)
            counts["told by verify"] += 1
    print(json.dumps(counts))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
