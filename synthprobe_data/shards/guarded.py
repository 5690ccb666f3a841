"""The child process that opens an untrusted file before we do.

It is started by `synthprobe_data.shards.guard` and run by its path, so that it needs nothing but
h5py, and starts fast. It makes the calls of the HDF5 library that `header`, `reader`, `blocks` and
`chunks` make; what they would refuse without a further call, it passes over. A file that makes
the library crash, loop or take much memory does it here, where limits hold and nothing is lost.

It reads one request a line and answers each with one line, both JSON.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import time
from typing import Any

_ATTRIBUTES = (
    "synthprobe_format",
    "dataset",
    "version",
    "config",
    "seed",
    "split",
    "splits",
    "index_start",
    "content_digest",
    "license",
    "citation",
    "palette",
    "normalisation",
    "selected_from",
    "selection",
)
"""All that a file may say about itself; a file of predictions says for which split it is."""
_MAX_COLUMNS = 64
"""More than any dataset has: a file with more of them is refused by their names alone."""
_CHUNKS_READ = 1024
"""Chunks of a dataset that are read, evenly spread; all are visited in the index."""
_PIECE_BYTES = 8 * 2**20


class RefusalError(Exception):
    """What is wrong with a file, found here because looking further is not safe."""


def main() -> None:
    """Validate one file after another until there are no more."""
    settings = json.loads(sys.argv[1])
    sys.path += [path for path in settings["paths"] if path not in sys.path]
    import h5py  # noqa: F401  from where the parent has it

    set_limits(settings["memory"])
    answer({"ready": True})
    for line in sys.stdin:
        request = json.loads(line)
        limit_time(request["seconds"])
        try:
            validate_file(os.fsdecode(bytes.fromhex(request["path"])), settings)
        except RefusalError as refusal:
            answer({"refused": str(refusal)})
        except MemoryError:
            answer({"memory": True})
        except Exception as error:
            answer({"said": str(error) or type(error).__name__})
        else:
            answer({"fine": True})


def answer(content: dict[str, Any]) -> None:
    """Send a line to the parent."""
    sys.stdout.write(json.dumps(content) + "\n")
    sys.stdout.flush()


def set_limits(memory: int) -> None:
    """Allow so much memory beside what is taken now, no new files, and leave no core dump."""
    try:
        import resource
    except ImportError:
        return  # not on Windows: there the parent's watch has to do
    try:
        with open("/proc/self/statm", "rb") as file:
            taken = int(file.read().split()[0]) * resource.getpagesize()
    except OSError:
        taken = 2**29
    for kind, value in (
        (resource.RLIMIT_AS, taken + memory),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
    ):
        lower(resource, kind, value)


def limit_time(seconds: int) -> None:
    """Allow so many seconds of processor time from now on."""
    with contextlib.suppress(ImportError):
        import resource

        lower(resource, resource.RLIMIT_CPU, math.ceil(time.process_time()) + seconds)


def lower(resource: Any, kind: int, value: int) -> None:
    """Set a soft limit, within what the system allows."""
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    with contextlib.suppress(ValueError, OSError):  # some systems know it but do not set it
        resource.setrlimit(kind, (value, hard))


def validate_file(path: str, settings: dict[str, Any]) -> None:
    """Make all calls that reading a file makes."""
    import h5py

    with h5py.File(path, "r", locking=False) as file:
        for name in _ATTRIBUTES:
            read_attribute(file, name, settings["max_text_bytes"])
        names = list(file.keys())
        if len(names) > _MAX_COLUMNS:
            return
        size = file.id.get_filesize()
        for name in names:
            if not isinstance(file.get(name, getlink=True), h5py.HardLink):
                continue
            if file.get(name, getclass=True) is h5py.Dataset:
                walk_column(file[name], size, settings)


def read_attribute(file: Any, name: str, max_bytes: int) -> None:
    """Read an attribute, if it is there, and of a kind that we read."""
    import h5py

    if name not in file.attrs:
        return
    stored = h5py.h5a.open(file.id, name.encode())
    small = stored.get_storage_size() <= max_bytes and math.prod(stored.shape or ()) <= max_bytes
    if stored.dtype.kind in "Siu" and small:
        file.attrs[name]


def walk_column(stored: Any, file_size: int, settings: dict[str, Any]) -> None:
    """Read what a dataset says about itself, visit all of its chunks, and read some of them."""
    import h5py

    properties, item = stored.id.get_create_plist(), stored.dtype.itemsize
    filters = [properties.get_filter(i)[0] for i in range(properties.get_nfilters())]
    outside, layout = properties.get_external_count(), properties.get_layout()
    if (
        stored.dtype.kind not in "iuf"  # shards have whole numbers, predictions others, too
        or not stored.shape
        or stored.shape[0] > min(settings["max_rows"], file_size)
        or outside
        or layout not in (h5py.h5d.CHUNKED, h5py.h5d.CONTIGUOUS)
        or [kind for kind in filters if kind != h5py.h5z.FILTER_SHUFFLE]
        not in ([], [h5py.h5z.FILTER_DEFLATE])
    ):
        return
    if layout == h5py.h5d.CONTIGUOUS:
        size = math.prod(stored.shape) * item
        if 0 < size <= file_size and stored.id.get_offset() is not None:
            if stored.id.get_storage_size() == size:
                read_pieces(stored, 1, item)
        return
    chunks = stored.chunks  # h5py asks the library each time
    chunk_bytes = math.prod(chunks) * item
    if chunk_bytes > settings["max_chunk_bytes"]:
        return
    counts = [-(-n // step) for n, step in zip(stored.shape, chunks, strict=True)]
    expected = math.prod(counts)
    if expected > file_size:
        raise RefusalError("it has more chunks than bytes.")
    if stored.id.get_num_chunks() != expected:
        return
    visited = visit_chunks(stored, settings["max_chunk_bytes"])
    if stored.compression == "gzip":
        most = _CHUNKS_READ if visited else expected
        for number in spread(expected, most):
            corner = []
            for count, step in zip(reversed(counts), reversed(chunks), strict=True):
                number, i = divmod(number, count)
                corner.append(i * step)
            try:
                stored.id.read_direct_chunk(tuple(reversed(corner)))
            except MemoryError:
                raise
            except Exception:  # a row that cannot be read fails for itself, later
                continue
    else:
        read_pieces(stored, chunks[0], item)


def visit_chunks(stored: Any, max_bytes: int) -> bool:
    """Go through the index, and see that no chunk takes more memory than one may.

    Returns whether that could be done; HDF5 before 1.14 cannot.
    """
    too_large = []
    if not hasattr(stored.id, "chunk_iter"):
        return False

    def visit(chunk: Any) -> bool | None:
        if chunk.size <= max_bytes + 2**20:  # what does not compress grows by a little
            return None
        too_large.append(chunk.size)
        return True

    stored.id.chunk_iter(visit)
    if too_large:
        raise RefusalError(f"it has a chunk of {too_large[0]} bytes.")
    return True


def read_pieces(stored: Any, step: int, item: int) -> None:
    """Read a dataset without filters, some rows at a time."""
    row_bytes = max(1, math.prod(stored.shape[1:]) * item)
    step *= max(1, _PIECE_BYTES // (row_bytes * step))
    for start in range(0, stored.shape[0], step):
        stored[start : start + step]


def spread(count: int, most: int) -> list[int]:
    """At most so many of the numbers up to ``count``, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return [i * (count - 1) // (most - 1) for i in range(most)]


if __name__ == "__main__":
    main()
