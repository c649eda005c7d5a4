"""Chapter 5: using an encoder."""

import torch
from torch.nn import functional as F

WRONG = {
    "subword_labels": [
        ("repete", " and palavra != anterior -> "),
        ("ultima", ("in palavra_de -> in palavra_de[::-1]", "return saida -> return saida[::-1]")),
        ("especiais_zero", "else -100 -> else 0 if palavra is None else -100"),
        ("continuacao_zero", "else -100 -> else -100 if palavra is None else 0"),
        ("sem_especiais", "in palavra_de -> in [p for p in palavra_de if p is not None]"),
        ("palavra_zero", "palavra is not None and -> palavra and"),
        ("por_palavra", lambda w, y: list(y)),
        ("em_ordem", lambda w, y: [*y, *[-100] * (len(w) - len(y))]),
        ("excecao", lambda w, y: [y[x] for x in w]),
        ("valor", "else -100 -> else -1 if palavra is None else -100"),
        ("valor", "return saida -> return [rotulo or -100 for rotulo in saida]"),  # the class zero is a class
        ("valor", "return saida -> return [-100, *saida[:-1]]"),
    ],
    "nearest_neighbour": [
        ("a_si_mesmo", "cossenos[i] = -math.inf -> pass"),
        ("produto", "vetores / vetores.norm(dim=-1, keepdim=True) -> vetores"),
        ("euclidiana", "unitarios @ unitarios[i] -> -(vetores - vetores[i]).norm(dim=-1)"),
        ("mais_distante", "= unitarios @ -> = -unitarios @"),
        ("o_cosseno", "int(cossenos.argmax()) -> cossenos.max()"),
        ("todos", ("cossenos[i] = -math.inf -> pass", "int(cossenos.argmax()) -> cossenos")),
        ("valor", lambda v, i: 99),
        (
            "indice_deslocado",
            "cossenos[i] = -math.inf -> cossenos = cossenos[torch.arange(len(vetores)) != i]",
        ),
        ("a_si_mesmo", "-math.inf -> 0"),
        ("excecao", "unitarios[i] -> unitarios[i + 99]"),
    ],
    "zscore": [
        ("estatisticas_de_x", lambda x, c: (x - x.mean(0)) / x.std(0)),
        ("estatisticas_de_x", lambda x, c: (x - x.mean(0)) / x.var(0, unbiased=False).sqrt()),
        ("por_vetor", lambda x, c: F.layer_norm(x, x.shape[-1:], eps=0.0)),
        ("so_centra", lambda x, c: x - c.mean(0)),
        ("so_divide", lambda x, c: x / c.std(0)),
        ("variancia", lambda x, c: (x - c.mean(0)) / c.var(0)),
        ("global_", lambda x, c: (x - c.mean()) / c.std()),
        ("sem_parenteses", lambda x, c: x - c.mean(0) / c.std(0)),
        ("o_corpus", lambda x, c: (c - c.mean(0)) / c.std(0)),
        ("norma", lambda x, c: F.normalize(x)),
        ("excecao", lambda x, c: (x - c.mean(1)) / c.std(1)),
        ("altera_entrada", lambda x, c: x.sub_(c.mean(0)).div_(c.std(0))),
    ],
    "answer_span": [
        ("independentes", lambda s, e, n: (int(s.argmax()), int(e.argmax()))),
        ("independentes", "range(i, min -> range(max(0, i - maior + 1), min"),
        ("sem_limite", "min(i + maior, len(fim)) -> len(fim)"),
        ("um_a_mais", "i + maior -> i + maior + 1"),
        ("um_token_nao", "range(i, -> range(i + 1,"),
        ("um_a_menos", "i + maior -> i + maior - 1"),
        ("sem_limite", "i + maior -> i + 3"),  # only the example's limit
        (
            "fim_primeiro",
            "if inicio[i] + fim[j] > melhor -> if j == fim.argmax() and inicio[i] + fim[j] > melhor",
        ),
        ("valor", "range(len(inicio)) -> range(1, len(inicio))"),  # never the first token
        ("so_um_token", lambda s, e, n: (int((s + e).argmax()),) * 2),
        ("produto", "inicio[i] + fim[j] -> inicio[i] * fim[j]"),
        ("inicio_primeiro", "range(len(inicio)) -> [int(inicio.argmax())]"),
        ("trocados", "return par -> return par[::-1]"),
        ("comprimento", "return par -> return par[0], par[1] - par[0] + 1"),
        ("fim_de_fora", "return par -> return par[0], par[1] + 1"),
        ("pontuacao", "return par -> return melhor"),
        ("negativas", "-math.inf -> 0.0"),
    ],
    "pseudo_perplexity": [
        ("sem_mascarar", "com_mask[i] = mask_id -> pass"),
        ("todas_de_uma_vez", "com_mask[i] -> com_mask[contam]"),
        ("acumula", "com_mask = ids.clone() -> com_mask = com_mask if perdas else ids.clone()"),
        ("com_especiais", "contam.nonzero().flatten().tolist() -> range(len(ids))"),
        ("posicao_errada", "(com_mask)[i] -> (com_mask)[i - 1]"),
        ("soma", ".mean() -> .sum()"),
        ("divide_por_n", ".mean() -> .sum().div(len(ids))"),
        ("media_das_exponenciais", ".mean().exp() -> .exp().mean()"),
        ("sem_exponencial", ".exp() -> "),
        ("sinal", ".mean() -> .mean().neg()"),
        ("altera_entrada", "ids.clone() -> ids"),
        ("valor", "(com_mask)[i] -> (com_mask)[i + 1]"),
        ("valor", ".mean().exp() -> .neg().exp().mean().reciprocal()"),
        ("sem_mascarar", lambda m, i, k, c: F.cross_entropy(m(i)[c], i[c]).exp()),
    ],
    "zscore_by_hand": dict(sinal=-2, variancia=1, so_centra=4, valor_a_mao=5),
    "spans_by_hand": dict(sem_limite=55, sem_ordem=100, sem_as_pontas=30, um_token_nao=17, um_a_mais=34),
}

RIGHT = {
    "subword_labels": ["return saida -> return torch.tensor(saida)"],
    "nearest_neighbour": [lambda v, i: F.cosine_similarity(v, v[i], dim=-1).topk(2).indices[1]],
    "zscore": [
        lambda x, c: (x - c.mean(0)) / c.std(0, correction=0),
        lambda x, c: torch.stack([(r - c.mean(0)) / c.var(0).sqrt() for r in x]),
    ],
    "answer_span": ["return par -> return list(par)", "return par -> return torch.tensor(par)"],
    "pseudo_perplexity": [".exp() -> .exp().item()"],
    "zscore_by_hand": [2, (7 - 3) / 2],
    "spans_by_hand": [27, 10 + 9 + 8],
}
