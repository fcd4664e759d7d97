"""Taxonomies: nodes are paths, labels are unique, files are checked line by line."""

import gzip
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.errors import refused
from veilset.errors import InvalidArgument, UnreadableInput
from veilset.transactions import Transactions
from veilset.transactions.taxonomy import Taxonomy

GROCERIES = """item,label,level2,level1
1,frankfurter,sausage,meat and sausage
2,sausage,sausage,meat and sausage
3,ham,sausage,meat and sausage
4,beef,beef,meat and sausage
5,dental care,dental care,perfumery
6,perfume,perfumery,perfumery
"""

# Few names, so that they clash: with each other, with the root, with the separator of labels.
names = st.sampled_from(["a", "b", "c", "ALL", "a > b", "ALL > a", "a (2)"])
trees = st.dictionaries(names | st.integers(0, 20).map(str), st.lists(names, max_size=4), min_size=1)


def write(folder, text, name="tree.csv"):
    path = folder / name
    path.write_bytes(text.encode())
    return path


def path_of(taxonomy, node):
    return tuple(taxonomy.names[at] for at in (*taxonomy.ancestors(node)[::-1], node))


class TestTree:
    @given(trees)
    def test_nodes_are_paths(self, paths):
        leaf_paths = {item: ("ALL", *groups[::-1], item) for item, groups in paths.items()}
        groups = {path[:end] for path in leaf_paths.values() for end in range(1, len(path))}
        if groups & set(leaf_paths.values()):
            with refused(InvalidArgument, "item", "group"):
                Taxonomy.from_paths(paths)
            return
        taxonomy = Taxonomy.from_paths(paths)
        nodes = [path_of(taxonomy, node) for node in range(len(taxonomy))]
        assert sorted(nodes) == sorted(groups | set(leaf_paths.values()))
        assert nodes[taxonomy.root] == ("ALL",)
        assert [nodes[i] for i in range(len(taxonomy.leaves))] == [leaf_paths[leaf] for leaf in taxonomy.leaves]
        assert taxonomy.depth == max(map(len, nodes)) - 1
        for node, path in enumerate(nodes):
            below = {leaf for leaf, whole in leaf_paths.items() if whole[: len(path)] == path}
            assert taxonomy.leaves_under(node) == tuple(leaf for leaf in taxonomy.leaves if leaf in below)
            assert {nodes[child] for child in taxonomy.children(node)} == {
                other for other in nodes if other[:-1] == path
            }
            assert all(taxonomy.parent(child) == node and child < node for child in taxonomy.children(node))

    @given(trees)
    def test_labels_are_unique_and_short_where_they_can_be(self, paths):
        try:
            taxonomy = Taxonomy.from_paths(paths)
        except InvalidArgument:
            return
        labels = [taxonomy.label(node) for node in range(len(taxonomy))]
        assert len(set(labels)) == len(labels)
        assert [taxonomy.node(label) for label in labels] == list(range(len(taxonomy)))
        for name, label in zip(taxonomy.names, labels, strict=True):
            assert label == name or taxonomy.names.count(name) > 1
        assert [taxonomy.leaf(leaf) for leaf in taxonomy.leaves] == list(range(len(taxonomy.leaves)))

    @given(trees, st.randoms())
    def test_round_trip_in_any_order(self, paths, random):
        try:
            taxonomy = Taxonomy.from_paths(paths)
        except InvalidArgument:
            return
        assert taxonomy.to_paths() == paths
        shuffled = list(paths.items())
        random.shuffle(shuffled)
        again = Taxonomy.from_paths(dict(shuffled))
        assert again == taxonomy
        assert hash(again) == hash(taxonomy)

    def test_whole_paths_that_read_alike_are_numbered(self):
        taxonomy = Taxonomy.from_paths({"x": ["b", "a"], "y": ["a > b"], "b": ["c"], "ALL > a > b": ["d"]})
        above = [taxonomy.label(taxonomy.ancestors(taxonomy.leaf(item))[0]) for item in ("x", "y")]
        assert above == ["ALL > a > b (2)", "a > b"]
        assert taxonomy.node("ALL > a > b") == taxonomy.leaf("ALL > a > b")

    def test_unary_chains_stay(self):
        taxonomy = Taxonomy.from_paths({"x": ["x", "x"]})
        assert [taxonomy.label(node) for node in range(len(taxonomy))] == ["x > x > x", "ALL > x > x", "ALL > x", "ALL"]

    def test_differences_show(self):
        one = Taxonomy.from_paths({"a": ["x"], "b": ["y"]})
        assert one != Taxonomy.from_paths({"a": ["y"], "b": ["x"]})
        assert one != "a tree"

    def test_pickling(self):
        """With the labels that it had: those of a larger tree stay."""
        tree = Taxonomy.from_paths({"a": ["x", "g"], "c": ["g"], "x": ["h"]}).without(["x"])
        again = pickle.loads(pickle.dumps(tree))  # noqa: S301 - our own
        assert again == tree
        assert [again.label(node) for node in range(len(again))] == [tree.label(node) for node in range(len(tree))]
        assert not again.parents.flags.writeable

    def test_immutable(self):
        taxonomy = Taxonomy.from_paths({"a": []})
        with refused(AttributeError, "immutable"):
            taxonomy.leaves = ()
        with refused(ValueError, "read-only"):
            taxonomy.parents[0] = 0
        with refused(TypeError, "from_paths"):
            Taxonomy()

    @pytest.mark.parametrize(
        ("paths", "named"),
        [
            ({}, ("items",)),
            ({"a": "food"}, ("'a'", "'food'")),
            ({"a": [""]}, ("empty",)),
            ({"": ["food"]}, ("empty",)),
            ({1: ["food"], "1": ["food"]}, ("'1'",)),
            ({"a": [None]}, ("None",)),
            ({"a": ["x\0"]}, ("file",)),
            ({"a\ud800": ["x"]}, ("file",)),
        ],
    )
    def test_wrong_paths(self, paths, named, snapshot):
        with refused(InvalidArgument, *named, said=snapshot):
            Taxonomy.from_paths(paths)

    @pytest.mark.parametrize("node", [-1, 3, "a", True, None])
    def test_unknown_nodes(self, node):
        taxonomy = Taxonomy.from_paths({"a": ["x"]})
        for question in (taxonomy.parent, taxonomy.children, taxonomy.ancestors, taxonomy.label, taxonomy.leaves_under):
            with refused(InvalidArgument, "node"):
                question(node)

    def test_unknown_labels_and_leaves(self):
        taxonomy = Taxonomy.from_paths({"sausage": ["sausage"], "milk": ["dairy"]})
        with refused(InvalidArgument, "'dariy'", "'dairy'"):
            taxonomy.node("dariy")
        with refused(InvalidArgument, "'sausage > sausage'", "'ALL > sausage'"):
            taxonomy.node("sausage")
        with refused(InvalidArgument, "'milk'"):
            taxonomy.leaf("mlik")


