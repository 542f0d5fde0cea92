"""The table of model families whose capture is proven: one line each, walked by test_families.py.

A new family is one more line. `projection` names the plain modules whose outputs are q and k before the rotation, so
that the reference needs nothing of the capture; it is None where a family does not rotate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoModelForMaskedLM, PreTrainedModel

from tests.model_runner.tiny import D_HEAD, D_MODEL, N_HEADS, N_LAYERS, tiny

WITH_WEIGHTS = ("full", "sliding", "chunked")
FULL = ("full", "full", "full")
SLIDING = ("sliding", "sliding", "sliding")
WINDOW = 7  # shorter than every text of the tests
SELF_ATTENTION = "model.layers.{layer}.self_attn."


@dataclass(frozen=True)
class Projection:
    """Where q and k can be seen before the rotation: module paths, and how their outputs become (heads, tokens, d)."""

    modules: tuple[str, ...]
    q: Callable[..., Tensor]
    k: Callable[..., Tensor]


@dataclass(frozen=True)
class Added:
    """What tokens add to their scores: module paths, and the bias (heads, queries, keys) that their outputs give."""

    modules: tuple[str, ...]
    made: Callable[..., Tensor]  # of the attention module and the outputs


@dataclass(frozen=True)
class Run:
    """Where a layer is: the module that reads its stream, which of that module's runs it is, and its own module."""

    reads: str
    number: int
    module: str


@dataclass(frozen=True)
class Family:
    """One line of the table; the numbers are written down here, not read from the code under test."""

    name: str
    build: Callable[[], PreTrainedModel]
    projection: Projection | None
    kinds: tuple[str, ...] = FULL  # of each layer; those in WITH_WEIGHTS have weights, others do not
    scale: float = D_HEAD**-0.5
    softcap: float | None = None
    sinks: str | None = None  # path of the parameter with one logit a head that takes its share of every row
    sinks_by_query: str | None = None  # path of the module whose output has one logit a token and head, which do so too
    bias: Added | None = None  # what is added to the scores, if tokens make it
    sinks_apart: bool = False  # transformers gives the weights before the sink takes its share
    not_rotated: tuple[int, ...] = ()  # layers without rotation in a family that has one
    not_recoverable: str | None = None  # why q and k before the rotation are refused
    float32_only: bool = False  # in any coarser dtype they are refused too, the vectors not telling the angles
    mixes_dtypes: bool = False  # its own code does not run where all weights are rounded to bfloat16
    own_code: bool = False  # its attention does not ask transformers' interface: it is seen, and cannot be edited
    several_streams: bool = False  # side by side, mixed by each layer: attention and FFN are not just added to them
    hands_on: bool = False  # layers give the next one more than the stream, so that they cannot be run by themselves
    runs: tuple[Run, ...] = ()  # of each layer, where a module is several layers
    note: str = ""

    @property
    def attention_layers(self) -> tuple[int, ...]:
        return tuple(layer for layer, kind in enumerate(self.kinds) if kind in WITH_WEIGHTS)


def _heads(flat: Tensor, d_head: int = D_HEAD) -> Tensor:
    return flat.unflatten(-1, (-1, d_head)).transpose(0, 1)  # (tokens, heads * d) -> (heads, tokens, d)


def _pair(q: str, k: str, shape: Callable[[Tensor], Tensor] = _heads) -> Projection:
    return Projection((q, k), lambda q_out, k_out: shape(q_out), lambda q_out, k_out: shape(k_out))


def _fused(path: str, q: Callable[[Tensor], Tensor], k: Callable[[Tensor], Tensor]) -> Projection:
    return Projection((path,), q, k)


def _mla_k(_q: Tensor, kv_a: Tensor, kv_b: Tensor) -> Tensor:
    per_head = kv_b[0].unflatten(-1, (N_HEADS, -1))[..., :8]  # the part of d_head that is never rotated
    shared = kv_a[:, None, -4:].expand(-1, N_HEADS, -1)  # one rotated part for all heads
    return torch.cat([per_head, shared], dim=-1).transpose(0, 1)


