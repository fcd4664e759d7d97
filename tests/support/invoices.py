"""The invoices of a small gift shop that also sells health items: the file of docs/tutorial.md, made up from a seed.

    python tests/support/invoices.py invoices.csv             the first months
    python tests/support/invoices.py december.csv --month 12  another month: mostly the same people and products

It has what such files have: customers nobody knows (0 in the web shop, nothing at the till), cancelled invoices, lines
that sell nothing, names in odd case and with odd blanks.
"""

from __future__ import annotations

import argparse
import csv
from datetime import datetime, timedelta
from itertools import accumulate, product
from pathlib import Path
from random import Random

HEADER = ("InvoiceNo", "StockCode", "Description", "Quantity", "InvoiceDate", "UnitPrice", "CustomerID", "Country")
COUNTRIES = ["United Kingdom"] * 17 + ["France", "Germany", "EIRE"]

_COLOURS = ("RED", "WHITE", "BLUE", "PINK", "IVORY", "GREEN", "BLACK", "SILVER")
_STYLES = ("RETROSPOT", "HEART", "VINTAGE", "POLKADOT", "WOODLAND")
_THINGS = ("MUG", "LUNCH BAG", "CAKE STAND", "TEA TOWEL", "CANDLE HOLDER", "PHOTO FRAME", "DOORMAT", "STORAGE JAR")
_HEALTH = (
    "PLASTERS FAMILY PACK",
    "HAND CREAM LAVENDER",
    "HOT WATER BOTTLE",
    "VITAMIN C TABLETS",
    "PREGNANCY TEST TWIN PACK",
    "SLEEPING TABLETS HERBAL",
    "PREGNANCY TEST DIGITAL",
    "HEAD LICE LOTION",
    "SLEEPING TABLETS STRONG",
    "NICOTINE PATCHES",
)
_HEALTH_RANKS = (3, 12, 20, 30, 40, 55, 70, 90, 110, 130)  # among all products, the best sold first
_PRODUCTS = 160


def products() -> list[str]:
    """All products, the best sold first."""
    dice = Random("products")
    names = [" ".join(words) for words in product(_COLOURS, _STYLES, _THINGS)]
    dice.shuffle(names)
    names = names[: _PRODUCTS - len(_HEALTH)]
    for rank, name in zip(_HEALTH_RANKS, _HEALTH, strict=True):
        names.insert(rank, name)
    return names


def invoices(month: int = 0) -> list[tuple[object, ...]]:
    """The lines of the first months (0), or of another one."""
    dice = Random(f"invoices {month}")
    names = products()
    weights = [*accumulate(1 / (rank + 4) ** 1.15 for rank in range(len(names)))]
    customers = list(range(12346, 12346 + 1500))
    begin = datetime(2025, 9, 1, 8) if month == 0 else datetime(2025, month, 1, 8)
    lines: list[tuple[object, ...]] = []
    number, at = 536365 + 10_000 * month, begin
    for _ in range(3400 if month == 0 else 900):
        at += timedelta(minutes=dice.randrange(1, 70))
        number += 1
        customer = dice.choices([str(dice.choice(customers)), "0", ""], [74, 20, 6])[0]
        country = COUNTRIES[int(customer or 0) % len(COUNTRIES)]
        size = min(40, 1 + int(dice.expovariate(1 / 8)))
        bought = dict.fromkeys(dice.choices(range(len(names)), cum_weights=weights, k=size))
        sold = [(f"{20000 + 7 * code}", _as_typed(names[code], dice), dice.choice([1, 1, 2, 6, 12])) for code in bought]
        prices = [f"{0.5 + code % 40 / 4:.2f}" for code in bought]
        if country != "United Kingdom":
            sold.append(("POST", "POSTAGE", 1))
            prices.append("18.00")
        if dice.random() < 0.01:
            sold.append((sold[0][0], dice.choice(["damaged?", "found", "wrongly coded"]), -dice.randrange(1, 90)))
            prices.append("0.00")
        stamp = f"{at:%Y-%m-%d %H:%M}"
        new = [
            (str(number), code, name, quantity, stamp, price, customer, country)
            for (code, name, quantity), price in zip(sold, prices, strict=True)
        ]
        lines += new
        if dice.random() < 0.03:  # cancelled: the same invoice again, with C and less than nothing
            number += 1
            lines += [(f"C{number}", *line[1:3], -abs(int(str(line[3]))), *line[4:]) for line in new]
    return lines


def _as_typed(name: str, dice: Random) -> str:
    """A name, now and then in another case or with other blanks."""
    return dice.choices([name, name.lower(), f"{name} ", name.replace(" ", "  ", 1)], [96, 2, 1, 1])[0]


def write_invoices(path: str | Path, month: int = 0) -> None:
    """The same as a CSV file."""
    with Path(path).open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([HEADER, *invoices(month)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the invoices of the tutorial.")
    parser.add_argument("path")
    parser.add_argument("--month", type=int, default=0)
    told = parser.parse_args()
    write_invoices(told.path, told.month)