class TestFanOut:
    @given(st.integers(1, 300), st.integers(2, 6))
    def test_shape(self, count, n):
        taxonomy = Taxonomy.by_fan_out(range(count), n)
        assert taxonomy.leaves == tuple(map(str, range(count)))
        for node in range(count, len(taxonomy)):
            assert min(2, count) <= len(taxonomy.children(node)) <= n
            under = [int(leaf) for leaf in taxonomy.leaves_under(node)]
            assert under == list(range(under[0], under[-1] + 1))
            assert taxonomy.label(node) == ("ALL" if node == taxonomy.root else f"{under[0]}..{under[-1]}")
        # The smallest depth at which a tree of this fan-out has room for all.
        assert taxonomy.depth == next(depth for depth in range(1, 10) if n**depth >= count)

    def test_public_items_in_vocabulary_order(self):
        data = Transactions.from_lists([[10, 9, 2], [1, 9]], sensitive=[9])
        taxonomy = Taxonomy.by_fan_out(data, 2)
        assert taxonomy.leaves == ("1", "2", "10")
        assert taxonomy.check(data) == ()
        assert taxonomy == Taxonomy.by_fan_out(["10", "1", "2"], 2)

    def test_names_like_ranges(self):
        taxonomy = Taxonomy.by_fan_out(["1", "1..2", "2", "3"], 2)
        assert len({taxonomy.label(node) for node in range(len(taxonomy))}) == len(taxonomy)

    def test_many_leaves(self):
        taxonomy = Taxonomy.by_fan_out(range(100_000), 10)
        assert (len(taxonomy), taxonomy.depth) == (111_111, 5)
        assert len(taxonomy.leaves_under(taxonomy.node("0..9999"))) == 10_000

    @pytest.mark.parametrize("n", [1, 0, -3, 2.0, True, None])
    def test_wrong_fan_out(self, n):
        with refused(InvalidArgument, "fan-out"):
            Taxonomy.by_fan_out(["a", "b"], n)

    @pytest.mark.parametrize(("items", "named"), [([], "items"), (["a", "a"], "'a'"), ("abc", "'abc'")])
    def test_wrong_items(self, items, named):
        with refused(InvalidArgument, named):
            Taxonomy.by_fan_out(items, 2)


