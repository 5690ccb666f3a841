"""What the command ``score`` does."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch

from synthprobe_data import SynthprobeError, check_target, is_suite
from synthprobe_models.cli.train_actions import check_device
from synthprobe_models.experiments.render import grid
from synthprobe_models.files import make_folder, plain_json, write_text
from synthprobe_models.scoring.board import (
    PAGE,
    group_of,
    read_board,
    record_of,
    render_board,
    submit,
)
from synthprobe_models.scoring.compare import compare_scores, comparison_page
from synthprobe_models.scoring.page import check_folder, default_folder, write_score
from synthprobe_models.scoring.report import read_score, score_facts, score_lines
from synthprobe_models.scoring.samples import open_scored
from synthprobe_models.scoring.score import score
from synthprobe_models.scoring.suite import score_suite, suite_facts, suite_lines, suite_table
from synthprobe_models.scoring.template import write_template


def act(given: argparse.Namespace) -> int:
    """Score something, or write the empty file of predictions."""
    if given.compare is not None:
        return _compare(given)
    if given.board is not None:
        return _board(given)
    if given.on is None:
        raise SynthprobeError("score needs --on, a file or a folder of shards.")
    if given.template is not None:
        if given.what is not None:
            raise SynthprobeError("--template writes a file, and scores nothing.")
        return _template(given)
    if given.what is None:
        raise SynthprobeError("name what to score: a file, a function or a network.")
    return _score(given)


def _template(given: argparse.Namespace) -> int:
    scored = open_scored(given.on, given.split)
    shape = write_template(
        given.template,
        scored.samples,
        split=given.split,
        digest=scored.digest,
        force=given.force,
    )
    print(f"{given.template}: fill its array of {' x '.join(map(str, shape))} float32")
    return 0


def _score(given: argparse.Namespace) -> int:
    if given.threads is not None:
        if not 1 <= given.threads <= 1024:
            raise SynthprobeError(f"threads is {given.threads}: it must be from 1 to 1024.")
        torch.set_num_threads(given.threads)
    if given.out is not None:
        check_folder(given.out, force=given.force)
    if given.submit is not None and not (given.who and given.licence):
        raise SynthprobeError("--submit needs --who and --licence.")
    if given.submit is not None and not given.submit.is_dir():
        raise SynthprobeError(f"there is no folder {given.submit}: make it, or name another board.")
    options = {
        "on": given.on,
        "align": given.align,
        "robust": given.robust,
        "name": given.name,
        "limit": given.samples,
        "batch": given.batch,
        "device": check_device(given.device),
        "units": given.units,
        "normalise": given.normalise,
        "multiple": given.multiple,
        "farther": given.farther,
    }
    if is_suite(given.on):
        return _score_on_suite(given, options)
    found = score(given.what, split=given.split, worst=given.worst, **options)
    out = given.out or default_folder(found.name, given.on, force=given.force)
    check_folder(out, force=given.force)
    paths = write_score(found, out, given.command_line)
    submitted = None
    if given.submit is not None:
        record = record_of(
            score_facts(found, given.command_line),
            who=given.who,
            licence=given.licence,
            link=given.link,
        )
        submitted = submit(record, given.submit)
    if given.json:
        print(plain_json(score_facts(found, given.command_line), indent=2))
        return 0
    print("\n".join([*score_lines(found), str(paths.html)]))
    if submitted is not None:
        print(submitted)
    return 0


def _score_on_suite(given: argparse.Namespace, options: dict[str, Any]) -> int:
    """Score something on each member of a suite, and print one table."""
    if given.submit is not None:
        raise SynthprobeError("--submit takes the score on one file: name one of the suite.")
    targets = [] if given.out is None else [given.out / "suite.json", given.out / "suite.md"]
    for target in targets:
        make_folder(given.out)
        check_target(target, force=given.force)
    rows = score_suite(given.what, worst=0, **options)
    facts = suite_facts(rows, given.command_line)
    name = given.name or facts[0]["name"]
    lines = suite_lines(name, rows)
    if targets:
        write_text(targets[0], plain_json(facts, indent=1) + "\n")
        table = [f"# {name} on a suite", "", *grid(suite_table(rows))]
        write_text(targets[1], "\n".join(table) + "\n")
    print(plain_json(facts, indent=2) if given.json else "\n".join(lines))
    return 0


def _board(given: argparse.Namespace) -> int:
    if not given.board.is_dir():
        raise SynthprobeError(f"there is no folder {given.board}.")
    records = read_board(given.board)
    write_text(given.board / PAGE, render_board(records))
    if given.json:
        print(plain_json(records, indent=2))
        return 0
    count = len({group_of(record) for record in records})
    print(f"{given.board / PAGE}: {len(records)} records in {count} comparability groups")
    return 0


def _compare(given: argparse.Namespace) -> int:
    if given.what is not None or given.on is not None:
        raise SynthprobeError("--compare takes scores that there are, and scores nothing.")
    scores = [read_score(path) for path in given.compare]
    differences = compare_scores(scores)
    page = comparison_page(scores, differences)
    if given.out is not None:
        targets = [given.out / name for name in ("compare.md", "compare.html", "compare.json")]
        make_folder(given.out)
        for target in targets:
            check_target(target, force=given.force)
        page.write(*targets[:2])
        facts = [difference.to_dict() for difference in differences]
        write_text(targets[2], plain_json(facts, indent=1) + "\n")
    if given.json:
        print(plain_json([difference.to_dict() for difference in differences], indent=2))
        return 0
    print(page.to_markdown(Path()))
    return 0
