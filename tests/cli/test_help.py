"""Help texts are short: every sentence, and how each text begins."""

import io
import re
from functools import cache

import pytest
from rich.console import Console

from veilset.cli import app

LONGEST = 25
"""Words in a sentence."""

NOT_A_START = re.compile(r"(a|also|an|at|how|if|in|it|most|only|the|this|those|to|wh\w+|with)\b", re.IGNORECASE)
"""No noun and no imperative begins so."""


def commands(of=app, path=()):
    """The application and all its commands, those that only hold others too."""
    yield path
    for name in of:
        if not name.startswith("-"):
            yield from commands(of[name], (*path, name))


@cache
def texts(command):
    """What ``--help`` says: the paragraphs about the command, and a text for each option, without what is derived."""
    shown = io.StringIO()
    app.help_print(list(command), console=Console(file=shown, width=5000, no_color=True, force_terminal=False))
    described, options = [], {}
    for line in shown.getvalue().splitlines():
        if line.startswith("│"):
            cells = re.split(r"\s{2,}", line.strip("│* "))
            name = cells[0].split()[0]
            options[name] = re.sub(r"\s*\[(default|choices|required)\b[^]]*\]", "", cells[1] if len(cells) > 1 else "")
        elif line.strip() and not line.startswith(("╭", "╰", "Usage:")) and not line.strip().startswith("veilset "):
            described.append(line.strip())
    return described, options


def sentences(text):
    return re.split(r"(?<=[.!?])\s+(?=\S)", text)


ALL = [pytest.param(command, id=" ".join(command) or "veilset") for command in commands()]


def test_the_walk_finds_commands_inside_commands_and_declared_options():
    assert ("taxonomy", "make") in commands()
    described, options = texts(("publish",))
    assert len(described) > 1
    assert {"INPUT", "--out", "--k", "--method", "--sensitive", "--threads"} <= options.keys()


@pytest.mark.parametrize("command", ALL)
def test_no_sentence_is_long(command):
    described, options = texts(command)
    said = [sentence for text in (*described, *options.values()) for sentence in sentences(text)]
    assert [sentence for sentence in said if len(sentence.split()) > LONGEST] == []


@pytest.mark.parametrize("command", ALL)
def test_no_text_says_a_thing_twice(command):
    """Where several methods declare a flag, their texts are joined: they are the same, or about different things."""
    _, options = texts(command)
    begins = {name: [sentence.split()[:3] for sentence in sentences(text)] for name, text in options.items()}
    assert [name for name, found in begins.items() if len(found) > len({*map(tuple, found)})] == []


@pytest.mark.parametrize("command", ALL)
def test_every_option_starts_with_a_noun_or_an_imperative(command):
    _, options = texts(command)
    after_models = {name: re.sub(r"^For [\w, -]+: ", "", text) for name, text in options.items()}
    assert {name: text for name, text in after_models.items() if not text or NOT_A_START.match(text)} == {}
