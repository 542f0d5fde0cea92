"""What the model writes after a few prompts, greedily and sampled."""

from __future__ import annotations

import torch
from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

PROMPTS = (
    "The capital of France is",
    "Once upon a time",
    "The dog chased the squirrel because it",
    "The opposite of hot is",
    "Monday, Tuesday, Wednesday,",
    "Lily gave the ball to Tom. Tom gave the ball to",
)


def complete(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, prompt: str, *, sample: bool, max_new_tokens: int = 50
) -> str:
    """The prompt and its continuation: greedy, or sampled with temperature 0.7, top-p 0.9 and seed 0."""
    torch.manual_seed(0)
    drawing = {"do_sample": True, "temperature": 0.7, "top_p": 0.9} if sample else {"do_sample": False}
    inputs = tokenizer(prompt, return_tensors="pt")
    # transformers 5.23 describes what `generate` needs by a protocol that its own models do not meet.
    ids = model.generate(**inputs, max_new_tokens=max_new_tokens, **drawing)  # pyright: ignore[reportAttributeAccessIssue]
    return str(tokenizer.decode(ids[0], skip_special_tokens=True))
