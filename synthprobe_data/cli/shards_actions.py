"""What the commands of ``synthprobe-shards`` do."""

from __future__ import annotations

import argparse
import json
from typing import Final

from synthprobe_data.atomic.files import check_target
from synthprobe_data.cards.write import write_cards
from synthprobe_data.convert import merge_split as edit
from synthprobe_data.convert import select as selecting
from synthprobe_data.convert.export import export_png, export_webdataset
from synthprobe_data.convert.parquet import export_parquet
from synthprobe_data.errors import SynthprobeError
from synthprobe_data.generation.repair import repair
from synthprobe_data.generation.split_files import check_targets, split_path
from synthprobe_data.inspect.info import describe, suite_summary, summary
from synthprobe_data.ready import ready_path
from synthprobe_data.shards.card_paths import card_paths
from synthprobe_data.shards.collection import open_dataset
from synthprobe_data.shards.manifest import read_manifest
from synthprobe_data.shards.suite import is_suite, read_suite
from synthprobe_data.text import counted, printable
from synthprobe_data.verification import verify as verifier
from synthprobe_data.verification.report import Report
from synthprobe_data.verification.suite import verify_suite
from synthprobe_data.voice import note

EXIT_FAILED: Final = 1
_FAILURES_SHOWN: Final = 20


def info(given: argparse.Namespace) -> int:
    """Say what a dataset is."""
    if given.path.is_dir() and is_suite(given.path):
        suite = read_suite(given.path)
        print(suite.to_json() if given.json else suite_summary(given.path, suite))
        return 0
    facts = describe(given.path)
    print(json.dumps(facts, indent=1) if given.json else summary(facts))
    return 0


def verify(given: argparse.Namespace) -> int:
    """Check a dataset, set it right if that is asked for, and say what was found."""
    if given.repair and given.samples is not None:
        raise SynthprobeError("--repair looks at every sample: leave --samples out.")
    if given.path.is_dir() and is_suite(given.path):
        return _verify_suite(given)
    report = _verified(given)
    if report.ok or not given.repair:
        return _say_report(given, report)
    if not given.json:
        _say_failures(report)
    again = repair(report, workers=given.workers, progress=True)
    report = _verified(given)
    if not given.json:
        made = ", ".join(again) or "no sample, only what describes them"
        print(f"made again: {made}")
    return _say_report(given, report, again)


def _verify_suite(given: argparse.Namespace) -> int:
    """Check each file of a suite, and that it is the one that the manifest describes."""
    if given.repair:
        raise SynthprobeError(
            "--repair is for one dataset: synthprobe-gen --suite FOLDER --resume, with the options "
            "that made the suite, makes again what is damaged or missing."
        )
    reports = verify_suite(
        given.path,
        sample=given.samples,
        workers=given.workers,
        progress=True,
        pixels=given.pixels,
    )
    if given.json:
        print(json.dumps([report.to_dict() for report in reports], indent=1))
    else:
        for report in reports:
            _say_report(given, report)
    return 0 if all(report.ok for report in reports) else EXIT_FAILED


def _verified(given: argparse.Namespace) -> Report:
    return verifier.verify(
        given.path,
        sample=given.samples,
        workers=given.workers,
        progress=True,
        pixels=given.pixels,
    )


def _say_failures(report: Report) -> None:
    for failure in report.failures[:_FAILURES_SHOWN]:
        print(failure)
    total = sum(report.failed.values())
    if total > _FAILURES_SHOWN:
        print(f"... and {total - _FAILURES_SHOWN} more.")


def _say_report(given: argparse.Namespace, report: Report, again: list[str] | None = None) -> int:
    if given.json:
        repaired = {} if again is None else {"made_again": again}
        print(json.dumps({**report.to_dict(), **repaired}, indent=1))
        return 0 if report.ok else EXIT_FAILED
    _say_failures(report)
    for name, times in report.done.items():
        bad = report.failed.get(name, 0)
        print(f"{name:>16}  {times} checked, {f'{bad} FAILED' if bad else 'all well'}")
    if report.readings:
        kinds = ", ".join(f"{n} {kind}" for kind, n in report.readings.items() if kind != "read")
        print(f"{'readings':>16}  {report.readings['read']} off the pixels: {kinds}")
    for remark in report.notes[:_FAILURES_SHOWN]:
        print(printable(remark))
    if len(report.notes) > _FAILURES_SHOWN:
        print(f"... and {len(report.notes) - _FAILURES_SHOWN} more files.")
    print(
        f"{report.path}: {_verdict(report)}, {report.seconds:.1f} s with "
        f"{counted(report.workers, 'worker')}"
    )
    return 0 if report.ok else EXIT_FAILED


