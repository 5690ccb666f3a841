"""Figures 1, 3 and 4 of the paper, made from our data.

    python tools/make_paper_figures.py 1
    python tools/make_paper_figures.py 1 --networks hf:Intel/dpt-large \
        hf:depth-anything/Depth-Anything-V2-Small-hf
    python tools/make_paper_figures.py 3
    python tools/make_paper_figures.py 4
    python tools/make_paper_figures.py train

Figure 1 shows what was not trained on RDE. Without weights at hand these are two habits that
natural pictures teach: what is bright is near, and what is low in the picture is near. With the
second command, networks of the Hub stand beside them. Figures 3 and 4 show the baseline beside
Lambda + PE, by two small runs in results/paper-figures, which the last command trains again: in
some minutes of one thread, on strips, where cues have far to go.

Each of the two shows the one test sample in which the networks differ most: it says what can
happen, not how often. How often is in the titles, over all test samples. One seed each, and the
same width, so that Lambda + PE has more parameters.
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from scipy import ndimage
from torch import Tensor

from synthprobe_data import RdeConfig, grey_of, make_file, ready_path
from synthprobe_models.data.source import open_source
from synthprobe_models.evaluation.rde.order import SCENE, find_pieces, ranks_of
from synthprobe_models.scoring.score import Score, score
from synthprobe_models.scoring.sources import find_predictor
from synthprobe_models.training.checkpoint import load_checkpoint
from synthprobe_models.training.restore import restored
from synthprobe_models.training.run import train_run
from synthprobe_models.training.settings import TrainSettings
from synthprobe_models.training.trainer import Machine

HERE = Path(__file__).parents[1] / "results" / "paper-figures"
CONFIG = RdeConfig(height=16, width=64, n_rectangles=4, n_vis=2, n_gap=2, n_par=2, min_size=0.15)
TRAIN, TEST = 12_000, 1_000
NETWORKS = {"unet": "baseline", "lambda-pe": "Lambda + PE"}
Panel = tuple[str, Any]
Marks = Sequence[tuple[int, int, str]]
"""Texts on a picture: row, column, text."""


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("which", choices=["1", "3", "4", "train"])
    parser.add_argument("--networks", nargs="*", default=[], help="as for synthprobe-probe score")
    parser.add_argument("--out", type=Path, default=HERE, help="folder (results/paper-figures)")
    given = parser.parse_args(words)
    given.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    if given.which == "train":
        train(given.out)
        return
    if given.which == "1":
        path = figure_1(given.networks, given.out)
    else:
        path = {"3": figure_3, "4": figure_4}[given.which](given.out)
    print(path)


def train(out: Path) -> None:
    """Train both networks, and keep their weights alone."""
    with tempfile.TemporaryDirectory() as folder:
        source = open_source(strips(Path(folder), train=TRAIN))
        for name in NETWORKS:
            settings = TrainSettings(
                name=name,
                probe="rde",
                epochs=2,
                batch=8,
                optimizer="adamw",
                loss="scale-invariant",
                width=12,
                down_samplings=1,
                head_bias=0.5,
                options={} if name == "unet" else {"heads": 2, "keys": 32},
            )
            run = Path(folder) / name
            train_run(settings, source, run, machine=Machine(), picture_every=0)
            keep_weights(run / "checkpoint.pt", out / f"{name}.pt")


def keep_weights(checkpoint: Path, to: Path) -> None:
    """A checkpoint without what only a training that goes on needs."""
    saved = load_checkpoint(checkpoint)
    dataclasses.replace(saved, optimizer={}, schedule={}, random={}).save(to)


def strips(folder: Path, *, train: int = 1) -> Path:
    """The samples of figures 3 and 4: the test samples are the same whatever was trained on."""
    path = folder / "strips.h5"
    make_file("rde", path, config=CONFIG, train=train, test=TEST, workers=1, cards=False)
    return path


def brightness(pictures: Tensor) -> Tensor:
    """What is bright is near."""
    return pictures.mean(1)


def height(pictures: Tensor) -> Tensor:
    """What is low in the picture is near, as on a floor."""
    rows = torch.linspace(0, 1, pictures.shape[2])
    return rows[None, :, None].expand(len(pictures), -1, pictures.shape[3])


def figure_1(networks: Sequence[str], out: Path) -> Path:
    """What was not trained on RDE, on a picture of it that is easy to read."""
    on = ready_path("rde")
    offline: dict[str, Callable[[Tensor], Tensor]] = {
        "bright is near": brightness,
        "low is near": height,
    }
    with_names: list[tuple[str, Any]] = [*offline.items(), *((name, name) for name in networks)]
    split = "test"
    scores = [(name, score(what, on=on, split=split, worst=0)) for name, what in with_names]
    first = scores[0][1]
    samples = first.scored.samples.beside(("rectangle_rank",))
    row = max(range(len(samples)), key=lambda i: int(samples[i]["rectangle_rank"].max()))
    sample = samples[row]
    panels: list[Panel] = [
        ("input", sample["image"].permute(1, 2, 0).numpy()),
        ("ground truth", sample["target"][0].numpy()),
    ]
    for (_, what), (name, found) in zip(with_names, scores, strict=True):
        predictor = find_predictor(what)
        predictor.begin(found.scored)
        with torch.inference_mode():
            prediction = predictor.predict(sample["image"][None], [row])
        title = f"{name.removeprefix('hf:')}\n{_pairs(found)}"
        panels.append((title, np.asarray(prediction).reshape(sample["target"].shape[1:])))
    return _draw(panels, out / "figure-1.png", across=2)


def _pairs(found: Score) -> str:
    order = found.measured.order
    assert order is not None
    return f"{order['pairs']['share']:.0%} of {order['pairs']['of']} pairs in order"


def predicted(out: Path) -> tuple[dict[str, np.ndarray], Any]:
    """The ranks that both networks give to all test samples, and these with their facts."""
    columns = SCENE
    with tempfile.TemporaryDirectory() as folder:
        samples = open_source(strips(Path(folder))).test
        tensors = samples.beside(columns).all()  # type: ignore[union-attr]
        scale = samples.normalisation["rank"]
    found = {}
    for name in NETWORKS:
        network = restored(load_checkpoint(out / f"{name}.pt")).eval()
        with torch.inference_mode():
            maps = torch.cat([network(part) for part in tensors["image"].split(50)])
        found[name] = (maps[:, 0] * scale["divisor"] - scale["offset"]).double().numpy()
    return found, tensors


def figure_3(out: Path) -> Path:
    """A rectangle that another one divides: the baseline gives its pieces two ranks."""
    found, tensors = predicted(out)
    cases = divided(found, tensors)
    (row, k), _ = max(cases, key=lambda case: case[1]["unet"] - case[1]["lambda-pe"])
    piece, owner = find_pieces(tensors["label"][row].numpy())
    shown = [np.where(piece == one + 1, 1, 0) for one in np.flatnonzero(owner == k)]
    titles = {
        name: f"{title}; of all {len(cases)} such rectangles,\n"
        f"{np.mean([apart[name] < 0.5 for _, apart in cases]):.0%} within half a rank"
        for name, title in NETWORKS.items()
    }
    return _beside(row, shown, titles, found, tensors, out / "figure-3.png")


Cases = list[tuple[tuple[int, ...], dict[str, float]]]
"""The sample and the rectangles of each case, and what each network makes of it."""


def divided(found: dict[str, np.ndarray], tensors: Any) -> Cases:
    """All rectangles in several pieces, and how many ranks apart each network has these."""
    cases: Cases = []
    for row, label in enumerate(tensors["label"].numpy()):
        piece, owner = find_pieces(label)
        for k in np.flatnonzero(np.bincount(owner) > 1):
            apart = {}
            for name, maps in found.items():
                own = ranks_of(maps[row], piece, len(owner))[owner == k]
                apart[name] = float(own.max() - own.min())
            cases.append(((row, int(k)), apart))
    return cases


def figure_4(out: Path) -> Path:
    """A pair whose T-junctions are hidden, so that only its extents tell which is above."""
    found, tensors = predicted(out)
    cases = hidden(found, tensors)
    (row, *pair), _ = max(cases, key=lambda case: min(case[1]["lambda-pe"], -case[1]["unet"]))
    shown = [np.where(tensors["label"][row].numpy() == k + 1, 1, 0) for k in pair]
    titles = {
        name: f"{title}; of all {len(cases)} such pairs,\n"
        f"{np.mean([lead[name] > 0 for _, lead in cases]):.0%} in order"
        for name, title in NETWORKS.items()
    }
    return _beside(row, shown, titles, found, tensors, out / "figure-4.png")


def hidden(found: dict[str, np.ndarray], tensors: Any) -> Cases:
    """All pairs that convexity alone orders, and how far above each network has the upper one."""
    cases: Cases = []
    for row, above in enumerate(tensors["above"].numpy()):
        label = tensors["label"][row].numpy()
        ranks = {name: ranks_of(maps[row], label, len(above)) for name, maps in found.items()}
        for upper, lower in np.argwhere(above == 2):  # by convexity alone
            lead = {name: float(rank[upper] - rank[lower]) for name, rank in ranks.items()}
            cases.append(((row, int(upper), int(lower)), lead))
    return cases


def _beside(
    row: int,
    shown: Sequence[np.ndarray],
    titles: dict[str, str],
    found: dict[str, np.ndarray],
    tensors: Any,
    path: Path,
) -> Path:
    """Input and ground truth, and below them what both networks give; the ranks of some regions."""
    highest = int(tensors["rectangle_rank"][row].max())
    truth = tensors["rectangle_rank"][row].numpy()
    label = tensors["label"][row].numpy()
    true_map = np.append(0, truth)[label].astype(np.float64)
    places = [_middle(region) for region in shown]

    def marks(ranks: np.ndarray) -> Marks:
        medians = [ranks_of(ranks, region, 1)[0] for region in shown]
        return [(*place, f"{rank:.2g}") for place, rank in zip(places, medians, strict=True)]

    panels: list[Panel] = [
        (f"input (test {row})", tensors["image"][row].permute(1, 2, 0).numpy()),
        ("ground truth", grey_of(true_map, highest)),
    ]
    for name, title in titles.items():
        panels.append((title, grey_of(found[name][row].clip(0, highest), highest)))
    texts = [[], marks(true_map), *(marks(found[name][row]) for name in titles)]
    return _draw(panels, path, across=2, texts=texts)


def _middle(region: np.ndarray) -> tuple[int, int]:
    """The pixel of a region that is farthest from its edge."""
    depth = ndimage.distance_transform_cdt(np.pad(region, 1), "chessboard")[1:-1, 1:-1]
    rows, columns = np.nonzero(depth == depth.max())
    nearest = np.argmin((rows - rows.mean()) ** 2 + (columns - columns.mean()) ** 2)
    return int(rows[nearest]), int(columns[nearest])


def _draw(
    panels: Sequence[Panel], path: Path, across: int, texts: Sequence[Marks] | None = None
) -> Path:
    """Pictures in rows, each below its title, and with its texts."""
    down = -(-len(panels) // across)
    height, width = np.asarray(panels[0][1]).shape[:2]
    size = (3.2 * across, down * (3.2 * height / width + 0.55))
    figure = Figure(figsize=size, layout="constrained", dpi=90)
    FigureCanvasAgg(figure)
    axes = np.atleast_2d(figure.subplots(down, across)).ravel()
    for ax in axes:
        ax.axis("off")
    of_panels = texts or [[]] * len(panels)
    for ax, (title, picture), marks in zip(axes, panels, of_panels, strict=False):
        ax.imshow(np.asarray(picture), cmap="gray", interpolation="nearest")
        for row, column, text in marks:
            place = {"ha": "center", "va": "center"}
            ax.text(column, row, text, fontsize=6, color="#c00000", weight="bold", **place)
        ax.set_title(title, fontsize=8)
    figure.savefig(path, metadata={"Software": None})
    return path


if __name__ == "__main__":
    main()
