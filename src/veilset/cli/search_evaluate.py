"""``veilset search evaluate``: whether the profile helps, by the user's own judgements."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from veilset.cli.options import Json, Text
from veilset.cli.screen import Screen
from veilset.cli.search import PassphraseFile, StoreFile, opened_store, search
from veilset.errors import InvalidArgument
from veilset.search.evaluation import Evaluation
from veilset.search.evaluation import evaluate as evaluated
from veilset.search.precision import Mean
from veilset.search.ranking import DEFAULT_ALPHA, DEFAULT_SCORING, alpha_to_judge
from veilset.views import Count

_FEW = 20

Alpha = Annotated[
    str | None,
    Parameter(help="Weight of the profile: auto, or from 0 to 1. Default: that of the page; auto if that is 0."),
]


@search.command(sort_key=6)
def evaluate(
    *,
    alpha: Alpha = None,
    store: StoreFile = None,
    passphrase_file: PassphraseFile = None,
    json: Json = False,
    text: Text = False,
) -> int:
    """Show how good your results would be at each position of the dial, by your own blind judgements.

    Example:

        veilset search evaluate
    """
    screen = Screen.of(json, text)
    with opened_store(store, passphrase_file) as opened:
        weight = alpha_to_judge(str(opened.get("alpha") or DEFAULT_ALPHA)) if alpha is None else alpha
        entries = opened.entries("judgements")
        with screen.progress() as progress:
            profile = opened.profile(progress=progress)
        found = evaluated(
            entries,
            profile,
            alpha=weight,
            scoring=opened.get("scoring", DEFAULT_SCORING),
            hidden=opened.get("hidden", []),
        )
    if found is None:
        raise InvalidArgument(
            "No query has been judged with a relevant result among its results."
            if entries
            else "No query has been judged.",
            "Judge some on the page: run veilset search serve." if not entries else "Judge more queries.",
        )
    screen.answer({"alpha": weight, **found.to_json()}, lambda: _show(screen, found, weight))
    return 0


def _show(screen: Screen, found: Evaluation, alpha: str) -> None:
    screen.say(f"[bold]{_sentence(found)}[/]")
    screen.say(f"Average precision of the engine's order: {found.engine.value:.3f}. Weight of the profile: {alpha}.")
    screen.say("exposed  terms  min_detail  average precision  difference")
    for point in found.points:
        setting = point.setting
        screen.say(
            f"{setting.ratio:7.1%}  {setting.terms:5}  {float(setting.min_detail):10.4f}  {point.precision.value:17.3f}"
            f"  {_difference(point.gain)}"
        )
    if found.queries < _FEW:
        few = Count(found.queries)
        screen.say(f"{few:,} {few:query says|queries say} little: judge {_FEW} or more, as you would search anyway.")
    if found.dropped:
        screen.say(f"Not counted: {found.dropped:,} without a relevant result.")


def _sentence(found: Evaluation) -> str:
    """The finding: better or worse only where the interval leaves zero out."""
    certain = [point for point in found.points if point.gain.is_certain]
    better = max((point for point in certain if point.gain.value > 0), key=lambda one: one.gain.value, default=None)
    if better is not None:
        return f"Exposing {better.setting.ratio:.0%} improves your results."
    if certain:
        return "Your profile makes your results worse: lower its weight."
    return "There is no sign that your profile changes the quality of your results."


def _difference(gain: Mean) -> str:
    return f"{gain.value:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"
