"""`python -m lib`: see `lib.commands`."""

import sys

from lib.commands import main

if __name__ == "__main__":
    sys.exit(main())
