"""Tables that sort, filter, page, choose their columns and export what they show.

A feature describes its table once (`Table`); the address holds everything a reader
chose (`TableQuery`), so that an address is a view and a file has what the page shows.
"""

from .export import csv_response
from .index import Index
from .paging import TablePage, page_of
from .query import TableQuery
from .table import Chip, Column, Facet, Setting, Table

__all__ = [
    "Chip",
    "Column",
    "Facet",
    "Index",
    "Setting",
    "Table",
    "TablePage",
    "TableQuery",
    "csv_response",
    "page_of",
]
