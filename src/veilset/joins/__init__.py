"""Classification over a join that is never computed (thesis ch. 3)."""

from veilset.joins import generate
from veilset.joins.classifier import JoinClassifier
from veilset.joins.evaluation import CrossValidation, Evaluation, Heaviest, Sharing, check_folds, evaluate
from veilset.joins.graph import JoinGraph
from veilset.joins.linked import LinkedTables, Match
from veilset.joins.study import Study
from veilset.joins.tables import Csv, Query
from veilset.joins.tree import Node, Split, Tree
from veilset.joins.trials import Accuracy

__all__ = [
    "Accuracy",
    "CrossValidation",
    "Csv",
    "Evaluation",
    "Heaviest",
    "JoinClassifier",
    "JoinGraph",
    "LinkedTables",
    "Match",
    "Node",
    "Query",
    "Sharing",
    "Split",
    "Study",
    "Tree",
    "check_folds",
    "evaluate",
    "generate",
]
