"""Time and peak memory of each structure against N, beside the obvious PyTorch form of the same.

Every obvious form has the weights of the structure, and must give the same output before it is
timed. The two are timed in turn, in time of one core, and the best times are compared, so that the
ratios hold on a shared machine; `!` marks one above 2. Peak memory is what is allocated at most for
one forward and backward pass beyond the parameters, as PyTorch's own profiler records it.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

from synthprobe_data import describe_machine
from synthprobe_models.networks.counting import build_bare, count_parameters
from synthprobe_models.registry import STRUCTURES
from synthprobe_models.training.run import commit

Form = Callable[[Tensor], Tensor]

LIMIT = 2.0
CHANNELS = 64
BATCH = 2
SIDES = (14, 28, 56)
"""Multiples of the usual window."""
MOST_PARAMETERS = 50_000_000
PROBE = "centered-square"
ROUNDS = 7
SECONDS = 0.3


def tokens(x: Tensor) -> Tensor:
    return x.flatten(2).transpose(1, 2)


def attention(attend: nn.Module) -> nn.MultiheadAttention:
    channels = attend.out.in_features
    twin = nn.MultiheadAttention(channels, attend.heads, batch_first=True)
    twin.in_proj_weight, twin.in_proj_bias = attend.qkv.weight, attend.qkv.bias
    twin.out_proj.weight, twin.out_proj.bias = attend.out.weight, attend.out.bias
    return twin


def transformer(module: nn.Module) -> Form:
    twin = attention(module)

    def form(x: Tensor) -> Tensor:
        t = tokens(x)
        return twin(t, t, t, need_weights=False)[0].transpose(1, 2).view_as(x)

    return form


def encoder(module: nn.Module) -> Form:
    channels = module.attention.out.in_features
    twin = nn.TransformerEncoderLayer(
        channels,
        module.attention.heads,
        4 * channels,
        dropout=0.0,
        layer_norm_eps=module.attention_norm.epsilon,
        batch_first=True,
        norm_first=type(module).__name__.startswith("Pre"),
    )
    twin.self_attn = attention(module.attention)
    pairs = (
        (twin.linear1, module.expand),
        (twin.linear2, module.reduce),
        (twin.norm1, module.attention_norm),
        (twin.norm2, module.feed_forward_norm),
    )
    for mine, its in pairs:
        mine.weight, mine.bias = its.weight, its.bias
    return lambda x: twin(tokens(x)).transpose(1, 2).view_as(x)


def windows(module: nn.Module) -> Form:
    def form(x: Tensor) -> Tensor:
        batch, channels, height, width = x.shape
        side, heads = module.window, module.heads
        qkv = module.qkv(x.permute(0, 2, 3, 1))
        cut = qkv.view(batch, height // side, side, width // side, side, 3, heads, -1)
        q, k, v = cut.permute(5, 0, 1, 3, 6, 2, 4, 7).flatten(5, 6)
        y = F.scaled_dot_product_attention(q, k, v).unflatten(4, (side, side))
        y = y.permute(0, 1, 4, 2, 5, 3, 6).reshape(batch, height, width, channels)
        if hasattr(module, "convolution"):
            values = qkv[..., -channels:].permute(0, 3, 1, 2)
            y = y + beside(values, side).permute(0, 2, 3, 1)
        return module.out(y).permute(0, 3, 1, 2)

    def beside(values: Tensor, side: int) -> Tensor:
        """LIM over the whole picture, LEM in each window for itself."""
        if not type(module).__name__.startswith("Enhanced"):
            return module.convolution(values)
        batch, channels, height, width = values.shape
        cut = values.view(batch, channels, height // side, side, width // side, side)
        cut = cut.permute(0, 2, 4, 1, 3, 5)
        y = module.convolution(cut.flatten(0, 2)).view_as(cut)
        return y.permute(0, 3, 1, 4, 2, 5).reshape(values.shape)

    return form


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention as it is written: a softmax between two products."""
    return (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).softmax(-1) @ v


