"""The encoders of the course notes, against torchvision's and published counts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from synthprobe_data import SynthprobeError  # noqa: E402
from synthprobe_models.networks.anynet import AnyNet, count_anynet  # noqa: E402
from synthprobe_models.networks.counting import build_bare, count_parameters  # noqa: E402
from synthprobe_models.networks.dense import add_up  # noqa: E402
from synthprobe_models.networks.googlenet import MODULES, GoogLeNet, Module  # noqa: E402
from synthprobe_models.networks.mobile import (  # noqa: E402
    EFFICIENT_NET,
    MOBILE_NET,
    MobileBlock,
    MobileEncoder,
    compound_scaling,
    efficientnet,
    mobilenet_v2,
)
from synthprobe_models.networks.resnets import DEPTHS, ResNet, resnet_18  # noqa: E402
from synthprobe_models.networks.vit import Vit, VitEncoder  # noqa: E402
from synthprobe_models.probes import PROBES  # noqa: E402
from synthprobe_models.torchvision_import import import_torchvision  # noqa: E402

NETWORKS = (
    "resnet-18",
    "resnet-34",
    "resnet-50",
    "wide-resnet-50",
    "googlenet",
    "mobilenet-v2-encoder",
    "efficientnet",
    "anynet",
    "vit",
)


@pytest.fixture(scope="module")
def models():
    import_torchvision()
    return pytest.importorskip("torchvision").models


def given_weights_of(ours: nn.Module, theirs: nn.Module) -> None:
    """Give ours the weights and statistics of theirs, which come in the same order."""
    torch.manual_seed(0)
    for one, other in (
        (ours.parameters(), theirs.parameters()),
        (ours.buffers(), theirs.buffers()),
    ):
        for mine, their in zip(one, other, strict=True):
            if their.is_floating_point():
                nn.init.uniform_(their, 0.2, 1.0) if their.ndim < 2 else nn.init.normal_(
                    their, 0, 0.1
                )
            mine.data.copy_(their.view(mine.shape))


def without(model: nn.Module, *names: str) -> nn.Module:
    for name in names:
        setattr(model, name, nn.Identity())
    return model.eval()


@pytest.mark.parametrize("name", ["resnet18", "resnet50"])
def test_a_resnet_is_that_of_torchvision_with_the_stride_in_front(models, name) -> None:
    theirs = without(getattr(models, name)(), "fc", "avgpool")
    deep = name == "resnet50"
    ours = ResNet(3, 64, DEPTHS[50 if deep else 18], bottleneck=deep).eval()
    if deep:  # theirs has it in the 3x3 convolution
        for layer in (theirs.layer2, theirs.layer3, theirs.layer4):
            layer[0].conv1.stride, layer[0].conv2.stride = (2, 2), (1, 1)
    given_weights_of(ours, theirs)
    x = torch.randn(2, 3, 40, 33)
    with torch.no_grad():
        found = ours(x)
        x = theirs.maxpool(theirs.relu(theirs.bn1(theirs.conv1(x))))
        for mine, layer in zip(
            found, (theirs.layer1, theirs.layer2, theirs.layer3, theirs.layer4), strict=True
        ):
            x = layer(x)
            torch.testing.assert_close(mine, x, rtol=1e-4, atol=1e-4 * float(x.abs().max()))


@pytest.mark.parametrize(
    ("name", "make", "published", "classifier"),
    [
        ("resnet18", lambda: ResNet(3, 64, DEPTHS[18]), 11_689_512, 512),
        ("resnet34", lambda: ResNet(3, 64, DEPTHS[34]), 21_797_672, 512),
        ("resnet50", lambda: ResNet(3, 64, DEPTHS[50], bottleneck=True), 25_557_032, 2048),
        (
            "wide_resnet50_2",
            lambda: ResNet(3, 64, DEPTHS[50], bottleneck=True, widening=2),
            68_883_240,
            2048,
        ),
        ("mobilenet_v2", lambda: MobileEncoder(3, 32, MOBILE_NET, 1280), 3_504_872, 1280),
        (
            "efficientnet_b0",
            lambda: MobileEncoder(3, 32, EFFICIENT_NET, 1280, efficient=True),
            5_288_548,
            1280,
        ),
    ],
)
def test_encoders_have_their_published_counts_without_the_classifier(
    models, name, make, published, classifier
) -> None:
    ours = count_parameters(build_bare(make))
    assert ours == published - 1000 * (classifier + 1)
    assert models.get_model_weights(name).DEFAULT.meta["num_params"] == published


@pytest.mark.parametrize("name", ["mobilenet_v2", "efficientnet_b0"])
def test_mobile_encoders_are_those_of_torchvision(models, name) -> None:
    theirs = getattr(models, name)().features.eval()
    efficient = name != "mobilenet_v2"
    groups = EFFICIENT_NET if efficient else MOBILE_NET
    ours = MobileEncoder(3, 32, groups, 1280, efficient=efficient).eval()
    given_weights_of(ours, theirs)
    x = torch.randn(2, 3, 35, 32)
    with torch.no_grad():
        expected = theirs(x)
        found = ours(x)[-1]
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4 * float(expected.abs().max()))


def test_anynet_is_the_regnet_of_torchvision(models) -> None:
    theirs = without(models.regnet_x_400mf(), "fc", "avgpool")
    design = {
        "depths": [1, 2, 7, 12],
        "widths": [32, 64, 160, 400],
        "groups": [2, 4, 10, 25],
        "ratios": [1, 1, 1, 1],
    }
    ours = AnyNet(3, stem=32, strides=(2,) * 5, **design).eval()
    assert count_parameters(ours) == 5_495_976 - 1000 * 401
    # Torchvision has the skip of a block before its convolutions.
    for stage in ours.stages:
        for block in stage.children():
            parts = dict(block.named_children())
            for name in ("skip", "parts"):
                del block._modules[name]
                block._modules[name] = parts[name]
    given_weights_of(ours, theirs)
    x = torch.randn(2, 3, 64, 33)
    with torch.no_grad():
        expected = theirs.trunk_output(theirs.stem(x))
        found = ours(x)[-1]
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4 * float(expected.abs().max()))


@pytest.mark.parametrize("seed", range(6))
def test_a_design_is_counted_without_being_built(seed) -> None:
    random = np.random.default_rng(seed)
    depths, ratios, groups = (random.choice([1, 2, 4], 4).tolist() for _ in range(3))
    widths = (16 * random.choice([1, 1, 2, 3], 4)).tolist()
    design = {"depths": depths, "widths": widths, "groups": groups, "ratios": ratios}
    built = build_bare(lambda: PROBES["twins"].make("anynet", width=5, options=design))
    assert count_anynet(3, 1, 5, **design) == count_parameters(built)


def test_the_encoder_of_the_vit_is_that_of_torchvision(models) -> None:
    sizes = {"patch_size": 4, "num_layers": 2, "num_heads": 4, "hidden_dim": 16, "mlp_dim": 64}
    theirs = models.VisionTransformer(image_size=16, **sizes).eval()
    ours = VitEncoder(3, (16, 16), width=16, patch=4, layers=2, heads=4, expansion=4).eval()
    torch.manual_seed(1)
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.3)
    for norm in (m for m in [*ours.modules(), *theirs.modules()] if isinstance(m, nn.LayerNorm)):
        norm.eps = 1e-6
    with torch.no_grad():
        ours.class_token.copy_(theirs.class_token)
        ours.positions.copy_(theirs.encoder.pos_embedding)
        ours.embedding.project.load_state_dict(theirs.conv_proj.state_dict())
        ours.norm.load_state_dict(theirs.encoder.ln.state_dict())
        for mine, their in zip(ours.blocks, theirs.encoder.layers, strict=True):
            attention = their.self_attention
            for k, part in enumerate(
                (mine.attention.queries, mine.attention.keys, mine.attention.values)
            ):
                part.weight.copy_(attention.in_proj_weight.chunk(3)[k])
                part.bias.copy_(attention.in_proj_bias.chunk(3)[k])
            mine.attention.out.load_state_dict(attention.out_proj.state_dict())
            mine.norm.load_state_dict(their.ln_1.state_dict())
            mine.perceptron[0].load_state_dict(their.ln_2.state_dict())
            mine.perceptron[1].load_state_dict(their.mlp[0].state_dict())
            mine.perceptron[3].load_state_dict(their.mlp[3].state_dict())
        x = torch.randn(2, 3, 16, 16)
        expected = theirs.encoder(
            torch.cat([theirs.class_token.expand(2, -1, -1), theirs._process_input(x)], 1)
        )
        torch.testing.assert_close(ours(x), expected, rtol=1e-4, atol=1e-5)


def test_a_vit_of_the_published_size_has_its_count() -> None:
    sizes = {"width": 768, "patch": 16, "layers": 12, "heads": 12, "expansion": 4}
    encoder = build_bare(lambda: VitEncoder(3, (224, 224), **sizes))
    assert count_parameters(encoder) == 86_567_656 - 1000 * 769


def test_pixels_of_a_vit_stand_where_their_patch_does_and_hear_of_the_class_token() -> None:
    torch.manual_seed(0)
    network = Vit(3, 1, (8, 12), width=8, patch=4, layers=1, heads=2).double().eval()
    x = torch.randn(1, 3, 8, 12, dtype=torch.double)
    tokens = network.encoder(x)
    found = network(x)
    for row, column in itertools.product(range(8), range(12)):
        token = tokens[0, 1 + (row // 4) * 3 + column // 4]
        pixel = (row % 4) * 4 + column % 4
        expected = network.pixels.weight[pixel] @ token + network.pixels.bias[pixel]
        expected = expected + network.whole.weight[pixel] @ tokens[0, 0]
        assert found[0, 0, row, column].item() == pytest.approx(expected.item(), rel=1e-9)


@pytest.mark.parametrize(
    ("scale", "index", "inputs", "thousands"),
    [
        (0, 0, 192, 159),
        (0, 1, 256, 380),
        (1, 0, 480, 364),
        (1, 1, 512, 437),
        (1, 2, 512, 463),
        (1, 3, 512, 580),
        (1, 4, 528, 840),
        (2, 0, 832, 1072),
        (2, 1, 832, 1388),
    ],
)
def test_inception_modules_have_the_published_thousands(scale, index, inputs, thousands) -> None:
    """Table 1 of Szegedy et al.; a thousand is 1,024 there.

    Those of 4c (463) and 5a (1072) are not what the channels beside them in that table come to.
    """
    count = count_parameters(Module(inputs, MODULES[scale][index])) / 1024
    by_hand = {463: 498, 1072: 1019}.get(thousands, thousands)
    assert count == pytest.approx(by_hand, rel=0.035)


def test_auxiliary_heads_speak_in_training_only_and_from_4a_and_4d() -> None:
    torch.manual_seed(0)
    network = GoogLeNet(3, 1, (32, 32), width=8)
    x = torch.randn(2, 3, 32, 32)
    network(x)
    assert [weight for weight, _ in network.auxiliary] == [0.3, 0.3]
    assert all(hint.shape == (2, 1, 32, 32) for _, hint in network.auxiliary)
    network.eval()(x)
    assert network.auxiliary == []
    assert not GoogLeNet(3, 1, (32, 32), width=8, auxiliary_heads=False).train()(x).isnan().any()


def test_features_are_added_up_from_the_coarsest_on() -> None:
    fine, coarse = torch.randn(1, 2, 4, 6), torch.randn(1, 2, 2, 3)
    double = nn.Conv2d(2, 2, 1, bias=False)
    double.weight.data = 2 * torch.eye(2)[..., None, None]
    found = add_up([fine, coarse], [nn.Identity(), double])
    up = nn.functional.interpolate(2 * coarse, (4, 6), mode="bilinear")
    torch.testing.assert_close(found, fine + up)


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("probe", ["rde", "twins"])
def test_each_is_a_network_of_the_probes_and_every_part_of_it_learns(name, probe) -> None:
    torch.manual_seed(0)
    shape = (8, 64) if probe == "twins" else (16, 24)
    network = PROBES[probe].make(name, shape=shape, width=4)
    found = network(torch.randn(3, 3, *shape))
    assert found.shape == (3, 1, *shape)
    total = found.square().sum() + sum(
        weight * hint.square().sum() for weight, hint in getattr(network, "auxiliary", [])
    )
    total.backward()
    assert all(p.grad is not None for p in network.parameters())


def test_compound_scaling_about_doubles_the_operations_with_each_step() -> None:
    depth, width, resolution = compound_scaling(1)
    assert depth * width**2 * resolution**2 == pytest.approx(2, abs=0.1)
    assert compound_scaling(2) == pytest.approx((depth**2, width**2, resolution**2))
    counts = [
        count_parameters(
            build_bare(lambda phi=phi: efficientnet(3, 1, (32, 32), compound=phi).encoder)
        )
        for phi in (0, 1)
    ]
    assert counts[1] > 1.4 * counts[0]
    torch.manual_seed(0)
    grown = efficientnet(3, 1, (32, 32), compound=1, width=4)
    assert grown(torch.randn(2, 3, 32, 32)).shape == (2, 1, 32, 32)
    assert grown.encoder(torch.zeros(1, 3, 40, 40).expand(2, -1, -1, -1))[0].shape[2] == 23


def test_widening_makes_a_wide_resnet_of_plain_blocks() -> None:
    plain, wide = (resnet_18(3, 1, (32, 32), width=4, widening=k) for k in (1, 2))
    assert wide.encoder.channels == [2 * count for count in plain.encoder.channels]


def test_stochastic_depth_keeps_the_mean_and_does_nothing_in_evaluation() -> None:
    torch.manual_seed(0)
    block = MobileBlock(3, 3, expansion=2, drop=0.5)
    block.eval()
    x = torch.randn(1, 3, 4, 4).expand(4000, -1, -1, -1)
    with torch.no_grad():
        certain = block(x[:1])
        block.train()
        for module in block.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.eval()
        drawn = block(x)
    kept = ~torch.isclose(drawn, x).flatten(1).all(1)
    assert kept.float().mean().item() == pytest.approx(0.5, abs=0.05)
    torch.testing.assert_close(drawn[kept][0], x[0] + 2 * (certain[0] - x[0]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: efficientnet(3, 1, (8, 8), compound=-1), "compound is -1"),
        (lambda: efficientnet(3, 1, (8, 8), drop=1.0), "drop is 1.0"),
        (lambda: mobilenet_v2(3, 1, (8, 8), width=0), "width must be at least 1"),
        (lambda: Vit(3, 1, (10, 12), patch=4), "pictures of 10 x 12 pixels cannot be cut"),
        (
            lambda: AnyNet(
                3,
                stem=4,
                strides=(1,) * 5,
                depths=[1],
                widths=[4] * 4,
                groups=[1] * 4,
                ratios=[1] * 4,
            ),
            "depths is",
        ),
        (
            lambda: AnyNet(
                3,
                stem=4,
                strides=(1,) * 5,
                depths=[1] * 4,
                widths=[6] * 4,
                groups=[4] * 4,
                ratios=[1] * 4,
            ),
            "6 cannot be divided",
        ),
        (
            lambda: AnyNet(
                3,
                stem=4,
                strides=(1,) * 4,
                depths=[1] * 4,
                widths=[6] * 4,
                groups=[1] * 4,
                ratios=[1] * 4,
            ),
            "strides is",
        ),
    ],
)
def test_what_cannot_be_built_is_said(make, message) -> None:
    with pytest.raises(SynthprobeError, match=message):
        make()


def test_a_vit_is_tied_to_its_patches() -> None:
    with pytest.raises(SynthprobeError, match="vit was built for 4 patches: it cannot take 8"):
        Vit(3, 1, (8, 8), width=8, heads=2)(torch.zeros(1, 3, 8, 16))
