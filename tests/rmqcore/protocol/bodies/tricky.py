"""Strategies for names that hold what the fast decoders look for."""

from hypothesis import strategies as st

from rmqcore.model import MessageQueue

FRAGMENTS = [
    '"}:',
    "}:",
    '{"brokerName":',
    ',{"brokerName":',
    '{{"brokerName":',
    "}}}]",
    "}}}",
    '}},"topicPutTps":',
    '}},"properties":',
    '}}},{"consumeTps":',
    '"offsetTable":{{',
    'Table":{}',
    "{0:5}",
    ":{0:5}",
    ",1:",
    "{7:",
    '"',
    "\\",
    "\\u0022",
    "$ref",
    '{"$ref":"$"}',
    "@",
    "\n",
    "\x00",
    "中文",
    "\U0001f600",
]

plain = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
fragments = st.sampled_from(FRAGMENTS)
# A table whose only key is "$ref" is a reference, to Java as to us.
names = (
    plain
    | fragments.filter("$ref".__ne__)
    | st.builds("{}{}".format, fragments, fragments)
)
filled = names.filter(bool)
int32s = st.integers(-(2**31), 2**31 - 1)
int64s = st.integers(-(2**63), 2**63 - 1)
counts = st.integers(0, 100_000)
rates = st.floats(0, 1e12)
queues = st.builds(MessageQueue, names, names, int32s)
