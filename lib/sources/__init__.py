"""What the five source documents print, and the comparison with what is computed here.

- `example("01.3")`: inputs of an example and the figures that its document prints (`data/*.toml`);
- `compare("01.3", pesos=A)`: "confere" or "corrigido", decided at the printed precision;
- `recompute("01.3")`: every figure of the example, computed with `lib`;
- `statements("01")`: the statements of a document that are corrected, and the test that guards each.
"""

from lib.sources.catalog import Example, Figure, example, example_ids
from lib.sources.comparison import AGREES, CORRECTED, Comparison, Verdict, compare

__all__ = [
    "AGREES",
    "CORRECTED",
    "Comparison",
    "Example",
    "Figure",
    "Verdict",
    "compare",
    "example",
    "example_ids",
]
