"""Classification over a join that is never computed (thesis ch. 3)."""

from veilset.joins import generate
from veilset.joins.classifier import JoinClassifier
from veilset.joins.evaluation import Accuracy, Evaluation, Heaviest, check_folds, evaluate
from veilset.joins.graph import JoinGraph
from veilset.joins.linked import LinkedTables, Match
from veilset.joins.study import Study
from veilset.joins.tables import Csv, Query
from veilset.joins.tree import Node, Split, Tree

__all__ = [
    "Accuracy",
    "Csv",
    "Evaluation",
    "Heaviest",
    "JoinClassifier",
    "JoinGraph",
    "LinkedTables",
    "Match",
    "Node",
    "Query",
    "Split",
    "Study",
    "Tree",
    "check_folds",
    "evaluate",
    "generate",
]
