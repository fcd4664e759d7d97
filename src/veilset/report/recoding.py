"""What a recoding has done: how much has a coarser name, how many names are left, and what can still be found."""

from __future__ import annotations

from typing import Any

from veilset.report.text import number, shares
from veilset.utility import Account


def recoding_facts(account: Account) -> dict[str, Any] | None:
    """The numbers; None where nothing was recoded."""
    release, values = account.release, account.values
    if not release.generalized:
        return None
    return {
        "share": values["items_recoded"],
        "names": len(release.custodian_data.names),
        "names_before": len(release.original.names),
        "itemsets_kept_or_coarser": values.get("nuggets_kept_or_coarser"),
        "rules_kept_or_coarser": values.get("top_rules_kept_or_coarser"),
    }


def recoding_sentence(account: Account) -> str:
    """The same in words; empty where nothing was recoded."""
    told = recoding_facts(account)
    if told is None:
        return ""
    values, names = account.values, number(told["names"], "name")
    often = f"itemsets in {number(account.nugget_support, 'transaction')} or more"
    return (
        f"{shares(told['share'])} of all item occurrences have a coarser name, {shares(values['items_lost'])} were "
        f"removed; average loss {shares(values['average_loss'])}. {names} "
        f"{'remains' if told['names'] == 1 else 'remain'} of {told['names_before']:,} items. Kept under the same or "
        "coarser names: "
        f"{_counted(told['itemsets_kept_or_coarser'])} of the {often}, "
        f"{_counted(told['rules_kept_or_coarser'])} of the strongest rules."
    )


def _counted(share: float | None) -> str:
    return "an unknown share (not counted within the limits)" if share is None else shares(share)
