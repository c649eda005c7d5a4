"""Solutions of chapter 4: the loss, its gradient, the shift by one, training, perplexity and divergence."""

import torch


def deslocar(ids):
    """(entrada, alvos) de ids (B, N): em cada posição, o alvo é o token
    seguinte da entrada."""
    entrada = ids[:, :-1]
    alvos = ids[:, 1:]
    return entrada, alvos


def entropia_cruzada(logits, alvos):
    """Perda média em nats: logits (M, V), alvos (M,); posições com alvo -100
    não contam."""
    contam = alvos != -100
    logits, alvos = logits[contam], alvos[contam]
    log_z = torch.logsumexp(logits, dim=-1)  # não estoura
    certos = logits.gather(-1, alvos[:, None]).squeeze(-1)
    return (log_z - certos).mean()


def gradiente_da_perda(logits, alvo):
    """Gradiente (V,) da perda de uma posição em relação aos logits (V,); alvo
    é um inteiro."""
    gradiente = torch.softmax(logits, dim=-1)
    gradiente[alvo] -= 1
    return gradiente


def treinar(modelo, perda, lotes, taxa):
    """Um passo de AdamW por lote, com a taxa descendo em linha reta até zero;
    devolve a lista das perdas, perda(lote), antes de cada passo."""
    otimizador = torch.optim.AdamW(modelo.parameters(), lr=taxa)
    perdas = []
    for passo, lote in enumerate(lotes):
        otimizador.param_groups[0]["lr"] = taxa * (1 - passo / len(lotes))
        valor = perda(lote)
        otimizador.zero_grad()
        valor.backward()
        otimizador.step()
        perdas.append(valor.item())
    return perdas


def perplexidade(perdas, real):
    """Perplexidade do lote: perdas (B, N) em nats por token; real (B, N) é
    True onde há token."""
    media = perdas[real].mean()
    return torch.exp(media)


def divergencia(p, q):
    """KL(p || q) em nats, p e q (V,): zero onde p é zero, infinita se q nega o
    que p permite."""
    possiveis = p > 0
    p, q = p[possiveis], q[possiveis]
    return (p * (p / q).log()).sum()


def perda_do_teste(perdas, real, lote):
    """Perda média por token de um conjunto de teste avaliado de lote em lote
    frases; perdas e real são (M, N), e real é True onde há token."""
    soma, tokens = 0.0, 0
    for i in range(0, len(perdas), lote):
        deste = perdas[i : i + lote][real[i : i + lote]]
        soma += deste.sum()
        tokens += len(deste)
    return soma / tokens


def defeito_da_perda(perda):
    """ "nenhum", "conta", "bits" ou "soma": o que há de errado com a função
    perda(logits, alvos), que devia ser a entropia cruzada média."""
    logits, alvos = torch.zeros(5, 8), torch.tensor([0, 1, -100, -100, -100])
    contas = {"nenhum": 1.0, "conta": 0.4, "bits": 1 / torch.tensor(2.0).log(), "soma": 2.0}
    medida = perda(logits, alvos) / torch.tensor(8.0).log()
    return min(contas, key=lambda nome: abs(contas[nome] - medida))
