"""Scikit-learn's manners: parameters by name, and whether something was learned."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any, Self

from veilset.errors import unknown
from veilset.joins.tree import Tree
from veilset.views import MOST_ROWS, Summary, card


class Estimator:
    """What is made by keyword arguments, each of which it keeps under its name, and learns a tree."""

    tree_: Tree

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, by name, as scikit-learn asks for them."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Self:
        """Change parameters, by name."""
        for name, value in params.items():
            if name not in self.get_params():
                raise unknown("parameter", name, self.get_params())
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = inspect.signature(type(self)).parameters
        changed = {name: value for name, value in self.get_params().items() if value != usual[name].default}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed.items())})"

    def _repr_html_(self) -> str:
        return card(self._summary())

    def _summary(self) -> Summary:
        """What a notebook shows: the parameters, and once it is trained, the size of the tree and what it asks."""
        made = repr(self)
        if not self.__sklearn_is_fitted__():
            return Summary(type(self).__name__, "not trained", notes=[made])
        shares = self.tree_.importances()
        return Summary(
            type(self).__name__,
            facts=[
                (len(self.tree_), "node(s)"),
                (self.tree_.depth, "level(s) of splits"),
                (self.tree_.root.rows, "joined row(s)"),
            ],
            notes=[made],
            head=["Column", "Share in the information gained"],
            rows=[[name, f"{share:.0%}"] for name, share in list(shares.items())[:MOST_ROWS]],
            count=len(shares),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tree_")

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of estimators. It alone calls this, so that it is there."""
        of = import_module("sklearn.utils")
        target = of.TargetTags(required=False)  # it is a column of a table
        return of.Tags(estimator_type="classifier", target_tags=target, classifier_tags=of.ClassifierTags())
