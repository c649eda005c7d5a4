"""Solutions of chapter 4: the loss, its gradient, the shift by one, perplexity and divergence."""

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
