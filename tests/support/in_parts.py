"""What tests of releases in parts share: one of a shop, and how it is tampered with."""

import shutil
import sys

import veilset as vs
from tests.support.bundles import edit_certificate, redo_sums
from tests.support.spread import point_of_sale
from veilset.engines import Local

PROMISE = vs.Coherence(h="1/3", k=20, p=2)
SEED = "the seed"


def small_parts(patch, occurrences=3000):
    """Parts of so many occurrences."""
    import veilset.publish.part_writing  # noqa: F401 - by its name, which a function of ours hides

    patch.setattr(sys.modules["veilset.publish.part_writing"], "OCCURRENCES", occurrences)


def released(pieces=3, data=None, promise=PROMISE):
    return vs.anonymize(Local(pieces=pieces).read(point_of_sale(1500) if data is None else data), promise)


def written(folder, release=None, **options):
    return vs.publish(release or released(), folder, **{"random_state": SEED, **options})


def part(public, number):
    return public / f"data/part-{number:05d}.parquet"


def flipped(public):
    content = bytearray(part(public, 1).read_bytes())
    content[len(content) // 2] ^= 1
    part(public, 1).write_bytes(content)


def exchanged(public):
    one, other = part(public, 0), part(public, 1)
    one.rename(public / "aside")
    other.rename(one)
    (public / "aside").rename(other)


def exchanged_everywhere(public):
    """With the certificate and the sums of the new order, but not the names."""
    edit_certificate(public, lambda told: told["data"]["parts"].reverse(), fix_sums=True)


def doubled(public):
    shutil.copy(part(public, 0), part(public, 7))


def doubled_everywhere(public):
    """The first part is there twice, and everything says so but the number of transactions."""
    count = len(list((public / "data").iterdir()))
    shutil.copy(part(public, 0), part(public, count))
    named = {"file": f"data/part-{count:05d}.parquet"}
    edit_certificate(public, lambda told: told["data"]["parts"].append({**told["data"]["parts"][0], **named}))
    sums = public / "SHA256SUMS"
    sums.write_text("".join(sorted([*sums.read_text().splitlines(True), f"{'0' * 64}  {named['file']}\n"], key=_name)))
    redo_sums(public)


def _name(line):
    return line.split("  ")[1]


def dropped_everywhere(public):
    """The last part is gone, and everything says so but the number of transactions."""
    count = len(list((public / "data").iterdir()))
    part(public, count - 1).unlink()
    edit_certificate(public, lambda told: told["data"]["parts"].pop())
    sums = public / "SHA256SUMS"
    lines = sums.read_text().splitlines(True)
    sums.write_text("".join(line for line in lines if f"{count - 1:05d}" not in line))
    redo_sums(public)


def miscounted(public):
    def change(told):
        first, second, *_ = told["data"]["parts"]
        first["transactions"] += 1
        second["transactions"] -= 1

    edit_certificate(public, change, fix_sums=True)


def linked(public):
    part(public, 0).rename(public.parent / "elsewhere")
    part(public, 0).symlink_to(public.parent / "elsewhere")


def linked_folder(public):
    (public / "data").rename(public.parent.parent / "elsewhere")
    (public / "data").symlink_to(public.parent.parent / "elsewhere")


def with_metadata(public):
    """Another file with the same rows, which has a name in its footer; all sums say so."""
    import pyarrow.parquet as pq

    from veilset.io import sha256_of

    table = pq.read_table(part(public, 0)).replace_schema_metadata({"by": "somebody"})
    pq.write_table(table, part(public, 0))
    edit_certificate(public, lambda told: told["data"]["parts"][0].update(sha256=sha256_of(part(public, 0))))
    redo_sums(public)


TAMPERED = [
    (flipped, "altered"),
    (lambda public: part(public, 1).unlink(), "incomplete"),
    (exchanged, "altered"),
    (exchanged_everywhere, "malformed"),
    (doubled, "altered"),
    (doubled_everywhere, "altered"),
    (dropped_everywhere, "altered"),
    (miscounted, "altered"),
    (with_metadata, "altered"),
    (lambda public: (public / "data/notes.txt").write_text("5 is the mayor"), "altered"),
    (lambda public: (public / "data/inner").mkdir(), "altered"),
    (linked, "malformed"),
    (linked_folder, "altered"),
    (lambda public: edit_certificate(public, lambda told: told.update(loss_percent=1)), "edited"),
    (
        lambda public: edit_certificate(public, lambda told: told["promise"]["parameters"].update(k=30), fix_sums=True),
        "broken",
    ),
]
"""What somebody may do to a release with at least two parts, and the verdict."""
