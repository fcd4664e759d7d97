"""Tampered bundles of every promise and container: `verify` never says that they hold.

A tampering changes ``public/``; most are tried twice: as they are, and with the hashes in the certificate and in
SHA256SUMS made right again, as an attacker would who knows how verification works.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import veilset as vs

pytestmark = [
    pytest.mark.attack,
    pytest.mark.no_sanitizer(reason="slow there, and kernels see nothing that other tests do not show them"),
]

ROWS = [["ale", "bun", "cure"], ["ale", "bun"], ["ale", "fig"], ["ale", "bun"], ["bun"], ["ale"], []] * 2
PROMISES = {
    "coherence": vs.Coherence(h="1/2", k=2, p=2),
    "rho-uncertainty": vs.RhoUncertainty(rho="1/2"),
    "hidden-patterns": vs.HiddenPatterns([["ale", "bun"]], min_support=2),
    "hidden-rules": vs.HiddenRules([(["ale"], ["bun"])], min_support=2, min_confidence="1/2"),
}
CUT = [["ale", "fig"], ["bun", "gin"], ["ale", "gin", "cure"], ["bun", "fig"], ["ale", "rum"], ["bun", "rum"]] * 3
COLUMNS = [["ale", "bun"], ["fig", "gin", "rum"]]
FORMATS = ("basket", "long", "wide", "jsonl", "parquet", "arrow")
ANATOMY = "l-diverse-anatomy"
BUNDLES = [
    *((name, "basket") for name in PROMISES),
    *(("coherence", form) for form in FORMATS[1:]),
    *((ANATOMY, form) for form in ("basket", "jsonl", "parquet")),
]

Tampering = Callable[[Path], None]


@pytest.fixture(scope="module")
def bundles(tmp_path_factory) -> dict[tuple[str, str], Path]:
    """Releases to be copied."""
    folder = tmp_path_factory.mktemp("bundles")
    data, to_cut = (vs.Transactions.from_lists(rows, sensitive=["cure"]) for rows in (ROWS, CUT))
    made = {}
    for name, form in BUNDLES:
        if name == ANATOMY:
            release = vs.anonymize(to_cut, vs.LDiverseAnatomy(2), columns=COLUMNS, random_state=1)
        else:
            release = vs.anonymize(data, PROMISES[name])
        out = folder / f"{name}-{form}"
        made[name, form] = vs.publish(release, out, out_format=form, with_what_if=False, random_state="s").path
        assert vs.verify(out).holds
    return made


def data_file(public: Path) -> Path:
    return table(public, "data")


def table(public: Path, name: str) -> Path:
    (found,) = public.glob(f"{name}.*")
    return found


def rehash(public: Path) -> None:
    """Make all hashes right again, as far as there is anything to hash."""
    certificate = public / "certificate.json"
    told = json.loads(certificate.read_text())
    for part in filter(None, (told["data"], told.get("anatomy"))):
        if (public / part["file"]).is_file():
            part["sha256"] = digest(public / part["file"])
    certificate.write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n")
    resum(public)


def resum(public: Path) -> None:
    names = sorted(path.name for path in public.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    (public / "SHA256SUMS").write_text("".join(f"{digest(public / name)}  {name}\n" for name in names))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# Kinds of tampering with a file as a whole, by the name that a report has for them.


def flipped(content: bytes, at: float) -> bytes:
    place = int(at * (len(content) - 1))
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


CONTENT: dict[str, Callable[[bytes], bytes]] = {
    **{f"a bit flipped at {at:.0%}": partial(flipped, at=at) for at in (0, 0.1, 0.3, 0.5, 0.7, 0.9, 1)},
    **{f"cut off at {at:.0%}": lambda content, at=at: content[: int(at * len(content))] for at in (0, 0.01, 0.5, 0.99)},
    "an item appended": lambda content: content + b"absinthe\n",
    "a blank appended": lambda content: content + b" ",
    "a line end appended": lambda content: content + b"\n",
    "zeros appended": lambda content: content + bytes(100),
    "a mark before it": lambda content: b"\xef\xbb\xbf" + content,
    "doubled": lambda content: content * 2,
}


def rewritten(name: str, change: Callable[[bytes], bytes]) -> Tampering:
    """A change of the bytes of a table."""

    def tamper(public: Path) -> None:
        path = table(public, name)
        path.write_bytes(change(path.read_bytes()))

    return tamper


DATA = {kind: rewritten("data", change) for kind, change in CONTENT.items()}
BUCKETS = {f"buckets: {kind}": rewritten("anatomy", change) for kind, change in CONTENT.items()}


def told(change: Callable[[dict[str, Any]], None]) -> Tampering:
    """A change of what the certificate says."""

    def tamper(public: Path) -> None:
        path = public / "certificate.json"
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n")

    return tamper


def without(key: str) -> Tampering:
    return told(lambda content: content.pop(key))


def saying(**changes: Any) -> Tampering:
    return told(lambda content: content.update(changes))


def of_data(**changes: Any) -> Tampering:
    return told(lambda content: content["data"].update(changes))


def of_promise(**changes: Any) -> Tampering:
    return told(lambda content: content["promise"].update(changes))


def of_buckets(**changes: Any) -> Tampering:
    return told(lambda content: content["anatomy"].update(changes))


OF_BUCKETS: dict[str, Tampering] = {
    "no buckets": told(lambda content: content.pop("anatomy")),
    "other buckets": of_buckets(buckets=1),
    "other columns": of_buckets(columns=1),
    "smaller buckets": of_buckets(smallest_bucket=1),
    "larger buckets": of_buckets(largest_bucket=1000),
    "a smaller share of an item": of_buckets(largest_item_share="1/100"),
    "no share of an item": told(lambda content: content["anatomy"].pop("largest_item_share")),
    "nothing assumed": told(lambda content: content["anatomy"].pop("assumed")),
    "something else assumed": of_buckets(assumed="Nothing at all."),
    "the data as their own buckets": told(lambda content: content.update(anatomy=content["data"])),
}

KEYS = ("schema_version", "promise", "sensitive", "transactions", "one_transaction_is", "data", "loss_percent")

CERTIFICATE: dict[str, Tampering] = {
    **{f"without {key}": without(key) for key in (*KEYS, "not_promised", "made_by")},
    **{f"{key} is null": saying(**{key: None}) for key in KEYS},
    "one transaction more": told(lambda content: content.update(transactions=content["transactions"] + 1)),
    "another schema": saying(schema_version=2),
    "an unknown key": saying(note="trust me"),
    "a negative loss": saying(loss_percent=-1),
    "an unknown person": saying(one_transaction_is="two people"),
    "another sensitive item": saying(sensitive=["absinthe"]),
    "coarser names that do not occur": saying(generalized={"drinks": ["ale"]}),
    "an anatomy": saying(anatomy={"file": "anatomy.csv"}),
    "another format": of_data(format="fimi"),
    "another file": of_data(file="data.exe"),
    "a file elsewhere": of_data(file="../data.csv"),
    "another delimiter": of_data(delimiter="|"),
    "an unknown promise": of_promise(name="trust-me"),
    "a promise without parameters": of_promise(parameters={}),
    "a promise too long": of_promise(parameters={"k": int("9" * 4000), "p": 2}),
    "no certificate": lambda public: (public / "certificate.json").write_text("null\n") and None,
    "a deep certificate": lambda public: (public / "certificate.json").write_text("[" * 100_000) and None,
    "certificate of zeros": lambda public: (public / "certificate.json").write_bytes(bytes(1000)) and None,
}


def removed(name: str) -> Tampering:
    return lambda public: (public / name).unlink()


def added(name: str) -> Tampering:
    return lambda public: (public / name).write_text("more\n") and None


def linked(name: str) -> Tampering:
    """A dangling link instead of the file."""

    def tamper(public: Path) -> None:
        (public / name).unlink()
        (public / name).symlink_to(public.parent / "nowhere")

    return tamper


def folder_instead(name: str) -> Tampering:
    def tamper(public: Path) -> None:
        (public / name).unlink()
        (public / name).mkdir()

    return tamper


def summed(change: Callable[[str], str]) -> Tampering:
    def tamper(public: Path) -> None:
        path = public / "SHA256SUMS"
        path.write_text(change(path.read_text()))

    return tamper


def swapped(public: Path) -> None:
    data, report = data_file(public), public / "report.html"
    data.rename(public / "aside")
    report.rename(data)
    (public / "aside").rename(report)


OTHERS: dict[str, Tampering] = {
    **{f"{name} removed": removed(name) for name in ("certificate.json", "report.html", "SHA256SUMS")},
    **{f"{name} a folder": folder_instead(name) for name in ("certificate.json", "report.html", "SHA256SUMS")},
    **{f"{name} leads nowhere": linked(name) for name in ("certificate.json", "report.html", "SHA256SUMS")},
    **{f"{name} added": added(name) for name in ("edits.csv", ".hidden", "data.bak", "README")},
    "a folder added": lambda public: (public / "more").mkdir(),
    "a pipe added": lambda public: os.mkfifo(public / "pipe"),
    "a link added": lambda public: (public / "more").symlink_to("data.csv"),
    "data and report swapped": swapped,
    "another report": lambda public: (public / "report.html").write_text("all is well") and None,
    "sums: none": summed(lambda text: ""),
    "sums: one line fewer": summed(lambda text: text.partition("\n")[2]),
    "sums: a line twice": summed(lambda text: text + text.partition("\n")[0] + "\n"),
    "sums: zeros": summed(lambda text: "0" * 64 + text[64:]),
    "sums: capital letters": summed(str.upper),
    "sums: another file": summed(lambda text: text + f"{'0' * 64}  more\n"),
    "sums: no sums": summed(lambda text: "trust me\n"),
}


def report_with(text: str) -> Tampering:
    def tamper(public: Path) -> None:
        path = public / "report.html"
        path.write_text(path.read_text().replace("</body>", f"{text}</body>"))

    return tamper


def retyped(old: str, new: str) -> Tampering:
    """A change of the certificate's text that parsing it may not show."""

    def tamper(public: Path) -> None:
        path = public / "certificate.json"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return tamper


