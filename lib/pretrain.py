"""The command `python -m lib.pretrain`: trains a model on the course's grammar or on a text of yours.

    python -m lib.pretrain                                  masked words, on the Portuguese grammar
    python -m lib.pretrain livro.txt --objective mlm+nsp    BERT's two exercises, on a text file
    torchrun --nproc-per-node 2 -m lib.pretrain ...         the same run, by two processes

The same command, given again, goes on where the run stopped, however it stopped. It speaks Portuguese, as the
book does: what it prints is read by a student.
"""

import argparse
import hashlib
import json
import math
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from tqdm import tqdm

from lib.corpus import PORTUGUESE, Grammar
from lib.encoder import Config
from lib.files import write_atomically
from lib.tokenizer import Tokenizer
from lib.training.checkpoint import Checkpoints, fingerprint
from lib.training.data import Document, GrammarSource, Source, TextSource, generator
from lib.training.loop import Trainer, hold_out, train
from lib.training.objectives import OBJECTIVES, predictions
from lib.training.processes import World, joined
from lib.training.recipes import PLANS, Plan
from lib.weights import save

RUNS = Path("_build/runs")
HELD_OUT_SEED = -1  # no run may have it
FEWEST_WORDS = 100
HELD_OUT = 256  # sentences in a batch of evaluation
LONGEST_SENTENCE = 60  # words; longer ones are cut
PLAN_OPTIONS = ("width", "layers", "heads", "steps", "batch", "lr", "dropout")
REFUSED, STOPPED = 2, 130  # exit codes: what was given cannot be used; Ctrl-C


class Refusal(Exception):
    """What the user gave cannot be used; the message is one sentence in Portuguese."""


# The text


