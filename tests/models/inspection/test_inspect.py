"""What an inspection says of structures of the registry, at small sizes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.inspection.field_picture import draw_field, draw_sheet  # noqa: E402
from synthprobe_models.inspection.inspect import Inspection, inspect  # noqa: E402
from synthprobe_models.inspection.report import covariance, inspection_text  # noqa: E402
from synthprobe_models.inspection.symmetry import ROUNDING  # noqa: E402
from synthprobe_models.registry import STRUCTURES, structure  # noqa: E402


def look(name: str, *shape: int, probe: str | None = None) -> Inspection:
    return inspect(name, shape=shape or (14, 14), width=16, probe=probe)


@pytest.mark.parametrize(
    ("name", "sees_all", "covariant", "equivariant"),
    [
        ("lambda", True, "yes", True),
        ("lambda-cosine-sum-qv", True, "no", False),
        ("lambda-cosine-decor", True, "but for a fixed pattern", False),
        ("lambda-local-7", True, "yes", False),
        ("transformer", True, "yes", True),
        ("mlp-mixer", True, "no", False),
        ("convnext", False, "yes", False),
    ],
)
def test_what_theory_says_is_found(name, sees_all, covariant, equivariant) -> None:
    sight = look(name).sights[0]
    assert sight.sees_all == sight.can_see_all == sees_all
    assert covariance(sight) == covariant
    assert sight.permutation_equivariant == equivariant


def test_iwsa_sees_its_window_and_a_position_around_it_and_is_not_global() -> None:
    sight = look("iwsa", 28, 28).sights[0]
    # The centre is the first of its window, so that LIM adds the five neighbours outside.
    assert sight.centre.ever == (7 * 7 + 5) / 28**2
    assert not sight.can_see_all
    assert covariance(sight) == "by steps of 7"


def test_the_pattern_of_fourier_and_decor_vanishes_on_a_canvas_of_whole_periods() -> None:
    """Frequencies are multiples of 2 pi / 2C: over 2C positions the background sums up to zero."""
    whole, other = (look("lambda-pe", n, probe="color-code").sights[0] for n in (32, 27))
    assert max(whole.translation.inside, whole.translation.cyclic) < ROUNDING
    assert other.translation.contrast < ROUNDING < 0.01 < other.translation.inside


def test_options_and_default_width_are_those_of_the_probe() -> None:
    found = inspect("lambda-pe", probe="rde", shape=(32, 32))
    assert found.width == 40
    parts = {part.name: part.parameters for part in found.layer}
    assert parts["structure.query"] == 40 * 64 + 64
    assert found.network[-1].parameters == 917_505


@pytest.fixture
def ramp() -> Iterator[str]:
    class Ramp(nn.Module):
        def __init__(self, channels, shape) -> None:
            super().__init__()

        def forward(self, x):
            return 0 * x + torch.arange(x.shape[-1])

    structure("ramp")(Ramp)
    yield "ramp"
    del STRUCTURES["ramp"]


def test_what_does_not_look_at_its_input_still_gives_json(ramp) -> None:
    found = look(ramp)
    assert math.isinf(found.sights[0].translation.inside)
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert facts["sights"][0]["translation_errors"]["inside"] is None
    assert "error inf" in inspection_text(found)


def test_a_sheet_has_a_place_for_each_field() -> None:
    field = look("convnext").sights[0].centre
    one, many = draw_sheet({"one": field}, 3), draw_sheet(dict.fromkeys("abcd", field), 3)
    assert one.width == many.width
    assert many.height - one.height == one.height - 12
    assert draw_field(field, "title").getpixel((20, 60)) == (255, 255, 255)


def test_the_committed_table_has_a_row_for_each_structure_of_the_registry() -> None:
    page = Path(__file__).parents[3] / "results" / "structures.md"
    rows = re.findall(r"\n\| ([a-z0-9-]+) \| (?:yes|no|for some)", page.read_text("utf-8"))
    assert rows == list(STRUCTURES)


def test_a_name_or_a_probe_that_does_not_fit_is_said() -> None:
    with pytest.raises(SynthprobeError, match="did you mean lambda-pe"):
        inspect("lamda-pe")
    with pytest.raises(SynthprobeError, match="iwsa does not fit the probe color-code"):
        inspect("iwsa", probe="color-code")
