"""Structured layers for PyTorch: the answers of this package's engine with gradients.

``scores`` are tensors of the shape (sequences, positions, labels), as a network gives them; ``lengths`` says how many positions of each sequence count.
``labels`` with a ``scheme`` (told by the labels) forbid what the scheme forbids; ``transitions`` are scores for pairs of labels, a row for each label before. All run on the
CPU; what comes from elsewhere goes there and back.

- :func:`crf_log_likelihood`: how probable gold labels are, for training;
- :func:`crf_marginals`: the probability of each label;
- :func:`sparse_map`, :func:`sparse_map_tree`: shares that mix few sequences or trees (Niculae et al. 2018);
- :func:`perturb_and_map`: the mean of best answers under noise (Papandreou & Yuille 2011; gradients by Berthet et al. 2020).
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy
import torch
from torch import Tensor

from . import _consonant
from .errors import UsageError

__all__ = ["crf_log_likelihood", "crf_marginals", "perturb_and_map", "sparse_map", "sparse_map_tree"]


def _numbers(tensor: Tensor | None) -> Any:
    return None if tensor is None else tensor.detach().cpu().numpy()


def _like(array: Any, tensor: Tensor) -> Tensor:
    return torch.as_tensor(array, dtype=tensor.dtype, device=tensor.device)


class _Settings:
    """What is not differentiated."""

    def __init__(self, lengths: Any, labels: Sequence[str] | None, scheme: str | None, threads: int | None) -> None:
        given = _numbers(lengths) if isinstance(lengths, Tensor) else lengths
        self.lengths = None if given is None else numpy.asarray(given, dtype=numpy.int64)
        self.labels = None if labels is None else list(labels)
        self.scheme = scheme
        self.threads = threads

    def soft(self, kind: str, scores: Any, transitions: Any, gradient: Any = None) -> Any:
        return _consonant.soft_batch(
            kind, scores, self.lengths, self.labels, self.scheme, transitions, gradient, self.threads
        )


class _LogSum(torch.autograd.Function):
    """The logarithm of the sum over all sequences; its gradient are the marginals."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, transitions: Tensor | None, settings: _Settings) -> Tensor:
        labels, pairs, log_sums = settings.soft("marginals", _numbers(scores), _numbers(transitions))
        ctx.save_for_backward(_like(labels, scores), _like(pairs, scores))
        return _like(log_sums, scores)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        labels, pairs = ctx.saved_tensors
        weights = gradients[0][:, None, None]
        return labels * weights, (pairs * weights).sum(0) if ctx.needs_input_grad[1] else None, None


