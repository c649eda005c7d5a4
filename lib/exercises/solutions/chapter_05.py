"""Solutions of chapter 5: using an encoder for tasks and for vectors."""

import math

import torch


def rotulos_das_subpalavras(palavra_de, rotulos):
    """Rótulo de cada subpalavra: o da palavra na primeira, -100 nas outras e
    nos especiais (None)."""
    saida, anterior = [], None
    for palavra in palavra_de:
        primeira = palavra is not None and palavra != anterior
        saida.append(rotulos[palavra] if primeira else -100)
        anterior = palavra
    return saida


def media_dos_reais(H, real):
    """Vetor da frase (B, d): média das saídas H (B, N, d) onde real (B, N) é
    True."""
    peso = real.unsqueeze(-1).to(H.dtype)  # (B, N, 1)
    soma = (H * peso).sum(dim=1)  # (B, d)
    return soma / peso.sum(dim=1)


def vizinho_mais_proximo(vetores, i):
    """Índice do vetor de maior cosseno com vetores[i], que não seja o próprio;
    vetores (M, d)."""
    unitarios = vetores / vetores.norm(dim=-1, keepdim=True)
    cossenos = unitarios @ unitarios[i]
    cossenos[i] = -math.inf
    return int(cossenos.argmax())


def padronizar(x, corpus):
    """x (M, d) padronizado pela média e pelo desvio-padrão de cada dimensão do
    corpus (K, d)."""
    media = corpus.mean(dim=0)
    desvio = corpus.std(dim=0)
    return (x - media) / desvio


def melhor_trecho(inicio, fim, maior):
    """(i, j) com i <= j, no máximo maior tokens, que maximiza inicio[i] +
    fim[j]; vetores (N,)."""
    melhor, par = -math.inf, (0, 0)
    for i in range(len(inicio)):
        for j in range(i, min(i + maior, len(fim))):
            if inicio[i] + fim[j] > melhor:
                melhor, par = inicio[i] + fim[j], (i, j)
    return par


def pseudo_perplexidade(modelo, ids, mask_id, contam):
    """Exponencial da perda média de ids (N,), com um [MASK] por vez, nas
    posições em que contam é True."""
    perdas = []
    for i in contam.nonzero().flatten().tolist():
        com_mask = ids.clone()
        com_mask[i] = mask_id
        logits = modelo(com_mask)[i]  # (V,)
        perdas.append(-torch.log_softmax(logits, dim=-1)[ids[i]])
    return torch.stack(perdas).mean().exp()


def acuracia(logits, rotulos):
    """Fração de acertos de logits (B, N, C) nos rótulos (B, N); onde o rótulo
    é -100 não há o que acertar."""
    contam = rotulos != -100
    previstos = logits.argmax(dim=-1)
    return (previstos == rotulos)[contam].double().mean()


def corridas():
    """Lista de corridas (pretreinado, exemplos, passos, semente): um booleano
    e três inteiros positivos."""
    comparadas = [(False, 100, 200), (True, 100, 200), (True, 400, 200), (True, 100, 800)]
    return [(*corrida, semente) for corrida in comparadas for semente in (0, 1, 2)]
