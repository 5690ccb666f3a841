"""Setting a damaged dataset right: what is wrong with it is generated again.

A sample is a function of settings, seed, split and index, so whoever still knows these can make it
again. What is made must have the content digest that was stated for it: a dataset is never turned
into another one. Where nobody can know what it was, it is left as it is, and one sentence says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from synthprobe_data.atomic.files import at_end_of_links
from synthprobe_data.atomic.folder import MANIFEST, held_folder
from synthprobe_data.cards.facts import file_sha256
from synthprobe_data.cards.ours import cards_are_right, our_cards
from synthprobe_data.cards.write import write_cards
from synthprobe_data.config import Config
from synthprobe_data.dataset import Dataset
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.generation.file import MAX_SAMPLES, packed_blocks, plan
from synthprobe_data.generation.folder import FolderRun, set_manifest_and_cards_right
from synthprobe_data.generation.inferred import infer_plans
from synthprobe_data.parallel import check_workers, default_workers
from synthprobe_data.progress import progress_bar
from synthprobe_data.registry import DATASETS
from synthprobe_data.shards.card_paths import card_paths
from synthprobe_data.shards.guard import validate_files
from synthprobe_data.shards.header import Header
from synthprobe_data.shards.layout import columns_of, decoded_bytes
from synthprobe_data.shards.manifest import Manifest, read_manifest
from synthprobe_data.shards.plan import ShardPlan
from synthprobe_data.shards.reader import ShardReader
from synthprobe_data.shards.writer import ShardWriter, new_file
from synthprobe_data.text import printable
from synthprobe_data.verification.hashes import croissant_hashes
from synthprobe_data.verification.report import Report


def repair(report: Report, *, workers: int | None = None, progress: bool = False) -> list[str]:
    """Make again what `synthprobe_data.verification.verify.verify` has found to be wrong.

    Parameters
    ----------
    report
        What was found.
    workers
        Worker processes; all cores by default.
    progress
        Show a progress bar, if on a terminal.

    Returns
    -------
    list of str
        The names of the files that were made again; manifest and cards are not among them.
    """
    if workers is not None:
        check_workers(workers)
    path = Path(report.path)
    damaged = {failure.file for failure in report.failures}
    if path.is_dir():
        if sum(report.failed.values()) > len(report.failures):  # not all of them are listed
            damaged |= {shard.name for shard in path.glob("*.h5")}
        return _repair_folder(at_end_of_links(path), damaged, workers, progress)
    return _repair_file(path, workers, progress)


def _repair_file(path: Path, workers: int | None, progress: bool) -> list[str]:
    try:
        with ShardReader(path) as reader:
            header = reader.header
    except SynthprobeError as error:
        raise SynthprobeError(
            f"{path} cannot be repaired, as nobody knows what it was: {error}"
        ) from error
    if header.selection is not None:
        raise SynthprobeError(
            f"{path} has selected samples and is left as it is: select them again from the "
            "dataset that they are from."
        )
    dataset, config = header.dataset, header.config
    sizes = {split: stop - start for split, (start, stop) in header.splits.items()}
    _check_makeable(path, dataset, header.version, config, header.index_start, sizes)
    columns = columns_of(dataset, config)
    tasks = [
        replace(task, row=start + task.row)
        for split, (start, _) in header.splits.items()
        for task in plan(columns, {split: sizes[split]}, index_start=header.index_start[split])
    ]
    workers = min(workers or default_workers(decoded_bytes(columns, header.rows)), len(tasks))
    with new_file(path, force=True) as file, progress_bar(header.rows, progress) as bar:
        writer = ShardWriter(file, columns, header.rows)
        for block in packed_blocks(dataset, config, columns, header.seed, tasks, workers):
            writer.write(block)
            bar.update(block.task.count)
        found = writer.finish(
            dataset,
            config,
            seed=header.seed,
            splits=header.splits,
            index_start=header.index_start,
        )
        if found != header.content_digest:
            raise SynthprobeError(
                f"{path} cannot be repaired: with the settings that it states its content digest "
                f"is {found}, not {header.content_digest}, so one of the two is wrong."
            )
    _set_cards_of_file_right(path, found)
    return [path.name]


def _set_cards_of_file_right(path: Path, digest: str) -> None:
    """Write the cards of a file again, if it has any and they are not of this file."""
    paths = card_paths(path, folder=False)
    _remove_unreadable_croissant(paths.croissant)
    if our_cards(paths):
        hashes = {path.name: file_sha256(path)}
        if not cards_are_right(path, digest, hashes):
            write_cards(path, keep=True, hashes=hashes)


def _remove_unreadable_croissant(croissant: Path) -> None:
    """Make room for another one; nothing else can have this name and be of use."""
    try:
        croissant_hashes(croissant)
    except SynthprobeError:
        if croissant.is_file():
            croissant.unlink()


def _repair_folder(
    folder: Path, damaged: set[str], workers: int | None, progress: bool
) -> list[str]:
    with held_folder(folder):
        manifest: Manifest | None = None
        refused: SynthprobeError | None = None
        try:
            manifest = read_manifest(folder)
            run = _run_of_manifest(folder, manifest, workers, progress)
            stated = {entry.file: entry.content_digest for entry in manifest.shards}
            made, again = run.make(folder, resume=True, damaged=damaged, expected=stated)
        except SynthprobeError as error:
            # The manifest is missing or damaged; perhaps the shards know better.
            refused = error
        if refused is not None:
            try:
                run, stated = _run_of_shards(folder, workers, progress)
                made, again = run.make(folder, resume=True, damaged=damaged, expected=stated)
            except SynthprobeError as error:
                if manifest is not None:
                    raise refused from error
                raise SynthprobeError(f"{folder} cannot be repaired: {refused} {error}") from error
            _check_card(folder, made)
        _remove_unreadable_croissant(card_paths(folder, folder=True).croissant)
        set_manifest_and_cards_right(folder, made, command=None)
    return [shard.entry.file for shard in again]


def _run_of_manifest(
    folder: Path, manifest: Manifest, workers: int | None, progress: bool
) -> FolderRun:
    """The run that makes what a manifest describes."""
    if manifest.dataset not in DATASETS:
        raise SynthprobeError(
            f"{folder} cannot be repaired: {MANIFEST} names the dataset {manifest.dataset[:40]!r}."
        )
    dataset = DATASETS[manifest.dataset]
    try:
        config = dataset.config.from_dict(manifest.config)
    except (SynthprobeError, TypeError, AttributeError) as error:
        raise SynthprobeError(
            f"{folder} cannot be repaired: the config in {MANIFEST} is wrong: {error}"
        ) from error
    plans = [ShardPlan(e.file, e.split, e.index_start, e.rows) for e in manifest.shards]
    version = manifest.version
    return _run(folder, dataset, version, config, manifest.seed, plans, workers, progress)


def _run_of_shards(
    folder: Path, workers: int | None, progress: bool
) -> tuple[FolderRun, dict[str, str]]:
    """The run that has made the shards of a folder, and the digests that they state."""
    headers: dict[str, Header] = {}
    for path, refusal in validate_files(sorted(folder.glob("*.h5"))):
        if refusal is not None:
            continue
        with suppress(SynthprobeError), ShardReader(path, trusted=True) as reader:
            headers[path.name] = reader.header
    if not headers:
        raise SynthprobeError("No shard in it can be read, so nobody knows what it was.")
    first = next(iter(headers.values()))
    for name, header in headers.items():
        for what in ("version", "config", "seed"):
            if header.dataset is not first.dataset or getattr(header, what) != getattr(first, what):
                raise SynthprobeError(f"Its shards are not of one dataset: {name} differs.")
    order = list(first.dataset.split_sizes(first.config))
    plans = infer_plans(headers, order, first.dataset.together)
    run = _run(
        folder, first.dataset, first.version, first.config, first.seed, plans, workers, progress
    )
    return run, {name: header.content_digest for name, header in headers.items()}


def _run(
    folder: Path,
    dataset: Dataset,
    version: str,
    config: Config,
    seed: int,
    plans: list[ShardPlan],
    workers: int | None,
    progress: bool,
) -> FolderRun:
    sizes: dict[str, int] = {}
    starts: dict[str, int] = {}
    for shard in plans:
        starts.setdefault(shard.split, shard.index_start)
        sizes[shard.split] = sizes.get(shard.split, 0) + shard.rows
    _check_makeable(folder, dataset, version, config, starts, sizes)
    rows = sum(sizes.values())
    default = default_workers(decoded_bytes(columns_of(dataset, config), rows))
    return FolderRun(
        dataset=dataset,
        config=config,
        seed=seed,
        splits=sizes,
        plans=plans,
        workers=min(workers or default, len(plans)),
        progress=progress,
    )


def _check_makeable(
    path: Path,
    dataset: Dataset,
    version: str,
    config: Config,
    starts: Mapping[str, int],
    sizes: Mapping[str, int],
) -> None:
    """Raise `SynthprobeError` if this generator cannot make such samples."""
    if version != dataset.version:
        raise SynthprobeError(
            f"{path} cannot be repaired: it is of version {printable(version[:40])} of "
            f"{dataset.name}, and this generator makes version {dataset.version}."
        )
    if not 0 < sum(sizes.values()) <= MAX_SAMPLES or not all(sizes.values()):
        raise SynthprobeError(f"{path} cannot be repaired: it states no possible sizes.")
    for split, size in sizes.items():
        end = dataset.end(config, split)
        if end is not None and starts[split] + size > end:
            raise SynthprobeError(
                f"{path} cannot be repaired: {printable(split)} has {end} samples with its "
                "settings."
            )


def _check_card(folder: Path, made: Manifest) -> None:
    """Raise `SynthprobeError` if the card is of other samples: a whole split may be missing."""
    card = card_paths(folder, folder=True).card
    if card in our_cards(card_paths(folder, folder=True)):
        if made.content_digest.encode() not in card.read_bytes():
            raise SynthprobeError(
                f"{folder} cannot be repaired: its shards are not all that {card.name} describes; "
                "synthprobe-gen --resume with the settings of the run makes it again."
            )