class TestRead:
    def test_labels_clash_as_in_groceries(self, tmp_path):
        taxonomy = Taxonomy.read(write(tmp_path, GROCERIES), columns=("label", "level2", "level1"))
        assert taxonomy.leaves == ("beef", "dental care", "frankfurter", "ham", "perfume", "sausage")
        sausage = taxonomy.leaf("sausage")
        assert taxonomy.label(sausage) == "sausage > sausage"
        category = taxonomy.node("meat and sausage > sausage")
        assert taxonomy.parent(sausage) == category
        assert taxonomy.leaves_under(category) == ("frankfurter", "ham", "sausage")
        assert taxonomy.node("ALL > perfumery") == taxonomy.parent(taxonomy.node("perfumery > perfumery"))
        assert repr(taxonomy).startswith("<Taxonomy: 6 items, 13 nodes, 3 levels>\n")

    def test_all_columns_compressed_and_with_carriage_returns(self, tmp_path):
        text = "item,kind\r\nmilk,food\r\n\r\nsoap,household\r\n"
        plain = Taxonomy.read(write(tmp_path, text))
        path = tmp_path / "tree.csv.gz"
        path.write_bytes(gzip.compress(text.encode()))
        tabs = write(tmp_path, text.replace(",", "\t"), "tree.tsv")
        assert plain == Taxonomy.read(path) == Taxonomy.read(tabs)
        assert plain.to_paths() == {"milk": ["food"], "soap": ["household"]}

    @pytest.mark.parametrize(
        ("paths", "text"),
        [
            ({"a, b": ["x"], "b": ["y", "x"], "c": []}, 'item,level2,level1\n"a, b",x,\nb,y,x\nc,,\n'),
            ({"a": []}, "item,level1\na,\n"),
        ],
    )
    def test_uneven_trees_have_empty_cells_at_the_end(self, tmp_path, paths, text):
        Taxonomy.from_paths(paths).write(tmp_path / "tree.csv")
        assert (tmp_path / "tree.csv").read_text() == text
        assert Taxonomy.read(tmp_path / "tree.csv").to_paths() == paths

    def test_encoding(self, tmp_path):
        path = tmp_path / "tree.csv"
        path.write_bytes("item,kind\nbrötchen,bäckerei\n".encode("latin-1"))
        assert Taxonomy.read(path, encoding="latin-1").to_paths() == {"brötchen": ["bäckerei"]}

    @pytest.mark.parametrize(
        ("text", "named"),
        [
            ("item,kind\na,x\nb,y\na,z\n", ("line 4", "'a'", "line 2")),
            ("item,kind,top\n\na,x,y\n\nb,,z\n", ("line 5", "'kind'")),
            ("item,kind\na,x\n,y\n", ("line 3", "'item'")),
            ("item,kind\na,x\nb,y,z\n", ("line 3", "2 columns", 3)),
            ("item,kind\na,x\nb\n", ("line 3", "2 columns", 1)),
            ('item,kind\n"a\nb",x\n,y\n', ("line 4", "'item'")),
            ('item,kind\n"a\r\nb",x\r\n,y\r\n', ("line 4", "'item'")),
            ("item,kind\na,x\n,\n", ("line 3", "'item'")),
            ("item,kind,top\nb,x,\nx,,\n", ("line 3", "'x'", "line 2")),
            ('item,kind\na,"x\n', ("line 2", "quote")),
            ("item,kind\n", ("line 1",)),
            ("item;kind\na;x\n", ("line 1", "'item;kind'")),
            ("item,kind,kind\na,x,y\n", ("line 1", "'kind'", "twice")),
            ("", ("empty",)),
        ],
    )
    def test_errors_name_the_line(self, tmp_path, text, named, snapshot):
        with refused(UnreadableInput, *named) as caught:
            Taxonomy.read(write(tmp_path, text))
        assert str(caught.value) == snapshot
        assert caught.value.next_step

    def test_unknown_column(self, tmp_path):
        with refused(InvalidArgument, "'levle2'", "'label'", "'level2'"):
            Taxonomy.read(write(tmp_path, GROCERIES), columns=("label", "levle2"))

    @pytest.mark.parametrize("columns", ["label", ("label",), ("label", "label"), ()])
    def test_wrong_columns(self, tmp_path, columns):
        with refused(InvalidArgument, "columns"):
            Taxonomy.read(write(tmp_path, GROCERIES), columns=columns)

    def test_missing_file(self, tmp_path):
        with refused(UnreadableInput, "nothing.csv'"):
            Taxonomy.read(tmp_path / "nothing.csv")


