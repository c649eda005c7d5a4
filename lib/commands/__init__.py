"""The command `python -m lib`: a model of one's own, from a text to a classifier, in five sub-commands.

    treinar    train       from nothing or from a model, on texts or on the grammar
    preencher  fill        the words that a model would put in place of [MASK]
    avaliar    evaluate    what a model loses on a text, beside the floor where it is known
    ajustar    fine_tune   a classifier from a CSV, a tagger from CoNLL-U, beside simple baselines
    exportar   export      a copy for others: checked, and half the size if asked

Each speaks Portuguese, as the book does, to a person with a text. What they share:

console    options, messages, refusals         models     folders of models, opened
texts      files and folders of text           material   texts and grammars as batches
examples   CSV and CoNLL-U                     baselines  what a fine-tuned model must beat
runs       one run per folder: its lock, its settings, its log
"""

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module

from lib.commands.console import REFUSED, run

COMMANDS = {  # the module of each, imported when it is asked for, and what it does
    "treinar": ("train", "treina um modelo num texto seu, ou na gramática do curso"),
    "preencher": ("fill", 'diz que palavras o modelo poria em "a [MASK] madura"'),
    "avaliar": ("evaluate", "mede um modelo num texto: perda, perplexidade, pseudoperplexidade"),
    "ajustar": ("fine_tune", "faz um classificador com um CSV, ou um etiquetador com CoNLL-U"),
    "exportar": ("export", "copia e confere um modelo, para usar com transformers"),
}
OVERVIEW = """uso: python -m lib COMANDO [opções]

O curso como ferramenta: um modelo seu, do texto ao classificador.

comandos:
{commands}

Cada comando explica as suas opções: python -m lib treinar --help

Do começo ao fim:
  python -m lib treinar livro.txt --pasta meu_bert
  python -m lib preencher "a [MASK] madura" --modelo meu_bert
  python -m lib avaliar outro.txt --modelo meu_bert
  python -m lib ajustar opinioes.csv --modelo meu_bert --saida classificador
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one sub-command; returns the exit code."""
    name, *rest = (sys.argv[1:] if arguments is None else list(arguments)) or ["--help"]
    if name in ("-h", "--help", "--ajuda"):
        print(OVERVIEW.format(commands="\n".join(f"  {n:<10} {what}" for n, (_, what) in COMMANDS.items())))
        return 0
    if name not in COMMANDS:
        near = get_close_matches(name, COMMANDS, 1)
        told = f"; você quis dizer {near[0]}?" if near else f": há {', '.join(COMMANDS)}."
        print(f"erro: não há o comando {name!r}{told}", file=sys.stderr)
        return REFUSED
    return run(import_module(f"lib.commands.{COMMANDS[name][0]}").main, rest)
