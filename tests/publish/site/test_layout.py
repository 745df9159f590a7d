"""Layouts of graphs: nothing overlaps, edges go down, the order of the input is all that counts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lowdim.publish.site import layout


@st.composite
def graphs(draw: st.DrawFn) -> tuple[dict[str, float], list[layout.Edge]]:
    """Graphs without circles: an edge goes from an earlier node to a later one."""
    count = draw(st.integers(1, 14))
    names = [f"n{i}" for i in range(count)]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=30)) if pairs else []
    widths = {name: float(draw(st.integers(30, 140))) for name in names}
    return widths, edges


@settings(max_examples=30, deadline=None)
@given(graphs(), st.sampled_from([200.0, 340.0, 720.0]))
def test_nodes_do_not_overlap_and_edges_go_down(
    graph: tuple[dict[str, float], list[layout.Edge]], room: float
) -> None:
    widths, edges = graph
    made = layout.plan(widths, edges, room)
    assert set(made.corners) == set(widths) and set(made.routes) == set(edges)
    order = made.order()
    for i, a in enumerate(order):
        (x, y), right = made.corners[a], made.corners[a][0] + widths[a]
        assert x >= -0.2 and y >= 0
        assert right <= made.width + 0.2 and y + layout.HEIGHT <= made.height
        for b in order[i + 1 :]:
            beside = right <= made.corners[b][0] + 0.2 or x >= made.corners[b][0] + widths[b] - 0.2
            assert beside or made.corners[b][1] >= y + layout.HEIGHT
    for (a, b), way in made.routes.items():
        heights = [y for _, y in way]
        assert heights == sorted(heights) and len(way) % 2 == 0
        assert heights[0] == made.corners[a][1] + layout.HEIGHT
        assert heights[-1] == made.corners[b][1]


@settings(max_examples=30, deadline=None)
@given(graphs())
def test_no_edge_runs_through_a_node(
    graph: tuple[dict[str, float], list[layout.Edge]],
) -> None:
    widths, edges = graph
    made = layout.plan(widths, edges, 340)
    for way in made.routes.values():
        for x, top in way[1:-1:2]:  # where the edge passes a line
            for name, (left, y) in made.corners.items():
                assert y != top or not left < x < left + widths[name]


@settings(max_examples=30, deadline=None)
@given(graphs())
def test_a_node_stands_one_below_the_lowest_that_it_uses(
    graph: tuple[dict[str, float], list[layout.Edge]],
) -> None:
    widths, edges = graph
    rank = layout.ranks(list(widths), edges)
    for name in widths:
        used = [rank[a] for a, b in edges if b == name]
        users = [rank[b] for a, b in edges if a == name]
        assert not used or rank[name] >= max(used) + 1
        assert not users or rank[name] < min(users)


def test_the_same_graph_gives_the_same_drawing() -> None:
    widths = {name: 50.0 for name in "abcdefg"}
    edges = [("a", "d"), ("b", "d"), ("c", "e"), ("a", "e"), ("d", "f"), ("a", "g")]
    assert layout.plan(widths, edges, 300) == layout.plan(dict(widths), list(edges), 300)


def test_a_crossing_that_can_be_avoided_is_avoided() -> None:
    widths = {name: 50.0 for name in "abxy"}
    made = layout.plan(widths, [("a", "y"), ("b", "x"), ("a", "x")], 300)
    assert (made.corners["a"] < made.corners["b"]) == (made.corners["y"] < made.corners["x"])


def test_a_line_without_room_is_broken() -> None:
    widths = {name: 100.0 for name in "abcdz"}
    made = layout.plan(widths, [(name, "z") for name in "abcd"], 250)
    assert made.width <= 250
    assert len({y for name, (_, y) in made.corners.items() if name != "z"}) == 2


@pytest.mark.parametrize("wishes", [[], [1.0], [3.0, 2.0, 1.0], [1.0, 5.0, 2.0, 2.5]])
def test_rising_does_not_fall_and_keeps_the_mean(wishes: list[float]) -> None:
    found = layout.rising(wishes)
    assert found == sorted(found)
    assert sum(found) == pytest.approx(sum(wishes))
