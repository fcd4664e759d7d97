"""Files to rows of item codes and back: formats, compression, encodings, atomic writing. Knows nothing of privacy."""

from veilset.io.arrow import rows_from_arrow, rows_to_arrow
from veilset.io.atomic import atomic_file, atomic_folder, check_place, sha256_of, write_durably, write_whole
from veilset.io.files import read_bytes, read_text_bytes, text_of
from veilset.io.pieces import TABLE_SUFFIXES, check_table_name, pieces_of, write_pieces
from veilset.io.rows import Rows
from veilset.io.text import FORMATS, TextOptions, count_fields, format_text, parse_text, read_item_list

__all__ = [
    "FORMATS",
    "TABLE_SUFFIXES",
    "Rows",
    "TextOptions",
    "atomic_file",
    "atomic_folder",
    "check_place",
    "check_table_name",
    "count_fields",
    "format_text",
    "parse_text",
    "pieces_of",
    "read_bytes",
    "read_item_list",
    "read_text_bytes",
    "rows_from_arrow",
    "rows_to_arrow",
    "sha256_of",
    "text_of",
    "write_durably",
    "write_pieces",
    "write_whole",
]
