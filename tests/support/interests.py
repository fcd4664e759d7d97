"""The thesis' ten documents (Figure 30) and six results, and what strategies make of a profile."""

from hypothesis import strategies as st

from veilset.search import Profile, Result

DOCUMENTS = [
    ["sports", "badminton"],
    ["ronaldo", "soccer", "sports"],
    ["sex", "playboy", "picture"],
    ["sports", "soccer", "english premier"],
    ["research", "AI", "algorithm"],
    ["research", "adpative", "personalized", "search"],
    ["Fox", "channel", "sports", "sex"],
    ["MSN", "search"],
    ["research", "AI", "neuro network"],
    ["personalized", "search", "google", "research"],
]

RESULTS = [
    Result("search", "how to search", "https://r1.example", 1),
    Result("research", "research, research and search", "https://r2.example", 2),
    Result("news", "all about sports", "https://r3.example", 3),
    Result("soccer", "soccer soccer soccer", "https://r4.example", 4),
    Result("sports", "personalized sports search", "https://r5.example", 5),
    Result("weather", "rain", "https://r6.example", 6),
]


def thesis_profile(**options) -> Profile:
    """The profile of Example 19."""
    return Profile.build(DOCUMENTS, min_support=2, delta="0.6", **options)


def documents():
    """Small lists of terms, of which some come together."""
    return st.lists(st.sets(st.sampled_from("abcdefg"), max_size=5).map(sorted), max_size=14)


def weights():
    """Weights of documents."""
    return st.sampled_from(["1", "2", "1/2", "3/10", "1/3"])
