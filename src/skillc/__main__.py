"""`python -m skillc` is `skc`."""

import sys

from skillc.cli import main

if __name__ == "__main__":
    sys.exit(main())
