"""``select-a-size``, the baseline that falsifies data (Cao et al. 2010 §6, "A comparison to ρ1-to-ρ2 privacy").

**It promises nothing and is never certified.** Each item of a transaction t is deleted with probability β, and each
other item is added with probability β; the paper hopes for ρ-uncertainty "in expectation" at β = 1 - ρ. Deleting each
item by itself is the paper's default choice of sizes, p[j] = C(|t|, j) β^(|t|-j) (1-β)^j.

What it costs is measured as the paper does: each item that is missing from t', the noisy t, counts IL_n of the lowest
node n above all items that were added or deleted, in a tree over *all* items, divided by the number of all
occurrences. Added items count nothing by themselves. What the paper leaves open is decided like this:

- IL_n = |leaves(n)| / |items|, where both count items that occur, as for the other methods.
- A leaf has no leaves (§3.2), so an item that is missing while nothing else changed costs nothing. That favours the
  baseline, and hardly ever happens unless β is tiny.
- The paper has one tree, of which the other methods see what is left without sensitive items. Here both may be made by
  fan-out, each over its own items: groups then differ a little.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
import numpy.typing as npt

from veilset import _native
from veilset.anonymize.chance import Share, odds_of, probability, seed_of
from veilset.anonymize.options import RandomState, TaxonomyOption
from veilset.errors import InvalidArgument, near_misses
from veilset.limits import Limits
from veilset.models import RhoUncertainty
from veilset.options import Option
from veilset.release import Release
from veilset.transactions import Taxonomy, TaxonomyLike, Transactions, row_blocks, taxonomy_of

_BLOCK = 1 << 20  # occurrences that are compared at once


@dataclass(frozen=True, repr=False)
class NoisyRelease(Release):
    """A release in which items were added and deleted at random, of which no list of edits can give an account.

    So it is **never certified**, even if nothing happened to change. *noise* is what it costs: an average loss.
    """

    noise: float = 0.0

    def __post_init__(self) -> None:
        why = "Items were added and deleted at random, so no list of edits can describe the changes."
        object.__setattr__(self, "discrepancy", why)

    @property
    def own_loss(self) -> float:
        """The average loss as it was measured."""
        return self.noise

    @property
    def loss(self) -> float:
        """The share of all item occurrences of the original that are gone."""
        before = len(self.original.items)
        return 1 - int(self.survivors().sum()) / before if before else 0.0

    def survivors(self) -> npt.NDArray[np.int64]:
        """For each item of the original, how many transactions hold it before and after."""
        original, noisy = self.original, self.custodian_data
        rows = np.setdiff1d(np.arange(len(original)), np.array(self.withheld, dtype=np.int64))
        code = original.codes(noisy.names)
        width, there = len(original.names), np.zeros(len(original.names), dtype=np.int64)
        for first, last in row_blocks(noisy.offsets, _BLOCK):
            before = original.take(rows[first:last])
            numbers = np.repeat(np.arange(last - first), before.lengths)
            held = numbers * width + original.codes(before.names)[before.items]
            now = np.repeat(np.arange(last - first), np.diff(noisy.offsets[first : last + 1])) * width
            now += code[noisy.items[noisy.offsets[first] : noisy.offsets[last]]]
            there += np.bincount(held[np.isin(held, now, assume_unique=True)] % width, minlength=width)
        return there


def select_a_size(
    data: Transactions,
    promise: RhoUncertainty,
    /,
    *,
    beta: Annotated[
        Share | None,
        Option("share", "Probability that an item is deleted from, or added to, a transaction. By default 1 - rho."),
    ] = None,
    taxonomy: TaxonomyOption = None,
    fan_out: Annotated[
        int, Option("whole", "Members of a group in the tree that measures loss, by default 4.", least=2)
    ] = 4,
    random_state: RandomState = None,
    limits: Limits,
) -> Release:
    """Delete and add items at random. The release is longer than the data: about β times all items, for each row.

    Parameters
    ----------
    taxonomy : Taxonomy, mapping or path, optional
        The tree in which loss is measured; every item is a leaf, sensitive ones too. None: one by *fan_out*.

    Examples
    --------
    >>> data = Transactions.from_lists([["ale", "bun"], ["bun", "cure"], ["ale"]], sensitive=["cure"])
    >>> release = select_a_size(data, RhoUncertainty(rho="2/3"), random_state=3, limits=Limits())
    >>> release.custodian_data.to_lists(), release.certified
    ([['ale', 'bun'], ['bun', 'cure'], ['ale', 'cure']], False)
    """
    share = 1 - promise.rho if beta is None else probability(beta, "beta")
    seed = seed_of(random_state)
    loss = select_a_size_loss(data, beta=share, taxonomy=taxonomy, fan_out=fan_out, random_state=seed, limits=limits)
    noisy = _with_noise(data, share, seed, limits)
    return NoisyRelease(
        original=data,
        custodian_data=noisy,
        promise=promise,
        method="select-a-size",
        options={"beta": str(share), "fan_out": fan_out, "random_state": seed},
        suppressed=(),
        noise=loss,
    )


def select_a_size_loss(
    data: Transactions,
    *,
    beta: Share,
    taxonomy: TaxonomyLike | None = None,
    fan_out: int = 4,
    random_state: int,
    limits: Limits | None = None,
) -> float:
    """What `select_a_size` with these options costs, without making its release: an average loss, 0 to 1.

    Exact, in time and memory that do not depend on how many items are added.

    >>> data = Transactions.from_lists([["ale", "bun"], ["bun", "cure"], ["ale"]], sensitive=["cure"])
    >>> select_a_size_loss(data, beta=0, random_state=3), select_a_size_loss(data, beta=1, random_state=3)
    (0.0, 1.0)
    """
    limits = limits or Limits()
    odds, seed = odds_of(probability(beta, "beta")), seed_of(random_state)
    if not len(data.items):
        return 0.0
    tree = _tree(data, taxonomy, fan_out)
    leaf_of = np.array([tree.leaf(name) for name in data.names], dtype=np.int32)
    # A leaf counts nothing itself, but counts in all nodes above it.
    leaves = np.zeros(len(tree), dtype=np.int64)
    paths = []
    for leaf in leaf_of.tolist():
        above = tree.ancestors(leaf)
        leaves[list(above)] += 1
        paths.append(above[::-1])
    in_order = sorted(range(len(paths)), key=lambda code: (*paths[code], int(leaf_of[code])))
    with limits.guard("Measuring noise", "take fewer transactions."):
        lost = _native.rules.noise_loss(
            data.offsets,
            data.items,
            np.array(in_order, dtype=np.int32),
            leaf_of,
            tree.parents,
            leaves,
            odds=odds,
            seed=seed,
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Measuring noise"),
        )
    return float(Fraction(lost, len(data.names) * len(data.items)))


def _with_noise(data: Transactions, beta: Fraction, seed: int, limits: Limits) -> Transactions:
    advice = "choose a smaller beta, or measure only its cost (select_a_size_loss)."
    expected = len(data.items) * (1 - beta) + (len(data) * len(data.names) - len(data.items)) * beta
    # The codes as they are made, and once more in rows of their own.
    limits.require(int(2 * 4 * expected), "Adding noise", advice)
    with limits.guard("Adding noise", advice):
        offsets, codes = _native.rules.add_noise(
            data.offsets,
            data.items,
            vocabulary=len(data.names),
            odds=odds_of(beta),
            seed=seed,
            threads=limits.thread_count,
            **limits.for_kernel(lambda _: "Adding noise"),
        )
        there = _native.core.occurring(codes, len(data.names)).astype(bool) & data.is_sensitive.astype(bool)
        sensitive = [data.names[code] for code in np.flatnonzero(there).tolist()]
        return Transactions.from_codes(offsets, codes, data.names, sensitive=sensitive)


def _tree(data: Transactions, given: TaxonomyLike | None, fan_out: int) -> Taxonomy:
    if given is None:
        return Taxonomy.by_fan_out(data.names, fan_out)
    tree = taxonomy_of(given)
    known = set(tree.leaves)
    if missing := [name for name in data.names if name not in known]:
        raise InvalidArgument(
            f"{len(missing):,} of {len(data.names):,} items are not leaves of the taxonomy, such as {missing[0]!r}.",
            near_misses(missing[0], tree.leaves)
            or "Noise changes sensitive items, too: add each item to the taxonomy, or leave it out.",
        )
    return tree
