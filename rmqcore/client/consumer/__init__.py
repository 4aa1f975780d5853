"""Push and lite pull consumers: pulling, handing over, retrying, committing."""
