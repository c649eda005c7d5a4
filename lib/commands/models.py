"""Folders of models: opened, or refused in one sentence that says what is wrong with them."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError

from lib.commands.console import REQUIRED, Refusal, Row
from lib.corpus import Grammar
from lib.encoder import Config, Encoder
from lib.heads import CausalLM, FineTuned, MaskedLM
from lib.tokenizer import Tokenizer
from lib.weights import load

MODEL = "modelo"  # the folder of the finished model, in that of its run
OPTION: Row = ("--modelo PASTA", "model", Path, REQUIRED, "pasta de um treino, ou de um BERT publicado")
KINDS = {FineTuned: "um modelo já ajustado", CausalLM: "um modelo causal", Encoder: "só um codificador"}
OLDER = ("vocab.json", "sentencepiece.bpe.model", "spiece.model")  # tokenizers from before tokenizer.json
WRONG = {  # what `load` says, and how we say it, with the names that it gives
    r"index\.json (?:is not|must)": "o índice das partes dos pesos está danificado",
    "is not a JSON|object of settings": "o config.json está danificado",
    r"but (.+): rename it to (.+)": "os pesos estão em {}, que deve chamar-se {}",
    r"but (.+): open it": "os pesos, em {}, são de outra biblioteca; transformers 4 os lê e regrava",
    "holds neither": "faltam os pesos (model.safetensors)",
    "more than tensors": "o arquivo de pesos traz código, e por segurança não é aberto",
    "is damaged": "o arquivo de pesos está danificado",
    "a state_dict": "o arquivo de pesos não é um state_dict, só com tensores",
    "weight_map|such file|does not hold it": "as partes dos pesos não são as que o índice diz",
    r"architecture '(\w+)'": "a cabeça de {} não é lida aqui; lib.weights.load_encoder lê o resto, em Python",
    r"model_type must .* got (?:''|None)": "o config.json não diz de que tipo ele é (model_type)",
    r"model_type must .* got '(.+)'": "é um {}, e só leio BERT, RoBERTa, XLM-R e CamemBERT",
    r"missing (\S+\w)": "os pesos não combinam com o config.json: falta {}",
    r"left over (\S+\w)": "os pesos não combinam com o config.json: sobra {}",
    r"(\S+) has shape": "os pesos não combinam com o config.json: {} é de outro tamanho",
    r"(\S+) must hold finite": "os pesos em {} têm NaN ou infinito",
    "is not tied": "a sua camada de saída não é a tabela de tokens, e só leio modelos em que é",
    r"activation must .* got '(.+)'": "a sua ativação, {}, não é calculada aqui",
    "position_embedding_type": "as suas posições são relativas, e aqui só se calculam as absolutas",
    r"^(\w+) must be an integer": "o config.json dá a {} um valor impossível",
    "okenizer": "o tokenizador não pode ser lido, ou não é o deste modelo",
}


@dataclass(frozen=True)
class Opened:
    """A model with what is needed to use it on a text."""

    folder: Path
    model: Encoder | MaskedLM | CausalLM | FineTuned
    tokenizer: Tokenizer

    @property
    def encoder(self) -> Encoder:
        return self.model if isinstance(self.model, Encoder) else self.model.encoder

    @property
    def config(self) -> Config:
        return self.encoder.config

    @property
    def digest(self) -> str:
        """What identifies the weights."""
        found = hashlib.sha256()
        for name, tensor in self.model.state_dict().items():
            found.update(name.encode() + tensor.numpy().tobytes())
        return found.hexdigest()

    def require_words(self, grammar: Grammar) -> None:
        """Refuse a model of other words than the grammar's."""
        if grammar.vocabulary != self.tokenizer.vocabulary:
            raise Refusal(f"o modelo de {self.folder} não tem as palavras da gramática; dê um texto.")

    def masked(self, what: str) -> MaskedLM:
        """The model, or a refusal of one that hides no words and so cannot do `what`."""
        if isinstance(self.model, MaskedLM):
            return self.model
        is_one = next(name for kind, name in KINDS.items() if isinstance(self.model, kind))
        raise Refusal(f"o modelo de {self.folder} não {what}: é {is_one}, e é preciso um modelo mascarado.")


def open_model(folder: Path) -> Opened:
    """The model and the tokenizer of a folder, or of the run in it."""
    if (folder / MODEL).is_dir() and not (folder / "config.json").exists():
        folder = folder / MODEL
    if not folder.is_dir():
        told = f"{folder} é um arquivo" if folder.exists() else f"não há a pasta de modelo {folder}"
        raise Refusal(f"{told}; um modelo é uma pasta, a que treinar, ajustar ou save_pretrained gravou.")
    if not (folder / "config.json").is_file():
        unfinished = (folder / "settings.json").exists()
        told = "o treino nela não terminou" if unfinished else "não é a pasta de um modelo salvo"
        raise Refusal(f"a pasta {folder} não tem config.json: {told}.")
    try:
        model, tokenizer = load(folder)
    except (OSError, ValueError, TypeError, KeyError, UnpicklingError) as error:
        found = ((re.search(theirs, str(error)), ours) for theirs, ours in WRONG.items())
        known = (ours.format(*match.groups()) for match, ours in found if match)
        told = next(known, "o config.json ou os pesos não são os de um BERT")
        raise Refusal(f"o modelo de {folder} não pode ser usado: {told}.") from None
    if tokenizer is None:
        told = ""
        if old := next((name for name in OLDER if (folder / name).is_file()), None):
            told = f"; o {old} dela, de um formato mais antigo, vira um com transformers: "
            told += f"AutoTokenizer.from_pretrained({str(folder)!r}).save_pretrained({str(folder)!r})"
        raise Refusal(f"a pasta {folder} não tem tokenizador (tokenizer.json ou vocab.txt){told}.")
    return Opened(folder, model, tokenizer)


def mostly_unknown(unknown: int, total: int) -> list[str]:
    """What to tell of a text of which the model's tokenizer knows too little; nothing, of another."""
    share = unknown / total
    if share <= 0.05:
        return []
    return [f"Atenção: {share:.0%} do que o modelo lê são [UNK]; foi treinado em textos diferentes?"]


def warm_start(target: MaskedLM | CausalLM, start: Opened) -> None:
    """Copy all weights of `start` that `target` has too; the others stay as they were drawn."""
    given = {f"encoder.{name}": tensor for name, tensor in start.encoder.state_dict().items()}
    if isinstance(start.model, MaskedLM):
        given |= start.model.state_dict()
    state = target.state_dict()
    target.load_state_dict(state | {name: tensor for name, tensor in given.items() if name in state})
