"""The secure tree as a file, and the split lists that belong to it."""

import json
from types import SimpleNamespace

import pytest

from tests.support.errors import refused
from veilset.errors import CannotWrite, InvalidArgument, UnreadableInput
from veilset.joins.parties.secure_tree import PrivateSplit, SecureModel, check_study, kept_splits
from veilset.joins.parties.split_lists import SplitList, models, revoke
from veilset.joins.tree import Node, Split, Tree

STUDY = SimpleNamespace(hash="5" * 64, owners={"T1": "p1", "T2": "p2"}, classes=("C1", "C2"))
RUN = "a" * 32


def tree() -> Tree:
    leaves = Node((1, 3), 2), Node((2, 0), 2)
    right = Node((3, 3), 1, split=PrivateSplit("T2", number=2), gain=0.459148, children=leaves)
    root = Node((5, 3), 0, split=PrivateSplit("T1", number=0), gain=0.204434, children=(Node((2, 0), 1), right))
    return Tree(("C1", "C2"), root)


def model() -> SecureModel:
    return SecureModel.of(tree(), RUN, STUDY, True)


def plain(node: Node) -> list:
    return [(one.counts, one.gain, one.depth, one.split) for one in node.walk()]


def test_what_is_written_is_read(tmp_path):
    model().write(tmp_path)
    found = SecureModel.load(tmp_path)
    assert found == model()
    assert plain(found.tree().root) == plain(tree().root)
    assert SecureModel.is_one(tmp_path)
    assert str(found.tree().root.split) == "T1: private split 0"


WRONG = {
    "nothing": lambda content: content.clear(),
    "other kind": lambda content: content.update(kind="tree"),
    "more": lambda content: content.update(more=1),
    "no nodes": lambda content: content.update(nodes=[]),
    "loop": lambda content: content["nodes"][2].update(children=[0, 1]),
    "child twice": lambda content: content["nodes"][2].update(children=[4, 4]),
    "one child": lambda content: content["nodes"][2].update(children=[4]),
    "split of nobody": lambda content: content["nodes"][2].update(table="T9"),
    "leaf with a table": lambda content: content["nodes"][1].update(table="T1"),
    "counts of one class": lambda content: content["nodes"][1].update(counts=[2]),
    "no counts": lambda content: content["nodes"][1].update(counts=[0, 0]),
    "negative counts": lambda content: content["nodes"][1].update(counts=[2, -1]),
    "sums": lambda content: content["nodes"][1].update(counts=[2, 1]),
    "gain": lambda content: content["nodes"][0].update(gain="0.2"),
}


@pytest.mark.parametrize("what", WRONG)
def test_models_that_are_none(tmp_path, what, snapshot):
    content = json.loads(model().model_dump_json())
    WRONG[what](content)
    (tmp_path / "model.json").write_text(json.dumps(content))
    with refused(UnreadableInput, said=snapshot):
        SecureModel.load(tmp_path)


def test_no_model(tmp_path):
    assert not SecureModel.is_one(tmp_path)
    with refused(UnreadableInput):
        SecureModel.load(tmp_path / "nothing")
    (tmp_path / "model.json").write_text("[")
    assert not SecureModel.is_one(tmp_path)
    with refused(UnreadableInput):
        SecureModel.load(tmp_path)


def test_study_of_a_model():
    check_study(model(), "5" * 64)
    with refused(InvalidArgument, "5" * 16 + "…", "6" * 16 + "…"):
        check_study(model(), "6" * 64)


def test_kept_splits():
    assert kept_splits(tree().root, None)[1] == {0: "T1", 2: "T2"}
    root = Node((3, 1), 0, split=PrivateSplit("T1"), children=(Node((2, 0), 1), Node((1, 1), 1)))
    assert kept_splits(root, 0.25) == (kept_splits(root, 0.25)[0], {})


SPLITS = SplitList(
    {0: Split("T1", "age", "number", 7.5), 12: Split("T1", "job", "category", None)}, {"T1.age": "double"}
)


def test_split_lists(tmp_path):
    folder = SPLITS.write(tmp_path / "state", RUN)
    assert SplitList.read(tmp_path / "state", RUN) == SPLITS
    assert [(one.name, one.stat().st_mode & 0o777) for one in folder.iterdir()] == [("splits.json", 0o600)]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert models(tmp_path / "state") == [RUN]
    assert SplitList.read(tmp_path / "state", "b" * 32) is None
    revoke(tmp_path / "state", RUN)
    assert SplitList.read(tmp_path / "state", RUN) is None
    assert models(tmp_path / "state") == []
    with refused(InvalidArgument, repr(RUN)):
        revoke(tmp_path / "state", RUN)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"splits": {"x": {}}, "types": {}}', '{"splits": 1, "types": 2}'])
def test_split_lists_that_are_none(tmp_path, content):
    folder = SPLITS.write(tmp_path, RUN)
    (folder / "splits.json").write_text(content)
    with refused(UnreadableInput, repr(str(folder / "splits.json"))):
        SplitList.read(tmp_path, RUN)


def test_split_list_that_cannot_be_written(tmp_path):
    (tmp_path / "models").write_text("")
    with refused(CannotWrite, repr(str(tmp_path / "models"))):
        SPLITS.write(tmp_path, RUN)
