"""Solutions of chapter 2: corruption of sentences for a masked language model."""

import torch


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


def montar_par(a, b, cls_id, sep_id):
    """(ids, segmentos) do par de frases, como o BERT o lê; duas listas do
    mesmo comprimento."""
    ids = [cls_id, *a, sep_id, *b, sep_id]
    segmentos = [0] * (len(a) + 2) + [1] * (len(b) + 1)
    return ids, segmentos


def marcar_trechos(trechos, permitidas, orcamento):
    """Lista de booleanos: posições cobertas pelos trechos (inicio,
    comprimento), até o orçamento."""
    marcadas = [False] * len(permitidas)
    for inicio, comprimento in trechos:
        for i in range(inicio, min(inicio + comprimento, len(permitidas))):
            if not permitidas[i] or sum(marcadas) == orcamento:
                break
            marcadas[i] = True
    return marcadas
