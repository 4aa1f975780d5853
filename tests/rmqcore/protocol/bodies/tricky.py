"""Strategies for names that hold what the fast decoders look for."""

from hypothesis import strategies as st

from rmqcore.model import LogicQueueMappingItem, MessageQueue, TopicQueueMapping

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
told = st.none() | st.integers(0, 2**63 - 1)
pieces = st.builds(
    LogicQueueMappingItem,
    int32s,
    int32s,
    filled,
    told,
    int64s,
    told,
    told,
    told,
)


def mappings(*, with_pieces: bool) -> st.SearchStrategy[TopicQueueMapping]:
    """Return mappings of static topics; name servers send none of the pieces."""
    few = st.lists(pieces, max_size=2).map(tuple)
    return st.builds(
        TopicQueueMapping,
        names,
        filled,
        counts,
        int64s,
        names,
        st.dictionaries(int32s, int32s, max_size=2),
        st.dictionaries(int32s, few, max_size=2) if with_pieces else st.just({}),
    )