def heads_of(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def ssa(module: nn.Module) -> Form:
    def form(x: Tensor) -> Tensor:
        reduced = tokens(module.reduce(x))  # the squares fill the pictures here
        reduced = F.gelu(module.norm(module.widen(reduced)))
        parts = (module.query(tokens(x)), module.key(reduced), module.value(reduced))
        y = attend(*(heads_of(part, module.heads) for part in parts))
        return module.out(y.transpose(1, 2).flatten(2)).transpose(1, 2).view_as(x)

    return form


def nystromformer(module: nn.Module) -> Form:
    """The formula of its paper, with the same iteration for the pseudo-inverse."""

    def means(x: Tensor) -> Tensor:
        parts = x.tensor_split(min(module.landmarks, x.shape[-2]), dim=-2)
        return torch.stack([part.mean(-2) for part in parts], dim=-2)

    def weights(q: Tensor, k: Tensor) -> Tensor:
        return (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).softmax(-1)

    def inverted(a: Tensor) -> Tensor:
        eye = torch.eye(a.shape[-1])
        norms = a.sum(-2).amax(-1) * a.sum(-1).amax(-1)
        z = a.transpose(-1, -2) / norms[..., None, None]
        for _ in range(module.iterations):
            az = a @ z
            z = z @ (13 * eye - az @ (15 * eye - az @ (7 * eye - az))) / 4
        return z

    def form(x: Tensor) -> Tensor:
        q, k, v = (heads_of(part, module.heads) for part in module.qkv(tokens(x)).chunk(3, -1))
        few_q, few_k = means(q), means(k)
        y = weights(q, few_k) @ (inverted(weights(few_q, few_k)) @ (weights(few_q, k) @ v))
        return y.transpose(2, 3).reshape(x.shape)

    return form


def deformable(module: nn.Module) -> Form:
    """Tap after tap: the picture read beside its places, weighed, and convolved with 1x1."""
    size = module.weight.shape[-1]

    def form(x: Tensor) -> Tensor:
        height, width = x.shape[2:]
        offset, mask = module.guide(x).split([2 * size**2, size**2], dim=1)
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        y = module.bias[:, None, None]
        for tap in range(size**2):
            down, right = divmod(tap, size)
            row = rows + down - size // 2 + offset[:, 2 * tap]
            column = columns + right - size // 2 + offset[:, 2 * tap + 1]
            grid = torch.stack([(2 * column + 1) / width - 1, (2 * row + 1) / height - 1], -1)
            seen = F.grid_sample(x, grid, align_corners=False) * mask[:, tap, None].sigmoid()
            y = y + F.conv2d(seen, module.weight[:, :, down, right, None, None])
        return y

    return form


def pointwise(layer: nn.Module, x: Tensor) -> Tensor:
    y = torch.einsum("oc,bcn->bon", layer.weight, x)
    return y if layer.bias is None else y + layer.bias[:, None]


def lambda_layer(module: nn.Module) -> Form:
    """As in the paper's formulas, letter by letter."""

    def split(x: Tensor) -> Tensor:
        return x.unflatten(1, (module.heads, -1))

    def keys(x: Tensor) -> Tensor:
        k = split(pointwise(module.key, x))
        if hasattr(module, "first_key"):
            first = split(pointwise(module.first_key, x)).softmax(-1)
            value = split(pointwise(module.first_value, x))
            mask = torch.einsum("bhkn,bhvn->bhkv", first, value)
            k = torch.einsum("bhkv,bhvn->bhkn", mask, k)
        return k.softmax(-1)

    def form(x: Tensor) -> Tensor:
        flat = x.flatten(2)
        keyed = placed = flat
        if module.encoding.startswith("sum"):
            placed = flat + module.positions.pair(x)[0][0]
            keyed = placed if module.encoding == "sum-qkv" else flat
        if hasattr(module, "coordinates"):
            keyed = placed = torch.cat([flat, module.coordinates(x)[0].expand(len(x), -1, -1)], 1)
        q = split(pointwise(module.query, placed))
        k = keys(keyed)
        v = split(pointwise(module.value, placed))
        y = torch.einsum("bhkn,bhkv->bhvn", q, torch.einsum("bhkn,bhvn->bhkv", k, v))
        if module.encoding == "decor":
            first, second = module.positions.pair(x)
            weights = torch.einsum("bhkn,hcn->bhkc", k, first)
            y = y + torch.einsum("bhkc,hcn->bhkn", weights, second)
        if hasattr(module, "local"):
            # The channels of V are a depth that the kernel does not extend along.
            maps = v.reshape(-1, 1, v.shape[2], *x.shape[2:])
            half = module.window // 2
            weight = module.local.weight[:, :, None]
            lambdas = F.conv3d(maps, weight, module.local.bias, padding=(0, half, half))
            lambdas = lambdas.view(*q.shape[:3], v.shape[2], -1)
            y = y + torch.einsum("bhkn,bhkvn->bhvn", q, lambdas)
        return (y * module.scale).reshape(x.shape)

    return form


def linformer(module: nn.Module) -> Form:
    def form(x: Tensor) -> Tensor:
        qkv = module.qkv(tokens(x)).unflatten(-1, (3, module.heads, -1))
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        k, v = (torch.einsum("hnm,bhnc->bhmc", module.projection, t) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v)
        return y.transpose(2, 3).reshape(x.shape)

    return form


def mlp_mixer(module: nn.Module) -> Form:
    twin = nn.Sequential(module.expand, nn.GELU(), module.reduce)
    return lambda x: twin(x.flatten(2)).view_as(x)


def squeeze_and_excitation(module: nn.Module) -> Form:
    twin = nn.Sequential(module.compress, nn.ReLU(), module.restore, nn.Sigmoid())
    return lambda x: x * twin(F.adaptive_avg_pool2d(x, 1).flatten(1))[..., None, None]


def global_context(module: nn.Module) -> Form:
    def form(x: Tensor) -> Tensor:
        flat = x.flatten(2)
        weights = pointwise(module.attention, flat)[:, 0].softmax(-1)
        context = torch.einsum("bcn,bn->bc", flat, weights)
        y = F.gelu(F.linear(context, module.reduce.weight, module.reduce.bias))
        y = F.linear(y, module.expand.weight, module.expand.bias)
        return y[..., None, None].expand_as(x)

    return form


def global_average_pooling(_: nn.Module) -> Form:
    return lambda x: F.adaptive_avg_pool2d(x, 1).expand_as(x)


OBVIOUS: dict[str, Callable[[nn.Module], Form]] = {
    "lambda": lambda_layer,
    "lambda-tt": lambda_layer,
    "lambda-cosine-sum-qkv": lambda_layer,
    "lambda-cosine-sum-qv": lambda_layer,
    "lambda-cosine-decor": lambda_layer,
    "lambda-pe": lambda_layer,
    "lambda-pe-tt": lambda_layer,
    "lambda-coordconv": lambda_layer,
    "lambda-local-7": lambda_layer,
    "lambda-local-19": lambda_layer,
    "global-context": global_context,
    "global-average-pooling": global_average_pooling,
    "transformer": transformer,
    "mlp-mixer": mlp_mixer,
    "linformer": linformer,
    "nystromformer": nystromformer,
    "deformable": deformable,
    "ssa": ssa,
    "window-attention": windows,
    "iwsa": windows,
    "window-attention-lem": windows,
    "encoder-pre-norm": encoder,
    "encoder-post-norm": encoder,
    "squeeze-and-excitation": squeeze_and_excitation,
}
"""The others have no form that is more obvious than theirs. Of reformer the obvious form would be
dense attention with a mask by buckets, which is another algorithm: it takes N^2 operations."""


def forward(form: Form, x: Tensor) -> None:
    form(x)


def both(form: Form, x: Tensor) -> None:
    form(x).sum().backward()


def in_turn(
    pass_through: Callable[[Form, Tensor], None], forms: list[Form], x: Tensor
) -> list[list[float]]:
    """Seconds of each form, one list for each, measured one after the other again and again."""
    times: list[list[float]] = [[] for _ in forms]
    for form in forms:
        pass_through(form, x)  # warms up
    started = time.process_time()
    while len(times[0]) < ROUNDS or time.process_time() - started < SECONDS:
        for form, seconds in zip(forms, times, strict=True):
            begin = time.process_time()
            pass_through(form, x)
            seconds.append(time.process_time() - begin)
    return times


@contextmanager
def silence() -> Iterator[None]:
    """Without the lines that the profiler writes when it starts and stops."""
    kept = os.dup(2)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def peak_memory(form: Form, x: Tensor) -> int:
    """Bytes allocated at most at one time in a forward and backward pass."""
    with silence(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        both(form, x)
    events = [e for e in found.profiler.kineto_results.events() if e.name() == "[memory]"]
    level = peak = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        level += event.nbytes()
        peak = max(peak, level)
    return peak


def measure(name: str, side: int) -> tuple[list[str], bool]:
    """The cells of a row, and whether a ratio is above the limit."""
    shape = (side, side) if 2 in STRUCTURES[name].dimensions else (side**2,)

    def make() -> nn.Module:
        return STRUCTURES[name].make(CHANNELS, shape, PROBE)

    if count_parameters(build_bare(make)) > MOST_PARAMETERS:
        return [name, str(side**2), "too many parameters", "", "", "", ""], False
    module = make()
    x = torch.randn(BATCH, CHANNELS, *shape, requires_grad=True)
    forms: list[Form] = [module]
    if name in OBVIOUS:
        forms.append(OBVIOUS[name](module))
        torch.testing.assert_close(forms[1](x), module(x), rtol=1e-3, atol=1e-4)
    cells, slow = [name, str(side**2)], False
    ratios = []
    for pass_through in (forward, both):
        times = in_turn(pass_through, forms, x)
        cells.append(f"{1e3 * min(times[0]):.2f}")
        if len(forms) == 1:
            ratios.append("")
            continue
        ratio = min(times[0]) / min(times[1])
        slow = slow or ratio > LIMIT
        ratios.append(f"{ratio:.2f}{' !' if ratio > LIMIT else ''}")
    return [*cells, f"{peak_memory(module, x) / 2**20:.1f}", *ratios], slow


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer positions")
    parser.add_argument("--out", type=Path, metavar="FILE", help="Markdown page to write, too")
    parser.add_argument("names", nargs="*", default=list(STRUCTURES), help="which (all)")
    given = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    lines: list[str] = []

    def say(line: str) -> None:
        lines.append(line)
        print(line, flush=True)

    say(f"{CHANNELS} channels, batches of {BATCH}, options of the probe {PROBE}\n")
    say("| structure | N | forward, ms | and backward, ms | peak, MB | ratio | and backward |")
    say("|---|---|---|---|---|---|---|")
    slow = []
    for name in given.names:
        for side in SIDES[:-1] if given.quick else SIDES:
            cells, above = measure(name, side)
            say(f"| {' | '.join(cells)} |")
            if above:
                slow.append(f"{name} at N = {side**2}")
    say(f"\nAbove {LIMIT:g} times the obvious form: {', '.join(slow) or 'none'}.")
    if given.out is not None:
        given.out.write_text(page(lines), encoding="utf-8")


def page(lines: list[str]) -> str:
    """What was measured as a page: how, what, and where it comes from."""
    command = shlex.join(["python", "tools/bench_layers.py", *sys.argv[1:]])
    origin = f"`{command}`, commit {commit()}, torch {torch.__version__}, on: {describe_machine()}."
    how = (__doc__ or "").strip()
    return "\n".join(["# Time and memory of the structures", "", how, "", *lines, "", origin, ""])


if __name__ == "__main__":
    main()
