"""Mutate a dataset many times and look at each: a program, so that a crash or a hang can be seen.

    python -m tests.data.shards.fuzz DATASET WORK FIRST LAST

makes mutations FIRST up to LAST of a file or a folder at WORK. Each must be refused with one
sentence, or read as it was, or, where rows read back as others than they were, be told by
``verify``. HDF5 keeps checksums of its metadata and zlib of the rows, which tell nearly all damage,
but not that rows were exchanged: only the content digest does, and no reader computes that. Where
someone made all digests and hashes right again, only making the samples again tells it: whatever
``verify`` accepts must have just the samples that its header states.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import h5py
import numpy as np

from synthprobe_data import SynthprobeError, make_sample, open_dataset
from synthprobe_data.shards import guard
from synthprobe_data.shards.blocks import BlockReader
from synthprobe_data.shards.digest import digest_of_rows, row_digests
from synthprobe_data.verification.verify import verify
from tests.data.shards import forged

MEMORY = 4 * 2**30
ODD: list[Any] = [None, True, -1, 0, 1, 2**70, 1.5, "", "a\0.h5", "\ud800.h5", "train", [], {}, [1]]


class KeptChild(guard._Child):
    """A child of the guard that looks at one mutation after another, as at the shards of a folder.

    To start one takes longer than all else about a mutation. One that a file ends is gone, as ever.
    """

    kept: ClassVar[list[KeptChild]] = []
    gone = False

    def ask(self, path: Path, seconds: int) -> guard._Verdict:
        verdict = super().ask(path, seconds)
        self.gone = verdict.ended
        return verdict

    def end(self) -> None:
        if self.gone:
            super().end()
            self.kept.clear()

    @classmethod
    def find(cls, limits: guard.Limits) -> KeptChild:
        if not cls.kept:
            cls.kept.append(cls(limits))
        return cls.kept[0]


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


def put_other_sample(file: h5py.File, chance: random.Random) -> None:
    """Put a sample of the same settings in the place of another one."""
    with BlockReader(Path(file.filename), trusted=True) as reader:
        header = reader.header
    row = chance.randrange(header.rows)
    seed = header.seed + chance.choice([0, 0, 1])
    split, index = chance.choice(["train", "test"]), chance.randrange(12)
    name, config = header.dataset.name, header.config
    sample = make_sample(name, split=split, index=index, seed=seed, config=config)
    for column, value in sample.items():
        file[column][row] = value


def change_setting(file: h5py.File, chance: random.Random) -> None:
    """Change one setting a little."""
    config = forged.read_json(file, "config")
    name = chance.choice(sorted(config))
    value = config[name]
    if isinstance(value, bool):
        config[name] = not value
    elif isinstance(value, str):
        config[name] = chance.choice(["certified", "rules", "ambiguous", "well-posed", "published"])
    elif isinstance(value, float):
        config[name] = round(value + chance.choice([-0.05, 0.001, 0.05]), 3)
    else:
        config[name] = (value or 0) + chance.choice([-2, -1, 1, 2])
    forged.set_json(file, "config", config)


def _rows(file: h5py.File) -> int:
    return min(len(file[name]) for name in file)


def forgery(chance: random.Random) -> forged.Change:
    """A change to what a file states or holds that leaves it in good order."""
    state = chance.getrandbits(64)  # all shards of a folder are changed in the same way

    def change(file: h5py.File) -> None:
        again = random.Random(state)
        splits = list(forged.read_json(file, "splits"))
        split, by = again.choice(splits), again.choice([1, 1, 2, 2**40])
        kinds: list[Callable[[], None]] = [
            lambda: forged.set_seed(file, again.choice([1, 7, 2**63, 2**64 - 1])),
            lambda: forged.move_index(file, split, by),
            lambda: forged.rename_split(file, split, again.choice(["more", "Train", "train "])),
            lambda: forged.exchange(file, *again.choices(range(_rows(file)), k=2)),
            lambda: put_other_sample(file, again),
            lambda: change_setting(file, again),
        ]
        if len(splits) == 2:
            kinds.append(lambda: forged.move_boundary(file, again.choice([1, 2])))
        again.choice(kinds)()

    return change


def mutate(work: Path, chance: random.Random) -> None:
    """Change a file, or something in a folder."""
    if chance.random() < 0.15:
        if work.is_dir():
            shards = [path.name for path in sorted(work.glob("*.h5"))]
            forged.forge_folder(work, forgery(chance), shard=chance.choice([None, *shards]))
        else:
            forged.forge(work, forgery(chance))
        return
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


def has_the_samples_it_states(path: Path) -> bool:
    """Whether all rows are the samples of the header, each made by itself."""
    with open_dataset(path) as data:
        paths = [reader.path for reader in data.readers]
    for file in paths:
        with BlockReader(file) as reader:
            header = reader.header
            block = reader.read_block(range(len(reader)))
            for row in range(len(reader)):
                split, index = reader.locate(row)
                sample = make_sample(
                    header.dataset.name,
                    split=split,
                    index=index,
                    seed=header.seed,
                    config=header.config,
                )
                if not all(np.array_equal(block[name][row], sample[name]) for name in block):
                    return False
    return True


def main(good: Path, work: Path, first: int, last: int) -> None:
    """Make these mutations, each after its number has been printed."""
    truth = read(good)
    assert truth["rows"] == truth["content_digest"]
    assert verify(good, workers=1).ok  # compiles what it needs, before memory is bounded
    assert has_the_samples_it_states(good)
    guard._Child = KeptChild.find  # type: ignore[assignment, misc]
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
        if found is not None and not failed:  # as when a setting is changed that made no difference
            assert has_the_samples_it_states(work), number
            counts["right"] += 1
            continue
        assert failed, number
        if found is not None:
            known = (truth["rows"], found["content_digest"])
            assert found["rows"] in known or "content_digest" in failed, (number, failed)
            counts["told by verify"] += 1
    print(json.dumps(counts))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
