"""Several scores side by side, and whether they differ by more than chance."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from synthprobe_data import SynthprobeError
from synthprobe_models.scoring.document import Document
from synthprobe_models.scoring.measure import over_units
from synthprobe_models.scoring.page import table_rows

RESAMPLES: Final = 9_999
"""As many signs are drawn, unless all of them are fewer."""
_SEED: Final = 0
_AT_ONCE: Final = 2**22


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Two scores on the same samples, by one metric."""

    first: str
    second: str
    metric: str
    samples: int
    """On which the metric has a say in both."""
    difference: float
    """The mean of the first less that of the second, over these."""
    p: float
    """How often signs by chance give a difference as large, either way."""
    exact: bool
    """Whether all signs were tried."""

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return dict(vars(self))


def paired_permutation(differences: NDArray[np.float64]) -> tuple[float, bool]:
    """The p-value of paired differences by a permutation test, and whether it is exact.

    If what was scored did not matter, each difference could as well have the other sign. All
    signs are tried where there are at most `RESAMPLES` ways, and as many are drawn where there are
    more, always the same ones.

    Parameters
    ----------
    differences
        One for each sample, or for those that belong together.
    """
    count = len(differences)
    if count == 0 or not np.any(differences):
        return 1.0, True
    found = stats.permutation_test(
        (differences,),
        lambda values, axis: np.mean(values, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=max(1, _AT_ONCE // count),
        rng=np.random.default_rng(_SEED),
    )
    return float(found.pvalue), 2**count <= RESAMPLES


def compare_scores(scores: Sequence[Mapping[str, Any]]) -> list[Difference]:
    """Each two of some scores, as their JSON has them, by each metric that both have."""
    if len(scores) < 2:
        raise SynthprobeError("--compare takes at least two scores.")
    first = scores[0]
    for other in scores[1:]:
        for what, one, two in (
            ("samples", _samples(first), _samples(other)),
            ("alignments", first["align"], other["align"]),
        ):
            if one != two:
                raise SynthprobeError(
                    f"{first['name']} and {other['name']} have other {what}: only scores of the "
                    f"same samples and the same alignment are compared."
                )
    found = []
    for one, two in itertools.combinations(scores, 2):
        for metric in one["values"]:
            if metric not in two["values"]:
                continue
            pairs = zip(one["values"][metric], two["values"][metric], strict=True)
            apart = [None if a is None or b is None else a - b for a, b in pairs]
            weights = one.get("weights", {}).get(metric)
            total, weight = over_units(apart, weights, one.get("together", 1))
            differences = total / weight.mean() if len(total) else total
            p, exact = paired_permutation(differences)
            found.append(
                Difference(
                    first=one["name"],
                    second=two["name"],
                    metric=metric,
                    samples=sum(value is not None for value in apart),
                    difference=float(differences.mean()) if len(differences) else 0.0,
                    p=p,
                    exact=exact,
                )
            )
    return found


def _samples(facts: Mapping[str, Any]) -> tuple[Any, ...]:
    data = facts["data"]
    return data["content_digest"], data.get("split"), facts["samples"]


def comparison_rows(
    scores: Sequence[Mapping[str, Any]], differences: Sequence[Difference]
) -> list[list[str]]:
    """A table of the differences, and its head."""
    titles = {name: of["title"] for facts in scores for name, of in facts["metrics"].items()}
    rows = [["first", "second", "metric", "first less second", "p", "samples"]]
    for one in differences:
        p = f"{one.p:.4f}{'' if one.exact else ' (drawn)'}"
        cells = [titles[one.metric], f"{one.difference:+.4f}", p, f"{one.samples:,}"]
        rows.append([one.first, one.second, *cells])
    return rows


def comparison_page(
    scores: Sequence[Mapping[str, Any]], differences: Sequence[Difference]
) -> Document:
    """The page of a comparison."""
    names = " and ".join(str(facts["name"]) for facts in scores)
    page = Document(f"{names} on {scores[0]['on']}")
    page.table(table_rows(scores))
    page.heading("Differences")
    page.table(comparison_rows(scores, differences))
    unit = "sample's" if scores[0].get("together", 1) == 1 else "pair of samples'"
    page.text(
        f"p is that of a permutation test on paired differences, two-sided: how often a difference "
        f"as large comes about if the sign of each {unit} difference is left to chance. All "
        f"signs are tried, or {RESAMPLES:,} drawn. Nothing is corrected for many comparisons."
    )
    for facts in scores:
        page.list([f"{facts['name']}: {note}" for note in facts["notes"]])
    return page
