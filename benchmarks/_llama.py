"""The model for all measurements of cost: a random Llama of GPT-2's size, and a tokenizer with one token per word."""

from __future__ import annotations

import copy

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

N_LAYERS, N_HEADS, D_MODEL = 12, 12, 768
VOCAB = 32_000
LONGEST = 2048


def random_llama(attention: str = "sdpa", longest: int = LONGEST) -> LlamaForCausalLM:
    """12 layers × 12 heads × 768, float32; the same weights at every call."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=D_MODEL,
        intermediate_size=2048,
        num_hidden_layers=N_LAYERS,
        num_attention_heads=N_HEADS,
        max_position_embeddings=longest,
    )
    model = LlamaForCausalLM(config).eval().requires_grad_(False)
    model.set_attn_implementation(attention)
    return model


def sharing_weights(model: LlamaForCausalLM) -> LlamaForCausalLM:
    """Another instance with the same weights, so that one can be captured and the other left as it is."""
    with torch.device("meta"):
        # a shared configuration would share the attention implementation too
        other = LlamaForCausalLM(copy.deepcopy(model.config))
    other.load_state_dict(model.state_dict(), assign=True)
    other.model.rotary_emb = model.model.rotary_emb  # its buffers are not in the state dict
    return other.eval().requires_grad_(False)


def word_tokenizer(longest: int = LONGEST) -> PreTrainedTokenizerFast:
    """Token n is the word "n", and nothing is added: :func:`text` of T words gives T tokens."""
    tokenizer = Tokenizer(models.WordLevel({str(n): n for n in range(VOCAB)}, unk_token="0"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=longest)


def text(n_tokens: int, seed: int = 0) -> str:
    """A text of so many random words."""
    generator = torch.Generator().manual_seed(seed)
    return " ".join(str(int(n)) for n in torch.randint(VOCAB, (n_tokens,), generator=generator))
