"""A clinic, a registry and a pharmacy with a study: the clinic has the class and coordinates."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.support.parties import Parties

VISITS = {
    "patient": ["p1", "p1", "p2", "p3", "p4", "p4", "p5", "p6", "p2", "p6", "p5", "p3"],
    "drug": ["A", "B", "A", "B", "C", "A", "C", "C", "B", "B", "A", "C"],
    "age": [31, 31, 45, 70, 52, 52, 28, 63, 45, 63, 28, 70],
    "back": ["no", "yes", "no", "yes", "yes", "no", "no", "yes", "no", "yes", "no", "yes"],
}
PATIENTS = {
    "id": [f"p{number}" for number in range(1, 8)],
    "region": ["north", "south", "north", "south", "south", "north", "north"],
    "smoker": ["yes", "no", "yes", "yes", "no", "yes", "no"],
}
BATCHES = {"drug": ["A", "A", "B", "B", "C", "C"], "dose": [10, 10, 20, 40, 40, 80]}

NEW = {
    "clinic": ("visits", "id,age\nw1,34\nw2,66\nw3,29\n"),
    "registry": ("patients", "id,region,smoker\np1,north,yes\np2,south,no\np3,north,yes\n"),
    "pharmacy": ("batches", "id,dose\n1,10\n5,40\n6,80\n"),
}
RECORDS = "visits,patients,batches\nw1,p2,1\nw2,p3,5\nw3,p1,6\n"


def clinic(folder: Path, policy: str | None = "report", **more: Any) -> Parties:
    """The files of the three in a folder, with records to predict for."""
    chosen = {} if policy is None else {"policy": policy}
    joins = [
        {"on": "visits.patient = patients.id", "type": "text", "keys": {"visits": 10, "patients": 10}, **chosen},
        {"on": "visits.drug = batches.drug", "type": "text", "keys": {"visits": 5, "batches": 5}},
    ]
    holdings = {
        "clinic": {"visits": pa.table(VISITS)},
        "registry": {"patients": pa.table(PATIENTS)},
        "pharmacy": {"batches": pa.table(BATCHES)},
    }
    parties = Parties(folder, holdings, joins, "visits.back", ["no", "yes"], **more)
    for name, (table, content) in NEW.items():
        (folder / f"new-{table}.csv").write_text(content)
        section = f'[predict.{table}]\npath = "new-{table}.csv"\nid = "id"\n'
        parties.path(name).write_text(parties.path(name).read_text() + section)
    (folder / "records.csv").write_text(RECORDS)
    return parties


@contextlib.contextmanager
def in_background(parties: Parties, *names: str) -> Iterator[None]:
    """These parties listen, on a thread of their own."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    over = asyncio.Event()

    async def serve() -> None:
        async with parties.serving(names):
            ready.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(30)
        yield
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(30)
        loop.close()
        assert not thread.is_alive()
