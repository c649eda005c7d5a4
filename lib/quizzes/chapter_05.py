"""Quiz of chapter 5: encoder-only architectures."""

import torch

from lib.corruption import LONGEST_SPAN, SPAN_P, span_lengths
from lib.heads import best_span
from lib.numbers import pt
from lib.parameters import count
from lib.presets import preset
from lib.quizzes.question import Question, ask, read, right, wrong


def questions() -> list[Question]:
    written = read(__file__)
    return [
        written["what_an_encoder_returns"],
        _masking_by_flat_indices(),
        written["labels_everywhere"],
        written["what_is_trained"],
        _parameters_of_a_classifier(),
        _span(),
        written["forgetting"],
        _multilingual_vocabulary(),
        _span_length(),
        written["anisotropy"],
        _standardising(),
    ]


def _masking_by_flat_indices() -> Question:
    batch = torch.ones(4, 6, dtype=torch.long)
    chosen = torch.zeros_like(batch, dtype=torch.bool)
    chosen[0, 2] = chosen[1, 3] = True
    noisy = batch.clone()
    noisy[chosen.nonzero().flatten()] = 0  # 0 stands for [MASK]
    masked, meant = int((noisy == 0).sum()), int(chosen.sum())
    rows, columns = batch.shape
    places = " e ".join(f"({i}, {j})" for i, j in chosen.nonzero().tolist())
    return ask(
        f"Um lote tem {rows} frases de {columns} tokens, e o sorteio escolheu {meant} posições: "
        f"{places}. O código achata os pares de índices em uma lista só e a usa para indexar o lote. Quantos "
        "tokens viram `[MASK]`?",
        right(pt(masked, 0), "Cada número da lista vira índice de linha, e a linha inteira é mascarada."),
        wrong(pt(meant, 0), "Assim seria se os pares continuassem pares."),
        wrong(pt(2 * meant, 0), "Os números da lista indexam linhas, não tokens."),
        wrong(pt(meant * columns, 0), "As colunas sorteadas também foram lidas como linhas."),
        section="Um código que parece certo",
    )


def _parameters_of_a_classifier() -> Question:
    d, classes = preset("bert-base").d, 3
    new = d * classes + classes
    return ask(
        "Com o codificador e o *pooler* do BERT-base congelados, quantos parâmetros treina um classificador "
        f"de {classes} classes (d = {d})?",
        right(pt(new, 0), "Uma matriz d × classes e um viés por classe."),
        wrong(pt(d * classes, 0), "Faltaram os vieses."),
        wrong(pt(new + d * d + d, 0), "Isso inclui o *pooler*, que está congelado."),
        wrong(pt(count(preset("bert-base")).total, 0), "Esse é o codificador inteiro, que está congelado."),
        section="Classificar sequências",
    )


def _span() -> Question:
    start = torch.tensor([[1.0, 0.5, 3.0, 0.2]])
    end = torch.tensor([[0.1, 2.5, 1.0, 0.3]])
    allowed = torch.ones(1, 4, dtype=torch.bool)
    best = [int(k) + 1 for k in best_span(start, end, allowed)[0]]
    alone = [int(x.argmax()) + 1 for x in (start, end)]
    firsts, lasts = (", ".join(pt(x, 1) for x in row[0]) for row in (start, end))
    return ask(
        f"Para extrair uma resposta, os logits de início são {firsts} e os de fim, {lasts}. "
        "Qual é o melhor trecho válido, da posição de início à de fim?",
        right(_span_text(best), "A maior soma entre os pares em que o fim não vem antes do início."),
        wrong(_span_text(alone), "São os dois máximos, mas o fim vem antes do início: não é um trecho."),
        wrong(_span_text(alone[::-1]), "Trocar os papéis dá um trecho, mas com a soma de outros logits."),
        wrong(_span_text([1, 4]), "A frase inteira é válida, mas soma pouco."),
        section="Responder",
    )


def _multilingual_vocabulary() -> Question:
    big = count(preset("xlm-r-large"))
    share = 100 * big.token_embeddings / big.total
    small = count(preset("bert-large"))
    without = 100 * small.token_embeddings / small.total
    return ask(
        f"O XLM-R *large* tem {preset('xlm-r-large').vocab_size} itens no vocabulário. Que parte dos "
        "parâmetros do codificador está na tabela de tokens?",
        right(f"{pt(share, 0)}%", "Cem línguas pedem um vocabulário grande, e cada item custa d parâmetros."),
        wrong(f"{pt(without, 0)}%", "Essa é a parte no BERT *large*, de vocabulário bem menor."),
        wrong(f"{pt(100 - share, 0)}%", "Essa é a parte de tudo o que não é a tabela de tokens."),
        wrong(f"{pt(100 * big.attention / big.total, 0)}%", "Essa é a parte da atenção."),
        section="XLM-R: cem línguas em uma tabela",
    )


def _span_length() -> Question:
    lengths = span_lengths()
    mean = float((lengths * torch.arange(1, LONGEST_SPAN + 1)).sum())
    return ask(
        f"O SpanBERT sorteia comprimentos por uma geométrica de parâmetro {pt(SPAN_P, 1)}, cortada em "
        f"{LONGEST_SPAN} e renormalizada. Qual é o comprimento médio?",
        right(pt(mean, 1), "O corte tira os trechos longos e puxa a média para baixo."),
        wrong(pt(1 / SPAN_P, 1), "Essa é a média da geométrica sem corte."),
        wrong(pt((1 + LONGEST_SPAN) / 2, 1), "Essa é a média da uniforme, não da geométrica."),
        wrong(pt(LONGEST_SPAN, 1), "Esse é o maior comprimento possível."),
        section="SpanBERT: esconder vizinhos",
    )


def _standardising() -> Question:
    sigma = 4.0
    g = torch.Generator().manual_seed(0)
    x = sigma * torch.randn(10_000, generator=g, dtype=torch.float64)
    x = sigma * (x - x.mean()) / x.std()
    return ask(
        f"Uma dimensão tem desvio-padrão {pt(sigma, 0)} no corpus. Depois de tirar a média e dividir pela "
        "*variância*, como se lê em uma das citações, qual é o desvio-padrão dela?",
        right(
            pt((x / x.var()).std(), 2), "Para chegar a um, divide-se pelo desvio-padrão, não pela variância."
        ),
        wrong(pt((x / x.std()).std(), 2), "Assim seria dividindo pelo desvio-padrão."),
        wrong(pt(x.std(), 2), "Esse é o de antes: dividir muda a escala."),
        wrong(pt(x.var(), 2), "Essa é a variância de antes."),
        section="Padronizar: dividir por quê?",
    )


def _span_text(ends: list[int]) -> str:
    return f"de {ends[0]} a {ends[1]}"
