"""Train the application's embedded encoder, or resume, and export it to build/encoder.

python -m scripts.encoder                  hidden words and pairs of passages in both languages
python -m scripts.encoder --check DIR      only print the tables of its card
"""

from __future__ import annotations

import argparse
import dataclasses
import logging
from collections.abc import Iterator
from pathlib import Path
from random import Random

import torch
from transformers import AutoTokenizer, BertConfig, BertForPreTraining, PreTrainedTokenizerFast

from scripts.encoder.check import KINDS, accuracy, held_out, looks
from scripts.encoder.data import IGNORED, Passages, batch
from scripts.encoder.tokenizer import encoder_tokenizer
from scripts.train.export import write_folder
from scripts.train.small import Plan, train_small

LAYERS, HEADS, D_MODEL, D_FEED_FORWARD, LONGEST_TEXT = 4, 4, 128, 512, 512
PAIRS_AT_ONCE = 32
SHIPPED = Path(__file__).parents[2] / "model_runner" / "encoder"


def main(arguments: list[str] | None = None) -> None:
    """Run the command line (``arguments``: as in ``sys.argv[1:]``)."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    args = _parser().parse_args(arguments)
    if args.check:
        model = BertForPreTraining.from_pretrained(
            args.check, local_files_only=True, attn_implementation="eager", dtype=torch.float32
        )
        tokenizer = AutoTokenizer.from_pretrained(args.check, local_files_only=True)
        for line in report(model.eval(), tokenizer, Passages(held=True)):
            print(line, flush=True)
    else:
        train(Plan(work=args.work, steps=args.steps, threads=args.threads, seed=args.seed), args)


def train(plan: Plan, args: argparse.Namespace) -> None:
    """Train, measuring on held-out passages along the way, and write the model to ``args.out``."""
    torch.manual_seed(plan.seed)
    tokenizer = encoder_tokenizer(args.tokenizer, longest_text=LONGEST_TEXT)
    model = new_model(tokenizer)
    passages, examples = Passages(held=False), held_out(Passages(held=True), 400)

    def loss_of(rng: Random) -> torch.Tensor:
        return pretraining_loss(model, batch(tokenizer, [passages.draw(rng) for _ in range(PAIRS_AT_ONCE)], rng))

    def measure() -> dict[str, float]:
        scores = {
            name: round(score, 3) for name, score in dataclasses.asdict(accuracy(model, tokenizer, examples)).items()
        }
        write_folder(model, tokenizer, args.out, {"measured": scores})
        return scores

    done = train_small(model, plan, loss_of, measure)
    facts = {"steps": done.steps, "minutes": round(done.seconds / 60, 1), "history": done.history}
    write_folder(model, tokenizer, args.out, facts)


def pretraining_loss(model: BertForPreTraining, given: dict[str, torch.Tensor]) -> torch.Tensor:
    """Cross-entropy of the hidden tokens plus that of the pairs; logits are computed for the hidden tokens alone."""
    labels, follows = given["labels"], given["next_sentence_label"]
    out = model.bert(**{key: given[key] for key in ("input_ids", "attention_mask", "token_type_ids")})
    hidden = labels != IGNORED
    logits = model.cls.predictions(out.last_hidden_state[hidden])
    pairs = model.cls.seq_relationship(out.pooler_output)
    cross_entropy = torch.nn.functional.cross_entropy
    return cross_entropy(logits, labels[hidden]) + cross_entropy(pairs, follows)


def new_model(tokenizer: PreTrainedTokenizerFast) -> BertForPreTraining:
    """A BERT with random weights."""
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=D_MODEL,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=D_FEED_FORWARD,
        max_position_embeddings=LONGEST_TEXT,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=tokenizer.get_vocab()[str(tokenizer.pad_token)],
    )
    return BertForPreTraining(config)


def report(model: BertForPreTraining, tokenizer: PreTrainedTokenizerFast, passages: Passages) -> Iterator[str]:
    """The lines of the card's tables, in Markdown, as they are measured."""
    scores = accuracy(model, tokenizer, held_out(passages, 1000))
    yield from ("| held-out passages | right |", "| --- | --- |")
    yield f"| hidden words, English | {scores.english:.1%} |"
    yield f"| hidden words, Chinese | {scores.chinese:.1%} |"
    yield f"| does the second passage follow the first? | {scores.pairs:.1%} |"
    yield from ("", "| mean weight on | heads with the most |", "| --- | --- |")
    seen = looks(model, tokenizer, held_out(passages, 100))
    for kind, weights in zip(KINDS, seen, strict=True):
        flat = weights.flatten()
        heads = (f"L{i // HEADS}H{i % HEADS} {float(flat[i]):.2f}" for i in flat.argsort(descending=True)[:4].tolist())
        yield f"| the {kind} | {', '.join(heads)} |"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.encoder", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", type=Path, help="folder of a trained model: only print its tables")
    parser.add_argument("--tokenizer", type=Path, default=SHIPPED, help="a default model's; default: the encoder's own")
    parser.add_argument("--work", type=Path, default=Path("build/encoder_training"), help="default: %(default)s")
    parser.add_argument("--out", type=Path, default=Path("build/encoder"), help="default: %(default)s")
    parser.add_argument("--steps", type=int, default=16000, help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=17, help="default: %(default)s")
    return parser


if __name__ == "__main__":
    main()