def read_text(path: Path) -> str:
    """The content of a UTF-8 file with enough words in it, or a Refusal that says what is wrong and where."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Refusal(f"não consegui ler {path}: {error.strerror or error}.") from None
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
    words = len(re.findall(r"\w+", text))
    if not words:
        raise Refusal(f"{path} está vazio: não há nenhuma palavra para aprender.")
    if words < FEWEST_WORDS:
        amount = "uma palavra" if words == 1 else f"{words} palavras"
        raise Refusal(f"{path} tem só {amount}; são precisas pelo menos {FEWEST_WORDS}.")
    return text


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
    if len(documents) < 2:
        raise Refusal("o texto tem uma só frase: não há como separar uma parte para a avaliação.")
    order = torch.randperm(len(documents), generator=generator(0, "split")).tolist()
    out = set(order[: max(min(2, len(documents) // 2), round(share * len(documents)))])
    return [d for i, d in enumerate(documents) if i not in out], [documents[i] for i in sorted(out)]


# The run


@dataclass(frozen=True)
class Material:
    """What a run reads: a source to train on, one to evaluate on, how often, and what identifies the data."""

    source: Source
    held_out: Source
    batches: int
    identity: dict
    tokenizer: Tokenizer | None = None


def material(options: argparse.Namespace) -> Material:
    """The sources that the options ask for."""
    if options.text is None:
        grammar = read_grammar(options.grammar) if options.grammar else PORTUGUESE
        source = GrammarSource(grammar, options.batch, options.seed)
        held_out = GrammarSource(grammar, HELD_OUT, HELD_OUT_SEED)
        return Material(source, held_out, options.evaluate_batches, {"grammar": digest(repr(grammar.rules))})
    text = read_text(options.text)
    documents, out = split(paragraphs_of(text))
    if OBJECTIVES[options.objective].pooler:
        require_pairs(documents, out)
    tokenizer = tokenizer_of(options, [sentence for document in documents for sentence in document])

    def blocks(documents: list[list[str]], batch: int, seed: int) -> TextSource:
        ids = [tokenized(document, tokenizer) for document in documents]
        return TextSource(ids, tokenizer.vocabulary, batch, seed, options.max_length)

    source = blocks(documents, options.batch, options.seed)
    held_out = blocks(out, HELD_OUT // 4, HELD_OUT_SEED)
    batches = min(options.evaluate_batches, -(-len(held_out.blocks) // held_out.batch))
    identity = {"text": digest(text), "vocabulary": digest("\n".join(tokenizer.vocabulary))}
    return Material(source, held_out, batches, identity, tokenizer)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def require_pairs(*parts: list[list[str]]) -> None:
    """Refuse a text of which some part has no two neighbouring sentences, or no stranger to one."""
    if any(len(part) < 2 or all(len(document) < 2 for document in part) for part in parts):
        raise Refusal(
            "não dá para formar pares de frases: o texto precisa de mais parágrafos (separados por uma linha "
            "em branco) com duas frases ou mais. Use um texto maior, ou --objective mlm."
        )


def tokenizer_of(options: argparse.Namespace, sentences: list[str]) -> Tokenizer:
    """The tokenizer that the options name, or one trained on these sentences."""
    if options.tokenizer:
        try:
            return Tokenizer.load(options.tokenizer)
        except (ValueError, OSError) as error:
            raise Refusal(f"o tokenizador {options.tokenizer} não serve: {error}.") from None
    try:
        return Tokenizer.train(sentences, options.vocab_size)
    except ValueError:
        letters = len({character for sentence in sentences for character in sentence} - {" "})
        raise Refusal(
            f"--vocab-size {options.vocab_size} é pouco: o texto usa {letters} caracteres diferentes, e cada "
            "um entra duas vezes no vocabulário, no começo e no meio de uma palavra."
        ) from None


def tokenized(document: Sequence[str], tokenizer: Tokenizer) -> Document:
    """The ids of each sentence, without special tokens: a "[PAD]" in a text would end its row."""
    special = {*tokenizer.vocabulary.special_ids} - {tokenizer.vocabulary.unk_id}
    return [[i for i in row.tolist() if i not in special] for row in tokenizer.encode_batch(document).ids]


def read_grammar(path: Path) -> Grammar:
    try:
        return Grammar.from_text(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:  # of the file, of UTF-8, or of the grammar itself
        raise Refusal(f"a gramática {path} não serve: {error}.") from None


def decided(options: argparse.Namespace, data: Material) -> dict:
    """Everything that decides the weights at the end, as plain data: the identity of the run."""
    plan, source = plan_of(options), data.source
    pairs = OBJECTIVES[plan.objective].pooler
    positions = source.max_length * (2 if pairs else 1)  # room for a pair
    return {
        **json.loads(json.dumps(asdict(plan))),
        "config": asdict(plan.config(len(source.vocabulary), positions, source.vocabulary.pad_id)),
        "seed": options.seed,
        "data": data.identity,
    }


def plan_of(options: argparse.Namespace) -> Plan:
    """The plan that the options name, with what they change."""
    plan = PLANS[options.preset]
    given = {name: getattr(options, name) for name in PLAN_OPTIONS if getattr(options, name) is not None}
    if options.early_rate is not None:
        given["hidden"] = (options.early_rate, plan.hidden[1])
    return replace(plan, objective=options.objective, **given)


def pretrain(options: argparse.Namespace, world: World) -> int:
    """Train as the options say, from the beginning or from the last checkpoint; returns the exit code."""
    data = material(options)
    settings = decided(options, data)
    folder = options.folder or RUNS / f"{options.objective}-{fingerprint(settings)}"
    require_own_folder(folder, settings)
    plan = plan_of(options)
    torch.manual_seed(options.seed)
    trainer = Trainer(plan.build(Config(**settings["config"])), data.source, plan.recipe, world)
    checkpoints = Checkpoints(folder, fingerprint(settings))
    held_out = hold_out(trainer.objective, data.held_out, data.batches)
    resume(trainer, checkpoints)
    if world.leads:
        write_atomically(folder / "settings.json", json.dumps(settings, indent=1, sort_keys=True))
    say = tqdm.write if world.leads else lambda line: None
    describe(trainer, held_out.floors, folder, say)
    with asked_to_stop(world) as stop:
        train(
            trainer,
            held_out=held_out,
            evaluate_every=options.evaluate_every or max(1, options.steps // 10),
            checkpoints=checkpoints,
            save_every=options.save_every,
            log=folder / "log.jsonl",
            stop=stop,
            tell=lambda record: report(record, trainer, data, say),
            progress=not options.quiet,
        )
    if trainer.step < options.steps:
        say(f"\nParado no passo {trainer.step} de {options.steps}; tudo foi salvo em {folder}.")
        command = " ".join(["python -m lib.pretrain", *sys.argv[1:]])
        say(f"Para continuar de onde parou, repita o mesmo comando:\n  {command}")
        return STOPPED
    if world.leads:
        dtype = torch.float16 if options.half else torch.float32
        tokenizer = data.tokenizer or Tokenizer.of_words(data.source.vocabulary)
        save(folder / "model", trainer.objective.model, tokenizer, dtype)
    say(f"Pronto: o modelo está em {folder / 'model'}, a curva em {folder / 'log.jsonl'}.")
    return 0


def require_own_folder(folder: Path, settings: dict) -> None:
    """Refuse a folder that belongs to another run, and say in what they differ."""
    path = folder / "settings.json"
    if not path.exists():
        return
    try:
        other = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        told = f"{path} está danificado: apague a pasta {folder} ou escolha outra com --folder."
        raise Refusal(told) from None
    if other != settings:
        differ = [key for key in settings if not isinstance(other, dict) or other.get(key) != settings[key]]
        raise Refusal(
            f"a pasta {folder} é de outro treinamento (diferem: {', '.join(differ)}); "
            "escolha outra com --folder."
        )


def resume(trainer: Trainer, checkpoints: Checkpoints) -> None:
    """Go on from the newest checkpoint that can be trusted; the leading process reads for all."""
    found = None
    if trainer.world.leads:
        found = checkpoints.newest(lambda error: tqdm.write(f"Checkpoint recusado: {error}", file=sys.stderr))
    found = trainer.world.from_leader(found)
    if found is not None:
        trainer.restore(found)


def describe(trainer: Trainer, floors: dict[str, float], folder: Path, say) -> None:
    weights = sum(p.numel() for p in trainer.objective.parameters())
    say(f"{weights:,} parâmetros, {len(trainer.source.vocabulary):,} palavras no vocabulário; pasta {folder}")
    if floors:
        shown = ", ".join(f"{term} {floor:.4f}" for term, floor in floors.items())
        say(f"Piso exato nesta avaliação, em nats: {shown}; nenhum modelo faz melhor em média.")
    if trainer.step:
        say(f"Continuando do passo {trainer.step}.")


def report(record: dict, trainer: Trainer, data: Material, say) -> None:
    """One line for an evaluation, and what the model says of two sentences that it never saw."""
    losses = {key.removeprefix("held_out_"): v for key, v in record.items() if key.startswith("held_out_")}
    line = f"passo {record['step']}: " + ", ".join(f"{name} {value:.4f}" for name, value in losses.items())
    if "floor" in record:
        excess = sum(losses.values()) / record["floor"] - 1
        line += f" (piso {record['floor']:.4f}, {100 * excess:+.1f}%)"
    say(line)
    for sentence in data.held_out.sentences(0)[:2]:
        say("  " + sample_line(trainer, data.source, sentence))


def sample_line(trainer: Trainer, source: Source, sentence: torch.Tensor) -> str:
    """A sentence with a gap in the middle (cut there, for a causal model) and the three likeliest words."""
    vocabulary = source.vocabulary
    sentence = sentence[sentence != vocabulary.pad_id].clone()
    place = len(sentence) // 2
    answer = vocabulary[int(sentence[place])]
    if trainer.objective.causal:
        sentence = sentence[:place]
        likeliest = predictions(trainer.objective, sentence, place - 1)
        shown = [*(vocabulary[int(i)] for i in sentence[1:]), "___"]
    else:
        sentence[place] = vocabulary.mask_id
        likeliest = predictions(trainer.objective, sentence, place)
        shown = [vocabulary[int(i)] for i in sentence[1:-1]]
    guesses = ", ".join(f"{vocabulary[i]} {p:.2f}" for i, p in likeliest)
    return f"{' '.join(shown).replace(' ##', '')}  ({answer}) → {guesses}"


@contextmanager
def asked_to_stop(world: World) -> Iterator:
    """A function that tells whether Ctrl-C (or a polite kill) has come; a second Ctrl-C ends at once.

    torchrun passes Ctrl-C on to processes that the terminal has told already, so there all are taken as one.
    """
    asked: list[int] = []

    def note(number: int, _) -> None:
        asked.append(number)
        if len(asked) > 1 and world.size == 1:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# The options


def whole(least: int):
    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"deve ser um inteiro de pelo menos {least}; veio {text!r}")
        return int(text)

    return read


def between(low: float, high: float, names: str):
    """A finite number from `low` to `high`, as `names` tells the user."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high or math.isinf(value):
            raise argparse.ArgumentTypeError(f"deve ser um número {names}; veio {text!r}")
        return value

    return read


