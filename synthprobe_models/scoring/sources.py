"""What can be scored, by how it is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from synthprobe_data import SynthprobeError
from synthprobe_models.scoring.from_code import CodePredictor, load_function
from synthprobe_models.scoring.predictor import NETWORK, FilePredictor, Predictor
from synthprobe_models.scoring.preparation import Preparation
from synthprobe_models.training.exported import WEIGHTS, is_exported
from synthprobe_models.training.run_folder import RunFolder

HUGGING_FACE: Final = "hf:"


def find_predictor(
    what: Any,
    *,
    device: str = "cpu",
    units: str = NETWORK,
    normalise: str = "none",
    multiple: int = 1,
    farther: bool | None = None,
) -> Predictor:
    """What gives the predictions of what is named.

    Parameters
    ----------
    what, device
        As for `synthprobe_models.scoring.score.score`.
    units
        Of a file, as for `synthprobe_models.scoring.predictor.FilePredictor`.
    normalise, multiple, farther
        Of code, as for `synthprobe_models.scoring.preparation.Preparation`. Without ``farther``,
        that is what a network of the Hub says of itself, and no elsewhere.
    """
    if isinstance(what, Predictor):
        return what
    preparation = Preparation(normalise=normalise, multiple=multiple, farther=bool(farther))
    plain = preparation == Preparation()
    in_file = isinstance(what, str | Path) and Path(what).exists()
    if units != NETWORK and not in_file:
        raise SynthprobeError("--units is for predictions in a file.")
    if not isinstance(what, str | Path):
        if not callable(what):
            raise SynthprobeError(f"{type(what).__name__} is nothing that can be scored.")
        return CodePredictor(what, preparation, device=device)
    text, path = str(what), Path(what)
    if text.startswith(HUGGING_FACE):
        from synthprobe_models.scoring.from_hub import HubPredictor

        if normalise != "none" or multiple != 1:
            raise SynthprobeError("networks of the Hub have a preparation of their own.")
        return HubPredictor(text.removeprefix(HUGGING_FACE), device=device, farther=farther)
    if not path.exists() and ":" in text:
        function, name = load_function(text)
        return CodePredictor(function, preparation, name=name, device=device)
    if not plain:
        raise SynthprobeError(
            "--normalise, --multiple and --farther are for functions and modules, not for "
            "predictions or runs."
        )
    trained = path.is_dir() and (RunFolder(path).has_run() or is_exported(path))
    if trained or path.suffix == ".pt" or path.name == WEIGHTS:
        from synthprobe_models.scoring.from_checkpoint import CheckpointPredictor

        return CheckpointPredictor(path, device=device)
    if path.suffix == ".py":
        raise SynthprobeError(f"name a function or a class in {path}, such as {path}:predict.")
    if (path / "config.json").is_file():
        raise SynthprobeError(
            f"{path} has a config.json: for a network of transformers, hf:{path}."
        )
    return FilePredictor(path, units=units)
