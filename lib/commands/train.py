"""`python -m lib treinar`: trains a model on texts of the user's, or on the course's grammar.

    python -m lib treinar                                   masked words, on the Portuguese grammar
    python -m lib treinar livro.txt --objetivo mlm+nsp      BERT's two exercises, on a text file
    python -m lib treinar livros/ --de meu_bert             from a model, on all texts of a folder
    torchrun --nproc-per-node 2 -m lib treinar ...          the same run, by two processes

The same command, given again, goes on where the run stopped, however it stopped; with more steps, it makes
a finished run longer.
"""

import argparse
import json
import math
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import torch
from tqdm import tqdm

from lib.commands.console import (
    BATCH_SIZE,
    HALF,
    QUIET,
    SEED,
    STOPPED,
    Parser,
    Refusal,
    Row,
    between,
    grouped,
    one_of,
    peak_memory,
    tell,
    typed,
    whole,
)
from lib.commands.material import LENGTH, Material, material
from lib.commands.models import MODEL, Opened, open_model, warm_start
from lib.commands.runs import alone_in, mended, require_same
from lib.commands.texts import GRAMMAR, TEXTS
from lib.encoder import Config
from lib.files import write_atomically
from lib.training.checkpoint import CheckpointError, Checkpoints, fingerprint
from lib.training.data import Source
from lib.training.loop import Trainer, hold_out
from lib.training.loop import train as run_steps
from lib.training.objectives import OBJECTIVES, predictions
from lib.training.processes import World, joined
from lib.training.recipes import PLANS, Plan
from lib.weights import save

RUNS = Path("_build/runs")
PLAN_OPTIONS = ("width", "layers", "heads", "steps", "batch", "lr", "dropout")
VOCABULARY = 4000
UNITS = {"tokens": "tokens", "palavras": "words", "trechos": "spans"}
GENTLE_RATE = 0.064  # over the width: 1e-3 at 64, as for the course's models, 8e-5 at BERT's 768
ON_TEXT, ON_GRAMMAR = "texto", "curso"  # the recipes, where none is named
POSITIVE = between(math.ulp(0), math.inf, "maior que 0")
SHARE = between(0, math.nextafter(1, 0), "de 0 até menos que 1")


def _of_recipe(flag: str, name: str, kind: Callable, what: str) -> Row:
    """An option that the recipe decides where it is not given."""
    on_text, on_grammar = (getattr(PLANS[recipe], name) for recipe in (ON_TEXT, ON_GRAMMAR))
    if isinstance(on_text, tuple):  # what is hidden at first and at last: the option gives the first
        on_text, on_grammar = on_text[0], on_grammar[0]
    default = on_text if on_text == on_grammar else f"{on_text} num texto, {on_grammar} na gramática"
    return flag, name, kind, None, f"{what} (padrão: {default})"


