"""What gives predictions: anything that can be asked for those of some samples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor

from synthprobe_data import DATASETS, SynthprobeError
from synthprobe_models.scoring.prediction_files import PredictionFile, open_predictions
from synthprobe_models.scoring.samples import Scored, row_shape, target_shape

NETWORK: Final = "network"
COLUMN: Final = "column"
UNITS: Final = (NETWORK, COLUMN)
"""The scale of the values in a file: as networks see the target, or as the shard has it."""


class Predictor(ABC):
    """Gives the predictions for samples of a split.

    Parameters
    ----------
    name
        As in pages and tables.
    kind
        What it is, in a word or two.
    """

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kind = kind

    def begin(self, scored: Scored) -> None:  # noqa: B027 - most have nothing to look at
        """Look at the samples before any is predicted; `SynthprobeError` if they do not fit."""

    def other_scale(self, scored: Scored) -> str | None:
        """Why predictions are on another scale than the ground truth of these samples."""
        return None

    @abstractmethod
    def predict(self, inputs: Tensor, rows: Sequence[int]) -> Tensor:
        """The predictions for some samples.

        Parameters
        ----------
        inputs
            The samples as networks see them: pictures are (n, channels, H, W), from 0 to 1.
        rows
            Their positions in the split.
        """

    def facts(self) -> dict[str, Any]:
        """What else decides the predictions, as plain JSON values."""
        return {}

    def close(self) -> None:  # noqa: B027 - most have nothing to close
        """Let go of what is open."""


class FilePredictor(Predictor):
    """Predictions that are in a file or a folder.

    Parameters
    ----------
    path
        As for `synthprobe_models.scoring.prediction_files.open_predictions`.
    units
        One of `UNITS`.
    """

    def __init__(self, path: str | Path, *, units: str = NETWORK) -> None:
        if units not in UNITS:
            raise SynthprobeError(f"units is {units!r}: take one of {', '.join(UNITS)}.")
        self.path = Path(path)
        self.units = units
        self._scale: Mapping[str, float] = {"offset": 0.0, "divisor": 1.0}
        self._file: PredictionFile | None = None
        super().__init__(self.path.stem or self.path.name, "file")

    def begin(self, scored: Scored) -> None:
        """Open the file; `SynthprobeError` if it is not for these samples."""
        samples = scored.samples
        self._file = open_predictions(self.path, len(samples), row_shape(samples))
        made_for = self._file.made_for()
        wanted = {
            "dataset": samples.dataset,
            "split": scored.split,
            "content_digest": scored.digest,
        }
        for name, text in wanted.items():
            if made_for.get(name, text) != text:
                raise SynthprobeError(
                    f"{self.path} was made for other samples than {scored.path}: its {name} is "
                    f"{made_for[name]!a}, not {text!a}."
                )
        if self.units == COLUMN:
            column = DATASETS[samples.dataset].first_with("target").name
            self._scale = samples.normalisation.get(column, self._scale)

    def predict(self, inputs: Tensor, rows: Sequence[int]) -> Tensor:
        """These rows of the file."""
        assert self._file is not None
        values = torch.from_numpy(self._file.rows(rows))
        return (values + self._scale["offset"]) / self._scale["divisor"]

    def facts(self) -> dict[str, Any]:
        """The units of the file."""
        return {"units": self.units}

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


def checked(prediction: Any, scored: Scored, rows: Sequence[int], name: str) -> Tensor:
    """A prediction in the shape of the target; `SynthprobeError` that names a row if it is wrong.

    Parameters
    ----------
    prediction
        A tensor, or what becomes one; an axis of channels of length 1 may be left out.
    scored, rows
        What it is for.
    name
        Of who gave it.
    """
    try:
        found = torch.as_tensor(prediction).detach().cpu()
    except (TypeError, ValueError, RuntimeError) as error:
        raise SynthprobeError(
            f"{name} gives {type(prediction).__name__} for row {rows[0]}: it must give a tensor or "
            f"an array."
        ) from error
    if found.is_complex() or found.dtype == torch.bool:
        raise SynthprobeError(f"{name} gives numbers of type {found.dtype}: take float32.")
    wanted = (len(rows), *target_shape(scored.samples))
    without = (len(rows), *row_shape(scored.samples))
    if tuple(found.shape) not in (wanted, without):
        raise SynthprobeError(
            f"{name} gives the shape {tuple(found.shape)} for {len(rows)} samples from row "
            f"{rows[0]}: it must be {without}."
        )
    found = found.reshape(wanted).double()
    finite = torch.isfinite(found).flatten(1).all(1)
    if not finite.all():
        row = rows[int((~finite).nonzero()[0])]
        raise SynthprobeError(f"{name} gives what is no finite number for row {row}.")
    return found
