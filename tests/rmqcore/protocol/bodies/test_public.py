from rmqcore.protocol import bodies


def test_the_public_names_are_sorted_and_exist() -> None:
    assert bodies.__all__ == sorted(bodies.__all__)
    assert all(hasattr(bodies, name) for name in bodies.__all__)


def test_every_decoder_has_its_encoder() -> None:
    decoders = {n.removeprefix("decode_") for n in bodies.__all__ if "decode_" in n}
    encoders = {n.removeprefix("encode_") for n in bodies.__all__ if "encode_" in n}
    assert decoders <= encoders
    # One decoder reads both spellings of a registration.
    assert encoders - decoders == {"register_broker_compressed"}
