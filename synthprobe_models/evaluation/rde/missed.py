"""The cues that a network missed: the pairs it orders wrongly, and what the solver says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from synthprobe_data import (
    Junction,
    RdeConfig,
    Reading,
    SynthprobeError,
    check_pixels_readable,
    explain,
    file_name,
    fixed_palette,
    open_dataset,
    pick_split,
    solve,
    write_bytes,
)
from synthprobe_models.data.torch_datasets import ShardDataset
from synthprobe_models.evaluation.align import align_batch
from synthprobe_models.evaluation.evaluate import predictions
from synthprobe_models.evaluation.rde.order import ranks_of
from synthprobe_models.files import make_folder

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
    if not isinstance(samples.config, RdeConfig):
        raise SynthprobeError(
            f"only samples of rde can be explained, not those of {samples.dataset}."
        )
    if folder.exists() and not folder.is_dir():
        raise SynthprobeError(f"{folder} is a file: name a folder for the figures.")
    check_pixels_readable(samples.config)


def explain_samples(
    network: nn.Module,
    samples: ShardDataset,
    on: str | Path,
    split: str,
    indices: Sequence[int],
    folder: Path,
    *,
    aligned: bool = False,
    device: str | torch.device = "cpu",
) -> tuple[Explained, ...]:
    """Draw some samples, each into a figure of its own, with the cues that a network missed.

    Parameters
    ----------
    network
        As for `synthprobe_models.evaluation.evaluate.evaluate`.
    samples
        Those of the split, as networks see them.
    on, split
        The file or the folder of shards that they are from.
    indices
        Which samples.
    folder
        Where the figures go, such as ``test-7.png``; those of the same names are replaced.
    aligned
        Whether each picture is given a scale and a shift first.
    device
        Where to compute.
    """
    chosen = samples.__getitems__(indices)
    maps = []
    for _, rest, prediction in predictions(
        network, chosen, dataset=samples.dataset, batch=1, device=device
    ):
        maps.append(align_batch(prediction, rest["target"])[0] if aligned else prediction)
    return explain_maps(maps, samples, on, split, indices, folder)


def explain_maps(
    maps: Sequence[Tensor],
    samples: ShardDataset,
    on: str | Path,
    split: str,
    indices: Sequence[int],
    folder: Path,
) -> tuple[Explained, ...]:
    """Draw some samples, each into a figure of its own, with the cues that a prediction missed.

    Parameters
    ----------
    maps
        The prediction for each of these samples, on the scale that networks see.
    samples, on, split, indices, folder
        As for `explain_samples`.
    """
    from synthprobe_models.evaluation.rde.missed_figure import (
        draw_missed,  # here, as matplotlib is slow
    )

    scale = samples.normalisation["rank"]
    size = (-1, *samples[0]["target"].shape[1:])
    ranks = [
        (found.cpu().double() * scale["divisor"] - scale["offset"]).reshape(size)[0].numpy()
        for found in maps
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
    reading = solve(sample["image"], fixed_palette(config), blur=config.blur)
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
