"""Questions for the battery of methods on engines."""

from hypothesis import assume
from hypothesis import strategies as st

from veilset import Coherence, RhoUncertainty, Taxonomy, anonymize
from veilset.testing import check_anonymizer, strategies

ON_ENGINES = [
    (Coherence, "auto", True),
    (Coherence, "tree", True),
    (Coherence, "remove-all", False),
    (Coherence, "k-anonymity", False),
    (Coherence, "generalize", False),
    (RhoUncertainty, "suppress", True),
    (RhoUncertainty, "top-down", True),
    (RhoUncertainty, "remove-sensitive", False),
]
"""Methods that change items as a whole, and whether nothing that is gone could return."""


@st.composite
def asked_of(draw, kind, method):
    """Data, a promise and options for a method on an engine."""
    data = draw(strategies.transactions(max_public=5))
    options = {}
    if method in ("generalize", "top-down"):
        groups = st.lists(st.sampled_from(["G1", "G2", "G3"]), max_size=2)
        options["taxonomy"] = Taxonomy.from_paths({leaf: draw(groups) for leaf in [*data.public, "absent"]})
    if kind is RhoUncertainty:
        assume(data.sensitive)
        return data, draw(strategies.rho_promises()), options
    return data, draw(strategies.coherence_promises()), options


def check_on(engine, method, asked, *, maximal):
    """The battery, for what an engine holds; gives the releases that were made."""
    data, promise, options = asked
    made = []

    def recorded(held, promise):
        made.append(anonymize(held, promise, method=method, **options))
        return made[-1]

    check_anonymizer(recorded, data, promise, maximal=maximal, engine=engine)
    return made
