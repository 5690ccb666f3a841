"""The samples that tables and profiles are made with: generated once, and kept."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from synthprobe_data import DATASETS, SynthprobeError, make_file, open_dataset
from synthprobe_models.data.source import Source
from synthprobe_models.data.torch_datasets import ShardDataset
from synthprobe_models.files import make_folder
from synthprobe_models.probes.probe import PresetData
from synthprobe_models.training.progress import say


def data_file(dataset: str, data: PresetData, folder: Path, mark: str = "") -> Path:
    """The file with these samples in the folder, generated unless it is there.

    Parameters
    ----------
    dataset
        Its name.
    data
        The settings and the number of samples.
    folder
        Where it is, or will be.
    mark
        Added to its name.
    """
    path = folder / f"{dataset}{mark}.h5"
    config = DATASETS[dataset].config.from_dict(dict(data.config))
    if path.exists():
        with open_dataset(path) as there:
            if there.config != config:
                raise SynthprobeError(
                    f"{path} has other settings than are needed here: remove it, or take another "
                    f"folder."
                )
        return path
    make_folder(folder)
    say(f"{dataset}: generates {path}")
    make_file(dataset, path, config=config, splits=data.sizes, progress=True, cards=False)
    return path


def with_further(source: Source, data: PresetData, folder: Path) -> Source:
    """The same samples, and beside them the further test samples of a preset.

    Parameters
    ----------
    source
        Those of the preset.
    data
        Which further ones there are.
    folder
        Where they are, or will be.
    """
    further = {}
    for title, changes in data.further.items():
        sizes = {split: size if split == "test" else 0 for split, size in data.sizes.items()}
        others = dataclasses.replace(data, config={**data.config, **changes}, sizes=sizes)
        mark = "-" + "".join(title.split())
        further[title] = ShardDataset(data_file(source.facts.dataset, others, folder, mark), "test")
    return dataclasses.replace(source, further=further)
