"""Train a small GPT-2 and store what it learned about positions: a vector for each.

    python -m scripts.position_tables          # about 5 minutes on one CPU core

The Positions page shows them beside the loaded model, which represents positions differently. The model is
transformers' own, trained on the committed part of the corpus with the embedded model's tokenizer. Only the table is
stored, in model_runner/position_tables.safetensors, with the facts of the run. (T5's table beside it on that page is
the translation model's: ``python -m scripts.translator``.)
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from transformers import AutoTokenizer, GPT2Config, GPT2Model

from scripts.corpus.files import read_documents

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ("stories", "books")
EVERY = 50  # steps between two lines of output


@dataclass(frozen=True)
class Settings:
    """Settings of a run; the defaults are those of the committed table."""

    steps: int = 1500
    windows: int = 8  # per step
    length: int = 128
    layers: int = 4
    heads: int = 8
    d_model: int = 128
    learning_rate: float = 2e-3
    seed: int = 17


def gpt2(settings: Settings, vocab: int) -> GPT2Model:
    """A GPT-2 with a learned vector for each of ``length`` positions."""
    config = GPT2Config(
        vocab_size=vocab, n_embd=settings.d_model, n_layer=settings.layers, n_head=settings.heads,
        n_positions=settings.length, bos_token_id=None, eos_token_id=None,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, use_cache=False,
    )  # fmt: skip
    return GPT2Model(config)


def corpus_tokens() -> Tensor:
    """The committed texts as one row of token ids, one document after another."""
    tokenizer: Any = AutoTokenizer.from_pretrained(ROOT / "model_runner" / "default_model")
    texts = [text for part in CORPUS for text in read_documents(ROOT / "scripts/corpus/data" / f"{part}.txt.xz")]
    ids = [np.array(row, dtype=np.uint16) for row in tokenizer(texts, verbose=False)["input_ids"]]
    return torch.from_numpy(np.concatenate(ids).astype(np.int32))


def trained(settings: Settings, tokens: Tensor, vocab: int) -> tuple[Tensor, float]:
    """The table that the model has learned at the end, and its last loss in nats per token."""
    torch.manual_seed(settings.seed)
    model: Any = gpt2(settings, vocab)
    embedding = model.get_input_embeddings()
    nn.init.normal_(embedding.weight, std=0.05)
    optimizer = torch.optim.AdamW(model.parameters(), lr=settings.learning_rate, betas=(0.9, 0.98), weight_decay=0.01)
    average, began = math.log(vocab), time.monotonic()
    for step in range(settings.steps):
        progress = step / settings.steps
        warm = min(1.0, (step + 1) / 100)
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * warm * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * progress)))
        starts = torch.randint(len(tokens) - settings.length, (settings.windows,))
        batch = torch.stack([tokens[start : start + settings.length] for start in starts.tolist()]).long()
        hidden = model(input_ids=batch).last_hidden_state
        logits = hidden[:, :-1] @ embedding.weight.T
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        average = 0.98 * average + 0.02 * loss.item()
        if step % EVERY == EVERY - 1:
            print(f"step {step + 1}, loss {average:.3f}, {time.monotonic() - began:.0f} s", flush=True)
    return model.wpe.weight.detach().clone(), average


def main(arguments: list[str] | None = None, defaults: Settings = Settings()) -> None:
    """Run the command line (``arguments``: as in ``sys.argv[1:]``)."""
    parser = argparse.ArgumentParser(prog="python -m scripts.position_tables", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "model_runner" / "position_tables.safetensors")
    parser.add_argument("--steps", type=int, default=defaults.steps)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    settings = replace(defaults, steps=options.steps)
    tokens = corpus_tokens()
    vocab = 64 * math.ceil((int(tokens.max()) + 1) / 64)
    table, loss = trained(settings, tokens, vocab)
    facts = {"corpus": list(CORPUS), "tokens": settings.steps * settings.windows * settings.length}
    facts |= {"learned loss": round(loss, 3), **asdict(settings)}
    save_file({"learned": table}, options.out, metadata={"facts": json.dumps(facts)})


if __name__ == "__main__":
    main()
