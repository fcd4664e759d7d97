"""Join graphs: which joins are acyclic, what the tree is, what is refused."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.errors import refused
from veilset.errors import InvalidArgument
from veilset.joins.graph import Edge, JoinGraph, resolved

GOLDEN = {"T1": ["J1", "J2", "Class"], "T2": ["J1", "Age"], "T3": ["J2"]}
TABLES = "ABCDE"
COLUMNS = "xyz"
PLACES = [(table, column) for table in TABLES for column in COLUMNS]


def graph_of(joins: list[str], tables: str = "ABCDE") -> JoinGraph:
    return JoinGraph.of({table: list(COLUMNS) for table in tables}, joins)


def classes_of(pairs: list[tuple[tuple[str, str], tuple[str, str]]]) -> list[set[tuple[str, str]]]:
    """Equal columns, by merging sets until nothing changes."""
    classes = [set(pair) for pair in pairs]
    while True:
        touching = [(a, b) for a in classes for b in classes if a is not b and a & b]
        if not touching:
            return classes
        a, b = touching[0]
        classes = [c for c in classes if c is not a and c is not b] + [a | b]


def is_acyclic(tables: list[str], classes: list[set[tuple[str, str]]]) -> bool:
    """Whether GYO reduction empties the hypergraph: drop what only one table has, and tables within another."""
    edges = [{number for number, same in enumerate(classes) if any(t == table for t, _ in same)} for table in tables]
    changed = True
    while changed:
        lonely = {c for edge in edges for c in edge if sum(c in other for other in edges) == 1}
        reduced = [edge - lonely for edge in edges]
        within = next(
            (i for i, edge in enumerate(reduced) if any(edge <= o for j, o in enumerate(reduced) if j != i)), None
        )
        if within is not None:
            del reduced[within]
        changed = reduced != edges
        edges = reduced
    return not any(edges)


def is_connected(tables: list[str], pairs: list[tuple[tuple[str, str], tuple[str, str]]]) -> bool:
    reached = {tables[0]}
    for _ in tables:
        reached |= {table for (a, _), (b, _) in pairs if {a, b} & reached for table in (a, b)}
    return reached == set(tables)


@examples(1000)
@given(st.integers(1, 5), st.data())
def test_accepted_if_and_only_if_acyclic_and_connected(many, data):
    tables = list(TABLES[:many])
    place = st.sampled_from([place for place in PLACES if place[0] in tables])
    pair = st.tuples(place, place).filter(lambda pair: pair[0][0] != pair[1][0])
    pairs = data.draw(st.lists(pair, max_size=8)) if many > 1 else []
    joins = [(".".join(left), ".".join(right)) for left, right in pairs]
    columns = {table: list(COLUMNS) for table in tables}
    classes = classes_of(pairs)
    if not (is_connected(tables, pairs) and is_acyclic(tables, classes)):
        with refused(InvalidArgument):
            JoinGraph.of(columns, joins)
        return
    graph = JoinGraph.of(columns, joins)
    assert graph == JoinGraph.of(columns, [f"{left} = {right}" for left, right in joins])
    check_tree(graph, tables)
    for same in classes:
        holders = {table for table, _ in same}
        carrying = [edge for edge in graph.edges if carries(edge, same)]
        assert len(carrying) == len(holders) - 1  # in a tree: they connect the tables that have the class
        assert all({edge.left, edge.right} <= holders for edge in carrying)
        for edge in graph.edges:
            both = edge.left in holders and edge.right in holders
            assert carries(edge, same) == both  # a composite key has all that is shared


def carries(edge: Edge, same: set[tuple[str, str]]) -> bool:
    for left, right in zip(edge.left_columns, edge.right_columns, strict=True):
        ours = {(edge.left, name) for name in left}
        theirs = {(edge.right, name) for name in right}
        if ours <= same:
            assert ours == {place for place in same if place[0] == edge.left}
            assert theirs == {place for place in same if place[0] == edge.right}
            return True
    return False


def check_tree(graph: JoinGraph, tables: list[str]) -> None:
    assert graph.tables == tuple(tables)
    for start in tables:
        walk = graph.visits(start)
        assert sorted(number for _, _, number in walk) == list(range(len(tables) - 1))
        reached = [start]
        for nearer, farther, number in walk:
            assert nearer in reached
            assert farther not in reached
            assert {nearer, farther} == {graph.edges[number].left, graph.edges[number].right}
            reached.append(farther)
        assert graph.neighbours(start) == [
            (number, edge.right if edge.left == start else edge.left)
            for number, edge in enumerate(graph.edges)
            if start in (edge.left, edge.right)
        ]


def test_the_golden_example():
    graph = JoinGraph.of(GOLDEN, [("T1.J1", "T2.J1"), ("T3.J2", "T1.J2")])
    assert graph.edges == (Edge("T1", "T2", (("J1",),), (("J1",),)), Edge("T1", "T3", (("J2",),), (("J2",),)))
    assert graph.visits("T1") == [("T1", "T2", 0), ("T1", "T3", 1)]
    assert [graph.join_columns(table) for table in GOLDEN] == [{"J1", "J2"}, {"J1"}, {"J2"}]
    assert pickle.loads(pickle.dumps(graph)) == graph  # noqa: S301 - our own


def test_a_walk_is_depth_first():
    graph = graph_of(["A.x = B.x", "A.y = C.y", "B.y = D.x", "B.z = E.z"])
    assert [farther for _, farther, _ in graph.visits("A")] == ["B", "D", "E", "C"]
    assert [farther for _, farther, _ in graph.visits("D")] == ["B", "A", "C", "E"]


def test_one_table_alone():
    assert JoinGraph.of({"T": ["a"]}, []) == JoinGraph(("T",), ())
    assert JoinGraph(("T",), ()).visits("T") == []


def test_several_predicates_are_one_composite_key():
    assert graph_of(["B.y = A.x", "A.z = B.z"], "AB").edges == (Edge("A", "B", (("x",), ("z",)), (("y",), ("z",))),)


def test_predicates_that_follow_from_others_vanish():
    """Ten tables on one key: all 45 equalities make the same tree as the nine that were listed first."""
    tables = {f"T{number}": ["key"] for number in range(10)}
    star = [f"T0.key = T{number}.key" for number in range(1, 10)]
    others = [f"T{a}.key = T{b}.key" for a in range(1, 10) for b in range(a + 1, 10)]
    assert JoinGraph.of(tables, star + others) == JoinGraph.of(tables, star)


def test_of_equal_trees_the_edges_that_were_listed_first():
    chain = graph_of(["A.x = B.x", "B.x = C.x", "A.x = C.x"], "ABC")
    assert [(edge.left, edge.right) for edge in chain.edges] == [("A", "B"), ("B", "C")]
    star = graph_of(["C.x = A.x", "B.x = C.x", "A.x = B.x"], "ABC")
    assert [(edge.left, edge.right) for edge in star.edges] == [("A", "C"), ("B", "C")]


def test_several_columns_of_one_class():
    edges = graph_of(["A.x = B.x", "A.y = B.x"], "AB").edges
    assert edges == (Edge("A", "B", (("x", "y"),), (("x",),)),)
    assert str(edges[0]) == "A.x = A.y = B.x"


def test_a_triangle_that_another_table_covers_is_no_cycle():
    triangle = ["A.x = B.x", "B.y = C.y", "A.z = C.z"]
    with refused(InvalidArgument, "A – B – C – A"):
        graph_of(triangle, "ABC")
    covered = graph_of([*triangle, "D.x = A.x", "D.y = B.y", "D.z = A.z"], "ABCD")
    assert {(edge.left, edge.right, len(edge.left_columns)) for edge in covered.edges} == {
        ("A", "D", 2),
        ("B", "D", 2),
        ("C", "D", 2),
    }


def test_a_cycle_is_named_with_its_path(snapshot):
    with refused(InvalidArgument, "A – B – C – D – A", "D.z = A.z", said=snapshot):
        graph_of(["A.x = B.x", "B.y = C.y", "C.x = D.x", "D.z = A.z", "E.x = A.x"])


def test_groups_that_nothing_connects(snapshot):
    with refused(InvalidArgument, "'A', 'C'", "'B', 'D'", "'E'", said=snapshot):
        graph_of(["A.x = C.x", "B.x = D.x"])


def test_a_table_joined_to_itself_needs_a_second_name(snapshot):
    with refused(InvalidArgument, "A.x = A.y", said=snapshot):
        graph_of([("A.x", "A.y")])


@pytest.mark.parametrize(
    "join", ["P.t < S.t", "P.t <= S.t", "P.t<>S.t", "P.t ≥ S.t", "P.t != S.t", ("P.t", "<", "S.t")]
)
def test_what_is_no_equality(join):
    shown = join if isinstance(join, str) else "P.t < S.t"
    with refused(InvalidArgument, shown, "is no equality"):
        JoinGraph.of({"P": ["t", "who"], "S": ["t", "who"]}, [("P.who", "S.who"), join])


@pytest.mark.parametrize(
    ("join", "values"),
    [
        ("A.x B.x", ["A.x B.x"]),
        (("A.x", "B.x", "C.x"), ["('A.x', 'B.x', 'C.x')"]),
        (("A.x", 3), ["('A.x', 3)"]),
        (7, ["7"]),
        ("A.x = F.x", ["F", "A"]),
        ("A.x = B.xx", ["xx", "'x'"]),
        ("x = y", ["'x'"]),
    ],
)
def test_what_is_no_predicate(join, values):
    with refused(InvalidArgument, *values):
        graph_of([join])


@pytest.mark.parametrize("joins", ["A.x = B.x", None, 3])
def test_what_is_no_list_of_joins(joins):
    with refused(InvalidArgument, "joins", joins):
        graph_of(joins)


def test_no_tables():
    with refused(InvalidArgument, "tables"):
        JoinGraph.of({}, [])


def test_names_with_dots_blanks_and_equals_signs():
    columns = {"sales.2024": ["net price", "a=b"], "sales": ["id", "2024x"], "b": ["c", "net price"]}
    graph = JoinGraph.of(columns, ["sales.2024.net price = b.net price", "sales.id == b.c"])
    assert [str(edge) for edge in graph.edges] == ["sales.2024.net price = b.net price", "sales.id = b.c"]
    assert JoinGraph.of({"x": ["a=b"], "b": ["c"]}, ["x.a=b = b.c"]).edges[0].left_columns == (("a=b",),)
    assert resolved("sales.2024.a=b", columns) == ("sales.2024", "a=b")


def test_what_can_be_read_in_two_ways():
    columns = {"a": ["b.c"], "a.b": ["c"], "d": ["e"]}
    with refused(InvalidArgument, "a.b.c", "'b.c'", "'a.b'"):
        resolved("a.b.c", columns)
    with refused(InvalidArgument, "x.a = b.c = b.c"):
        JoinGraph.of({"x": ["a", "a = b.c"], "b": ["c", "c = b.c"]}, ["x.a = b.c = b.c"])
