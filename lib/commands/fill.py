"""`python -m lib preencher "a [MASK] madura" --modelo PASTA`: the likeliest words for every gap."""

from collections.abc import Sequence

from lib.commands.console import Parser, Refusal, whole
from lib.commands.models import OPTION, open_model
from lib.use import fill_mask

OPTIONS = {
    "opções": (
        ("FRASE", "words", str, "+", 'a frase, com [MASK] em cada lacuna, entre aspas: "a [MASK] madura"'),
        OPTION,
        ("--palavras N", "top", whole(1), 5, "quantas palavras mostrar por lacuna"),
    )
}
MASK = "[MASK]"


def main(arguments: Sequence[str]) -> int:
    parser = Parser("preencher", "Diz que palavras um modelo poria em cada [MASK] de uma frase.", OPTIONS)
    options = parser.parse_args(arguments)
    sentence = " ".join(options.words)
    if MASK not in sentence:
        raise Refusal(f'a frase não tem {MASK}: escreva-o onde falta a palavra, como em "a {MASK} madura".')
    opened = open_model(options.model)
    model = opened.masked("preenche lacunas")
    encoding = opened.tokenizer.encode(sentence.replace(MASK, opened.tokenizer.special_names["mask_token"]))
    if len(encoding) > (longest := opened.config.max_length):
        raise Refusal(f"a frase é longa demais: tem {len(encoding)} tokens, e o modelo lê até {longest}.")
    unk = opened.tokenizer.vocabulary.unk_id
    if unknown := [word.text for word in encoding.words if unk in encoding.ids[word.start : word.stop]]:
        print(f"O modelo não conhece, e lê como [UNK]: {', '.join(unknown)}.")
    for number, gap in enumerate(fill_mask(model, opened.tokenizer, sentence, options.top), 1):
        print(f"lacuna {number}:" if sentence.count(MASK) > 1 else sentence)
        for word, probability in gap:
            print(f"  {word:<20} {probability:.4f}")
    return 0
