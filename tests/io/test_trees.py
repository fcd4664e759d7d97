"""Trees in files: four forms, one meaning; every error names the line, or the place in the tree."""

import gzip
import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.errors import refused
from veilset.errors import InvalidArgument, UnreadableInput
from veilset.io.trees import TREE_KINDS, check_tree_name, read_tree, write_tree

SHOP = {"milk": ("dairy", "food"), "brie": ("dairy", "food"), "rye": ("food",), "soap": ()}
FORMS = {
    "paths.csv": "item,level2,level1\nmilk,dairy,food\nbrie,dairy,food\nrye,food,\nsoap,,\n",
    "edges.csv": "child,parent\nmilk,dairy\nbrie,dairy\ndairy,food\nrye,food\nsoap,\n",
    "root.tsv": "child\tparent\nmilk\tdairy\nbrie\tdairy\ndairy\tfood\nrye\tfood\nsoap\tALL\nfood\tALL\nALL\t\n",
    "lines.txt": "milk;dairy;food;*\r\n\nbrie; dairy ;food;*\n rye;food;*\nsoap;*",
    "nested.json": '{"food": {"dairy": ["milk", "brie"], "rye": {}}, "soap": null}',
    "lists.json": '{"food": {"dairy": {"milk": null, "brie": []}, "rye": []}, "soap": []}',
    "named.json": """{"name": "shop", "children": ["soap", {"name": "food", "children": [{"name": "rye"},
        {"name": "dairy", "children": ["milk", {"name": "brie", "children": []}]}]}]}""",
}

names = st.text(st.sampled_from("ab ,;*\t\"\r\né>\ufeff\u2028'"), min_size=1, max_size=3) | st.just("ALL")
trees = st.dictionaries(names, st.lists(names, max_size=3).map(tuple), min_size=1, max_size=6)


def write(folder, text, name):
    path = folder / name
    path.write_bytes(text.encode())
    return path


def is_tree(paths):
    """No item stands where a group stands."""
    groups = {whole[at:] for whole in paths.values() for at in range(len(whole))}
    return not any((item, *above) in groups for item, above in paths.items())


class TestForms:
    @pytest.mark.parametrize("name", FORMS)
    def test_one_meaning(self, tmp_path, name):
        path = write(tmp_path, FORMS[name], name)
        assert read_tree(path) == SHOP
        for end, pack in ((".gz", gzip.compress), (".zst", pa.Codec("zstd").compress), (".GZ", gzip.compress)):
            packed = tmp_path / f"{name}{end}"
            packed.write_bytes(pack(path.read_bytes()))
            assert read_tree(packed) == SHOP

    @pytest.mark.parametrize(
        ("name", "kind"),
        [("paths.csv", "paths"), ("edges.csv", "edges"), ("lines.txt", "lines"), ("named.json", "json")],
    )
    def test_the_kind_overrides_the_name(self, tmp_path, name, kind):
        assert read_tree(write(tmp_path, FORMS[name], "tree.dat"), kind=kind) == SHOP

    def test_a_table_of_paths_with_the_header_of_edges(self, tmp_path):
        path = write(tmp_path, "child,parent\na,b\nb,c\n", "tree.csv")
        assert read_tree(path) == {"a": ("b", "c")}
        assert read_tree(path, kind="paths") == {"a": ("b",), "b": ("c",)}

    def test_columns(self, tmp_path):
        path = write(tmp_path, "up,note,down\nfood,x,milk\nfood,y,rye\n", "tree.csv")
        assert read_tree(path, columns=("down", "up")) == {"milk": ("food",), "rye": ("food",)}
        assert read_tree(path, columns=("down", "up"), kind="edges") == {"milk": ("food",), "rye": ("food",)}
        turned = write(tmp_path, "child,parent\nfood,milk\n", "turned.csv")
        assert read_tree(turned, columns=("parent", "child")) == {"milk": ("food",)}

    def test_other_headers_of_edges(self, tmp_path):
        assert read_tree(write(tmp_path, "down,up\na,b\nb,c\n", "tree.csv"), kind="edges") == {"a": ("b", "c")}

    def test_unary_chains_and_names_with_commas(self, tmp_path):
        text = "55267;55267,55283;55267,55283;*\n55283;55267,55283;55267,55283;*\n"
        twice = ("55267,55283", "55267,55283")
        assert read_tree(write(tmp_path, text, "tree.txt")) == {"55267": twice, "55283": twice}

    def test_ids_in_json_may_be_numbers(self, tmp_path):
        huge = "9" * 5000
        text = f'{{"drinks": [1, "2", {huge}]}}'
        assert read_tree(write(tmp_path, text, "tree.json")) == dict.fromkeys(("1", "2", huge), ("drinks",))

    def test_top_groups_called_name_and_children(self, tmp_path):
        path = write(tmp_path, '{"name": ["a"], "children": ["b"]}', "tree.json")
        assert read_tree(path) == {"a": ("name",), "b": ("children",)}

    def test_an_item_called_all(self, tmp_path):
        path = write(tmp_path, "child,parent\nALL,food\nmilk,food\n", "tree.csv")
        assert read_tree(path) == {"ALL": ("food",), "milk": ("food",)}

    def test_encoding(self, tmp_path):
        for name, text in (("tree.txt", "brötchen;bäckerei;*"), ("tree.json", '{"bäckerei": ["brötchen"]}')):
            path = tmp_path / name
            path.write_bytes(text.encode("latin-1"))
            assert read_tree(path, encoding="latin-1") == {"brötchen": ("bäckerei",)}

    @given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef") | st.just("")), min_size=1))
    def test_edges_by_definition(self, tmp_path_factory, edges):
        path = write(
            tmp_path_factory.getbasetemp(), "child,parent\n" + "".join(f"{a},{b}\n" for a, b in edges), "some.csv"
        )
        above = dict(edges)

        def groups(node, steps=7):
            return () if not above.get(node) or not steps else (above[node], *groups(above[node], steps - 1))

        if len(above) < len(edges):
            with refused(UnreadableInput, "below"):
                read_tree(path)
        elif any(len(groups(node)) == 7 for node in above):
            with refused(UnreadableInput, "cycle"):
                read_tree(path)
        else:
            assert read_tree(path) == {node: groups(node) for node in above if node not in above.values()}

    def test_long_chains(self, tmp_path):
        many = 20_000
        chain = "child,parent\n" + "".join(f"{i},{i + 1}\n" for i in range(many))
        assert len(read_tree(write(tmp_path, chain, "tree.csv"))["0"]) == many
        line = ";".join(map(str, range(many))) + ";*\n"
        assert len(read_tree(write(tmp_path, line, "tree.txt"))["0"]) == many - 1


