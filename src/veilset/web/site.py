"""A page with its actions: what a form leads to, and which parts of the page it changes.

An action is a function of the fields of a form. It changes what the page shows, and names the parts that look different
now. Our script asks for those parts alone; without the script, the browser is led back to the whole page. So whoever
writes an action writes nothing for either case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route

from veilset.errors import VeilsetError
from veilset.web.fields import Fields
from veilset.web.guard import FORM, Guard
from veilset.web.session import Session
from veilset.web.worker import Worker

PARTIAL = "veilset-partial"
"""The header by which our script asks for parts."""

_HERE = Path(__file__).parent
_FILES = {
    "web.css": ("text/css", _HERE / "files" / "web.css"),
    "web.js": ("text/javascript", _HERE / "files" / "web.js"),
}


@dataclass(frozen=True)
class Download:
    """A file that an action answers with."""

    name: str
    content: bytes
    kind: str = "application/json"


@dataclass(frozen=True)
class Parts:
    """The parts of the page that an action has changed, by name, and what to tell those who cannot see it."""

    names: Sequence[str]
    say: str = ""


Action = Callable[[Fields], Parts | Download]


class Site:
    """A page of one of our products.

    Parameters
    ----------
    package, folder : str
        Where its templates are: ``page.html``, which extends ``web/layout.html``, and ``<part>.html`` for each part.
    actions : mapping of str to callable
        What happens when a form is sent to this name.
    context : callable
        What the templates are given, at each moment.
    worker : Worker
        Where actions and *context* run.
    files : mapping of str to (kind, path)
        Its own style sheets and scripts.
    filters : mapping of str to callable
        What its templates can apply to values.
    after_error : callable
        The parts that an action may have changed although it ended in an error.
    """

    def __init__(
        self,
        package: str,
        folder: str,
        *,
        actions: Mapping[str, Action],
        context: Callable[[], Mapping[str, Any]],
        worker: Worker,
        files: Mapping[str, tuple[str, Path]] | None = None,
        filters: Mapping[str, Callable[..., Any]] | None = None,
        after_error: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        own = jinja2.PackageLoader(package, folder)
        shared = jinja2.PrefixLoader({"web": jinja2.PackageLoader("veilset.web", "templates")})
        self._templates = jinja2.Environment(
            loader=jinja2.ChoiceLoader([own, shared]),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(filters or {})
        self._actions, self._context, self._worker = actions, context, worker
        self._files = {**_FILES, **(files or {})}
        self._after_error = after_error
        self._error: VeilsetError | None = None

    def app(self, session: Session) -> Guard:
        """The page as an ASGI application, with the guard before it."""

        async def show(_request: Request) -> Response:
            return _html(await self._worker.doing(lambda: self._page(session)))

        async def file(request: Request) -> Response:
            kind, path = self._files[request.url.path.rpartition("/")[2]]
            return Response(path.read_bytes(), media_type=kind)

        async def act(request: Request) -> Response:
            action, fields = request.url.path.rpartition("/")[2], Fields(request.scope[FORM])
            partial = PARTIAL in request.headers
            return await self._worker.doing(lambda: self._act(action, fields, session, partial=partial))

        async def lost(_request: Request, error: Exception) -> Response:
            status = error.status_code if isinstance(error, HTTPException) else 500
            return _html(await self._worker.doing(lambda: self._message(session, _lost(status))), status)

        inner = [
            Route("/", show),
            *(Route(f"/{name}", file) for name in self._files),
            *(Route(f"/{name}", act, methods=["POST"]) for name in self._actions),
        ]
        routes = [Mount(session.folder.rstrip("/"), routes=inner)]
        handlers: Mapping[Any, Any] = {404: lost, 405: lost, 500: lost}
        return Guard(Starlette(routes=routes, exception_handlers=handlers), session)

    def _act(self, action: str, fields: Fields, session: Session, *, partial: bool) -> Response:
        """Do what a form says; an error of ours is shown on the page, at the place for messages."""
        self._error = None
        try:
            answer = self._actions[action](fields)
            if isinstance(answer, Download):
                named = {"content-disposition": f'attachment; filename="{answer.name}"'}
                return Response(answer.content, media_type=answer.kind, headers=named)
            changed = answer
        except VeilsetError as error:
            self._error, changed = error, Parts(self._after_error())
        if not partial:
            return RedirectResponse(session.folder, 303)
        return _html(self._parts(session, changed))

    def _given(self, session: Session) -> dict[str, Any]:
        return {**self._context(), "csrf": session.csrf, "error": self._error}

    def _page(self, session: Session) -> str:
        page = self._templates.get_template("page.html").render(self._given(session))
        self._error = None  # it has been read
        return page

    def _parts(self, session: Session, parts: Parts) -> str:
        names = list(dict.fromkeys([*parts.names, "message"]))
        given = self._given(session)
        shown = [self._templates.get_template(_template(name)).render(given) for name in names]
        said = self._templates.get_template("web/said.html").render(say=parts.say)
        return "\n".join([*shown, said])

    def _message(self, session: Session, error: VeilsetError) -> str:
        return self._templates.get_template("web/lost.html").render(error=error, csrf=session.csrf)


def _template(part: str) -> str:
    return "web/message.html" if part == "message" else f"{part}.html"


def _html(text: str, status: int = 200) -> Response:
    return Response(text, status, media_type="text/html")


def _lost(status: int) -> VeilsetError:
    if status == 404:
        return VeilsetError("There is no such page.", "Go back to the first one.")
    if status == 405:
        return VeilsetError("This is not how the page works.", "Go back to the first one.")
    return VeilsetError(
        "Internal error: what you asked for was not done.",
        "This is a bug in Veilset: please report it, with what the terminal shows.",
    )