def _verdict(report: Report) -> str:
    """Whether all is well, and how many samples were checked."""
    checked = counted(report.rows_checked, "sample")
    if sampled := report.rows_checked < report.rows:
        checked = f"{report.rows_checked} of {counted(report.rows, 'sample')}"
    if report.ok:
        return f"{'nothing wrong was found' if sampled else 'is as it should be'}; {checked}"
    if not report.failed_rows:
        return f"FAILED: {counted(sum(report.failed.values()), 'check')}, none of them of a sample"
    of = f"FAILED: {report.failed_rows:,} of {report.rows_checked:,} samples"
    return f"{of}; {checked}" if sampled else of


def card(given: argparse.Namespace) -> int:
    """Write the cards of a dataset again, with what making all of its samples again tells."""
    for target in card_paths(given.path, folder=given.path.is_dir()).all():
        check_target(target, force=given.force)
    report = verifier.verify(given.path, progress=True)
    for path in write_cards(given.path, force=given.force, regenerated=report.regenerated):
        print(path)
    if not report.regenerated:
        note(
            f"{given.path}: not all of its samples could be made again as they are, so its card "
            "words them as what is stated; synthprobe-shards verify tells which and why."
        )
    return 0


def preview(given: argparse.Namespace) -> int:
    """Draw some samples."""
    from synthprobe_data.inspect.contact_sheet import (  # here, as few need to draw
        sheet_name,
        write_sheet,
    )

    out = given.out or sheet_name(given.path, given.split, given.start)
    drawn = write_sheet(
        given.path,
        out,
        samples=given.samples,
        split=given.split,
        start=given.start,
        force=given.force,
    )
    print(f"{out}: {counted(drawn, 'sample')}")
    return 0


def explain(given: argparse.Namespace) -> int:
    """Draw one sample, with what tells its answer."""
    from synthprobe_data.inspect.explain import explain_to_file  # here, as for `preview`

    out = explain_to_file(
        given.path, given.index, split=given.split, out=given.out, force=given.force
    )
    print(out)
    return 0


def browse(given: argparse.Namespace) -> int:
    """Write a page to look through the samples."""
    from synthprobe_data.inspect.browse.page import page_name, write_page  # here, as for `preview`

    out = given.out or page_name(given.path, given.split)
    shown = write_page(
        given.path,
        out,
        split=given.split,
        samples=given.samples,
        force=given.force,
        progress=True,
    )
    print(f"{out}: {counted(shown, 'sample')}, {out.stat().st_size / 1e6:.1f} MB")
    return 0


def merge(given: argparse.Namespace) -> int:
    """Put parts together into one file, with its cards."""
    for target in card_paths(given.out, folder=False).all():
        check_target(target, force=given.force)
    digest = edit.merge(given.path, given.out, force=given.force, progress=True)
    write_cards(given.out, force=given.force)
    print(f"{given.out}: content digest {digest}")
    return 0


def select(given: argparse.Namespace) -> int:
    """Take samples out into a file of their own, with its cards."""
    for target in card_paths(given.out, folder=False).all():
        check_target(target, force=given.force)
    digest = selecting.select(
        given.path,
        given.out,
        where=given.where,
        rows=given.rows,
        split=given.split,
        force=given.force,
        progress=True,
    )
    write_cards(given.out, force=given.force)
    with open_dataset(given.out) as data:
        print(f"{given.out}: {counted(len(data), 'sample')}; content digest {digest}")
    return 0


def split(given: argparse.Namespace) -> int:
    """Take a dataset apart into a folder, or into a file for each split, with its cards."""
    if given.split_files:
        return _split_files(given)
    digest = edit.split(given.path, given.out, given.shards, force=given.force, progress=True)
    # They were hashed as they were written.
    write_cards(given.out, force=given.force, hashes=read_manifest(given.out).hashes)
    print(f"{given.out}: {counted(given.shards, 'shard')}; content digest {digest}")
    return 0


def _split_files(given: argparse.Namespace) -> int:
    with open_dataset(given.path) as data:
        sizes = {name: size for name, size in data.splits.items() if size}
    check_targets(given.out, sizes, force=given.force)
    for name, size in sizes.items():
        out = split_path(given.out, name)
        digest = edit.take_split(given.path, out, name, force=given.force, progress=True)
        write_cards(out, force=given.force)
        print(f"{out}: {counted(size, 'sample')}; content digest {digest}")
    return 0


def export(given: argparse.Namespace) -> int:
    """Write a dataset as other programs like it."""
    if given.format == "png":
        rows = export_png(given.path, given.out, split=given.split, progress=True)
    else:
        write = export_parquet if given.format == "parquet" else export_webdataset
        rows = write(
            given.path, given.out, given.samples_per_shard, split=given.split, progress=True
        )
    print(f"{given.out}: {counted(rows, 'sample')}")
    return 0


def ready(given: argparse.Namespace) -> int:
    """Print the path of a small file that comes with the package."""
    print(ready_path(given.dataset))
    return 0
