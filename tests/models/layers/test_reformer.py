"""The Reformer's attention against a softmax over what its rounds bring together."""

from __future__ import annotations

import math

import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from synthprobe_models.layers.reformer import (  # noqa: E402
    Reformer,
    attend_in_chunks,
    hash_sizes,
)
from tests.models.layers.attending import double, each_head, project, randomised  # noqa: E402


def attend(qk, v, seen):
    """Softmax of (N, C) over the sets of positions ``seen``, oneself only where alone."""
    rows = []
    for i, q in enumerate(qk):
        others = sorted(seen[i] - {i}) or [i]
        weights = [torch.exp(q @ qk[j] / qk[j].norm() / math.sqrt(len(q))) for j in others]
        mean = sum(w * v[j] for w, j in zip(weights, others, strict=True)) / sum(weights)
        rows.append(mean)
    return torch.stack(rows)


def brought_together(buckets: list[list[int]], length: int) -> list[set[int]]:
    """For each position, what any round has in its chunk of sorted buckets or in the one before."""
    n = len(buckets[0])
    seen: list[set[int]] = [set() for _ in range(n)]
    for bucket in buckets:
        order = sorted(range(n), key=lambda i: (bucket[i], i))
        chunks = [order[start : start + length] for start in range(0, n, length)]
        for number, chunk in enumerate(chunks):
            for i in chunk:
                seen[i] |= {*chunk, *chunks[number - 1]}
    return seen


@settings(max_examples=40)
@given(st.data())
def test_rounds_together_are_one_softmax_over_all_that_is_seen(data: st.DataObject) -> None:
    n, length = data.draw(st.integers(1, 14)), data.draw(st.integers(1, 5))
    buckets = data.draw(
        st.lists(st.lists(st.integers(0, 3), min_size=n, max_size=n), min_size=1, max_size=3)
    )
    qk, v = double(1, 1, n, 3), double(1, 1, n, 3)
    mixed = attend_in_chunks(qk, v, torch.tensor(buckets)[None, None], min(length, n))
    expected = attend(qk[0, 0], v[0, 0], brought_together(buckets, length))
    assert torch.allclose(mixed[0, 0], expected)


@pytest.mark.parametrize("shape", [(13,), (3, 4)])
def test_reformer_is_its_formula(shape: tuple[int, ...]) -> None:
    layer = randomised(Reformer(6, shape, heads=2, bucket=2, rounds=3))
    x = double(2, 6, *shape)
    for one, y in zip(x, layer(x), strict=True):
        qk, v = project(layer.qk_v, one, 2)
        buckets = layer.hash(torch.stack(qk.chunk(2, 1))[None])[0].tolist()

        def mix(head, qk, v, buckets=buckets):
            return attend(qk, v, brought_together(buckets[head], 2))

        (out,) = project(layer.out, each_head(mix, 2, qk, v).T)
        assert torch.allclose(y, out.T.view(6, *shape))


def full(layer, x):
    """Attention to all others, with shared queries and keys."""
    n = x.shape[1]
    qk, v = project(layer.qk_v, x, 2)
    everything = [set(range(n)) for _ in range(n)]
    mixed = each_head(lambda head, q, value: attend(q, value, everything), 2, qk, v)
    return project(layer.out, mixed.T)[0].T


@pytest.mark.parametrize("bucket", [32, 12, 11, 6])
def test_with_one_bucket_or_two_chunks_it_is_full_attention(bucket: int) -> None:
    layer = randomised(Reformer(6, (12,), heads=2, bucket=bucket))
    x = double(1, 6, 12)
    assert torch.allclose(layer(x)[0], full(layer, x[0]))


def test_many_rounds_are_full_attention() -> None:
    layer = randomised(Reformer(6, (12,), heads=2, bucket=3, rounds=300))
    x = double(1, 6, 12)
    assert torch.allclose(layer(x)[0], full(layer, x[0]))


def test_in_its_limit_it_does_not_depend_on_the_order() -> None:
    layer = randomised(Reformer(6, (12,), heads=2, bucket=12))
    x, order = double(1, 6, 12), torch.randperm(12)
    assert torch.allclose(layer(x[..., order]), layer(x)[..., order])


@pytest.mark.parametrize("n", [12, 400])
def test_bucket_is_the_largest_of_the_rotated_channels_and_their_opposites(n: int) -> None:
    layer = Reformer(8, (n,), heads=2, bucket=4, rounds=3).eval()
    qk = torch.randn(1, 2, n, 4)
    generator = torch.Generator().manual_seed(int(layer.seed))
    sizes = hash_sizes(n // 4)
    expected = torch.zeros(2, 3, n, dtype=torch.long)
    for size in sizes:
        rotation = torch.randn(2, 4, 3 * size // 2, generator=generator)
        for head in range(2):
            for r in range(3):
                part = rotation[head][:, r * size // 2 : (r + 1) * size // 2]
                rotated = qk[0, head] @ part
                largest = torch.where(
                    rotated.max(1).values > -rotated.min(1).values,
                    rotated.argmax(1),
                    rotated.argmin(1) + size // 2,
                )
                expected[head, r] = expected[head, r] * size + largest
    assert torch.equal(layer.hash(qk)[0], expected)
    assert layer.hash(qk).max() < math.prod(sizes)


@given(st.integers(3, 100_000))
def test_there_are_about_as_many_buckets_as_chunks(chunks: int) -> None:
    sizes = hash_sizes(chunks)
    assert all(size % 2 == 0 for size in sizes)
    assert chunks <= math.prod(sizes) <= 1.5 * chunks + 1
    assert sum(sizes) <= max(64, 2 * math.sqrt(chunks) + 4)


def test_hashing_finds_more_of_the_attention_than_chance() -> None:
    torch.manual_seed(0)
    layer = Reformer(16, (256,), heads=1, bucket=16, rounds=2).eval()
    groups = torch.nn.functional.normalize(torch.randn(16, 16), dim=1)[torch.randint(16, (256,))]
    qk = (64 * groups + torch.randn(256, 16))[None, None]
    v = torch.randn(1, 1, 256, 16)
    exact = attend_in_chunks(qk, v, torch.zeros(1, 1, 1, 256, dtype=torch.long), 256)
    hashed = attend_in_chunks(qk, v, layer.hash(qk), 16)
    by_chance = attend_in_chunks(qk, v, torch.randint(16, (1, 1, 2, 256)), 16)
    assert (hashed - exact).norm() < 0.5 * (by_chance - exact).norm()


def test_evaluation_depends_on_the_input_alone_and_training_on_torchs_seed() -> None:
    layer = Reformer(16, (64,), heads=2, bucket=4).eval()
    x = torch.randn(2, 16, 64)
    torch.manual_seed(1)
    state, y = torch.get_rng_state(), layer(x)
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(2)
    assert torch.equal(layer(x), y)

    layer.train()
    torch.manual_seed(1)
    first, second = layer(x), layer(x)
    torch.manual_seed(1)
    assert torch.equal(layer(x), first)
    assert not torch.allclose(second, first)


def test_a_saved_layer_evaluates_alike_and_layers_differ() -> None:
    first, second = (Reformer(16, (64,), heads=2, bucket=4).eval() for _ in range(2))
    assert first.seed != second.seed
    x = torch.randn(1, 16, 64)
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(x), second(x))