# Name and value, what may be given, what is taken otherwise (None: what --preset says), and what it is for.
# No option may be the beginning of one of torchrun's (--d, --run): it would take it for its own.
OPTIONS = {
    "o que ler": (
        ("text TEXTO", Path, None, "arquivo de texto em UTF-8 (sem ele: a gramática)"),
        ("--grammar ARQUIVO", Path, None, "arquivo com outra gramática (NOME -> peso símbolos | ...)"),
        ("--tokenizer ARQUIVO", Path, None, "tokenizer.json a usar (padrão: treinar um no texto)"),
        ("--vocab-size N", whole(10), 4000, "tamanho do vocabulário a treinar"),
        ("--max-length N", whole(5), 64, "tokens por sequência, num texto"),
    ),
    "o que treinar (padrão: os valores de --preset)": (
        ("--objective", OBJECTIVES, "mlm", "o que o modelo aprende a prever"),
        ("--preset", PLANS, "curso", "de onde vêm os valores não dados"),
        ("--width N", whole(1), None, "largura do modelo, d"),
        ("--layers N", whole(1), None, "blocos"),
        ("--heads N", whole(1), None, "cabeças; a largura é divisível por elas"),
        ("--steps N", whole(1), None, "passos"),
        ("--batch N", whole(1), None, "frases por passo, somados todos os processos"),
        ("--lr N", between(math.ulp(0), math.inf, "maior que 0"), None, "taxa de aprendizado máxima"),
        ("--dropout N", between(0, math.nextafter(1, 0), "de 0 até menos que 1"), None, "dropout"),
        ("--early-rate N", between(0.01, 1, "de 0.01 a 1"), None, "fração oculta no começo; desce até 0.15"),
        ("--seed N", whole(0), 0, "semente de tudo o que é sorteado"),
    ),
    "como executar": (
        ("--folder PASTA", Path, None, "pasta do treinamento (padrão: uma para cada configuração)"),
        ("--evaluate-every N", whole(1), None, "passos entre avaliações"),
        ("--evaluate-batches N", whole(1), 8, "lotes por avaliação"),
        ("--save-every N", whole(1), 200, "passos entre checkpoints"),
        ("--half", bool, False, "grava o modelo final em float16"),
        ("--quiet", bool, False, "sem barra de progresso"),
        ("-h, --help", "help", None, "mostra esta ajuda"),
    ),
}


