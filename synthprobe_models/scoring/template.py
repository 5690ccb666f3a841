"""The empty file of predictions, to be filled in any language."""

from __future__ import annotations

import zipfile
from pathlib import Path

import h5py
import numpy as np

from synthprobe_data import SynthprobeError, check_target
from synthprobe_models.data.torch_datasets import ShardDataset
from synthprobe_models.files import replaced
from synthprobe_models.scoring.prediction_files import DATASET
from synthprobe_models.scoring.samples import row_shape


def write_template(
    path: Path, samples: ShardDataset, *, split: str, digest: str, force: bool = False
) -> tuple[int, ...]:
    """Write a file with NaN for every value; return the shape of its array.

    Where a row is left as it is, scoring says so and names it.

    Parameters
    ----------
    path
        Ends in ``.h5``, ``.npy`` or ``.npz``.
    samples, split, digest
        What is to be predicted: the samples, the name of their split, and the content digest of
        the file. HDF5 keeps the latter two, so that predictions for other samples are found out.
    force
        Replace a file that is there.
    """
    check_target(path, force=force)
    shape = (len(samples), *row_shape(samples))
    kind = path.suffix.lower()
    if kind not in (".h5", ".hdf5", ".npy", ".npz"):
        raise SynthprobeError(f"{path} must end in .h5, .npy or .npz.")
    with replaced(path) as part:
        if kind in (".h5", ".hdf5"):
            _write_hdf5(part, shape, samples.dataset, split, digest)
        elif kind == ".npy":
            array = np.lib.format.open_memmap(part, "w+", "<f4", shape)
            array[:] = np.nan
            array.flush()
        else:
            with (
                zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive,
                archive.open(f"{DATASET}.npy", "w", force_zip64=True) as stream,
            ):
                facts = {"descr": "<f4", "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(stream, facts)
                row = np.full(shape[1:], np.nan, "<f4").tobytes()
                for _ in range(shape[0]):
                    stream.write(row)
    return shape


def _write_hdf5(path: Path, shape: tuple[int, ...], dataset: str, split: str, digest: str) -> None:
    with h5py.File(path, "w", locking=False) as file:
        stored = file.create_dataset(DATASET, shape, "<f4", fillvalue=np.nan)
        if shape[0]:
            stored[0] = np.nan  # from now on all rows are in the file
        # Texts of fixed length, as the guarded reader reads no others.
        for name, text in (("dataset", dataset), ("split", split), ("content_digest", digest)):
            file.attrs[name] = np.bytes_(text.encode())