def linked_to_a_copy(public: Path) -> None:
    shutil.move(public / "report.html", public.parent / "elsewhere.html")
    (public / "report.html").symlink_to(public.parent / "elsewhere.html")


CONSISTENT: dict[str, Tampering] = {
    "a script in the report": report_with("<script>alert(1)</script>"),
    "a false sentence in the report": report_with("<p>Nobody can be identified.</p>"),
    "nothing is left open": saying(not_promised=[]),
    "something else is left open": saying(not_promised=["Nothing to worry about."]),
    "made by a person": saying(made_by="Ann Smith, 12 Mill Lane"),
    "a key twice": retyped('"schema_version": 1,', '"schema_version": 2, "schema_version": 1,'),
    "true for 1": retyped('"schema_version": 1,', '"schema_version": true,'),
    "1.0 for 1": retyped('"schema_version": 1,', '"schema_version": 1.0,'),
    "blanks in the certificate": retyped('"schema_version": 1,', '"schema_version":      1,'),
    "a report that is a link": linked_to_a_copy,
}
"""Changes that leave the data as they are, with all hashes right."""


def accepted(original: Path, tampering: Tampering, repair: Callable[[Path], None] | None, folder: Path) -> bool:
    """Whether `verify` says that a tampered copy holds; it has to say something."""
    copy = shutil.copytree(original, folder / "out")
    try:
        tampering(copy / "public")
        if repair is not None:
            repair(copy / "public")
        found = vs.verify(copy, memory_limit="4GB", time_limit=60)
        assert found.exit_code in ({0} if found.holds else {1, 2, 4})
        assert (found.exit_code == 1) == (found.verdict in ("broken", "altered", "edited"))
        return found.holds
    finally:
        shutil.rmtree(folder)