class Help(argparse.HelpFormatter):
    def add_usage(self, usage, actions, groups, prefix=None) -> None:
        super().add_usage(usage, actions, groups, prefix or "uso: ")


def add_option(group, named: str, kind, default, what: str) -> None:
    name, _, value = named.partition(" ")
    if kind == "help":
        group.add_argument(*named.split(", "), action="help", help=what)
    elif kind is bool:
        group.add_argument(name, action="store_true", help=what)
    elif isinstance(kind, dict):
        group.add_argument(name, choices=kind, default=default, help=what)
    else:
        count = None if name.startswith("-") else "?"
        group.add_argument(name, nargs=count, type=kind, default=default, metavar=value, help=what)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m lib.pretrain",
        description="Treina um modelo de linguagem na gramática do curso ou num texto seu. "
        "O mesmo comando, repetido, continua de onde parou.",
        formatter_class=Help,
        add_help=False,
    )
    for title, group in OPTIONS.items():
        made = parser.add_argument_group(title)
        for option in group:
            add_option(made, *option)
    options = parser.parse_args(arguments)
    plan = plan_of(options)
    for name in PLAN_OPTIONS:
        setattr(options, name, getattr(plan, name))
    if options.width % options.heads:
        parser.error(f"--width {options.width} deve ser divisível por --heads {options.heads}")
    if options.text and options.grammar:
        parser.error("um texto ou uma gramática (--grammar), não os dois")
    if options.tokenizer and not options.text:
        parser.error("--tokenizer precisa de um texto; a gramática tem as suas próprias palavras")
    return options


def refuse(world: World, sentence: str) -> int:
    if world.leads:
        print(f"erro: {sentence}", file=sys.stderr)
    return REFUSED


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    with joined() as world:
        try:
            return pretrain(options, world)
        except FloatingPointError:
            told = f"o treinamento divergiu; diminua a taxa de aprendizado (--lr {options.lr})."
            return refuse(world, told)
        except OSError as error:
            return refuse(world, f"não consegui gravar em {error.filename}: {error.strerror}.")
        except (Refusal, ValueError) as error:
            return refuse(world, str(error))
        except KeyboardInterrupt:
            if world.leads:
                print("\nInterrompido; o último checkpoint vale. Repita o comando.", file=sys.stderr)
            return STOPPED


if __name__ == "__main__":
    sys.exit(main())