SEPARATE = _pair(SELF_ATTENTION + "q_proj", SELF_ATTENTION + "k_proj")
WIDE = _pair(SELF_ATTENTION + "q_proj", SELF_ATTENTION + "k_proj", lambda flat: _heads(flat, 16))
NORMED = _pair(SELF_ATTENTION + "q_norm", SELF_ATTENTION + "k_norm", lambda by_token: by_token.transpose(0, 1))
NORMED_FLAT = _pair(SELF_ATTENTION + "q_norm", SELF_ATTENTION + "k_norm")
NORMED_HEADS = _pair(SELF_ATTENTION + "q_norm", SELF_ATTENTION + "k_norm", lambda by_head: by_head)
LAYER_NORMED = _pair(SELF_ATTENTION + "q_layernorm", SELF_ATTENTION + "k_layernorm", lambda by_head: by_head)
QKV = _fused(
    SELF_ATTENTION + "qkv_proj",
    lambda x: _heads(x[:, :D_MODEL]),
    lambda x: _heads(x[:, D_MODEL : D_MODEL + 2 * D_HEAD]),
)
NEOX = _fused(
    "gpt_neox.layers.{layer}.attention.query_key_value",
    lambda x: x.unflatten(-1, (N_HEADS, 3, D_HEAD))[:, :, 0].transpose(0, 1),
    lambda x: x.unflatten(-1, (N_HEADS, 3, D_HEAD))[:, :, 1].transpose(0, 1),
)
WQKV = _fused(
    "model.layers.{layer}.attn.Wqkv",
    lambda x: x.unflatten(-1, (3, N_HEADS, D_HEAD))[:, 0].transpose(0, 1),
    lambda x: x.unflatten(-1, (3, N_HEADS, D_HEAD))[:, 1].transpose(0, 1),
)
MLA = Projection(
    (SELF_ATTENTION + "q_b_proj", SELF_ATTENTION + "kv_a_proj_with_mqa", SELF_ATTENTION + "kv_b_proj"),
    lambda q_b, kv_a, kv_b: _heads(q_b, 12),
    _mla_k,
)
AXK2 = Projection(
    (SELF_ATTENTION + "q_gate_proj", *MLA.modules[1:]),
    lambda q_gate, kv_a, kv_b: _heads(q_gate, 22)[..., :12],  # d_head 12, then a gate of d_value 10
    _mla_k,
)
DOTS_MLA = Projection(
    (SELF_ATTENTION + "q_b_proj", SELF_ATTENTION + "k_rope_only_layernorm", SELF_ATTENTION + "kv_b_proj"),
    lambda q_b, k_rope, kv_b: _heads(q_b, 12),
    lambda q_b, k_rope, kv_b: _mla_k(q_b, k_rope[0], kv_b),
)


