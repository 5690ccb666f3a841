"""The cues that a network missed: the pairs it orders wrongly, and what the solver says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from synthprobe_data import SynthprobeError, open_dataset
from synthprobe_data.rde import RDE, RdeConfig, solve
from synthprobe_data.rde.render import hue_palette
from synthprobe_data.rde.solver import Junction, Reading
from synthprobe_data.rde.verify_pixels import check_pixels_readable
from synthprobe_data.shards.writer import write_bytes
from synthprobe_data.views.explanation import explain, pick_split
from synthprobe_data.views.figure import file_name
from synthprobe_models.checkpoint import make_folder
from synthprobe_models.data import ShardDataset
from synthprobe_models.evaluate import predictions
from synthprobe_models.order import ranks_of

Box = tuple[int, int, int, int]


@dataclass(frozen=True, kw_only=True)
class MissedPair:
    """Two rectangles that a network orders wrongly. They count from 1, as in the label map."""

    upper: int
    lower: int
    ranks: tuple[float, float]
    """What the network gives the upper and the lower one, on the scale of the true ranks."""
    junctions: tuple[Junction, ...]
    """The T-junctions of the picture that tell the order."""
    overlap: Box | None
    """Where the visible extents of both overlap and the upper one shows, if they do."""

    @property
    def sentence(self) -> str:
        """What tells the order, and what the network gives."""
        cues = []
        if self.junctions:
            points = [f"({junction.column}, {junction.row})" for junction in self.junctions]
            cues.append(f"T-junction{'s' * (len(points) > 1)} at {_listed(points)}")
        if self.overlap is not None:
            x0, y0, x1, y1 = self.overlap
            cues.append(
                f"{self.upper} shows where their extents overlap, columns {x0} to {x1 - 1}, rows "
                f"{y0} to {y1 - 1}"
            )
        # Only without the certificate can a picture tell less than its scene.
        evidence = "; ".join(cues) or "the picture alone does not tell"
        upper, lower = self.ranks
        return (
            f"rectangle {self.upper} is above {self.lower}: {evidence} (network: {upper:.2f} and "
            f"{lower:.2f})"
        )


@dataclass(frozen=True, kw_only=True)
class Explained:
    """A sample, drawn with the cues that a network missed."""

    index: int
    figure: Path
    pairs: int
    """Pairs that a cue orders."""
    missed: list[MissedPair]
    """The pairs that the network orders wrongly, the widest miss first."""


def check_explainable(samples: ShardDataset, folder: Path) -> None:
    """Raise `SynthprobeError` if samples cannot be explained, or not into this folder."""
    if samples.dataset != RDE.name:
        raise SynthprobeError(
            f"only samples of {RDE.name} can be explained, not those of {samples.dataset}."
        )
    if folder.exists() and not folder.is_dir():
        raise SynthprobeError(f"{folder} is a file: name a folder for the figures.")
    assert isinstance(samples.config, RdeConfig)
    check_pixels_readable(samples.config)


def explain_samples(
    network: nn.Module,
    samples: ShardDataset,
    on: str | Path,
    split: str,
    indices: Sequence[int],
    folder: Path,
    *,
    device: str | torch.device = "cpu",
) -> tuple[Explained, ...]:
    """Draw some samples, each into a figure of its own, with the cues that a network missed.

    Parameters
    ----------
    network
        As for `synthprobe_models.evaluate.evaluate`.
    samples
        Those of the split, as networks see them.
    on, split
        The file or the folder of shards that they are from.
    indices
        Which samples.
    folder
        Where the figures go, such as ``test-7.png``; those of the same names are replaced.
    device
        Where to compute.
    """
    from synthprobe_models.missed_figure import draw_missed  # here, as matplotlib is slow

    scale = samples.normalisation["rank"]
    chosen = samples.__getitems__(indices)
    ranks = [
        (prediction[0, 0].cpu().double() * scale["divisor"] - scale["offset"]).numpy()
        for _, _, prediction in predictions(
            network, chosen, dataset=samples.dataset, batch=1, device=device
        )
    ]
    explained = []
    make_folder(folder)
    with open_dataset(on) as data:
        rows = pick_split(data, split)
        assert isinstance(data.config, RdeConfig)
        for index, predicted in zip(indices, ranks, strict=True):
            shown = explain(data, rows, index)
            missed = find_missed(rows[index], predicted, data.config)
            figure = folder / f"{file_name(split)}-{index}.png"
            write_bytes(figure, draw_missed(shown, rows[index]["label"], predicted, missed))
            pairs = int(np.count_nonzero(shown.above))
            explained.append(Explained(index=index, figure=figure, pairs=pairs, missed=missed))
    return tuple(explained)


def find_missed(
    sample: Mapping[str, NDArray[Any]], predicted: NDArray[np.float64], config: RdeConfig
) -> list[MissedPair]:
    """The pairs of a sample that a network orders wrongly, with what the solver says of them.

    Parameters
    ----------
    sample
        The arrays by name, as in a row of the file.
    predicted
        The ranks that the network gives, (height, width), on the scale of the true ones.
    config
        The settings of the file.
    """
    label, above = sample["label"], sample["above"]
    rank = ranks_of(predicted, label, len(above)).tolist()
    pairs = [(a, b) for a, b in np.argwhere(above).tolist() if not rank[a] > rank[b]]
    if not pairs:
        return []
    reading = solve(sample["image"], hue_palette(config.palette_size), blur=config.blur)
    relation = reading.relation()
    region = _regions(reading, label)
    missed = []
    for a, b in sorted(pairs, key=lambda pair: rank[pair[0]] - rank[pair[1]]):
        cues = relation.get_edge_data(region[a], region[b]) or {}
        missed.append(
            MissedPair(
                upper=a + 1,
                lower=b + 1,
                ranks=(rank[a], rank[b]),
                junctions=cues.get("junctions", ()),
                overlap=cues.get("overlap"),
            )
        )
    return missed


def _regions(reading: Reading, label: NDArray[np.uint8]) -> dict[int, int]:
    """For each rectangle that shows, the region that the solver found; both count from 0."""
    shown, first = np.unique(label, return_index=True)
    found = reading.label.ravel()[first].tolist()
    return {k - 1: region - 1 for k, region in zip(shown.tolist(), found, strict=True) if k}


def _listed(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