OPTIONS: dict[str, Sequence[Row]] = {
    "o que ler": (
        TEXTS,
        GRAMMAR,
        ("--tokenizador ARQUIVO", "tokenizer", Path, None, "tokenizer.json (padrão: treinar um no texto)"),
        (
            *("--vocabulario N", "vocab_size", whole(10), None),
            f"tamanho do vocabulário a treinar (padrão: {VOCABULARY})",
        ),
        (
            *("--comprimento N", "max_length", whole(5), None),
            f"tokens por sequência, num texto (padrão: {LENGTH}, ou o máximo do modelo de partida)",
        ),
    ),
    "o que treinar": (
        ("--de PASTA", "start", Path, None, "parte deste modelo (padrão: parte do zero)"),
        ("--objetivo NOME", "objective", one_of(OBJECTIVES), "mlm", f"o que prever: {', '.join(OBJECTIVES)}"),
        (
            *("--ocultar NOME", "units", one_of(UNITS), None),
            f"o que some inteiro: {', '.join(UNITS)} (padrão: tokens)",
        ),
        (
            *("--receita NOME", "preset", one_of(PLANS), None),
            f"os outros valores: {', '.join(PLANS)} (padrão: {ON_TEXT} num texto, {ON_GRAMMAR} na gramática)",
        ),
        _of_recipe("--largura N", "width", whole(1), "largura do modelo, d"),
        _of_recipe("--camadas N", "layers", whole(1), "blocos"),
        _of_recipe("--cabecas N", "heads", whole(1), "cabeças; a largura é divisível por elas"),
        _of_recipe("--passos N", "steps", whole(1), "passos ao todo"),
        _of_recipe("--lote N", "batch", BATCH_SIZE, "frases por passo, somados todos os processos"),
        _of_recipe("--taxa N", "lr", POSITIVE, f"maior taxa; com --de, {GENTLE_RATE} / largura"),
        _of_recipe("--dropout N", "dropout", SHARE, "fração que o dropout apaga; com --de, a do modelo"),
        _of_recipe(
            "--ocultas-no-comeco N", "hidden", between(0.01, 1, "de 0.01 a 1"), "fração oculta no começo"
        ),
        SEED,
    ),
    "como executar": (
        ("--pasta PASTA", "folder", Path, None, f"pasta do treino (padrão: em {RUNS}, uma por configuração)"),
        (
            *("--avaliar-a-cada N", "evaluate_every", whole(1), None),
            "passos entre avaliações (padrão: 1/10 de todos)",
        ),
        ("--lotes-de-avaliacao N", "evaluate_batches", whole(1), 8, "lotes por avaliação"),
        ("--salvar-a-cada N", "save_every", whole(1), 200, "passos entre checkpoints"),
        HALF,
        QUIET,
    ),
}
NAMES = {row[1]: row[0].split()[0] for rows in OPTIONS.values() for row in rows}
NAMES |= {"data": "o texto ou a gramática"}


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = Parser(
        "treinar",
        "Treina um modelo de linguagem num texto seu, ou na gramática do curso. O mesmo comando, repetido, "
        "continua de onde parou; repetido com a mesma --pasta e mais --passos, prolonga o treino.",
        OPTIONS,
    )
    options = parser.parse_args(arguments)
    if options.texts and options.grammar:
        parser.error("um texto ou uma gramática (--gramatica), não os dois")
    for applies, names, why in (
        (
            not options.texts,
            ("tokenizer", "vocab_size", "max_length"),
            "precisa de um texto; a gramática tem as suas próprias palavras e frases",
        ),
        (
            options.start,
            ("tokenizer", "vocab_size", "width", "layers", "heads"),
            "e --de não vão juntos: o modelo de partida já decide isso",
        ),
        (options.tokenizer, ("vocab_size",), "e --tokenizador não vão juntos: o vocabulário já está nele"),
        (
            OBJECTIVES[options.objective].causal,
            ("units", "hidden"),
            f"não vale com --objetivo {options.objective}, que não oculta nada",
        ),
    ):
        if applies and (given := [NAMES[name] for name in names if getattr(options, name) is not None]):
            parser.error(f"{given[0]} {why}")
    options.vocab_size, options.units = options.vocab_size or VOCABULARY, options.units or "tokens"
    options.preset = options.preset or (ON_TEXT if options.texts else ON_GRAMMAR)
    options.free = [name for name in ("lr", "dropout") if getattr(options, name) is None]
    plan = plan_of(options)
    for name in PLAN_OPTIONS:
        setattr(options, name, getattr(plan, name))
    if options.width % options.heads:
        parser.error(f"--largura {options.width} deve ser divisível por --cabecas {options.heads}")
    return options


def plan_of(options: argparse.Namespace) -> Plan:
    """The plan that the options name, with what they change."""
    plan = PLANS[options.preset]
    if options.start:  # Muon's steps are as long as ever, whatever was learnt
        plan = replace(plan, muon=None)
    given = {name: getattr(options, name) for name in PLAN_OPTIONS if getattr(options, name) is not None}
    if options.hidden is not None:
        given["hidden"] = (options.hidden, plan.hidden[1])
    return replace(plan, objective=options.objective, units=UNITS[options.units], **given)


# The run


