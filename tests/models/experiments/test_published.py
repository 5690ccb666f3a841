"""The published tables, and the counts that our networks must have."""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import synthprobe_models  # noqa: E402
from synthprobe_models.experiments.listing import list_entry, list_text  # noqa: E402
from synthprobe_models.experiments.table import find_rows  # noqa: E402
from synthprobe_models.experiments.table_1 import non_local_parameters  # noqa: E402
from synthprobe_models.experiments.table_2 import window_share  # noqa: E402
from synthprobe_models.networks.counting import build_bare, count_parameters  # noqa: E402
from synthprobe_models.networks.unet import UNet  # noqa: E402
from synthprobe_models.probes import PROBES  # noqa: E402
from synthprobe_models.registry import NETWORKS, STRUCTURES  # noqa: E402

DOCS = Path(synthprobe_models.__file__).with_name("STRUCTURES.md").read_text(encoding="utf-8")
ROWS = find_rows()
FIRST = {row.title: row for row in find_rows(table=1)}


def test_every_row_names_a_structure_or_a_network() -> None:
    assert {row.name for row in ROWS} <= STRUCTURES.keys() | NETWORKS.keys()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.table}-{row.title}")
def test_our_network_of_the_published_width_has_this_many_parameters(row) -> None:
    with torch.device("meta"):
        network = PROBES[row.probe].make(row.name, width=row.width)
    assert count_parameters(network) == row.trainable


def test_our_counts_are_the_published_ones_but_for_the_non_local_u_net() -> None:
    for row in ROWS:
        if row.table != 1 or row.name == "unet":
            assert row.parameters - row.trainable == (1 if row.table == 2 else 0)


def test_the_tables_are_complete_and_their_probes_know_their_widths() -> None:
    assert [len(find_rows(table=table)) for table in (1, 2, 3)] == [8, 7, 7]
    assert [{row.probe for row in find_rows(table=table)} for table in (1, 2, 3)] == [
        {"rde"},
        {"centered-square"},
        {"color-code"},
    ]
    for row in ROWS:
        if row.table != 1 or row.name == "unet":
            assert row.width == PROBES[row.probe].width
        assert row.bound is None or max(row.published.values()) <= row.bound + 0.005


@pytest.mark.parametrize(
    "title",
    ["Global Context", "Global Average Pooling", "Lambda", "Lambda + PE", "Lambda + PE + TT"],
)
def test_published_counts_of_the_non_local_u_net_follow_one_formula(title: str) -> None:
    row = FIRST[title]
    layer = STRUCTURES[row.name].make(row.width, (8, 8), "rde")
    assert non_local_parameters(row.width, count_parameters(layer)) == row.parameters


@pytest.mark.parametrize("width", [4, 12])
def test_our_non_local_u_net_has_the_parameters_that_the_docs_say(width: int) -> None:
    network = UNet(lambda channels, shape: nn.Identity(), shape=(32, 32), width=width)
    assert count_parameters(network) == 464 * width**2 + 1786 * width + 1


@pytest.mark.parametrize("row", FIRST.values(), ids=FIRST)
def test_docs_have_our_counts_at_the_published_and_at_the_default_width(row) -> None:
    if row.name == "unet":
        assert f"as published, {row.parameters:,}" in DOCS
        return
    with torch.device("meta"):
        network = PROBES["rde"].make(row.name, shape=(32, 32))
    published = f"{row.width}, {row.parameters:,} | {row.trainable:,}"
    default = f"{network.head.weight.shape[1]}, {count_parameters(network):,}"
    assert f"| {row.title} | `{row.name}` | {published} | {default} |" in DOCS


@pytest.mark.parametrize(
    ("name", "title", "options", "published"),
    [
        ("deeplab-shared", "`deeplab-shared`", {"classes": 19}, 16_608_132),
        ("deeplab-branched", "`deeplab-branched`", {"classes": 19}, 22_034_612),
        ("adaptive-depth", "`adaptive-depth`, without classes", {}, 16_715_137),
    ],
)
def test_docs_have_the_counts_of_the_report(name, title, options, published) -> None:
    assert count_parameters(build_bare(partial(PROBES["rde"].make, name, **options))) == published
    assert f"| {title} | {published:,} | {PROBES['rde'].count(name):,} |" in DOCS


WITH_COUNTS = [network for network in NETWORKS.values() if network.published]


@pytest.mark.parametrize("network", WITH_COUNTS, ids=lambda network: network.name)
def test_the_list_has_the_published_counts_of_whole_networks_and_ours_are_the_same(network) -> None:
    entry = list_entry(network)
    rows = [row for row in entry["published"] if "of" in row]
    assert [row["parameters"] for row in rows] == [one.parameters for one in network.published]
    assert all(row["ours"] == row["parameters"] for row in rows)
    line = list_text([entry]).splitlines()[1]
    assert all(f"{one.parameters:,} ({one.of})" in line for one in network.published)


def test_docs_have_the_counts_of_the_encoders() -> None:
    encoders = [network for network in WITH_COUNTS if network.published[0].part == "encoder"]
    assert len(encoders) == 7
    for network in encoders:
        (line,) = (row for row in DOCS.splitlines() if row.startswith(f"| `{network.name}`"))
        whole, classifier, ours = (
            int(n.replace(",", "")) for n in line.strip(" |").split(" | ")[1:4]
        )
        assert whole - classifier == ours == network.published[0].parameters


def test_the_default_width_on_rde_is_the_nearest_that_the_heads_divide() -> None:
    probe = PROBES["rde"]
    with torch.device("meta"):
        counts = [
            count_parameters(probe.make("lambda-pe", shape=(32, 32), width=width))
            for width in (36, 40, 44, None)
        ]
    assert counts[-1] == min(counts, key=lambda n: abs(n - 871_729))


def test_window_share_is_the_iou_of_a_window_that_is_drawn() -> None:
    def square(width: int) -> set[tuple[int, int]]:
        return set(itertools.product(range(-(width // 2), width // 2 + 1), repeat=2))

    for window in (1, 3, 7, 19, 21):
        iou = len(square(window) & square(21)) / len(square(window) | square(21))
        assert window_share(window) == pytest.approx(100 * iou)


def test_no_accuracy_can_be_expected_above_the_ceiling_of_the_published_data() -> None:
    assert {round(row.bound, 3) for row in find_rows(table=3)} == {99.877}