def _number_a_key(attention: Any, numbers: Tensor) -> Tensor:
    values = torch.exp(attention.A * torch.log1p(torch.exp(numbers)))  # (keys, kv_heads)
    return values.T.repeat_interleave(N_HEADS // values.shape[1], dim=0)[:, None].expand(-1, len(values), -1)


def _profiles(attention: Any, states: Tensor, *, late: bool) -> Tensor:
    """A number at a time; ``late``: after TAU_FROM tokens queries count more, in layers without a window."""
    proj = attention.rel_logits_proj.proj
    states = states.reshape(len(states), N_HEADS, -1)
    bias = torch.zeros(N_HEADS, len(states), len(states), device=states.device, dtype=states.dtype)
    for query in range(len(states)):
        more = 1 + 0.1 * math.log(max((query + 1) / TAU_FROM, 1.0)) if late and not attention.is_sliding else 1.0
        for back in range(min(query + 1, proj.shape[1])):
            bias[:, query, query - back] = states[query] @ proj[:, back] * more
    return bias


TAU_FROM = 8
GATED = Added((SELF_ATTENTION + "dt_proj",), _number_a_key)
PROFILES = Added((SELF_ATTENTION + "r_proj",), partial(_profiles, late=True))
CLIPPED = Added((SELF_ATTENTION + "rel_l2_clip",), partial(_profiles, late=True))
INKLING = {
    "head_dim": D_HEAD,
    "swa_head_dim": D_HEAD,
    "num_key_value_heads": 2,
    "swa_num_key_value_heads": 2,
    "swa_num_attention_heads": N_HEADS,
    "layer_types": ["hybrid_sliding", "hybrid", "hybrid_sliding"],
    "sliding_window_size": WINDOW,
    "d_rel": 4,
    "rel_extent": 9,
    "log_scaling_n_floor": TAU_FROM,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "logits_mup_width_multiplier": 1.0,
}
SCALED = (D_MODEL / 16) ** 0.5, (D_MODEL / 12) ** 0.5  # LongCat's latents, of 16 and 12 numbers
MLA_TWICE = Projection(
    tuple(f"{{module}}.self_attn.{{part}}.{name}" for name in ("q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj")),
    lambda q_b, kv_a, kv_b: _heads(q_b, 12) * SCALED[0],
    _mla_k,
)
IN_CYCLES = _pair("{module}.self_attn.q_proj", "{module}.self_attn.k_proj")
GPTJ = _pair("transformer.h.{layer}.attn.q_proj", "transformer.h.{layer}.attn.k_proj")
FALCON = _fused(
    "transformer.h.{layer}.self_attention.query_key_value",
    lambda x: _heads(x[:, :D_MODEL]),
    lambda x: _heads(x[:, D_MODEL : D_MODEL + D_HEAD]),
)

GQA = {"num_key_value_heads": 2}
TYPES = ["sliding_attention", "full_attention", "sliding_attention"]
ALTERNATING = {"layer_types": TYPES, "sliding_window": WINDOW}
YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 16}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 1e4,
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
LONG_ROPE = {
    "rope_type": "longrope",
    "rope_theta": 1e4,
    "short_factor": [1.0, 1.5, 2.0, 2.5],
    "long_factor": [1.0, 4.0, 16.0, 64.0],
    "original_max_position_embeddings": 8,  # shorter than what the shortest text of the tests becomes
    "factor": 64.0,
}
HALF_ROTATED = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5}
EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
SMALL_EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
LINEAR = {
    "layer_types": ["linear_attention", "full_attention", "linear_attention"],
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 2,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
}
LLAMA4 = {
    "num_local_experts": 2,
    "intermediate_size_mlp": 48,
    "layer_types": ["chunked_attention", "chunked_attention", "full_attention"],
    "attention_chunk_size": WINDOW,
    "no_rope_layers": [1, 1, 0],
}
DEEPSEEK = {
    "num_key_value_heads": 4,
    "q_lora_rank": 16,
    "kv_lora_rank": 12,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 4,
    "v_head_dim": 10,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "n_group": 1,
    "topk_group": 1,
    "moe_intermediate_size": 16,
    "first_k_dense_replace": 1,
}
INDEXED = {**DEEPSEEK, "head_dim": 4, "index_topk": 5, "index_n_heads": 16, "index_head_dim": 8}
SHARED_CHOICE = {"indexer_types": ["full", "shared", "full"]}
DOTS = {
    **{name: value for name, value in INDEXED.items() if name != "first_k_dense_replace"},
    "layer_types": ["indexed_attention", "sliding_attention", "indexed_attention"],
    "mlp_layer_types": ["dense", "sparse", "sparse"],
    "shared_experts_intermediate_size": 16,
    "sliding_window": WINDOW,
    **{f"swa_{name}": DEEPSEEK[name] for name in ("num_key_value_heads", "q_lora_rank", "kv_lora_rank", "v_head_dim")},
    "swa_num_attention_heads": N_HEADS,
    "swa_qk_nope_head_dim": 8,
    "swa_head_dim": 12,
}
GRANITE_SWA = {
    "layer_types": ["sliding_attention", "full_attention", "full_attention"],  # transformers wants the last one full
    "sliding_window": WINDOW,
    "attention_multiplier": 0.2,
    **GQA,
}
GRANITE_KINDS = ("sliding", "full", "full")
GEMMA = {"head_dim": 16, "query_pre_attn_scalar": 9, **ALTERNATING, **GQA}
LONGCAT = {
    **DEEPSEEK,
    "num_hidden_layers": 4,
    "head_dim": 4,
    "ffn_hidden_size": 48,
    "expert_ffn_hidden_size": 16,
    "zero_expert_num": 1,
}
HRM = {"num_hidden_layers": 1, "H_cycles": 2, "L_cycles": 2, "head_dim": D_HEAD}
GROUP = "albert.encoder.albert_layer_groups.0.albert_layers.0"
ONE_MODULE = tuple(Run(GROUP, number, GROUP) for number in range(N_LAYERS))
TWO_A_BLOCK = tuple(
    Run(f"model.layers.{block}{norm}", 0, f"model.layers.{block}")
    for block in range(2)
    for norm in ("", ".input_layernorm.1")
)
LOW, HIGH = "model.L_module.layers.0", "model.H_module.layers.0"
CYCLES = tuple(
    Run(module, number, module) for module, number in ((LOW, 0), (LOW, 1), (HIGH, 0), (LOW, 2), (LOW, 3), (HIGH, 1))
)
JAMBA = {"attn_layer_period": 2, "attn_layer_offset": 1, "num_experts": 2, "num_experts_per_tok": 1, "mamba_d_state": 4}
PICTURES = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
ENDS = ("sliding", "full", "sliding")
MIDDLE = ("linear", "full", "linear")
SINKS = SELF_ATTENTION + "sinks"
CHUNKED = ("chunked", "chunked", "full")
AFTER = "queries are changed again after the rotation"
COMPLEX = "the rotation is not given as a cosine and a sine"
CHANGED = "its own code changes queries after their projection"
MASKED = AutoModelForMaskedLM

