"""What tests of audits on engines share: generated data, and how their answers are compared."""

import numpy as np

from veilset import generate


def longest(data):
    return max(1, int(data.only(data.public).lengths.max(initial=0)))


def takes_another_way(data, promise):
    """Whether the local auditor may decide by whole rows."""
    return promise.p is None or promise.p >= longest(data) or (promise.p > 2 and not data.sensitive)


def point_of_sale(transactions):
    """Few items in most baskets, many in few; two of those in between are sensitive."""
    data = generate.pos_like(transactions=transactions, items=60, average_length=5, maximum_length=12, random_state=5)
    by_support = np.argsort(data.supports)
    return data.with_sensitive([data.names[code] for code in by_support[[20, 40]]])
