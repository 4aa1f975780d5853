"""JSON as Java's fastjson 1.x writes it, which is almost JSON.

Three things differ: integer map keys are bare (`{0:"a"}`), a key may be an object
(`{{"topic":"T"}:5}`), and a Java object seen before is written as `{"$ref":"$.path"}`.
`loads` reads all of these and strict JSON; `dumps` writes them.
"""

from .frozen import FrozenObject
from .read import MAX_BODY_BYTES, loads
from .write import dumps, write_string

__all__ = ["MAX_BODY_BYTES", "FrozenObject", "dumps", "loads", "write_string"]
