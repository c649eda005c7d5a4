"""Write the script of the course's model for a page: `python -m lib.models FILE`."""

import sys
from pathlib import Path

from lib.models.page_bundle import script

if len(sys.argv) != 2:
    sys.exit("usage: python -m lib.models FILE")
Path(sys.argv[1]).write_text(script(), encoding="utf-8")
