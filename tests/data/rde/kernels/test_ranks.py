"""Ranks and reach of arbitrary relations against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from synthprobe_data.rde import reference
from synthprobe_data.rde.config import MAX_RECTANGLES
from synthprobe_data.rde.kernels.ranks import find_ranks, find_reach
from synthprobe_data.rde.scene import read_scene
from synthprobe_data.strategies import rectangle_lists


@st.composite
def relations(draw: st.DrawFn, *, cycles: bool) -> nx.DiGraph:
    """A relation of up to 12 nodes; without cycles, it leads down a random order."""
    n = draw(st.integers(0, 12))
    order = draw(st.permutations(range(n)))
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    if n:
        nodes = st.integers(0, n - 1)
        for a, b in draw(st.lists(st.tuples(nodes, nodes), max_size=3 * n)):
            if cycles or a != b:
                graph.add_edge(*((a, b) if cycles else (order[max(a, b)], order[min(a, b)])))
    return graph


def masks_of(graph: nx.DiGraph, n: int = MAX_RECTANGLES) -> np.ndarray:
    masks = [sum(1 << v for v in graph.successors(u)) if u in graph else 0 for u in range(n)]
    return np.array(masks, np.uint64)


def ranks_of(graph: nx.DiGraph) -> tuple[int, ...] | None:
    """By the kernel; the edges are dealt out to the two halves of the relation."""
    edges = list(graph.edges)
    rank = np.zeros(MAX_RECTANGLES, np.uint8)
    halves = [masks_of(nx.DiGraph(edges[i::2])) for i in (0, 1)]
    fits = find_ranks(halves[0], halves[1], len(graph), rank)
    return tuple(rank[: len(graph)].tolist()) if fits else None


def longest_way_down(graph: nx.DiGraph, node: int) -> int:
    return nx.dag_longest_path_length(graph.subgraph({node} | nx.descendants(graph, node)))


@settings(max_examples=200)
@given(relations(cycles=False))
def test_a_rank_is_one_more_than_the_longest_way_down(graph: nx.DiGraph) -> None:
    expected = tuple(1 + longest_way_down(graph, node) for node in range(len(graph)))
    assert ranks_of(graph) == expected == reference.ranks(graph)


@settings(max_examples=200)
@given(relations(cycles=True))
def test_a_relation_has_ranks_unless_it_has_a_cycle(graph: nx.DiGraph) -> None:
    found = ranks_of(graph)
    assert found == reference.ranks(graph)
    assert (found is not None) == nx.is_directed_acyclic_graph(graph)


def test_nodes_beyond_n_do_not_count() -> None:
    graph = nx.DiGraph([(0, 1), (1, 2), (3, 4), (4, 3)])
    rank = np.zeros(MAX_RECTANGLES, np.uint8)
    assert find_ranks(masks_of(graph), masks_of(nx.DiGraph()), 3, rank)
    assert rank[:5].tolist() == [3, 2, 1, 0, 0]


def test_the_longest_chain_has_as_many_ranks_as_there_can_be_rectangles() -> None:
    chain = nx.path_graph(MAX_RECTANGLES, create_using=nx.DiGraph)
    assert ranks_of(chain) == tuple(range(MAX_RECTANGLES, 0, -1))
    circle = nx.cycle_graph(MAX_RECTANGLES, create_using=nx.DiGraph)
    assert ranks_of(circle) is None


@settings(max_examples=200)
@given(st.integers(0, MAX_RECTANGLES), st.integers(0, 2**32), st.floats(0.01, 0.5))
def test_reach_is_everyone_on_the_way_down(n: int, seed: int, density: float) -> None:
    # As in scenes, a later one is above an earlier one.
    rng = np.random.default_rng(seed)
    above = np.tril(rng.random((n, n)) < density, -1)
    graph = nx.from_numpy_array(above.astype(int), create_using=nx.DiGraph) if n else nx.DiGraph()
    by_one_cue = rng.random((n, n)) < 0.5
    halves = [
        masks_of(nx.DiGraph([e for e in graph.edges if by_one_cue[e] == cue]))
        for cue in (True, False)
    ]
    reach = np.full(MAX_RECTANGLES, 2**64 - 1, np.uint64)
    find_reach(halves[0], halves[1], n, reach)
    expected = [sum(1 << v for v in nx.descendants(graph, u)) for u in range(n)]
    assert reach[:n].tolist() == expected


@settings(max_examples=80)
@given(st.data(), st.integers(8, 16), st.integers(8, 16))
def test_ranks_of_any_scene(data: st.DataObject, height: int, width: int) -> None:
    rectangles = data.draw(rectangle_lists(height=height, width=width, beyond=1))
    scene = read_scene(rectangles, height=height, width=width)
    expected = reference.ranks(reference.relation_of_scene(rectangles, height, width))
    assert tuple(scene.rectangle_rank.tolist()) == expected
    assert scene.rank.tolist() == reference.rank_map(scene.label, expected).tolist()
    assert nx.utils.graphs_equal(
        nx.DiGraph(scene.relation().edges),
        nx.DiGraph(reference.relation_of_scene(rectangles, height, width).edges),
    )