def _is_noticed(bundle: tuple[str, str], kind: str) -> bool:
    """Whether other data, properly certified, would break the promise.

    What is hidden stays hidden in many other files. Of k=2 a single change is left, unless a name stands but once in
    the file, so that changing it renames an item.
    """
    promise, form = bundle
    if promise == ANATOMY:
        return True  # the two tables say the same
    return promise == "coherence" and not (form in ("wide", "parquet") and kind.startswith("a bit flipped"))


CUTS = [bundle for bundle in BUNDLES if bundle[0] == ANATOMY]
TRIED = [
    *((bundle, kind, {**DATA, **OTHERS}[kind], None) for bundle in BUNDLES for kind in {**DATA, **OTHERS}),
    *((bundle, kind, CERTIFICATE[kind], None) for bundle in BUNDLES for kind in CERTIFICATE),
    *((bundle, kind, CERTIFICATE[kind], resum) for bundle in BUNDLES for kind in CERTIFICATE),
    *((bundle, kind, DATA[kind], rehash) for bundle in BUNDLES for kind in DATA if _is_noticed(bundle, kind)),
    *((bundle, kind, CONSISTENT[kind], resum) for bundle in BUNDLES for kind in CONSISTENT),
    *((bundle, kind, BUCKETS[kind], repair) for bundle in CUTS for kind in BUCKETS for repair in (None, rehash)),
    *((bundle, kind, OF_BUCKETS[kind], resum) for bundle in CUTS for kind in OF_BUCKETS),
]


@pytest.mark.parametrize("bundle", BUNDLES, ids="-".join)
def test_no_tampered_bundle_holds(bundles, bundle, tmp_path):
    mine = [(kind, tamper, repair) for other, kind, tamper, repair in TRIED if other == bundle]
    assert len(mine) >= 90
    found = [kind for kind, tamper, repair in mine if accepted(bundles[bundle], tamper, repair, tmp_path / "copy")]
    assert found == []
