"""Has files read in a process of its own, which can be ended: a file must not stop, crash or exhaust the whole."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from veilset.search.sources import extracting
from veilset.search.sources.extracting import SIMPLE, Extracted, Unextractable, extracted
from veilset.search.terms import SEARCH_EXTRA
from veilset.views import installed

_PATIENCE = 30.0  # seconds for one file
_AT_ONCE = 1 << 16
_LIBRARIES = {".pdf": "pypdf", ".docx": "docx", ".html": "trafilatura", ".htm": "trafilatura", ".xhtml": "trafilatura"}


class Extractor:
    """Reads files; use it in a ``with`` statement, which ends the process. Threads take turns."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def extracted(self, suffix: str, content: bytes, most: int) -> Extracted:
        """Title and text of a file with this suffix, up to so many characters; `Unextractable` if it has none."""
        if suffix in SIMPLE:
            return extracted(suffix, content, most)
        installed(_LIBRARIES[suffix], f"Reading {suffix} files", SEARCH_EXTRA)
        asked = json.dumps({"suffix": suffix, "size": len(content), "most": most}).encode()
        with self._turn:
            answer = self._answer(asked + b"\n" + content)
        if "refused" in answer:
            raise Unextractable(answer["refused"])
        return Extracted(**answer)

    def _answer(self, request: bytes) -> dict[str, str]:
        try:
            answer: dict[str, str] = json.loads(self._exchange(request))
        except TimeoutError:
            self._end()
            raise Unextractable(f"reading it takes more than {self._patience:g} seconds") from None
        except (OSError, EOFError):
            self._end()
            raise Unextractable("reading it ended the process that did") from None
        return answer

    def _exchange(self, request: bytes) -> bytes:
        """Send a request while listening: a process that does not read must not stop this one."""
        process = self._started()
        assert process.stdin is not None  # noqa: S101 - both are pipes
        assert process.stdout is not None  # noqa: S101
        deadline, left, heard = time.monotonic() + self._patience, memoryview(request), bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdin, selectors.EVENT_WRITE)
            selector.register(process.stdout, selectors.EVENT_READ)
            while not heard.endswith(b"\n"):
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready:
                    raise TimeoutError
                for key, _ in ready:
                    if key.fileobj is process.stdin:
                        left = left[os.write(key.fd, left[:_AT_ONCE]) :]
                        if not left:
                            selector.unregister(process.stdin)
                    elif piece := os.read(key.fd, _AT_ONCE):
                        heard += piece
                    else:
                        raise EOFError
        return bytes(heard)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            script = str(Path(extracting.__file__))
            self._process = subprocess.Popen(  # noqa: S603 - our own script
                [sys.executable, "-I", script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
            assert self._process.stdin is not None  # noqa: S101
            os.set_blocking(self._process.stdin.fileno(), False)
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            self._process.wait()
            self._process = None