class _Soft(torch.autograd.Function):
    """Shares of labels, with the gradient that the engine carries back."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, transitions: Tensor | None, kind: str, settings: _Settings) -> Tensor:
        ctx.kind, ctx.settings, ctx.has_transitions = kind, settings, transitions is not None
        ctx.save_for_backward(*([scores] if transitions is None else [scores, transitions]))
        return _like(settings.soft(kind, _numbers(scores), _numbers(transitions))[0], scores)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        scores = ctx.saved_tensors[0]
        transitions = ctx.saved_tensors[1] if ctx.has_transitions else None
        labels, pairs, _ = ctx.settings.soft(
            ctx.kind, _numbers(scores), _numbers(transitions), numpy.ascontiguousarray(_numbers(gradients[0]), dtype=numpy.float64)
        )
        return _like(labels, scores), _like(pairs.sum(0), scores) if ctx.needs_input_grad[1] else None, None, None


class _SparseTree(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, single_root: bool) -> Tensor:
        ctx.single_root = single_root
        ctx.save_for_backward(scores)
        return _like(_consonant.sparse_tree(_numbers(scores), single_root), scores)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (scores,) = ctx.saved_tensors
        return _like(_consonant.sparse_tree(_numbers(scores), ctx.single_root, _numbers(gradients[0])), scores), None


class _Perturbed(torch.autograd.Function):
    """The mean of one-hot best sequences under Gaussian noise. With answers y_k for noise z_k of size σ, E[y zᵀ]/σ is its Jacobian; the best sequence
    without noise is taken off the answers, which changes no expectation and most of the variance."""

    @staticmethod
    def forward(
        ctx: Any, scores: Tensor, transitions: Any, samples: int, noise: float, seed: int | None, settings: _Settings
    ) -> Tensor:
        generator = numpy.random.default_rng(seed)
        nodes = numpy.asarray(_numbers(scores), dtype=numpy.float32)
        best = _one_hot(settings, nodes, transitions)
        moves = generator.normal(size=(samples, *nodes.shape)).astype(numpy.float32)
        answers = numpy.stack([_one_hot(settings, nodes + noise * move, transitions) for move in moves])
        ctx.noise, ctx.moves, ctx.changes = noise, moves, answers - best
        return _like(answers.mean(0), scores)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        gradient = _numbers(gradients[0])
        # One factor for each sample and sequence: sequences do not look at each other.
        along = (ctx.changes * gradient).sum((2, 3), keepdims=True)
        return _like((along * ctx.moves).mean(0) / ctx.noise, gradients[0]), None, None, None, None, None


def _one_hot(settings: _Settings, nodes: Any, transitions: Any) -> Any:
    paths, _ = _consonant.best_batch(nodes, settings.lengths, settings.labels, settings.scheme, transitions, settings.threads)
    return (paths[:, :, None] == numpy.arange(nodes.shape[2])).astype(numpy.float32)


def _scores(scores: Tensor) -> Tensor:
    if scores.dim() != 3:
        raise UsageError(f"scores have the shape {tuple(scores.shape)}; expected (sequences, positions, labels)")
    return scores


def crf_log_likelihood(
    scores: Tensor,
    gold: Tensor,
    *,
    lengths: Any = None,
    labels: Sequence[str] | None = None,
    scheme: str | None = None,
    transitions: Tensor | None = None,
    threads: int | None = None,
) -> Tensor:
    """The logarithm of the probability of each gold sequence; ``gold`` has the number of a label at each position, anything behind a sequence's end.

    Train by minimizing ``-crf_log_likelihood(...).mean()``.
    """
    settings = _Settings(lengths, labels, scheme, threads)
    count, positions, _ = _scores(scores).shape
    ends = torch.full((count,), positions) if settings.lengths is None else torch.as_tensor(settings.lengths)
    real = torch.arange(positions)[None, :] < ends[:, None]
    real = real.to(scores.device)
    gold = torch.where(real, gold.to(scores.device), 0)
    value = (scores.gather(2, gold[:, :, None])[:, :, 0] * real).sum(1)
    if transitions is not None:
        value = value + (transitions[gold[:, :-1], gold[:, 1:]] * real[:, 1:]).sum(1)
    log_sum: Tensor = _LogSum.apply(scores, transitions, settings)
    return value - log_sum


def crf_marginals(
    scores: Tensor,
    *,
    lengths: Any = None,
    labels: Sequence[str] | None = None,
    scheme: str | None = None,
    transitions: Tensor | None = None,
    threads: int | None = None,
) -> Tensor:
    """The probability of each label at each position, zero behind a sequence's end."""
    settings = _Settings(lengths, labels, scheme, threads)
    found: Tensor = _Soft.apply(_scores(scores), transitions, "marginals", settings)
    return found


def sparse_map(
    scores: Tensor,
    *,
    lengths: Any = None,
    labels: Sequence[str] | None = None,
    scheme: str | None = None,
    transitions: Tensor | None = None,
    threads: int | None = None,
) -> Tensor:
    """The share of each label at each position in the mixture of few sequences that SparseMAP takes."""
    settings = _Settings(lengths, labels, scheme, threads)
    found: Tensor = _Soft.apply(_scores(scores), transitions, "sparse-map", settings)
    return found


def sparse_map_tree(scores: Tensor, *, single_root: bool = True) -> Tensor:
    """The share of each arc in the mixture of few trees that SparseMAP takes; rows of ``scores`` are heads, columns words, 0 is the root."""
    found: Tensor = _SparseTree.apply(scores, single_root)
    return found


def perturb_and_map(
    scores: Tensor,
    *,
    samples: int = 16,
    noise: float = 1.0,
    seed: int | None = None,
    lengths: Any = None,
    labels: Sequence[str] | None = None,
    scheme: str | None = None,
    transitions: Any = None,
    threads: int | None = None,
) -> Tensor:
    """The mean of the best sequences (one-hot) under ``samples`` draws of Gaussian noise of size ``noise`` on the scores.

    The gradient is an estimate without bias; ``transitions`` are taken as they are.
    """
    if samples < 1 or not noise > 0.0:
        raise UsageError("samples and noise must be above zero")
    settings = _Settings(lengths, labels, scheme, threads)
    given = _numbers(transitions) if isinstance(transitions, Tensor) else transitions
    found: Tensor = _Perturbed.apply(_scores(scores), given, samples, noise, seed, settings)
    return found
