"""Are the answers of profiles right? Train structures whose abilities are known by construction.

Every structure of `synthprobe_models.experiments.known` is trained as `synthprobe-probe profile`
trains it, in several repetitions with other seeds, and each answer is held to the true one.
`results/calibration/calibration.md` counts them; the records of all runs stand beside it, and what
is complete is kept, so that the same command goes on. ``--pages`` only writes the page again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import torch

from synthprobe_models.experiments.known import KNOWN, Known, Truth, register_known
from synthprobe_models.experiments.profile.profiler import Profiler
from synthprobe_models.experiments.render import grid, origins
from synthprobe_models.files import make_folder, plain_json, write_text
from synthprobe_models.probes import ability_of
from synthprobe_models.probes.ability import ANSWERS, NO, NOT_LEARNT, NOT_TRIED, TOO_FEW, YES
from synthprobe_models.training.trainer import Machine

WRONG_YES: Final = "wrong yes"
WRONG_NO: Final = "wrong no"
_ANSWERED: Final = "answers.json"

PAGE: Final = """\
# Answers of profiles beside the truth

Structures whose abilities are known by construction, trained as a profile with the preset
`{size}` trains them: {runs} runs. A repetition is one answer, of {seeds} seeds that no other
repetition has. A *wrong yes* is a *yes* where the truth is *no* or *in part*, a *wrong no* a *no*
where the truth is *yes* or *in part*. *In part*, *not learnt* and *too few seeds* are never counted
as wrong: they claim nothing.

**{wrong_yes} wrong yes and {wrong_no} wrong no in {answers} answers**; {not_learnt} times *not
learnt*, {too_few} times *too few seeds*. The repetitions of each line are counted in it.

{table}

Why the truths are true:

{reasons}

{origins}
"""


def judged(truth: Truth, answer: str) -> str | None:
    """Which kind of wrong an answer is; ``None`` if it is not.

    Parameters
    ----------
    truth
        By construction.
    answer
        Of a profile.
    """
    if answer == YES and truth.answer != YES:
        return WRONG_YES
    if answer == NO and truth.answer != NO:
        return WRONG_NO
    return None


@dataclass(kw_only=True)
class Calibration:
    """The answers so far, by structure and probe, in the order of repetitions."""

    out: Path
    size: str
    answers: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    results: list[Mapping[str, Any]] = field(default_factory=list)

    def add(self, name: str, probe: str, answer: str) -> None:
        """Take in the answer of a repetition."""
        self.answers.setdefault(name, {}).setdefault(probe, []).append(answer)

    def write(self) -> Path:
        """Write the answers and the page."""
        make_folder(self.out)
        content = {"preset": self.size, "answers": self.answers}
        write_text(self.out / _ANSWERED, plain_json(content, indent=1) + "\n")
        page = self.out / "calibration.md"
        write_text(page, self._page())
        return page

    def _page(self) -> str:
        head = ["structure", "probe", "truth", "repetitions"]
        rows = [[*head, *ANSWERS, WRONG_YES, WRONG_NO]]
        wrong: Counter[str | None] = Counter()
        given: Counter[str] = Counter()
        reasons = []
        for one, probe, truth in pairs(KNOWN, list(PROBES_ASKED)):
            answers = self.answers.get(one.name, {}).get(probe, [])
            if not answers:
                continue
            counts, errors = Counter(answers), Counter(judged(truth, a) for a in answers)
            wrong += errors
            given += counts
            rows.append(
                [
                    one.name,
                    probe,
                    truth.answer,
                    str(len(answers)),
                    *(str(counts[answer]) for answer in ANSWERS),
                    str(errors[WRONG_YES]),
                    str(errors[WRONG_NO]),
                ]
            )
            reasons.append(f"- {one.title}, {probe}: *{truth.answer}*, as {truth.why}.")
        return PAGE.format(
            size=self.size,
            runs=len(self.results),
            seeds=max(ability_of(probe).seeds for probe in PROBES_ASKED),
            wrong_yes=wrong[WRONG_YES],
            wrong_no=wrong[WRONG_NO],
            answers=sum(given.values()),
            not_learnt=given[NOT_LEARNT],
            too_few=given[TOO_FEW],
            table="\n".join(grid(rows)),
            reasons="\n".join(reasons),
            origins="\n".join(origins(self.results)),
        )


PROBES_ASKED: Final = tuple(dict.fromkeys(probe for one in KNOWN for probe in one.truths))


def pairs(known: Iterable[Known], probes: Sequence[str]) -> list[tuple[Known, str, Truth]]:
    """Every structure with every probe of which the truth is known."""
    return [
        (one, probe, one.truths[probe]) for one in known for probe in probes if probe in one.truths
    ]


def calibrate(
    profiler: Profiler, known: Sequence[Known], repetitions: int, seeds: int | None = None
) -> Calibration:
    """Train what is not complete, and write the page after each repetition.

    Parameters
    ----------
    profiler
        Of the folder.
    known
        Which structures.
    repetitions
        How many answers of each.
    seeds
        Of an answer; as many as a profile takes by default.
    """
    found = Calibration(out=profiler.out, size=profiler.size)
    profiler.expect([])
    for repetition in range(repetitions):
        for one, probe, truth in pairs(known, profiler.probes):
            count = ability_of(probe).seeds if seeds is None else seeds
            first = repetition * count
            cell = profiler.answer(one.name, probe, range(first, first + count))
            if cell.outcome.answer == NOT_TRIED:
                raise SystemExit(f"{one.name} on {probe}: {cell.outcome.because}.")
            found.add(one.name, probe, cell.outcome.answer)
            found.results += cell.results
            mistake = judged(truth, cell.outcome.answer)
            print(
                f"{repetition + 1}: {one.name}, {probe}: {cell.outcome.answer} "
                f"({cell.outcome.because}){f': {mistake}' if mistake else ''}",
                flush=True,
            )
            found.write()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/calibration"), metavar="FOLDER")
    parser.add_argument("--preset", default="quick", help="as for profile (quick)")
    parser.add_argument("--repetitions", type=int, default=20, metavar="N")
    parser.add_argument("--seeds", type=int, metavar="N", help="of an answer (as for profile)")
    parser.add_argument("--names", nargs="+", metavar="NAME", help="only these structures")
    parser.add_argument("--probes", nargs="+", default=PROBES_ASKED, choices=PROBES_ASKED)
    parser.add_argument("--epochs", type=int, metavar="N", help="instead of the preset's")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="runs at a time (1)")
    parser.add_argument("--pages", action="store_true", help="only write the page again")
    given = parser.parse_args()
    torch.set_num_threads(given.jobs)  # one for each run
    register_known()
    profiler = Profiler(
        out=given.out,
        size=given.preset,
        probes=given.probes,
        epochs=given.epochs,
        jobs=given.jobs,
        machine=Machine(progress=False),
        command=" ".join(["python tools/calibrate.py", *sys.argv[1:]]),
        recorded=given.pages,
    )
    if given.pages:
        print(page_again(profiler))
        return
    known = [one for one in KNOWN if given.names is None or one.name in given.names]
    calibrate(profiler, known, given.repetitions, given.seeds)
    print(given.out / "calibration.md")


def page_again(profiler: Profiler) -> Path:
    """The page from what is in the folder."""
    content = json.loads((profiler.out / _ANSWERED).read_text(encoding="utf-8"))
    found = Calibration(out=profiler.out, size=content["preset"], answers=dict(content["answers"]))
    for one, probe, _ in pairs(KNOWN, profiler.probes):
        found.results += profiler.records(one.name, probe)
    return found.write()


if __name__ == "__main__":
    main()
