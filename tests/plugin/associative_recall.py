"""Associative recall: key-value pairs, then queries; each query asks for the value of its key.

A dataset and its probe in one file of another package: `pyproject.toml` beside it offers both.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from PIL import Image

import synthprobe_data as synth

NAME = "associative-recall"
KEYS, BITS = 64, 3  # different keys, and bits of a value


@dataclass(frozen=True, kw_only=True)
class RecallConfig(synth.Config):
    """How many pairs and queries a sample has."""

    pairs: int = synth.option(8, 1, KEYS, "key-value pairs of a sample, each with a key of its own")
    queries: int = synth.option(4, 1, 128, "queries of a sample")

    @property
    def positions(self) -> int:
        return self.pairs + self.queries


column = partial(synth.ColumnSpec, dtype="uint8", dims=("positions",))
COLUMNS = (
    column(name="key", role="input", meaning="the key of each position: pairs first, then queries"),
    column(name="value", role="target", meaning="the value of each position"),
    column(name="shown", role="fact", meaning="1 for a pair, 0 for a query"),
)


def generate_block(
    config: RecallConfig, seed: int, split: str, start: int, count: int
) -> synth.Block:
    """Different keys with any values, then keys among them."""
    block, n = {c.name: c.empty(config, count) for c in COLUMNS}, config.pairs
    key, stream = synth.stream_key(seed, NAME, split), np.zeros(synth.STREAM_LENGTH, np.uint64)
    for s in range(count):
        synth.open_stream(stream, key, start + s)
        order = np.arange(KEYS, dtype=np.uint8)
        synth.shuffle(stream, order)
        values = [synth.draw_below(stream, 2**BITS) for _ in range(n)]
        asked = [synth.draw_below(stream, n) for _ in range(config.queries)]
        block["key"][s] = np.concatenate([order[:n], order[asked]])
        block["value"][s] = values + [values[i] for i in asked]
        block["shown"][s, :n] = 1
    return block


CHECKS = {
    "key": "two of its pairs have one key, or a query asks for none of them.",
    "value": "the value of a query is not that of its key.",
    "shown": "shown is not 1 for pairs and 0 for queries.",
}


def check_block(config: RecallConfig, block: synth.Block, _row_ids: Any) -> np.ndarray:
    """Look every query up again."""
    failed, n = np.zeros(len(block["key"]), np.uint32), config.pairs
    for s, (key, value) in enumerate(zip(block["key"], block["value"], strict=True)):
        known = dict(zip(key[:n].tolist(), value[:n].tolist(), strict=True))
        found = [known.get(k) for k in key[n:].tolist()]
        failed[s] |= (len(known) < n or None in found) + 2 * (found != value[n:].tolist())
        failed[s] |= 4 * (block["shown"][s].tolist() != [1] * n + [0] * config.queries)
    return failed


def picture(block: synth.Block) -> np.ndarray:
    """Keys above, values below, in shades of grey."""
    return synth.tiled(
        [block["key"][:, None] * np.uint8(4), block["value"][:, None] * np.uint8(32)]
    )


def panels(sample: dict[str, Any], _config: RecallConfig) -> list[Image.Image]:
    return [Image.fromarray(picture({name: row[None] for name, row in sample.items()}))]


DATASET = synth.Dataset(
    name=NAME,
    title="Associative recall",
    version="1.0.0",
    config=RecallConfig,
    columns=COLUMNS,
    sizes=lambda _config: {"train": 10_000, "test": 1_000},
    generate_block=generate_block,
    row_checks=synth.RowChecks(lambda _config: CHECKS, check_block),
    normalisation=lambda _config: {},
    card=synth.CardText(
        summary="Pairs of a key and a value, then keys. The task is to give the value of each.",
        good_for=("To ask whether a structure finds what stands beside an equal key.",),
        not_for=("Claims about language.",),
        task_categories=("other",),
        tags=("synthetic", "associative-recall", "hdf5"),
        attributes="`normalisation` (empty: networks see bits)",
        checks=lambda _config: "Every query was looked up again.",
        picture=picture,
        picture_shows="keys above, values below",
        picture_samples=4,
        picture_columns=("key", "value"),
    ),
    preview=synth.Preview(panels, "keys above, values below; queries last", across=2),
    examples=f"example:\n  synthprobe-gen {NAME} --out recall.h5",
    license="CC0-1.0",
    citation="@misc{recall, title = {Associative recall}}",
)


def convert(arrays: Any, _scales: Any) -> Any:
    """Bits from -1 to 1: of the keys, and of the values, which are 0 where they are asked for."""
    import torch  # here, as the dataset does without

    bits, shown = 2 ** torch.arange(8)[:, None], torch.as_tensor(arrays["shown"])
    tensors = (torch.as_tensor(arrays[name]).long()[:, None] for name in ("key", "value"))
    keys, values = (2.0 * (tensor // bits % 2) - 1 for tensor in tensors)
    given = torch.cat([keys, values[:, :BITS] * shown[:, None]], 1)
    return {"input": given, "target": values[:, :BITS].contiguous(), "masked": shown == 0}


def __getattr__(name: str) -> Any:
    """The probe, made when it is asked for."""
    if name != "PROBE":
        raise AttributeError(name)
    from synthprobe_models import METRICS, Ability, LayerStack, Outcome, PresetData, Probe

    accuracy = METRICS["masked_code_accuracy"]
    recall = Ability(
        name="recall",
        measure=accuracy.name,
        title="values found",
        guess="any value",
        decide=lambda found: Outcome("yes" if min(found.test) > 0.9 else "no", "above 90%"),
        rule="*yes*: more than 90% of the values are found.",
        brief_heading="values found",
    )
    rest: dict[str, Any] = {"inputs": 8 + BITS, "outputs": BITS, "shape": (12,), "width": 32}
    rest |= {"columns": ("key", "value", "shown"), "input": "input", "convert": convert}
    rest |= {"metrics": (accuracy,), "guess": lambda *_: 0.5**BITS, "ability": recall}
    settings = {"epochs": 2, "batch": 64, "optimizer": "adamw"}
    presets = dict.fromkeys(("quick", "mini"), settings)
    data = {"quick": PresetData(sizes={"train": 640, "test": 100})}
    build = partial(LayerStack, layers=2)
    return Probe(name=NAME, build=build, presets=presets, data=data, **rest)
