"""Two thousand mutated files of all kinds of sources: documents, or a plain refusal; nothing outside is opened."""

import json
import subprocess
import sys

import pytest

from tests.support.effort import repeats
from tests.support.mutating_sources import SEEDS
from tests.support.papers import pdf
from tests.support.places import ROOT
from veilset.search.sources.extracting import Unextractable
from veilset.search.sources.extractor import Extractor

pytestmark = pytest.mark.attack

MUTANTS = repeats(-(-2000 // len(SEEDS)))


@pytest.mark.parametrize("kind", SEEDS)
def test_mutated_files_are_read_or_refused(kind, tmp_path):
    command = [sys.executable, "-m", "tests.support.mutating_sources", kind, str(MUTANTS), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr[-3000:]}\nended with {done.returncode}"
    answers = json.loads(done.stdout)
    assert set(answers) <= {"read", "refused", "passed over"}
    assert sum(answers.values()) >= MUTANTS


def test_the_process_that_reads_survives_mutants_of_all_kinds():
    """Or is replaced by another, so that the next file is read."""
    whole = pdf("jazz", pages=3)
    with Extractor() as extractor:
        for suffix in (".pdf", ".docx"):
            for cut in range(1, repeats(50) + 1):
                with pytest.raises(Unextractable):
                    extractor.extracted(suffix, whole[: len(whole) * cut // 100], 100)
        assert "jazz" in extractor.extracted(".pdf", whole, 100).text