# fmt: off
FAMILIES: tuple[Family, ...] = (
    Family("llama", tiny("llama", **GQA), SEPARATE),
    Family("llama-yarn", tiny("llama", rope_parameters=YARN, **GQA), SEPARATE, note="cos and sin carry a factor"),
    Family("llama-llama3", tiny("llama", rope_parameters=LLAMA3, **GQA), SEPARATE),
    Family("qwen2", tiny("qwen2", **GQA), SEPARATE, note="biases on q, k, v"),
    Family("qwen3", tiny("qwen3", head_dim=8, **GQA), NORMED, note="q and k are normed before the rotation"),
    Family("mistral", tiny("mistral", sliding_window=WINDOW, **GQA), SEPARATE, SLIDING),
    Family("qwen3-moe", tiny("qwen3_moe", head_dim=8, **SMALL_EXPERTS, **GQA), NORMED),
    Family("qwen3-next", tiny("qwen3_next", head_dim=8, **LINEAR, **SMALL_EXPERTS, **GQA), NORMED, MIDDLE),
    Family("smollm3", tiny("smollm3", no_rope_layers=[1, 0, 1], **GQA), SEPARATE, not_rotated=(1,)),
    Family("starcoder2", tiny("starcoder2", **GQA), SEPARATE),
    Family("llama4", tiny("llama4_text", head_dim=8, **LLAMA4, **GQA), SEPARATE, CHUNKED, not_rotated=(2,),
           not_recoverable=AFTER, note="q and k are normed after the rotation"),
    Family("mixtral", tiny("mixtral", **EXPERTS, **GQA), SEPARATE, note="experts"),
    Family("phimoe", tiny("phimoe", sliding_window=WINDOW, **EXPERTS, **GQA), SEPARATE, SLIDING,
           note="only its mask is told of the window"),
    Family("phi", tiny("phi", partial_rotary_factor=0.5, **GQA), SEPARATE, note="half of each head is rotated"),
    Family("phi3", tiny("phi3", **GQA), QKV, note="fused projection"),
    Family("phi3-longrope", tiny("phi3", rope_parameters=LONG_ROPE, original_max_position_embeddings=8, **GQA), QKV,
           note="longer texts are rotated otherwise"),
    Family("stablelm", tiny("stablelm", partial_rotary_factor=0.5, qk_layernorm=True, **GQA), LAYER_NORMED),
    Family("gemma", tiny("gemma", head_dim=16, **GQA), WIDE, scale=16**-0.5),
    Family("gemma2", tiny("gemma2", attn_logit_softcapping=2.0, **GEMMA), WIDE, ENDS, scale=1 / 3, softcap=2.0,
           note="a cap small enough to bite"),
    Family("gemma3", tiny("gemma3_text", **GEMMA), NORMED_HEADS, ENDS, scale=1 / 3, note="two rotations"),
    Family("olmo2", tiny("olmo2", **GQA), NORMED_FLAT, note="the norm runs over all heads"),
    Family("olmo3", tiny("olmo3", **ALTERNATING, **GQA), NORMED_FLAT, ENDS),
    Family("granite", tiny("granite", attention_multiplier=0.2, residual_multiplier=0.7, **GQA), SEPARATE, scale=0.2),
    Family("cohere", tiny("cohere", use_qk_norm=True, **GQA), NORMED, note="interleaved rotation"),
    Family("cohere2", tiny("cohere2", **ALTERNATING, **GQA), SEPARATE, ENDS, not_rotated=(1,)),
    Family("glm", tiny("glm", head_dim=8, **GQA), SEPARATE, note="half of each head is rotated, interleaved"),
    Family("glm4", tiny("glm4", head_dim=8, **GQA), SEPARATE, note="half of each head is rotated, interleaved"),
    Family("gpt-oss", tiny("gpt_oss", head_dim=8, **EXPERTS, **ALTERNATING, **GQA), SEPARATE, ENDS, sinks=SINKS),
    Family("granite-swa", tiny("granite_swa", **GRANITE_SWA), SEPARATE, GRANITE_KINDS, scale=0.2, sinks=SINKS,
           sinks_apart=True),
    Family("deepseek-v2", tiny("deepseek_v2", topk_method="greedy", **DEEPSEEK), MLA, scale=12**-0.5,
           not_recoverable=COMPLEX),
    Family("deepseek-v3", tiny("deepseek_v3", **DEEPSEEK), MLA, scale=12**-0.5, note="MLA: d_head 12, d_value 10"),
    Family("deepseek-v3.2", tiny("deepseek_v32", **INDEXED), MLA, scale=12**-0.5, note="an indexer chooses keys"),
    Family("glm-moe-dsa", tiny("glm_moe_dsa", **SHARED_CHOICE, **INDEXED), MLA, scale=12**-0.5,
           hands_on=True, note="layers share a choice of keys"),
    Family("axk2", tiny("axk2", **INDEXED), AXK2, scale=12**-0.5, note="an indexer chooses keys; gated"),
    Family("dots3-note", tiny("dots3_note_text", **DOTS), DOTS_MLA, ("full", "sliding", "full"), scale=12**-0.5,
           note="an indexer chooses keys in some layers"),
    Family("hy-v4", tiny("hy_v4", **SHARED_CHOICE, **INDEXED), MLA, scale=12**-0.5, sinks=SINKS,
           several_streams=True, hands_on=True, note="sinks beside an indexer"),
    Family("gpt-neox", tiny("gpt_neox", rope_parameters=HALF_ROTATED), NEOX, note="fused by head, half is rotated"),
    Family("gpt2", tiny("gpt2"), None),
    Family("gpt-bigcode", tiny("gpt_bigcode"), None, note="one key/value head for all"),
    Family("opt", tiny("opt", ffn_dim=48, word_embed_proj_dim=D_MODEL), None, scale=1.0, note="q arrives scaled"),
    Family("bert", tiny("bert", MASKED), None),
    Family("roberta", tiny("roberta", MASKED, max_position_embeddings=800), None, note="positions follow the pad id"),
    Family("distilbert", tiny("distilbert", MASKED, dim=D_MODEL, hidden_dim=48), None, note="no layer index"),
    Family("modernbert", tiny("modernbert", MASKED, local_attention=6, layer_types=TYPES), WQKV, ENDS),
    Family("gptj", tiny("gptj", rotary_dim=4), GPTJ, float32_only=True, own_code=True),
    Family("gpt-neo", tiny("gpt_neo", num_layers=3, attention_types=[[["local", "global", "local"], 1]],
                           window_size=WINDOW), None, ENDS, scale=1.0, own_code=True, note="windows"),
    Family("falcon", tiny("falcon", alibi=False, attn_implementation="eager"), FALCON, own_code=True,
           note="one key head for all"),
    Family("git", tiny("git", vision_config=PICTURES), None, own_code=True, note="its encoder of pictures asks"),
    Family("doge", tiny("doge", keep_window_size=5, **GQA), NORMED, bias=GATED, note="a mask made of its values"),
    Family("doge-wide", tiny("doge", keep_window_size=512, **GQA), NORMED, bias=GATED, note="no key is left out"),
    Family("inkling", tiny("inkling_text", **INKLING), None, ENDS, scale=1 / D_HEAD, bias=PROFILES,
           note="each query adds a profile over distances"),
    Family("inkling2", tiny("inkling2_text", **INKLING), None, ENDS, bias=CLIPPED,
           sinks_by_query=SELF_ATTENTION + "sink_proj", mixes_dtypes=True, note="and each query has a sink"),
    Family("albert", tiny("albert", MASKED, embedding_size=16), None, runs=ONE_MODULE, note="all layers are one"),
    Family("diffllama", tiny("diffllama", **GQA), SEPARATE, note="a head less another one"),
    Family("longcat-flash", tiny("longcat_flash", **LONGCAT), MLA_TWICE, ("full",) * 4, scale=12**-0.5,
           runs=TWO_A_BLOCK, note="a block attends twice"),
    Family("hrm-text", tiny("hrm_text", **HRM), IN_CYCLES, ("full",) * 6, runs=CYCLES, note="two stacks run in cycles"),
    Family("jamba", tiny("jamba", use_mamba_kernels=False, **JAMBA, **GQA), None, MIDDLE, note="1 layer of 2"),
)
# fmt: on


