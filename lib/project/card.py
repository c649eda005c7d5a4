"""The README that goes with the model: what it is, what it was made of, what it scored, where it fails.

Its head is what model hubs read; the rest is for people.
"""

from collections.abc import Mapping
from pathlib import Path

from lib.files import write_atomically

Facts = Mapping[str, object]
README = "README.md"
HEAD = "---\nlanguage: pt\nlibrary_name: transformers\npipeline_tag: fill-mask\n---\n"
USE = """\
## Como usar

```python
from transformers import pipeline

preencher = pipeline("fill-mask", "esta_pasta")
print(preencher("a frase com uma [MASK] no meio"))
```
"""


def write_model_card(
    folder: Path, title: str, intent: str, sections: Mapping[str, Facts], limits: str
) -> Path:
    """Write the card into the folder of the model; returns the file."""
    parts = [HEAD + f"# {title}\n\n{intent.strip()}\n"]
    for name, facts in sections.items():
        parts.append(f"## {name}\n\n" + "".join(f"- {what}: {value}\n" for what, value in facts.items()))
    parts += [f"## Limites\n\n{limits.strip()}\n", USE]
    path = Path(folder) / README
    write_atomically(path, "\n".join(parts))
    return path
