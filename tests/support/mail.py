"""Messages and mailboxes as tests make them."""

from email.message import EmailMessage
from pathlib import Path


def message(
    text: str,
    *,
    subject: str = "Rehearsal",
    sender: str = "Ann Miller <ann@example.org>",
    to: str = "Me <me@example.net>",
    number: int = 1,
    date: str = "Mon, 06 May 2024 09:08:09 +0200",
    html: str | None = None,
    attached: dict[str, bytes] | None = None,
) -> bytes:
    """The bytes of a message."""
    made = EmailMessage()
    made["From"], made["To"], made["Subject"], made["Date"] = sender, to, subject, date
    made["Message-ID"] = f"<{number}@mail.example.org>"
    made.set_content(text)
    if html is not None:
        made.add_alternative(html, subtype="html")
    for name, content in (attached or {}).items():
        made.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return made.as_bytes()


def mbox(path: Path, messages: list[bytes]) -> Path:
    """A mailbox file."""
    with path.open("wb") as stream:
        for one in messages:
            escaped = one.replace(b"\nFrom ", b"\n>From ")
            stream.write(b"From ann@example.org Mon May  6 09:08:09 2024\n" + escaped.rstrip(b"\n") + b"\n\n")
    return path


def maildir(path: Path, messages: list[bytes]) -> Path:
    """A Maildir folder: messages are read and unread, and one in three is in a subfolder."""
    for folder in ("cur", "new", "tmp", ".Sent/cur", ".Sent/new", ".Sent/tmp"):
        (path / folder).mkdir(parents=True)
    (path / "tmp" / "half").write_bytes(b"not yet")
    for number, one in enumerate(messages):
        folder = ("cur", "new", ".Sent/cur")[number % 3]
        (path / folder / f"{number}.host:2,S").write_bytes(one)
    return path
