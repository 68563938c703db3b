"""The program ``consonant``, from the same package: ``python -m consonant``."""

import sys

from ._consonant import main as program


def main() -> int:
    """Runs the program with the process's arguments."""
    return program(["consonant", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
