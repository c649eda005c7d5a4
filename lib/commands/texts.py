"""Texts of the user's: read, checked, cut into paragraphs of sentences, and turned into batches.

Whatever cannot be used is refused before any work, in one sentence that names the file and the place.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import torch

from lib.commands.console import Refusal, Row, cause
from lib.corpus import Grammar
from lib.tokenizer import LONGEST_WORD, Tokenizer
from lib.training.data import Document, TextSource, generator

TEXTS: Row = ("TEXTO", "texts", Path, "*", "arquivos em UTF-8, ou pastas com .txt (sem eles: a gramática)")
GRAMMAR: Row = ("--gramatica ARQUIVO", "grammar", Path, None, "outra gramática (NOME -> peso símbolos | ...)")
FEWEST_WORDS = 100
LONGEST_SENTENCE = 60  # words; longer ones are cut


def read_texts(paths: Sequence[Path], least: int = FEWEST_WORDS) -> str:
    """The texts of files, and of the .txt files in folders, as one; a blank line stands between them."""
    files = [file for path in paths for file in files_of(path)]
    text = "\n\n".join(decoded(file) for file in files)
    named = str(files[0]) if len(files) == 1 else f"o conjunto dos {len(files)} arquivos"
    # A word may be of emoji: it is one if anything of it can be seen.
    words = sum(any(map(str.isprintable, word)) for word in text.split())
    if not words:
        told = "está vazio" if not text.strip() else "não tem nada que se possa ver"
        raise Refusal(f"{named} {told}: não há nenhuma palavra para ler.")
    if words < least:
        amount = "uma palavra" if words == 1 else f"{words} palavras"
        raise Refusal(f"{named} tem só {amount}; são precisas pelo menos {least}.")
    return text


def files_of(path: Path) -> list[Path]:
    """The file itself, or the .txt files below a folder, in the order of their names."""
    if not path.is_dir():
        return [path]
    texts = (file for file in path.rglob("*") if file.suffix.casefold() == ".txt" and file.is_file())
    if not (files := sorted(texts)):
        raise Refusal(f"a pasta {path} não tem nenhum arquivo .txt.")
    return files


def decoded(path: Path) -> str:
    """The content of a UTF-8 file, or a Refusal that says what is wrong and where."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Refusal(f"não consegui ler {path}: {cause(error)}.") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        hint = "talvez seja Latin-1"
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            hint = "parece UTF-16"
        elif b"\0" in data:
            hint = "parece um arquivo binário, ou UTF-16"
        raise Refusal(
            f"{path} não está em UTF-8: o byte 0x{data[error.start]:02X} na posição {error.start} "
            f"(linha {line}) é inválido; {hint}. Converta o arquivo para UTF-8 e tente de novo."
        ) from None
    # Latin letters in UTF-16 are valid UTF-8 with a null byte after each: decoding alone does not find them.
    if "\0" in text:
        raise Refusal(
            f"{path} não é um texto em UTF-8: há um byte nulo na posição {data.index(0)}; "
            "parece um arquivo binário, ou UTF-16. Converta o arquivo para UTF-8 e tente de novo."
        )
    return re.sub(r"\r\n?", "\n", text)


def paragraphs_of(text: str) -> list[list[str]]:
    """Sentences, grouped in paragraphs; a blank line ends one. A text without paragraphs is cut into some."""
    documents = []
    for paragraph in re.split(r"\n\s*\n", text):
        sentences = [" ".join(s.split()) for s in re.split(r"(?<=[.!?…])\s+|\n", paragraph)]
        words = [s.split() for s in sentences if s]
        cut = [w[i : i + LONGEST_SENTENCE] for w in words for i in range(0, len(w), LONGEST_SENTENCE)]
        documents.append([" ".join(piece) for piece in cut])
    documents = [document for document in documents if document]
    if len(documents) >= 20:
        return documents
    sentences = [sentence for document in documents for sentence in document]
    size = max(1, min(8, len(sentences) // 20))
    return [sentences[i : i + size] for i in range(0, len(sentences), size)]


def split(documents: list[list[str]], share: float = 0.05) -> tuple[list[list[str]], list[list[str]]]:
    """Paragraphs to train on, and those held out: a twentieth, or two if that is more; drawn once for all."""
    order = torch.randperm(len(documents), generator=generator(0, "split")).tolist()
    out = set(order[: max(min(2, len(documents) // 2), round(share * len(documents)))])
    return [d for i, d in enumerate(documents) if i not in out], [documents[i] for i in sorted(out)]


def source_of(
    documents: list[list[str]], tokenizer: Tokenizer, batch: int, seed: int, max_length: int
) -> TextSource:
    """Blocks of the paragraphs, of which some token must be known: nothing is asked about the others."""
    ids = [tokenized(document, tokenizer) for document in documents]
    unknown = tokenizer.vocabulary.unk_id
    if all(i == unknown for document in ids for sentence in document for i in sentence):
        raise Refusal(
            "nenhuma palavra do texto pode ser lida: ou todas são maiores que "
            f"{LONGEST_WORD} caracteres sem espaço, ou o tokenizador não conhece as suas letras."
        )
    return TextSource(ids, tokenizer.vocabulary, batch, seed, max_length)


def tokenized(document: Sequence[str], tokenizer: Tokenizer) -> Document:
    """The ids of each sentence, without special tokens: a "[PAD]" in a text would end its row."""
    special = {*tokenizer.vocabulary.special_ids} - {tokenizer.vocabulary.unk_id}
    return [[i for i in row.tolist() if i not in special] for row in tokenizer.encode_batch(document).ids]


def require_pairs(*parts: list[list[str]]) -> None:
    """Refuse a text of which some part has no two paragraphs with neighbouring sentences."""
    if any(sum(len(document) > 1 for document in part) < 2 for part in parts):
        raise Refusal(
            "não dá para formar pares de frases: o texto precisa de mais parágrafos (separados por uma linha "
            "em branco) com duas frases ou mais. Use um texto maior, ou --objetivo mlm."
        )


def read_grammar(path: Path) -> Grammar:
    """A grammar of the user's."""
    text = decoded(path)
    try:
        return Grammar.from_text(text)
    except ValueError:
        raise Refusal(
            f"a gramática {path} não serve: cada linha deve ser NOME -> peso símbolos | peso símbolos, com "
            "pesos maiores que zero, uma regra S de onde tudo começa, e toda frase com palavras e com fim."
        ) from None
