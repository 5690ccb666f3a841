"""The Python in a card: each piece runs as it stands, in the folder of the files."""

from __future__ import annotations

import textwrap

from synthprobe_data.cards.facts import CardFacts, picture_split
from synthprobe_data.cards.hub import hub_splits


def h5py_snippet(facts: CardFacts) -> str:
    """Read some samples of a split with h5py."""
    about = facts.dataset.card
    split = picture_split(facts.splits)
    name = next(file.name for file in facts.files if split in file.split_rows)
    items = about.h5py_items or _both(facts, 'file["{}"][start:stop]', "inputs", "targets")
    return f"""\
import json

import h5py

with h5py.File({_quoted(name)}) as file:
    start, stop = json.loads(file.attrs["splits"])[{_quoted(split)}]
    stop = min(stop, start + 100)  # the first hundred samples
{textwrap.indent(items, " " * 4)}
"""


def torch_snippet(facts: CardFacts) -> str:
    """A map-style PyTorch dataset, safe with worker processes."""
    about = facts.dataset.card
    split = next(iter(facts.splits))
    tensors = about.torch_item or _both(facts, 'torch.from_numpy(file["{}"][row])')
    item = textwrap.indent(tensors, " " * 8)
    if facts.card_path_kind == "folder":
        path_import = "\nfrom pathlib import Path"
        make = f"""\
data = torch.utils.data.ConcatDataset(
    [Samples(path, {_quoted(split)}) for path in sorted(Path().glob({_quoted(split + "-*.h5")}))]
)
"""
    else:
        path_import = ""
        make = f"data = Samples({_quoted(facts.files[0].name)}, {_quoted(split)})\n"
    return f"""\
import functools
import json
import os{path_import}

import h5py
import torch


@functools.cache
def opened(path, process):  # once in each process: an open file must not cross a fork
    return h5py.File(path)


class Samples(torch.utils.data.Dataset):
    def __init__(self, path, split):
        self.path = path
        with h5py.File(path) as file:
            self.start, self.stop = json.loads(file.attrs["splits"])[split]

    def __len__(self):
        return self.stop - self.start

    def __getitem__(self, index):
        file, row = opened(self.path, os.getpid()), range(self.start, self.stop)[index]
{item}
        return input, target


{make}inputs, targets = next(iter(torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)))
"""


def hugging_face_snippet(facts: CardFacts) -> str:
    """Load all splits with Hugging Face ``datasets``."""
    about = facts.dataset.card
    split = picture_split(facts.splits)
    use = f"""\
sample = data[{_quoted(split)}][0]
{about.sample_item or _both(facts, 'sample["{}"]')}
"""
    if facts.card_path_kind == "folder":
        return f"""\
from pathlib import Path

from datasets import load_dataset

data = load_dataset(str(Path.cwd())).with_format("numpy")  # wants a full path, not "."
{use}"""
    (file,) = facts.files
    (name,) = hub_splits(facts)[0]
    lines = "".join(
        f"    {_quoted(part)}: rows.select(range({start}, {stop})),\n"
        for part, (start, stop) in file.split_rows.items()
    )
    return f"""\
from datasets import load_dataset

files = {{{_quoted(name)}: {_quoted(file.name)}}}
rows = load_dataset("hdf5", data_files=files, split={_quoted(name)})
rows = rows.with_format("numpy")
data = {{
{lines}}}
{use}"""


def digest_snippet(facts: CardFacts) -> str:
    """Compute the content digest with nothing but h5py."""
    if facts.card_path_kind == "folder":
        imports = "import hashlib\nimport json\nfrom pathlib import Path\n"
        names = '[s["file"] for s in json.loads(Path("manifest.json").read_text())["shards"]]'
    else:
        imports = "import hashlib\n"
        names = f"[{_quoted(facts.files[0].name)}]"
    return f"""\
{imports}
import h5py

digest = hashlib.sha256()
for name in {names}:
    with h5py.File(name) as file:
        columns = [file[key] for key in sorted(file)]
        for row in range(len(columns[0])):
            entries = b"".join(column[row].tobytes() for column in columns)
            digest.update(hashlib.sha256(entries).digest())
assert digest.hexdigest() == {_quoted(facts.content_digest)}
"""


def _both(facts: CardFacts, read: str, input: str = "input", target: str = "target") -> str:
    """Python that reads the first input column and the first target column."""
    dataset = facts.dataset
    return "\n".join(
        f"{variable} = {read.format(dataset.first_with(role).name)}"
        for variable, role in ((input, "input"), (target, "target"))
    )


def _quoted(text: str) -> str:
    """A text as a Python literal in double quotation marks."""
    escaped = text.encode("unicode_escape").decode("ascii").replace('"', '\\"')
    return f'"{escaped}"'
