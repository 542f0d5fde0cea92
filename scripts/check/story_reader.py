"""Runs many short sentences through an embedded model at once: where each head attends, and the odds of the answer.

It uses plain transformers with hooks on the outputs of the heads, and none of the application's own recording.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers import (
    AutoConfig,
    AutoTokenizer,
    BertForMaskedLM,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    T5ForConditionalGeneration,
)

AT_ONCE = 50
Place = tuple[int, int]  # layer, head


@dataclass(frozen=True)
class Sentence:
    """``span``: the characters of the word attended to, end excluded; ``answer`` is the continuation, with its space.

    For an encoder, the answer replaces ``[MASK]``; a translation model has ``written`` what comes before it.
    """

    text: str
    span: tuple[int, int]
    answer: str
    written: str = ""


@dataclass(frozen=True)
class Ids:
    """A sentence in tokens: source and target, the query, the keys in ``read``, and the answer's first token."""

    read: tuple[int, ...]
    query: int
    keys: tuple[int, ...]
    answer: int
    written: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Reading:
    """For every sentence: the natural log-odds of its answer, the likeliest token, each head's weight on the word."""

    log_odds: Float[Tensor, "sentences"]
    likeliest: Int[Tensor, "sentences"]
    look: Float[Tensor, "sentences layers heads"]
    logits: Float[Tensor, "sentences vocab"]

    def right(self, answers: Sequence[int]) -> Bool[Tensor, "sentences"]:
        """Where the likeliest token is the answer."""
        return self.likeliest == torch.tensor(answers)


class Reader:
    """The model of a folder, its tokenizer, and its numbers of layers and heads."""

    def __init__(self, folder: Path) -> None:
        kind = AutoConfig.from_pretrained(folder, local_files_only=True).model_type
        classes = {"llama": LlamaForCausalLM, "bert": BertForMaskedLM, "t5": T5ForConditionalGeneration}
        options: dict[str, Any] = {"local_files_only": True, "attn_implementation": "eager", "dtype": torch.float32}
        model: Any = classes[kind].from_pretrained(folder, **options)
        self.kind, self.model = kind, model.eval()
        self.tokenizer: PreTrainedTokenizerFast = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self.outputs: list[nn.Module] = {
            "llama": lambda: [layer.self_attn.o_proj for layer in model.model.layers],
            "bert": lambda: [layer.attention.output.dense for layer in model.bert.encoder.layer],
            "t5": lambda: [block.layer[1].EncDecAttention.o for block in model.decoder.block],
        }[kind]()
        self.n_heads = int(model.config.num_heads if kind == "t5" else model.config.num_attention_heads)

    def ids(self, sentence: Sentence) -> Ids | None:
        """None if the answer does not begin with a token of its own."""
        encoded = self.tokenizer(sentence.text, return_offsets_mapping=True)
        read, (start, end) = encoded["input_ids"], sentence.span
        places = encoded["offset_mapping"]
        keys = tuple(i for i, (first, last) in enumerate(places) if first < end and last > start and last > first)
        if self.kind == "bert":
            hidden = read.index(self.tokenizer.mask_token_id)
            return Ids(tuple(read), hidden, keys, self._bare(sentence.answer)[0])
        before = sentence.written if self.kind == "t5" else sentence.text
        now, then = self._bare(before), self._bare(before + sentence.answer)
        if then[: len(now)] != now or len(then) == len(now):
            return None
        if self.kind == "t5":
            written = (self.model.config.decoder_start_token_id, *now)
            return Ids(tuple(read), len(written) - 1, keys, then[len(now)], written)
        return Ids(tuple(read), len(read) - 1, keys, then[len(now)])

    def read(self, sentences: Sequence[Ids], off: Sequence[Place] = ()) -> Reading:
        """Run the model with the outputs of the heads in ``off`` set to zero at every token."""
        parts: list[tuple[Tensor, Tensor]] = []
        with self._without(off), torch.no_grad():
            for first in range(0, len(sentences), AT_ONCE):
                parts.append(self._some(list(sentences[first : first + AT_ONCE])))
        logits, look = (torch.cat(part) for part in zip(*parts, strict=True))
        answers = torch.tensor([one.answer for one in sentences])[:, None]
        double = logits.double()
        others = double.scatter(1, answers, float("-inf")).logsumexp(1)
        return Reading(double.gather(1, answers)[:, 0] - others, logits.argmax(1), look, logits)

    def text(self, token: int) -> str:
        """A token as it is written."""
        return str(self.tokenizer.decode([token]))

    def _bare(self, text: str) -> list[int]:
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def _some(self, some: list[Ids]) -> tuple[Tensor, Tensor]:
        read, mask = _padded([one.read for one in some])
        given: dict[str, Any] = {"input_ids": read, "attention_mask": mask, "output_attentions": True}
        if self.kind == "t5":
            given["decoder_input_ids"], given["decoder_attention_mask"] = _padded([one.written for one in some])
        said = self.model(**given)
        weights = said.cross_attentions if self.kind == "t5" else said.attentions
        every = torch.stack(list(weights), dim=1)  # sentences, layers, heads, queries, keys
        rows = torch.arange(len(some))
        query = torch.tensor([one.query for one in some])
        looks = every[rows, :, :, query]  # sentences, layers, heads, keys
        look = torch.stack([looks[i, :, :, list(one.keys)].sum(-1) for i, one in enumerate(some)])
        return said.logits[rows, query], look

    @contextmanager
    def _without(self, off: Sequence[Place]) -> Generator[None]:
        handles = [self.outputs[layer].register_forward_pre_hook(self._silence(head)) for layer, head in off]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _silence(self, head: int) -> Callable[[nn.Module, tuple[Tensor, ...]], tuple[Tensor]]:
        def silent(_module: nn.Module, given: tuple[Tensor, ...]) -> tuple[Tensor]:
            mixed = given[0].clone()
            size = mixed.shape[-1] // self.n_heads
            mixed[..., head * size : (head + 1) * size] = 0
            return (mixed,)

        return silent


def _padded(rows: list[tuple[int, ...]]) -> tuple[Tensor, Tensor]:
    """Pad on the right; returns the ids and the mask of real tokens."""
    longest = max(map(len, rows))
    ids = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])
    return ids, torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