class TestErrors:
    @pytest.mark.parametrize(
        ("name", "text", "named"),
        [
            ("tree.csv", "child,parent\n", ("line 1",)),
            ("tree.csv", "child,parent\na,b\n,c\n", ("line 3", "'child'")),
            ("tree.csv", "child,parent\na,b\nb,c\na,c\n", ("line 4", "'a'", "'c'", "'b'", "line 2")),
            ("tree.csv", "child,parent\na,\na,b\n", ("line 3", "'a'", "'b'", "'ALL'", "line 2")),
            ("tree.csv", "child,parent\na,b\na,b\n", ("line 3", "'a'", "'b'", "line 2")),
            ("tree.csv", "child,parent\nx,a\na,b\nb,a\n", ("line 3", "'a' → 'b' → 'a'")),
            ("tree.csv", "child,parent\na,a\n", ("line 2", "'a' → 'a'")),
            ("tree.csv", "child,parent\nALL,\n", ("'ALL'",)),
            ("tree.csv", "child,parent\na\n", ("line 2", "2 columns", 1)),
            ("tree.txt", "a;b;*\nc;b\n", ("line 2", "'b'", "'*'")),
            ("tree.txt", "a;b;*\n\na;c;*\n", ("line 3", "'a'", "line 1")),
            ("tree.txt", "a;;b;*\n", ("line 1", "cell 2")),
            ("tree.txt", ";b;*\n", ("line 1", "cell 1")),
            ("tree.txt", "a;*;b;*\n", ("line 1", "cell 2", "'*'")),
            ("tree.txt", "a;b;*\n*\n", ("line 2",)),
            ("tree.txt", "a;b;*\nb;*\n", ("line 2", "'b'", "line 1")),
            ("tree.txt", "\n \n", ("empty",)),
            ("tree.txt", "", ("empty",)),
            ("tree.json", '{"a": [\n"b",\n]}', ("column",)),
            ("tree.json", "[1]", ("list", "object")),
            ("tree.json", '"a"', ('"a"', "object")),
            ("tree.json", "{}", ("no item",)),
            ("tree.json", '{"name": "ALL"}', ("no item",)),
            ("tree.json", '{"f": {"a": null, "a": []}}', ("'f'", "'a'", "twice")),
            ("tree.json", '{"f": ["a", "a"]}', ("'f'", "'a'", "twice")),
            ("tree.json", '{"f": ["a"], "g": {"h": ["a"]}}', ("'g' > 'h' > 'a'", "'f' > 'a'")),
            ("tree.json", '{"f": "a"}', ("'f'", '"a"')),
            ("tree.json", '{"f": true}', ("'f'", "true")),
            ("tree.json", '{"f": [1.5]}', ("'f'", "1.5")),
            ("tree.json", '{"f": [{"g": null}]}', ("'f'", "object")),
            ("tree.json", '{"f": [["g"]]}', ("'f'", "list")),
            ("tree.json", '{"f": [""]}', ("'f'", '""')),
            ("tree.json", '{"": ["f"]}', ("root", '""')),
            ("tree.json", '{"f": ["\\u0000"]}', ("items",)),
            ("tree.json", '{"f": ["\\ud800"]}', ("items",)),
            ("tree.json", '{"name": "x", "size": 3}', ("root", "'name', 'size'")),
            ("tree.json", '{"name": "x", "name": "y"}', ("root", "'name', 'name'")),
            ("tree.json", '{"name": "x", "children": {"a": null}}', ("root", "children", "object")),
            ("tree.json", '{"name": "x", "children": [null]}', ("root", "children", "null")),
            ("tree.json", '{"name": "x", "children": [{"children": ["a"]}]}', ("root", "null")),
            ("tree.json", '{"name": "x", "children": ["a", {"name": "a", "children": ["b"]}]}', ("'a'", "twice")),
            ("tree.json", '{"a":' * 300 + "null" + "}" * 300, (200,)),
            ("tree.json", '{"a":' * 100_000, (200,)),
        ],
    )
    def test_the_place_is_named(self, tmp_path, name, text, named, snapshot):
        with refused(UnreadableInput, *named) as caught:
            read_tree(write(tmp_path, text, name))
        assert str(caught.value) == snapshot
        assert name in caught.value.what
        assert caught.value.next_step

    def test_edges_need_two_columns(self, tmp_path):
        path = write(tmp_path, "a,b,c\nx,y,z\n", "tree.csv")
        with refused(UnreadableInput, "'a', 'b', 'c'", "columns"):
            read_tree(path, kind="edges")

    @pytest.mark.parametrize("name", ["lines.txt", "nested.json"])
    def test_columns_of_what_has_none(self, tmp_path, name):
        with refused(InvalidArgument, "columns"):
            read_tree(write(tmp_path, FORMS[name], name), columns=("a", "b"))

    def test_names_that_say_nothing(self, tmp_path):
        for name in ("tree", "tree.dat", "tree.gz", "csv"):
            with refused(InvalidArgument, ".csv"):
                read_tree(write(tmp_path, "x", name))
            with refused(InvalidArgument, "kind"):
                check_tree_name(name)
        with refused(InvalidArgument, "'path'", "'paths'"):
            read_tree(tmp_path / "tree.csv", kind="path")