ONE_STREAM = tuple(family for family in FAMILIES if not family.several_streams)
EDITABLE = tuple(family for family in FAMILIES if not family.own_code)
OFTEN = {
    "llama", "mistral", "gemma2", "gpt2", "gpt-oss", "gpt-bigcode", "deepseek-v3", "qwen3-next", "jamba", "mixtral",
    "bert", "glm4", "gpt-neox", "gptj", "albert", "diffllama", "longcat-flash", "hrm-text",
}  # fmt: skip  # of every kind of attention, norm and block one


def often(names: Iterable[str]) -> list[Any]:
    """Every family for what the contract of families does not hold; in each run of the tests, one of every kind."""
    return [pytest.param(name, marks=[] if name in OFTEN else [pytest.mark.long]) for name in names]


RECURRENT = {  # families without softmax, whose recurrences are written out as matrices: test_scans.py
    "mamba": tiny("mamba", state_size=4),
    "falcon_mamba": tiny("falcon_mamba", state_size=4),
    "mamba2": tiny("mamba2", num_heads=8, head_dim=8, expand=2, state_size=6, n_groups=2, chunk_size=8),
    "rwkv": tiny("rwkv", attention_hidden_size=D_MODEL),
    "xlstm": tiny("xlstm", num_heads=N_HEADS, num_blocks=N_LAYERS),
}


@dataclass(frozen=True)
class Refused:
    """A family that no capture can be exact for; the runner must say so, and truly why, before it shows anything."""

    name: str
    build: Callable[[], PreTrainedModel]
    note: str
    reason: str


NOT_HEARD = (
    "it does not go through transformers' attention interface, and none was recognised in what its own code multiplies"
)
NOT_ASKED = "none of its layers uses transformers' attention interface for softmax attention"

# fmt: off
REFUSED: tuple[Refused, ...] = (
    Refused("fnet", tiny("fnet", MASKED), "Fourier transforms", NOT_ASKED),
    Refused("deberta-talking", tiny("deberta", MASKED, talking_head=True), "weights that heads mix", NOT_HEARD),
)
# fmt: on
