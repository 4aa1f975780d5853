"""JSON as Java's fastjson 1.x writes it, which is almost JSON.

Three things are not: integer map keys are bare (`{0:"a"}`), a key may be an object
(`{{"topic":"T"}:5}`), and a Java object seen before is written as `{"$ref":"$.path"}`.
`loads` reads all of that and strict JSON; `dumps` writes it.
"""

from .frozen import FrozenObject
from .read import MAX_BODY_BYTES, loads
from .write import dumps, write_string

__all__ = ["MAX_BODY_BYTES", "FrozenObject", "dumps", "loads", "write_string"]
