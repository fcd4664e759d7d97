"""What can be done on the page, and which parts of it that changes.

Nothing here decides what may leave the machine: `Desk` does. The page keeps what is on it: the last results and their
order, and the results that are being judged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from veilset.errors import InvalidArgument
from veilset.search.desk import Desk
from veilset.search.judging import Judging
from veilset.search.page.shown import FILTERS, Shown
from veilset.search.wrapper import Reply
from veilset.web.fields import Fields
from veilset.web.site import Action, Download, Parts, Site
from veilset.web.worker import Worker

_ALL = ("status", "results", "leaving", "asked", "dial", "tree", "cost", "log", "choices")
_FILES = {"search.css": ("text/css", Path(__file__).parent / "files" / "search.css")}


class SearchPage:
    """The page, and what is on it at the moment.

    Parameters
    ----------
    desk : Desk
        Whose profile it is.
    """

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.query = ""
        self.reply: Reply | None = None
        self.personal = True
        self.original = False
        self.judging: Judging | None = None
        self.asked_why = ""
        self.erased = False
        self._profile = desk.profile

    @property
    def actions(self) -> dict[str, Action]:
        """What happens when a form is sent, by name."""
        found: dict[str, Action] = {
            "search": self.search,
            "order": self.order,
            "preview": self.preview,
            "turn": self.turn,
            "switch": self.switch,
            "because": self.because,
            "decide": self.decide,
            "agree": self.agree,
            "choose": self.choose,
            "judge": self.judge,
            "judged": self.judged,
            "export": self.export,
            "erase": self.erase,
        }
        return {name: self._unless_erased(act) for name, act in found.items()}

    def _unless_erased(self, act: Action) -> Action:
        def acting(form: Fields) -> Parts | Download:
            if self.erased:
                raise InvalidArgument("Everything was deleted.", "Build a new profile: veilset search profile build.")
            return act(form)

        return acting

    def context(self) -> Mapping[str, Any]:
        """What the templates show. Results of a profile that another process has changed are not among it."""
        if not self.erased and self.desk.profile is not self._profile:
            self.reply = self.judging = None
            self._profile = self.desk.profile
        return {"shown": None if self.erased else Shown(self), "page": self}

    def after_error(self) -> list[str]:
        """What may look different after an error: a query that was refused or not answered may have been sent."""
        return ["everything"] if self.erased else ["status", "results", "log"]

    # Searching

    def search(self, form: Fields) -> Parts:
        """Ask the engine, and show what it found."""
        self.query, self.personal, self.original = form.text("query"), form.ticked("personal"), False
        self.reply = None
        self.reply = self.desk.search(self.query, personal=self.personal)
        return Parts(["status", "results", "leaving", "log"], f"{len(self.reply.ranked)} results.")

    def order(self, form: Fields) -> Parts:
        """Show the results in the engine's order, or in the personal one."""
        self.original = form.choice("by", ("engine", "profile")) == "engine"
        return Parts(["results"], "In the engine's order." if self.original else "In your order.")

    def preview(self, form: Fields) -> Parts:
        """Show what a query would send, without sending it."""
        self.query, self.personal = form.text("query"), form.ticked("personal")
        return Parts(["status", "leaving"], "This is what the query would send.")

    # What leaves

    def turn(self, form: Fields) -> Parts:
        """Turn the dial to one of its positions."""
        settings = self.desk.settings()
        setting = settings[form.whole("position", 0, len(settings) - 1)]
        by_terms = form.choice("unit", ("share", "terms")) == "terms"
        self.desk.choose(dial={"terms": setting.terms} if by_terms else {"ratio": str(round(setting.ratio, 3))})
        return self._reranked(f"{setting.terms} terms.")

    def switch(self, form: Fields) -> Parts:
        """Hide a branch, or show it again."""
        label = form.text("label")
        if label not in self.desk.hidden:
            self._check_interest(label)
        hide = label not in self.desk.hidden
        self.desk.hide(label, hide=hide)
        return self._reranked(f"{label} is {'hidden' if hide else 'no longer hidden'}.")

    def because(self, form: Fields) -> Parts:
        """Say which documents put an interest there."""
        label = form.text("why")
        self._check_interest(label)
        self.asked_why = label
        return Parts(["because"], f"Documents behind {label}.")

    def _check_interest(self, label: str) -> None:
        if not label or not self.desk.profile.find(label):
            raise InvalidArgument(f"The profile has no interest {label!r}.", "Reload the page: it may have changed.")

    def decide(self, form: Fields) -> Parts:
        """Say whether a sensitive term may be sent."""
        term, allow = form.text("term"), form.choice("answer", ("yes", "no")) == "yes"
        if term not in self.desk.to_ask() and term not in self.desk.allowed:
            raise InvalidArgument(f"Nobody asked about {term!r}.", "Reload the page: the profile may have changed.")
        self.desk.decide(term, allow=allow)
        return self._reranked(f"{term} {'may' if allow else 'will not'} be sent.")

    def agree(self, form: Fields) -> Parts:
        """Send from now on what was shown."""
        self.desk.refresh(form.text("seen"))
        return Parts(["status", "leaving", "asked"], "Agreed. Nothing is sent before you search.")

    def _reranked(self, say: str) -> Parts:
        """The results as they are ranked now, if that happens here; nothing is sent."""
        if self.reply is not None and self.personal and self.desk.mode == "home":
            self.reply = self.desk.ranked_again(self.reply, self.desk.exposure())
        return Parts(["status", "results", "leaving", "asked", "dial", "tree"], say)

    # Choices

    def choose(self, form: Fields) -> Parts:
        """Change where results come from, who ranks them, and how."""
        self.desk.choose(
            mode=form.text("mode"),
            engine=form.text("engine"),
            server=form.text("server"),
            alpha=form.text("alpha"),
            scoring=form.text("scoring"),
            fetch=form.ticked("fetch"),
            per_query=form.ticked("per_query"),
            sensitive=form.text("sensitive").split(","),
        )
        self.reply = self.judging = None
        return Parts(_ALL, "Saved.")

    # Judgements

    def judge(self, form: Fields) -> Parts:
        """Begin to judge the results of a query."""
        query = form.text("query")
        reply = self.desk.search(query, personal=False)
        if not reply.ranked:
            raise InvalidArgument(f"{query!r} has no results to judge.", "Try another query.")
        self.judging = Judging.of(query, [one.result for one in reply.ranked])
        return Parts(["cost", "log"], f"{len(self.judging.results)} results to judge.")

    def judged(self, form: Fields) -> Parts:
        """Store the judgements, or forget the results."""
        if self.judging is None:
            raise InvalidArgument("Nothing is being judged.", "Begin with a query.")
        if form.choice("end", ("store", "leave")) == "store":
            known = {str(at) for at in range(len(self.judging.results))}
            ticked = [int(at) for at in form.texts("relevant") if at in known]
            self.desk.store.append("judgements", self.judging.entry(ticked))
        self.judging = None
        return Parts(["cost"], "Thank you.")

    # Data

    def export(self, _form: Fields) -> Download:
        """Everything that is stored, as one file."""
        content = json.dumps(self.desk.store.to_json(), ensure_ascii=False, indent=1).encode()
        return Download("veilset-search.json", content)

    def erase(self, form: Fields) -> Parts:
        """Delete everything."""
        if form.text("sure") != "delete":
            raise InvalidArgument("Nothing was deleted.", "Type delete into the field first.")
        self.desk.store.erase()
        self.erased = True
        self.reply = self.judging = None
        return Parts(["everything"], "Everything was deleted.")


def search_site(page: SearchPage, worker: Worker) -> Site:
    """The page with its templates."""
    return Site(
        "veilset.search.page",
        "templates",
        actions=page.actions,
        context=page.context,
        worker=worker,
        files=_FILES,
        filters=FILTERS,
        after_error=page.after_error,
    )
