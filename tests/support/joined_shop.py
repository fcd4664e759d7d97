"""Three tables with a many-to-many join, as files with a study: who leaves depends on what was bought."""

from pathlib import Path

import pyarrow as pa

from veilset.joins import JoinClassifier, evaluate
from veilset.report import Training

STUDY = """target = "customers.status"
joins = ["customers.id = orders.customer", ["orders.product", "products.code"]]

[tables]
customers = "customers.csv"
orders = { path = "orders.csv", delimiter = ";" }
products = "products.csv"

[options]
max_depth = 3

[evaluation]
folds = 4
"""
RECALLED = ("P1", "P4")


def rows() -> dict[str, list[tuple[object, ...]]]:
    """Forty customers, of whom the first has twenty orders and the last four none."""
    customers, orders = [], []
    for number in range(40):
        bought = [
            f"P{(number + step) % 6}" for step in range(0 if number >= 36 else 20 if number == 0 else number % 3 + 1)
        ]
        left = any(product in RECALLED for product in bought) and number % 7 != 0
        customers.append((f"{number:03}", 20 + number, "Köln" if number % 2 else "Ulm", "left" if left else "stayed"))
        orders += [(f"{number:03}", product, 1 + number % 4) for product in bought]
    products = [(f"P{code}", "toy" if code % 2 else "book", f"P{code}" in RECALLED) for code in range(6)]
    return {"customers": customers, "orders": orders, "products": products}


COLUMNS = {
    "customers": ["id", "age", "town", "status"],
    "orders": ["customer", "product", "amount"],
    "products": ["code", "kind", "recalled"],
}


def write_shop(folder: Path) -> None:
    """``study.toml`` and its tables; the age of the first customer is missing."""
    (folder / "study.toml").write_text(STUDY)
    for name, content in rows().items():
        mark = ";" if name == "orders" else ","
        lines = [COLUMNS[name], *([str(cell) for cell in row] for row in content)]
        if name == "customers":
            lines[1][1] = ""
        (folder / f"{name}.csv").write_text("".join(mark.join(line) + "\n" for line in lines))


def shop_tables() -> dict[str, pa.Table]:
    return {
        name: pa.table(dict(zip(COLUMNS[name], zip(*content, strict=True), strict=True)))
        for name, content in rows().items()
    }


def shop_training(**options: object) -> Training:
    """A classifier that is trained on the shop and evaluated."""
    tables = shop_tables()
    joins = ["customers.id = orders.customer", "orders.product = products.code"]
    fitted = JoinClassifier(**{"max_depth": 3, **options}).fit(tables, joins=joins, target="customers.status")
    sizes = {name: table.num_rows for name, table in tables.items()}
    return Training(fitted, sizes, evaluate(fitted, tables, folds=4))
