"""Text into rows, and rows into text."""

from veilset._native._types import _Int32, _Int64, _Strings, _Uint8

# column: from 0; None where no column is meant
class ParseError(ValueError):
    line: int
    column: int | None
    reason: str

class NoPerson(ParseError): ...
class WrongWidth(ParseError): ...

def parse_fimi(text: bytes, start: int, line: int, last: bool) -> tuple[_Int64, _Int32, _Int64, int, int]: ...

# ids as parse_fimi; then the lines of metadata (number, text), and how many lines were sequences
def parse_spmf(
    text: bytes, start: int, line: int, last: bool
) -> tuple[_Int64, _Int32, _Int64, int, int, list[tuple[int, bytes]], int]: ...

# nothing, consumed up to 0, if the first record is not complete
def parse_record(text: bytes, delimiter: str, last: bool = True) -> tuple[list[bytes], int, int]: ...

# then whose each row is (nobody's without a person column). Here and below, with gaps a row may be nobody's (-1), and
# of JSON an item may be null or empty (-1)
def parse_basket(
    text: bytes, delimiter: str, start: int, line: int, last: bool, person: int = -1, gaps: bool = False
) -> tuple[_Int64, _Int32, _Strings, int, int, tuple[_Int32, _Strings]]: ...

# the chosen columns, blank lines, consumed, line
def parse_table(
    text: bytes,
    delimiter: str,
    start: int,
    line: int,
    last: bool,
    columns: list[int],
    width: int,
    person: int = -1,
) -> tuple[list[tuple[_Int32, _Strings]], int, int, int]: ...

# codes are columns; then consumed, line, blank lines, counts above 1, persons (none without a person column)
def parse_wide(
    text: bytes,
    delimiter: str,
    start: int,
    line: int,
    last: bool,
    width: int,
    skip: _Uint8,
    person: int,
    counts: bool,
    gaps: bool = False,
) -> tuple[_Int64, _Int32, int, int, int, int, tuple[_Int32, _Strings]]: ...

# then consumed, line, blank lines, persons (none without their key)
def parse_json_lines(
    text: bytes, start: int, line: int, last: bool, key: str | None, person: str | None, gaps: bool = False
) -> tuple[_Int64, _Int32, _Strings, int, int, int, tuple[_Int32, _Strings]]: ...

# as parse_table with two columns; then whether any line has the item's key, and the keys of the first line
def parse_json_long(
    text: bytes, start: int, line: int, last: bool, id_key: str, item_key: str, gaps: bool = False
) -> tuple[list[tuple[_Int32, _Strings]], int, int, int, bool, list[str]]: ...

# the cells of one key after the other, with one dictionary; then what stands under the first key
def parse_json_columns(
    text: bytes, start: int, line: int, last: bool, first: str, keys: list[str]
) -> tuple[_Int64, _Int32, _Strings, tuple[_Int32, _Strings], int, int]: ...

# The writers take rows that may be a slice, with offsets that begin above 0, and names as they are to be written.
def format_rows(
    offsets: _Int64, items: _Int32, starts: _Int64, names: _Uint8, delimiter: str, long_form: bool, first_row: int
) -> bytes: ...
def format_json_lines(
    offsets: _Int64, items: _Int32, starts: _Int64, names: _Uint8, head: bytes, tail: bytes
) -> bytes: ...
def format_json_long(
    offsets: _Int64,
    items: _Int32,
    starts: _Int64,
    names: _Uint8,
    head: bytes,
    middle: bytes,
    tail: bytes,
    first_row: int,
) -> bytes: ...
def format_wide(offsets: _Int64, items: _Int32, vocabulary_size: int, delimiter: str) -> bytes: ...
def by_appearance(codes: _Int32, count: int) -> tuple[_Int32, _Int32]: ...
def group_rows(offsets: _Int64, codes: _Int32, owners: _Int32, count: int, out: _Int32) -> _Int64: ...

class Names:
    nbytes: int
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def add(self, starts: _Int64, names: _Uint8) -> _Int32: ...
    def take(self) -> _Strings: ...
