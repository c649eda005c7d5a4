"""Solutions of chapter 2: what a masked language model reads, what it is asked, and its head."""

import torch
from torch import nn


def rotulos_mlm(ids, selecionadas):
    """Rótulos com a forma de ids: o token original onde selecionadas é True,
    -100 no resto."""
    ignorados = torch.full_like(ids, -100)
    return torch.where(selecionadas, ids, ignorados)


def selecionar_posicoes(ids, especiais, taxa, gerador):
    """Booleano com a forma de ids: cada posição com probabilidade taxa, nunca
    um token especial."""
    sorteio = torch.rand(ids.shape, generator=gerador)
    normal = ~torch.isin(ids, especiais)
    return normal & (sorteio < taxa)


def corromper(ids, selecionadas, mask_id, palavras, gerador):
    """Cópia de ids em que as selecionadas viram [MASK] (80%), palavra sorteada
    (10%) ou ficam (10%)."""
    u = torch.rand(ids.shape, generator=gerador)
    indices = torch.randint(len(palavras), ids.shape, generator=gerador)
    novos = torch.where(u < 0.8, mask_id, torch.where(u < 0.9, palavras[indices], ids))
    return torch.where(selecionadas, novos, ids)


def montar_entrada(frases, vocabulario):
    """(ids, segmentos) de uma ou duas frases, listas de tokens, como o BERT as
    lê; o token que falta no vocabulário (dicionário de ids) vira [UNK]."""
    ids, segmentos = [vocabulario["[CLS]"]], [0]
    for segmento, frase in enumerate(frases):
        ids += [vocabulario.get(token, vocabulario["[UNK]"]) for token in frase]
        ids.append(vocabulario["[SEP]"])
        segmentos += [segmento] * (len(frase) + 1)
    return ids, segmentos


def montar_lote(entradas, pad_id):
    """Tensores ids, segmentos e real (B, N) de pares (ids, segmentos) de
    comprimentos diferentes; real é False no preenchimento."""
    n = max(len(ids) for ids, _ in entradas)
    ids = torch.tensor([linha + [pad_id] * (n - len(linha)) for linha, _ in entradas])
    segmentos = torch.tensor([linha + [0] * (n - len(linha)) for _, linha in entradas])
    real = torch.tensor([[i < len(linha) for i in range(n)] for linha, _ in entradas])
    return ids, segmentos, real


class CabecaMLM(nn.Module):
    """Logits (..., V) a partir das saídas h (..., d) e da tabela de tokens
    E (V, d): uma camada com GELU e normalização, o produto por E e um viés."""

    def __init__(self, d, V):
        super().__init__()
        self.W = nn.Linear(d, d)
        self.norm = nn.LayerNorm(d, eps=1e-12)
        self.bias = nn.Parameter(torch.zeros(V))

    def forward(self, h, E):
        h = self.norm(nn.functional.gelu(self.W(h)))  # (..., d)
        return h @ E.T + self.bias  # (..., V)


def preparar(ids, selecionadas, mask_id):
    """(entrada, rótulos) de ids (B, N), com [MASK] em todas as selecionadas."""
    rotulos = torch.where(selecionadas, ids, -100)
    entrada = ids.masked_fill(selecionadas, mask_id)
    return entrada, rotulos


def sorteio_de(caixa):
    """ "um" ou "dois": quantos sorteios a caixa faz por posição (80/10/10 ou
    81/10/9). caixa(ids, selecionadas, mask_id, palavras, gerador)."""
    ids = torch.full((1000, 1000), 5)
    todas = torch.ones_like(ids, dtype=torch.bool)
    palavras = torch.arange(6, 1000)  # nenhuma é a original
    saida = caixa(ids, todas, 4, palavras, torch.Generator().manual_seed(0))
    mantidas = (saida == ids).double().mean()
    return "um" if mantidas > 0.095 else "dois"