class TestWriting:
    @pytest.mark.parametrize("kind", TREE_KINDS)
    @given(trees.filter(is_tree))
    def test_what_is_written_reads_back(self, tmp_path_factory, kind, paths):
        path = tmp_path_factory.getbasetemp() / f"written-{kind}.gz"
        path.unlink(missing_ok=True)
        nodes = {
            whole[at:] for item, groups in paths.items() for whole in [(item, *groups)] for at in range(len(whole))
        }
        all_names = [node[0] for node in nodes]
        impossible = {
            "edges": len({*all_names, "ALL"}) < len(all_names) + 1,
            "lines": any(
                name == "*" or set(name) & set(";\r\n") or name.strip(" \t\ufeff") != name for name in all_names
            ),
        }
        if impossible.get(kind):
            with refused(InvalidArgument, "kind"):
                write_tree(path, paths, kind=kind)
            assert not path.exists()
            return
        write_tree(path, paths, kind=kind)
        assert read_tree(path, kind=kind) == paths

    @pytest.mark.parametrize(
        ("name", "kind", "text"),
        [
            ("tree.csv", None, FORMS["paths.csv"]),
            ("tree.tsv", None, FORMS["paths.csv"].replace(",", "\t")),
            ("tree.csv", "edges", "child,parent\nmilk,dairy\ndairy,food\nfood,ALL\nbrie,dairy\nrye,food\nsoap,ALL\n"),
            ("tree.txt", None, "milk;dairy;food;*\nbrie;dairy;food;*\nrye;food;*\nsoap;*\n"),
        ],
    )
    def test_forms_as_written(self, tmp_path, name, kind, text):
        write_tree(tmp_path / name, SHOP, kind=kind)
        assert (tmp_path / name).read_text() == text
        assert read_tree(tmp_path / name) == SHOP

    @pytest.mark.parametrize("name", ["tree.csv.gz", "tree.tsv.zst", "tree.txt.zst", "tree.json.gz"])
    def test_packed(self, tmp_path, name):
        write_tree(tmp_path / name, SHOP)
        assert (tmp_path / name).read_bytes()[:2] in (b"\x1f\x8b", b"\x28\xb5")
        assert read_tree(tmp_path / name) == SHOP

    def test_json_as_written(self, tmp_path):
        write_tree(tmp_path / "tree.json", SHOP)
        written = json.loads((tmp_path / "tree.json").read_text())
        assert written == {"food": {"dairy": ["milk", "brie"], "rye": None}, "soap": None}

    def test_what_json_cannot_hold(self, tmp_path):
        write_tree(tmp_path / "tree.json", {"x": tuple(map(str, range(199)))})
        assert len(read_tree(tmp_path / "tree.json")["x"]) == 199
        with refused(InvalidArgument, 201):
            write_tree(tmp_path / "deeper.json", {"x": tuple(map(str, range(200)))})

    def test_a_tree_without_items(self, tmp_path):
        for kind in TREE_KINDS:
            with refused(InvalidArgument, "items"):
                write_tree(tmp_path / "tree", {}, kind=kind)
