"""Files, frames and databases to rows of item codes and back. Knows nothing of privacy."""

from veilset.io.anatomy_files import AnatomyFile
from veilset.io.anatomy_writing import AnatomizedRows
from veilset.io.atomic import atomic_file, atomic_folder, check_place, packed, sha256_of, write_durably, write_whole
from veilset.io.companions import read_item_list
from veilset.io.files import TextBlocks, read_bytes, read_text_bytes
from veilset.io.gather import gather
from veilset.io.layout import ANATOMIES, FORMATS, Layout
from veilset.io.pieces import TABLE_SUFFIXES, check_table_name, pieces_of, write_pieces
from veilset.io.rows import Rows, arrow_numbers
from veilset.io.text import open_text
from veilset.io.writing import Difference, as_written, check_names, find_difference, table_of, write_rows

__all__ = [
    "ANATOMIES",
    "FORMATS",
    "TABLE_SUFFIXES",
    "AnatomizedRows",
    "AnatomyFile",
    "Difference",
    "Layout",
    "Rows",
    "TextBlocks",
    "arrow_numbers",
    "as_written",
    "atomic_file",
    "atomic_folder",
    "check_names",
    "check_place",
    "check_table_name",
    "find_difference",
    "gather",
    "open_text",
    "packed",
    "pieces_of",
    "read_bytes",
    "read_item_list",
    "read_text_bytes",
    "sha256_of",
    "table_of",
    "write_durably",
    "write_pieces",
    "write_rows",
    "write_whole",
]