class TestCheck:
    def test_notes(self, snapshot):
        taxonomy = Taxonomy.by_fan_out(["a", "b", "c", "d", "e", "f", "s", "t"], 2)
        data = Transactions.from_lists([["a", "s", "t"]], sensitive=["s", "t"])
        assert taxonomy.check(data) == snapshot

    def test_public_items_without_a_leaf(self):
        taxonomy = Taxonomy.from_paths({"milk": ["dairy"], "bread": ["bakery"]})
        data = Transactions.from_lists([["mlik", "bread", "x", "y", "z"]])
        with refused(InvalidArgument, 4, 5, "'mlik'", "'x'", "'y'", "'milk'"):
            taxonomy.check(data)

    def test_a_group_is_no_leaf(self):
        taxonomy = Taxonomy.from_paths({"milk": ["dairy"]})
        with refused(InvalidArgument, 1, "'dairy'"):
            taxonomy.check(Transactions.from_lists([["dairy"]]))

    def test_nothing_comes_close(self):
        with refused(InvalidArgument, "taxonomy"):
            Taxonomy.from_paths({"milk": ["dairy"]}).check(Transactions.from_lists([["xyz"]]))


class TestPruning:
    @given(trees, st.data())
    def test_what_stays_is_as_before(self, paths, data):
        try:
            taxonomy = Taxonomy.from_paths(paths)
        except InvalidArgument:
            return
        gone = data.draw(st.sets(st.sampled_from(taxonomy.leaves)))
        pruned = taxonomy.without(gone)
        assert pruned.to_paths() == {item: groups for item, groups in paths.items() if item not in gone}
        before = {path_of(taxonomy, node): taxonomy.label(node) for node in range(len(taxonomy))}
        for node in range(len(pruned)):
            assert pruned.label(node) == before[path_of(pruned, node)]
            assert pruned.node(pruned.label(node)) == node
            assert node == pruned.root or pruned.leaves_under(node)

    def test_names_that_become_integers_are_sorted_as_such(self):
        taxonomy = Taxonomy.from_paths({"10": ["x"], "9": ["y"], "a": ["x"]})
        pruned = taxonomy.without(["a"])
        assert pruned.leaves == ("9", "10")
        assert pruned == Taxonomy.from_paths({"9": ["y"], "10": ["x"]})

    def test_only_sensitive_items_go(self):
        taxonomy = Taxonomy.from_paths({"cure": ["cure"], "pill": ["cure"], "ale": ["drinks"], "rum": ["drinks"]})
        data = Transactions.from_lists([["ale", "cure", "flu"], ["pill"]], sensitive=["cure", "flu"])
        pruned = taxonomy.pruned(data)
        assert pruned.leaves == ("ale", "pill", "rum")
        # Not "cure", which is an item of the data.
        assert pruned.label(pruned.ancestors(pruned.leaf("pill"))[0]) == "ALL > cure"

    def test_nothing_may_be_left(self, tmp_path):
        pruned = Taxonomy.from_paths({"a": ["x"]}).without(["a"])
        assert (len(pruned), pruned.leaves, pruned.depth) == (1, (), 0)
        with refused(InvalidArgument, "items"):
            pruned.write(tmp_path / "tree.csv")

    def test_unknown_items(self):
        taxonomy = Taxonomy.from_paths({"milk": ["dairy"]})
        with refused(InvalidArgument, "'mlik'", "'milk'"):
            taxonomy.without(["mlik"])
        with refused(InvalidArgument, "list"):
            taxonomy.without("milk")
