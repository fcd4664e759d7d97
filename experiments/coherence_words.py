"""The words around charts and tables; what the charts say is in `coherence_verdicts`."""

from __future__ import annotations

from collections.abc import Sequence

from coherence_runs import AUDIT_SECONDS, SECONDS
from coherence_verdicts import VERDICTS, Facts

INTRODUCTION = f"""# Experiments: how good the methods for coherence are

Figures 20 to 28 of the thesis that (h,k,p)-coherence comes from (Yabo Xu, Simon Fraser University, 2008, §4.5),
measured again with our methods on the same data, Connect and Retail; and where the thesis could not go: all items
public on both, *p* unlimited. Made by `make experiments` from the rows of [coherence.csv](coherence.csv), {{runs:,}}
runs. The numbers in the text are read from that file, and a verdict that does not fit them stops the writing of this
page.

## What was done

- **Public items**: a share δ of the items, chosen at random. The thesis does not say what becomes of the others; here
  they are neither public nor private and are left out of the data.
- **Private items**: each transaction gets a copy of its most frequent item among those that at most a share *h* of all
  transactions hold, whether that item is public or not; or `s*`, if it has none. The thesis copies items of up to 50%,
  which on Retail nobody can protect at its *h* = 40%: an attacker who knows nothing is surer than that. With this
  recipe all settings are feasible, `s*` included. Where *h* itself is varied, the private items are those of the
  smallest *h*, so that nothing else changes. Where *h* is 100% throughout, there are none.
- **Loss of items**: the share of the occurrences of public items that are gone. *After pre-processing*: the same of
  what is left without the items that are moles by themselves, which no release can keep. **Loss of nuggets**: the share
  of the itemsets with support k' that are gone. At *h* = 100% pre-processing makes no difference there: no such itemset
  holds an item that is a mole.
- **Five selections** of public items: points are means, vertical lines their 95% intervals (Student's t). They are wide
  because much depends on which items are public; every method gets the same five. At δ = 100% there is only one.
- **Methods**: `tree`, `border`, `auto` (our default) and `optimal`, each with its restore pass, and the baselines
  `remove-all` and `k-anonymity`. Each may take {SECONDS} seconds, `optimal` 20 (60 in the last table).
  {{stopped}} runs did not come to an end; they are missing in the charts.
- **Checks**: before a number is used, the auditor certifies the release ({{audited}} runs). Where that takes more than
  {AUDIT_SECONDS} seconds ({{searched}} runs: dense data, large *p*), the search for minimal moles must find none in the
  released data instead.
- **Times** are CPU seconds of one thread, on a machine that did other work too: expect them to be off by a third.
- `remove-all` at *h* = 100% and an unlimited *p* needs no search: there, a transaction with a mole is a mole itself."""

TITLES = {
    "20": "loss of items on Connect",
    "21": "loss of nuggets on Connect",
    "22": "loss of items on Retail",
    "23": "loss of nuggets on Retail",
    "24": "run time of the tree method against δ",
    "25": "run time of the tree method against k",
    "26": "run time of the tree method against p",
    "27": "run time of the border method on Connect",
    "28": "run time of the border method on Retail",
}
OPTIMUM = """Loss of items with all items public and none private (*h* = 100%). The last column is what every release
loses at least, as far as 60 seconds were enough to prove it; "proven" where `optimal` is known to be the best there
is."""


def page(facts: Facts, tables: dict[str, list[str]], figures: Sequence[str], *, quick: bool) -> str:
    """The whole page."""
    parts = [INTRODUCTION.format(**facts.counts())]
    if quick:
        parts.append("This is a quick run: few points, one selection, no verdicts.")

    def add(title: str, *texts: str, key: str) -> None:
        parts.extend([f"## {title}", *texts])
        if not quick:
            parts.extend(VERDICTS[key](facts))

    for number in figures:
        add(f"Figure {number}: {TITLES[number]}", f"![{TITLES[number]}](coherence-{number}.svg)", key=number)
        if number in tables:
            parts.extend(["At the default setting:", "\n".join(tables[number])])
    add("How much borders compress", "\n".join(tables["compression"]), key="compression")
    add("Greedy against the proven optimum", OPTIMUM, "\n".join(tables["optimum"]), key="optimum")
    return "\n\n".join(parts) + "\n"
