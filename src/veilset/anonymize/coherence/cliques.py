"""Cliques in the graph whose edges are the moles of two items.

Of a clique C of such moles at most one item can be kept, Σ_{v∈C} x(v) ≥ |C| − 1 for x(v) = 1 if v is suppressed. The
rows of its pairs say much less: x = ½ fulfils them all. With the rows of cliques instead of those of pairs the linear
program is often whole by itself.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_EPS = 1e-4


class Graph:
    """An undirected graph of *size* vertices as sorted lists of neighbours; *pairs* are its edges, each once."""

    def __init__(self, pairs: npt.NDArray[np.int32], size: int) -> None:
        ends = np.concatenate([pairs, pairs[:, ::-1]])
        ends = ends[np.argsort(ends[:, 0], kind="stable")]
        self._starts = np.searchsorted(ends[:, 0], np.arange(size + 1))
        self._neighbours = np.ascontiguousarray(ends[:, 1])
        self._seen = np.zeros(size, dtype=np.int64)
        self._looks = 0

    def violated_cliques(
        self, kept: npt.NDArray[np.float64], weight: npt.NDArray[np.int64], most: int
    ) -> list[npt.NDArray[np.int32]]:
        """Maximal cliques with Σ kept(v) > 1, greedily and one a vertex; none if no edge has that.

        >>> graph = Graph(np.array([[0, 1], [1, 2], [0, 2], [2, 3]], dtype=np.int32), 4)
        >>> [clique.tolist() for clique in graph.violated_cliques(np.full(4, 0.5), np.arange(4), 9)]
        [[0, 1, 2]]
        """
        found: list[npt.NDArray[np.int32]] = []
        covered = np.zeros(len(kept), dtype=bool)
        for seed in np.argsort(-kept, kind="stable"):
            if kept[seed] <= _EPS or len(found) == most:
                break
            if covered[seed]:
                continue
            around = self._around(seed)
            clique = self._grow([int(seed)], around[kept[around] > _EPS], kept)
            if kept[clique].sum() <= 1 + _EPS:
                continue
            for vertex in clique[1:]:
                around = self._common(around, vertex)
            whole = np.array(self._grow(clique, around, weight), dtype=np.int32)
            covered[whole] = True
            found.append(whole)
        return found

    def _around(self, vertex: int) -> npt.NDArray[np.int32]:
        return self._neighbours[self._starts[vertex] : self._starts[vertex + 1]]

    def _common(self, vertices: npt.NDArray[np.int32], vertex: int) -> npt.NDArray[np.int32]:
        """Those of *vertices* that are neighbours of *vertex*."""
        self._looks += 1
        self._seen[self._around(vertex)] = self._looks
        common: npt.NDArray[np.int32] = vertices[self._seen[vertices] == self._looks]
        return common

    def _grow(
        self, clique: list[int], candidates: npt.NDArray[np.int32], best: npt.NDArray[np.float64 | np.int64]
    ) -> list[int]:
        """Adds the best candidate as long as there is one."""
        clique = list(clique)
        while len(candidates):
            vertex = int(candidates[np.argmax(best[candidates])])
            clique.append(vertex)
            candidates = self._common(candidates, vertex)
        return clique
