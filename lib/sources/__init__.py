"""What the five source documents print, and the comparison with what is computed here.

- `example("01.3")`: inputs of an example and the figures that its document prints (`data/*.toml`);
- `compare("01.3", pesos=A)`: "confere" or "corrigido", decided at the printed precision;
- `judge("01.3")`: the same for every figure of the example, computed with `lib` (`recompute.py`);
- `overview()`, `items("01")`, `figures("01")`: what the errata page shows.
"""

from lib.sources.catalog import example, example_ids
from lib.sources.comparison import AGREES, CORRECTED, compare
from lib.sources.errata import figures, items, overview, statements
from lib.sources.recompute import judge, recompute

__all__ = ["AGREES", "CORRECTED", "compare", "example", "example_ids", "judge", "recompute"]
__all__ += ["figures", "items", "overview", "statements"]
