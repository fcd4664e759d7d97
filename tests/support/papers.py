"""Files of a folder as tests make them: PDF with and without a password, docx, a web page."""

import io
from pathlib import Path

import docx
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

PAGE = """<html><head><title>The page &amp; its title</title><style>x{}</style></head><body>
<nav><a href="/">Home</a></nav><article><h1>Jazz</h1><p>A long paragraph on the harpsichord, its makers, and how it came
to be played in halls where nobody had heard one for a hundred years. It ends here.</p></article></body></html>"""


def pdf(text: str, *, title: str = "", locked: str | None = None, pages: int = 1) -> bytes:
    """A PDF with a line of text on each page."""
    writer = PdfWriter()
    for _ in range(pages):
        page = writer.add_blank_page(612, 792)
        font = DictionaryObject(
            {
                NameObject("/Type"): NameObject("/Font"),
                NameObject("/Subtype"): NameObject("/Type1"),
                NameObject("/BaseFont"): NameObject("/Helvetica"),
            }
        )
        page[NameObject("/Resources")] = DictionaryObject(
            {NameObject("/Font"): DictionaryObject({NameObject("/F1"): font})}
        )
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
    if title:
        writer.add_metadata({"/Title": title})
    if locked is not None:
        writer.encrypt(locked, algorithm="AES-256")
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


def word(text: str, *, title: str = "") -> bytes:
    """A docx with a paragraph and a table."""
    made = docx.Document()
    made.core_properties.title = title
    made.add_paragraph(text)
    made.add_table(1, 1).cell(0, 0).text = "in a table"
    written = io.BytesIO()
    made.save(written)
    return written.getvalue()


def papers(folder: Path) -> Path:
    """A folder with a file of each kind, and some that are not read."""
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    (folder / "deep" / "er" / "my_notes-2024.txt").write_text("A harpsichord, Café")
    (folder / "latin.text").write_bytes("Café on a windy day".encode("cp1252"))
    (folder / "wide.txt").write_text("Ünïcode", "utf-16")
    (folder / "read me.md").write_text("---\nsecret: 1\n---\n# Of *Jazz*\n\n[a link](https://example.org/target) here")
    (folder / "page.html").write_text(PAGE)
    (folder / "paper.pdf").write_bytes(pdf("The violin", title="On Violins"))
    (folder / "letter.docx").write_bytes(word("The trumpet", title="On Trumpets"))
    (folder / "sealed.pdf").write_bytes(pdf("unreadable", locked="hidden"))
    (folder / "binary.txt").write_bytes(b"\x7fELF\0\0\0")
    (folder / "empty.md").touch()
    (folder / "broken.docx").write_bytes(b"PK\x03\x04 nothing")
    (folder / "old.docx").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    (folder / "photo.jpg").write_bytes(b"\xff\xd8")
    (folder / ".hidden" / "diary.txt").write_text("hidden diary")
    (folder / ".secret.txt").write_text("hidden secret")
    return folder
