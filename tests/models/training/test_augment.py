"""Augmentations: answers stay right, and those that would make them wrong are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from torch.nn import functional as F  # noqa: E402, N812

from synthprobe_data import SynthprobeError, make_sample  # noqa: E402
from synthprobe_models.data.feed import RunStep  # noqa: E402
from synthprobe_models.data.source import open_source  # noqa: E402
from synthprobe_models.layers.parts import (  # noqa: E402
    LayerScale,
    set_stochastic_depth,
)
from synthprobe_models.losses import make_loss  # noqa: E402
from synthprobe_models.networks.unet import UNet  # noqa: E402
from synthprobe_models.training.augment import IGNORED, make_augmentation  # noqa: E402
from synthprobe_models.training.run import train_run  # noqa: E402
from synthprobe_models.training.run_folder import RunFolder  # noqa: E402
from synthprobe_models.training.trainer import Machine  # noqa: E402
from tests.models.small_runs import small_file, small_settings  # noqa: E402

COLORS = {"name": "deeplab-shared", "loss": "two-task", "loss_options": {"weight": 0}}
STEPS = st.builds(RunStep, st.integers(0, 5), st.integers(0, 50))


def squares(seed: int, count: int = 4) -> tuple[torch.Tensor, torch.Tensor]:
    random = np.random.default_rng(seed)
    x = torch.zeros(count, 1, 11, 11)
    for one in x:
        one[0, random.integers(2, 9), random.integers(2, 9)] = 1
    return x, F.conv2d(x, torch.ones(1, 1, 5, 5), padding=2)


@given(st.integers(0, 1000), STEPS)
@settings(max_examples=20)
def test_what_is_blended_or_mirrored_on_centered_square_has_the_blend_of_the_squares(
    seed, at
) -> None:
    chosen = {"name": "lambda", "probe": "centered-square", "down_samplings": None}
    augment = make_augmentation(small_settings(**chosen, augmentation={"mixup": 0.4, "flip": 0.5}))
    x, target = squares(seed)
    mixed, answer, _ = augment(x, target, None, at)
    torch.testing.assert_close(answer, F.conv2d(mixed, torch.ones(1, 1, 5, 5), padding=2))
    assert mixed.sum((1, 2, 3)).tolist() == pytest.approx([1.0] * 4, abs=1e-5)


def test_draws_depend_on_the_step_alone() -> None:
    chosen = {"name": "lambda", "probe": "centered-square", "down_samplings": None}
    augment = make_augmentation(small_settings(**chosen, augmentation={"mixup": 1.0}))
    x, target = squares(1)
    first, again = (augment(x, target, None, RunStep(1, 2))[0] for _ in range(2))
    assert torch.equal(first, again)
    assert not torch.equal(first, augment(x, target, None, RunStep(1, 3))[0])


@given(st.integers(0, 1000), STEPS)
@settings(max_examples=20)
def test_each_pixel_keeps_its_own_class_in_cutmix_and_erased_ones_have_none(seed, at) -> None:
    """Each picture is its classes, so that what belongs together can be seen."""
    torch.manual_seed(seed)
    classes = torch.randint(0, 6, (5, 9, 12))
    x, target = classes[:, None].float(), torch.ones(5, 1, 9, 12)
    for names in ({"cutmix": 1.0}, {"flip": 0.5, "cutmix": 1.0}, {"erasing": 1.0}):
        augment = make_augmentation(small_settings(**COLORS, augmentation=names))
        found, same, kept = augment(x, target, classes, at)
        asked = kept != IGNORED
        assert torch.equal(found[:, 0][asked], kept[asked].float())
        assert torch.equal(same, target)
        assert bool((~asked).any()) == ("erasing" in names)
        assert 0 < (~asked).sum() < asked.sum() if "erasing" in names else asked.all()
    assert torch.equal(x, classes[:, None].float()), "the batch itself is left alone"


def test_mirrored_scenes_have_mirrored_ranks() -> None:
    sample = make_sample("rde", index=3)
    image = torch.from_numpy(sample["image"]).permute(2, 0, 1)[None].float()
    rank = torch.from_numpy(sample["rank"])[None, None].float()
    augment = make_augmentation(small_settings(augmentation={"flip": 1.0}))
    x, target, _ = augment(image, rank, None, RunStep(0, 0))
    assert torch.equal(x, image.flip(3))
    assert torch.equal(target, rank.flip(3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"augmentation": {"mixup": 0.2}}, "mixup is for centered-square with the loss mse"),
        (
            {"augmentation": {"cutmix": 1.0}},
            "cutmix is for rde with the loss two-task and weight=0",
        ),
        ({"augmentation": {"erasing": 0.2}, **COLORS, "loss_options": {}}, "erasing is for rde"),
        ({"augmentation": {"rotate": 1}}, "no augmentation 'rotate': take of flip, mixup, cutm"),
        ({"augmentation": {"flip": 1.5}}, "flip is 1.5: it must be above 0, up to 1"),
        ({"augmentation": {"flip": "yes"}}, "flip is 'yes'"),
    ],
)
def test_what_would_make_answers_wrong_is_refused(options, message) -> None:
    with pytest.raises(SynthprobeError, match=message):
        make_augmentation(small_settings(**options))
    assert make_augmentation(small_settings()) is None


def test_smoothed_labels_are_those_of_szegedy() -> None:
    scores = torch.randn(2, 4, 3, 3, dtype=torch.double)
    depth = torch.ones(2, 1, 3, 3, dtype=torch.double)
    classes = torch.randint(0, 4, (2, 3, 3))
    loss = make_loss("two-task", {"weight": 0, "label_smoothing": 0.2})
    right = F.one_hot(classes, 4).double().permute(0, 3, 1, 2) * 0.8 + 0.2 / 4
    expected = -(right * scores.log_softmax(1)).sum(1).mean()
    found = loss(torch.cat([scores, depth], 1), depth, classes=classes)
    assert found.item() == pytest.approx(expected.item(), rel=1e-12)
    ranks = torch.tensor([[[[1 / 3, 2 / 3], [1.0, 1.0]]]], dtype=torch.double)
    given = torch.randn(1, 1, 2, 2, dtype=torch.double)
    share = (given - 5 / 6).sigmoid().flatten()
    front = torch.tensor([0.0, 0.1, 0.9, 0.9], dtype=torch.double)
    entropy = -(front * share.log() + (1 - front) * (1 - share).log())[1:].mean()
    smooth = make_loss("rank-cross-entropy", {"label_smoothing": 0.2})
    assert smooth(given, ranks).item() == pytest.approx(entropy.item(), rel=1e-9)


def test_branches_are_skipped_by_sample_more_often_the_later_and_not_in_evaluation() -> None:
    network = UNet(shape=(8, 8), width=3, down_samplings=1)
    set_stochastic_depth(network, 0.6)
    drops = [module.drop for module in network.modules() if isinstance(module, LayerScale)]
    assert max(drops) == pytest.approx(0.6)
    assert len(set(drops)) > 4
    scale = LayerScale(2)
    scale.drop = 0.25
    x = torch.ones(8000, 2, 1)
    found = scale(x)
    kept = found[:, 0, 0] != 0
    assert kept.float().mean().item() == pytest.approx(0.75, abs=0.03)
    torch.testing.assert_close(found[kept], torch.full_like(found[kept], 0.1 / 0.75))
    assert torch.equal(found[:, 0], found[:, 1]), "a sample is skipped as a whole"
    torch.testing.assert_close(scale.eval()(x), torch.full_like(x, 0.1))


def test_no_branch_without_a_skip_is_dropped() -> None:
    network = UNet(shape=(8, 8), width=3, down_samplings=1)
    set_stochastic_depth(network, 0.6)
    (without,) = [scale.local[0] for scale in network.decoder]
    assert not without.skip
    assert without.scale.drop == 0


def test_a_run_with_all_of_it_goes_to_the_end_and_says_so_in_its_settings(tmp_path) -> None:
    source = open_source(small_file(tmp_path / "rde.h5"))
    quiet = Machine(progress=False)
    chosen = {
        **COLORS,
        "width": 2,
        "augmentation": {"flip": 0.5, "cutmix": 1.0, "erasing": 0.5},
        "loss_options": {"weight": 0, "label_smoothing": 0.1},
    }
    colors = small_settings(**chosen)
    result = train_run(colors, source, tmp_path / "a", machine=quiet, picture_every=0)
    assert result["settings"]["augmentation"] == chosen["augmentation"]
    losses = []
    for depth in (0.0, 0.5):
        ranks = small_settings(stochastic_depth=depth, augmentation={"flip": 0.5})
        out = tmp_path / str(depth)
        train_run(ranks, source, out, machine=quiet, picture_every=0)
        losses.append([row["loss"] for row in RunFolder(out).read_log()])
    assert losses[0] != losses[1]
