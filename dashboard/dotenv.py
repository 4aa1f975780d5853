"""Settings from a file of lines KEY=VALUE.

The launcher of a clone reads this module with whatever `python3` there is, hence its
old syntax.
"""

import os
from pathlib import Path


def load_dotenv(path: str) -> None:
    """Put the lines of a file into the environment, which wins over them.

    Without the file nothing happens. Raises `ValueError` for a malformed line.
    """
    file = Path(path)
    if not file.exists():
        return
    with file.open() as lines:
        for number, text in enumerate(lines, 1):
            line = text.strip()
            if not line or line.startswith("#"):
                continue
            key, equals, value = line.partition("=")
            if not equals or not key.strip().replace("_", "").isalnum():
                # The line is not shown: what is malformed may be a secret.
                raise ValueError(
                    ".env, line %d is not of the form KEY=VALUE" % number  # noqa: UP031
                )
            value = value.strip()
            if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
                value = value[1:-1]
            os.environ.setdefault(key.strip(), value)
