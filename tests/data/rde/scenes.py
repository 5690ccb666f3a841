"""Hand-drawn scenes with a known answer."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.data.rde.drawing import Box, Pairs


@dataclass(frozen=True)
class Scene:
    """A scene, how it looks, and what must be read from it (rectangles counted from 0)."""

    picture: str
    rectangles: list[Box]
    t_junctions: Pairs  # from the rectangles
    convexity: Pairs
    ranks: tuple[int, ...]
    t_junctions_in_label_map: Pairs | None = None  # when not the same
    ranks_in_label_map: tuple[int, ...] | None = None  # when not the same

    @property
    def rows(self) -> list[str]:
        return self.picture.split()

    @property
    def size(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows[0])


SCENES = {
    "nested: convexity alone": Scene(
        """
        ............
        .1111111111.
        .1111111111.
        .1112221111.
        .1112221111.
        .1111111111.
        .1111111111.
        ............
        """,
        [(1, 1, 11, 7), (4, 3, 7, 5)],
        t_junctions=set(),
        convexity={(1, 0)},
        ranks=(1, 2),
    ),
    "crossing: one split into two pieces by another": Scene(
        """
        ............
        ....2222....
        .1112222111.
        .1112222111.
        .1112222111.
        ....2222....
        ............
        ............
        """,
        [(1, 2, 11, 5), (4, 1, 8, 6)],
        t_junctions={(1, 0)},
        convexity={(1, 0)},
        ranks=(1, 2),
    ),
    "corner overlap": Scene(
        """
        ............
        .11111......
        .11111......
        .11122222...
        .11122222...
        ....22222...
        ....22222...
        ............
        """,
        [(1, 1, 6, 5), (4, 3, 9, 7)],
        t_junctions={(1, 0)},
        convexity={(1, 0)},
        ranks=(1, 2),
    ),
    "hidden end: T-junctions alone": Scene(
        """
        ............
        ....222222..
        ....222222..
        .111222222..
        .111222222..
        ....222222..
        ....222222..
        ............
        """,
        [(1, 3, 6, 5), (4, 1, 10, 7)],
        t_junctions={(1, 0)},
        convexity=set(),
        ranks=(1, 2),
    ),
    "T-shape: the later one ends upon the earlier one": Scene(
        """
        ..............
        .....2222.....
        .....2222.....
        .....2222.....
        .111122221111.
        .111122221111.
        .111122221111.
        .111111111111.
        .111111111111.
        """,
        [(1, 4, 13, 9), (5, 1, 9, 7)],
        t_junctions={(1, 0)},
        convexity={(1, 0)},
        ranks=(1, 2),
    ),
    "T-shape, both T-junctions hidden by a third: convexity decides between the first two": Scene(
        """
        ..............
        .....2222.....
        ...33333333...
        ...33333333...
        .113333333311.
        .113333333311.
        .111122221111.
        .111111111111.
        .111111111111.
        """,
        [(1, 4, 13, 9), (5, 1, 9, 7), (3, 2, 11, 6)],
        t_junctions={(2, 0), (2, 1)},
        convexity={(1, 0), (2, 0), (2, 1)},
        ranks=(1, 2, 3),
    ),
    "hidden end, both T-junctions hidden by a third: nothing decides between the first two": Scene(
        """
        ............
        ....222222..
        ..33332222..
        ..33332222..
        .133332222..
        .133332222..
        ..33332222..
        ..33332222..
        ....222222..
        ............
        """,
        [(1, 4, 6, 6), (4, 1, 10, 9), (2, 2, 6, 8)],
        t_junctions={(2, 0), (2, 1)},
        convexity={(2, 1)},
        ranks=(1, 1, 2),
    ),
    "side by side without contact": Scene(
        """
        ............
        .1111.......
        .1111.22222.
        .1111.22222.
        .1111.22222.
        ......22222.
        ............
        ............
        """,
        [(1, 1, 5, 5), (6, 2, 11, 6)],
        t_junctions=set(),
        convexity=set(),
        ranks=(1, 1),
    ),
    "chain of three": Scene(
        """
        ..............
        .11111........
        .11111........
        .111222222....
        .111222222....
        ....222233333.
        ....222233333.
        ........33333.
        """,
        [(1, 1, 6, 5), (4, 3, 10, 7), (8, 5, 13, 8)],
        t_junctions={(1, 0), (2, 1)},
        convexity={(1, 0), (2, 1)},
        ranks=(1, 2, 3),
    ),
    "in the gap between two pieces: above the split one though they do not touch": Scene(
        """
        ..............
        ...22222222...
        ...22222222...
        .112233322211.
        .112233322211.
        .112222222211.
        ...22222222...
        ...22222222...
        """,
        [(1, 3, 13, 6), (3, 1, 11, 8), (5, 3, 8, 5)],
        t_junctions={(1, 0)},
        convexity={(1, 0), (2, 0), (2, 1)},
        ranks=(1, 2, 3),
    ),
    "above two of different rank: one more than the higher": Scene(
        """
        ..............
        .......4444...
        ....2224444...
        .111222444433.
        .111222444433.
        ....2224444...
        .......4444...
        .......4444...
        ..............
        """,
        [(1, 3, 6, 5), (4, 2, 8, 6), (9, 3, 13, 5), (7, 1, 11, 8)],
        t_junctions={(1, 0), (3, 1), (3, 2)},
        convexity=set(),
        ranks=(1, 2, 1, 3),
    ),
    "stem between two rectangles": Scene(
        """
        ..............
        .111111111111.
        .111222111111.
        .111222111111.
        33333333333333
        33333333333333
        ..............
        ..............
        """,
        [(1, 1, 13, 5), (4, 2, 7, 5), (0, 4, 14, 6)],
        t_junctions={(2, 0), (2, 1)},
        convexity={(1, 0)},
        ranks=(1, 2, 3),
    ),
    "at the border: two T-junctions on a bar from border to border": Scene(
        """
        ....22222222
        ....22222222
        111122222222
        111122222222
        111122222222
        111122222222
        ....22222222
        ....22222222
        """,
        [(0, 2, 7, 6), (4, 0, 12, 8)],
        t_junctions={(1, 0)},
        convexity=set(),
        ranks=(1, 2),
    ),
    "at the border: a band across a full picture makes no T-junction": Scene(
        """
        111122221111
        111122221111
        111122221111
        111122221111
        111122221111
        111122221111
        111122221111
        111122221111
        """,
        [(0, 0, 12, 8), (4, 0, 8, 8)],
        t_junctions=set(),
        convexity={(1, 0)},
        ranks=(1, 2),
    ),
    "at the border: an edge from border to border says nothing": Scene(
        """
        111122222222
        111122222222
        111122222222
        111122222222
        111122222222
        111122222222
        111122222222
        111122222222
        """,
        [(0, 0, 7, 8), (4, 0, 12, 8)],
        t_junctions=set(),
        convexity=set(),
        ranks=(1, 1),
    ),
    "aligned tops: only the lower side makes a T-junction": Scene(
        """
        ............
        .11122222...
        .11122222...
        .11122222...
        .11122222...
        ....22222...
        ....22222...
        ............
        """,
        [(1, 1, 6, 5), (4, 1, 9, 7)],
        t_junctions={(1, 0)},
        convexity=set(),
        ranks=(1, 2),
    ),
    "aligned tops and bottoms: nothing is known": Scene(
        """
        ............
        .11122222...
        .11122222...
        .11122222...
        ............
        ............
        ............
        ............
        """,
        [(1, 1, 6, 4), (4, 1, 9, 4)],
        t_junctions=set(),
        convexity=set(),
        ranks=(1, 1),
    ),
    "two that only touch a third: the label map sees a T-junction where none is": Scene(
        """
        ..........
        3333333333
        3333333333
        3333333333
        .11112222.
        .11112222.
        .11112222.
        ..........
        """,
        [(1, 4, 5, 7), (5, 4, 9, 7), (0, 1, 10, 4)],
        t_junctions=set(),
        convexity=set(),
        ranks=(1, 1, 1),
        t_junctions_in_label_map={(2, 0), (2, 1)},
        ranks_in_label_map=(1, 1, 2),
    ),
    "an edge from the border into a bar: the label map puts the bar above both": Scene(
        """
        111112222222
        111112222222
        111112222222
        333333332222
        333333332222
        333333332222
        333333332222
        333333332222
        """,
        [(0, 0, 7, 8), (5, 0, 12, 8), (0, 3, 8, 8)],
        t_junctions={(2, 1)},
        convexity={(2, 1)},
        ranks=(1, 1, 2),
        t_junctions_in_label_map={(2, 0), (2, 1)},
    ),
    "the same with one beneath the first: the label map gives another rank": Scene(
        # The fifth hides the T-junction of the second and the third. From the rectangles nothing
        # puts the fourth above the second; the label map has a T-junction of the two at (5, 5).
        """
        .11..3333333
        .11.55533333
        222255533333
        222223333333
        222223333333
        444444444333
        444444444333
        444444444333
        444444444333
        """,
        [(1, 0, 3, 4), (0, 2, 8, 9), (5, 0, 12, 9), (0, 5, 9, 9), (4, 1, 7, 3)],
        t_junctions={(1, 0), (3, 2), (4, 1), (4, 2)},
        convexity={(3, 2), (4, 1), (4, 2)},
        ranks=(1, 2, 1, 2, 3),
        t_junctions_in_label_map={(1, 0), (3, 2), (3, 1), (4, 1), (4, 2)},
        ranks_in_label_map=(1, 2, 1, 3, 3),
    ),
    "an edge from border to border, decided through a third between the two": Scene(
        """
        111133333333
        111133333333
        111133333333
        112233333333
        112233333333
        111133333333
        111133333333
        111133333333
        """,
        [(0, 0, 7, 8), (2, 3, 6, 5), (4, 0, 12, 8)],
        t_junctions={(2, 1)},
        convexity={(1, 0)},
        ranks=(1, 2, 3),
        t_junctions_in_label_map={(2, 0), (2, 1)},
    ),
    "a side in common runs beneath a third: it is the later one's": Scene(
        """
        ............
        222211111111
        222211111111
        333333333333
        333333333333
        333333333333
        333333333333
        ............
        """,
        [(4, 1, 12, 5), (0, 1, 4, 5), (0, 3, 12, 7)],
        t_junctions={(2, 1)},
        convexity=set(),
        ranks=(1, 1, 2),
        t_junctions_in_label_map={(2, 0), (2, 1)},
    ),
    "aligned with the stem, a third hides half of the bar: no T-junction": Scene(
        """
        ............
        ....11111111
        ....11111111
        333322222222
        333322222222
        333322222222
        222222222222
        ............
        """,
        [(4, 1, 12, 5), (0, 3, 12, 7), (0, 3, 4, 6)],
        t_junctions=set(),
        convexity={(2, 1)},
        ranks=(1, 1, 2),
    ),
    "aligned with stem and bar, a third ends the stem: the label map alone is misled": Scene(
        """
        ............
        ....11111111
        ....33111111
        222222222222
        222222222222
        222222222222
        222222222222
        ............
        """,
        [(4, 1, 12, 5), (0, 3, 12, 7), (4, 2, 6, 3)],
        t_junctions=set(),
        convexity={(2, 0)},
        ranks=(1, 1, 2),
        t_junctions_in_label_map={(1, 0), (1, 2)},
        ranks_in_label_map=(1, 3, 2),
    ),
}
each_scene = pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES.keys())