def decided(options: argparse.Namespace, data: Material, start: Opened | None = None) -> dict:
    """Everything that decides the weights at the end, as plain data: the identity of the run."""
    plan, vocabulary = plan_of(options), data.source.vocabulary
    config = plan.config(len(vocabulary), data.positions, vocabulary.pad_id)
    if start:
        kind = OBJECTIVES[plan.objective]
        config = replace(start.config, pooler=kind.pooler, causal=kind.causal, dropout=plan.dropout)
    return {
        **json.loads(json.dumps(asdict(plan))),
        "config": asdict(config),
        "seed": options.seed,
        "data": data.identity,
        "start": start and start.digest,
    }


def train(options: argparse.Namespace, world: World) -> int:
    """Train as the options say, from the beginning or from the last checkpoint; returns the exit code."""
    start = open_model(options.start) if options.start else None
    if start:  # a model that has learnt is led more gently, and keeps its dropout
        own = {"lr": GENTLE_RATE / start.config.d, "dropout": start.config.dropout}
        vars(options).update({name: own[name] for name in options.free})
    data = material(options, start)
    settings = decided(options, data, start)
    folder = options.folder or RUNS / f"{options.objective}-{fingerprint(settings)}"
    before = require_same(folder, settings, NAMES)
    say = tqdm.write if world.leads else lambda line: None
    with alone_in(folder, world):
        torch.manual_seed(options.seed)
        objective = plan_of(options).build(Config(**settings["config"]))
        if start:
            warm_start(objective.model, start)
        trainer = Trainer(objective, data.source, plan_of(options).recipe, world)
        # A run with more steps is the same run: its checkpoints serve.
        checkpoints = Checkpoints(folder, fingerprint(settings | {"steps": None}))
        resume(trainer, checkpoints)
        if trainer.step and before and before < options.steps:
            say(f"Prolongando o treino de {before} para {options.steps} passos.")
        return pursue(trainer, checkpoints, data, settings, options, say)


def pursue(trainer: Trainer, checkpoints: Checkpoints, data: Material, settings: dict, options, say) -> int:
    """The steps that are left, told and saved on the way; then the model."""
    folder, leads = checkpoints.folder, trainer.world.leads
    held_out = hold_out(trainer.objective, data.held_out, data.batches)
    if leads:
        write_atomically(folder / "settings.json", json.dumps(settings, indent=1, sort_keys=True))
        if told := mended(folder / "log.jsonl"):
            say(told)
    describe(trainer, held_out.floors, folder, say)
    with asked_to_stop(trainer.world) as stop:
        run_steps(
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
        say(f"Para continuar de onde parou, repita o mesmo comando:\n  {typed(options.arguments)}")
        return STOPPED
    if leads:
        dtype = torch.float16 if options.half else torch.float32
        save(folder / MODEL, trainer.objective.model, data.tokenizer, dtype)
    say(f"Pronto: o modelo está em {folder / MODEL}, a curva em {folder / 'log.jsonl'}; {peak_memory()}.")
    return 0


def resume(trainer: Trainer, checkpoints: Checkpoints) -> None:
    """Go on from the newest checkpoint that can be trusted; the leading process reads for all."""
    found = None
    if trainer.world.leads:
        found = checkpoints.newest(refused)
    found = trainer.world.from_leader(found)
    if found is not None:
        trainer.restore(found)


def refused(error: CheckpointError) -> None:
    name = str(error).partition(":")[0]
    tqdm.write(f"Checkpoint recusado, por estar danificado ou ser de outro treino: {name}", file=sys.stderr)


def describe(trainer: Trainer, floors: dict[str, float], folder: Path, say) -> None:
    weights = grouped(sum(p.numel() for p in trainer.objective.parameters()))
    known = grouped(len(trainer.source.vocabulary))
    say(f"{weights} parâmetros, {known} tokens no vocabulário; pasta {folder}")
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


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    options.arguments = ["treinar", *arguments]
    with joined() as world:
        try:
            return train(options, world)
        except FloatingPointError:
            told = f"o treino divergiu: recomece com uma --taxa menor que {options.lr}, em outra --pasta."
            raise Refusal(told) from None
        except KeyboardInterrupt:
            return tell("\nInterrompido; o último checkpoint vale. Repita o comando.", STOPPED)
