"""Class propagation: afterwards each row of each table has the class counts of the joined rows that it is part of."""

from collections import Counter

import numpy as np
from hypothesis import given

from tests.support.effort import examples
from tests.support.joins import Study, studies
from veilset.joins import JoinGraph
from veilset.joins.propagation import depth_first, propagate_classes
from veilset.joins.site import ROOT, Site
from veilset.joins.summaries import from_words


def sites_of(study: Study) -> tuple[dict[str, Site], JoinGraph]:
    linked = study.linked()
    return study.sites(linked), linked.graph


@examples(3000)
@given(studies(most_tables=6))
def test_counts_are_those_of_the_join(study: Study):
    """Formula (2) divides by the last summary that a site has sent on an edge, not by the first."""
    sites, graph = sites_of(study)
    propagate_classes(sites, graph, study.target[0])
    joined = study.joined()
    labels = [study.classes.index(label) for label in study.column(joined, *study.target)]
    for at, (name, site) in enumerate(sites.items()):
        expected: dict[int, Counter[int]] = {}
        for row, label in zip(joined, labels, strict=True):
            expected.setdefault(row[at], Counter())[label] += 1
        rows, words = site.rows_at(ROOT)
        counts = np.array(from_words(words, 1), np.int64).reshape(len(rows), site.classes)
        found = {
            row: {c: n for c, n in enumerate(one) if n} for row, one in zip(rows.tolist(), counts.tolist(), strict=True)
        }
        assert found == expected, name


@examples(200)
@given(studies(most_tables=6))
def test_at_most_three_summaries_pass_an_edge(study: Study):
    """Two in phase 1 and one in phase 2; phase 1 ends at the first visit of the last table."""
    graph = sites_of(study)[1]
    start = study.target[0]
    phase_1 = depth_first(graph, start)
    phase_2 = graph.visits(phase_1[-1][1] if phase_1 else start)
    used = Counter(edge for *_, edge in [*phase_1, *phase_2])
    assert set(used) == set(range(len(graph.edges)))
    assert max(used.values(), default=0) <= 3
    visited = [start]
    for sender, receiver, _ in phase_1:
        assert sender == visited[-1]
        visited.append(receiver)
    assert visited.count(visited[-1]) == 1
