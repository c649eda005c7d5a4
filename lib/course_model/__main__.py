"""Write the script of the course model: `python -m lib.course_model book/_static/course_model.js`."""

import sys
from pathlib import Path

from lib.course_model import script

if len(sys.argv) != 2:
    sys.exit("usage: python -m lib.course_model FILE")
Path(sys.argv[1]).write_text(script(), encoding="utf-8")
