"""Train the application's embedded translation model, or resume, and export it to build/translator.

python -m scripts.translator               English and Chinese, both ways; sentences come from the generator
python -m scripts.translator --check DIR   only print the tables of its card
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from pathlib import Path
from random import Random

import torch
from transformers import AutoTokenizer, PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

from scripts.corpus.parallel.sentences import Pair
from scripts.train.export import write_folder
from scripts.train.small import Plan, train_small
from scripts.translator.check import Looks, alignment, answers, exact
from scripts.translator.data import batch, both_ways, make_tokenizer, sentences

LAYERS, HEADS, D_MODEL, D_FEED_FORWARD = 4, 4, 128, 512
PAIRS_AT_ONCE = 32
BATCHES_AT_ONCE = 16  # drawn together and sorted by length, so that little is padding
N_ANSWERS, N_ALIGNED, N_SHOWN = 200, 150, 6  # held-out sentences behind each table of the card
LONG = 60  # characters; an endless mistake is cut there


def main(arguments: list[str] | None = None) -> None:
    """Run the command line (``arguments``: as in ``sys.argv[1:]``)."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    args = _parser().parse_args(arguments)
    if args.check:
        model = T5ForConditionalGeneration.from_pretrained(
            args.check, local_files_only=True, attn_implementation="eager", dtype=torch.float32
        )
        for line in report(model.eval(), AutoTokenizer.from_pretrained(args.check, local_files_only=True)):
            print(line, flush=True)
    else:
        train(Plan(work=args.work, steps=args.steps, threads=args.threads, seed=args.seed), args.out)


def train(plan: Plan, out: Path) -> None:
    """Train, measuring on held-out sentences along the way, and write the model to ``out``."""
    torch.manual_seed(plan.seed)
    tokenizer = make_tokenizer(plan.seed)
    model = new_model(tokenizer)

    waiting: list[list[Pair]] = []

    def loss_of(rng: Random) -> torch.Tensor:
        if not waiting:
            waiting.extend(similar_lengths(rng))
        return model(**batch(tokenizer, both_ways(waiting.pop()))).loss

    def measure() -> dict[str, float]:
        into_chinese, into_english = exact(model, tokenizer, count=100)
        looks = alignment(model, tokenizer, count=60)
        measured = {
            "into_chinese": into_chinese / 100,
            "into_english": into_english / 100,
            "looks_into_chinese": round(float(looks.english_to_chinese.max()), 3),
            "looks_into_english": round(float(looks.chinese_to_english.max()), 3),
        }
        write_folder(model, tokenizer, out, {"measured": measured})
        return measured

    done = train_small(model, plan, loss_of, measure)
    facts = {"steps": done.steps, "minutes": round(done.seconds / 60, 1), "history": done.history}
    write_folder(model, tokenizer, out, facts)


def similar_lengths(rng: Random) -> list[list[Pair]]:
    """``BATCHES_AT_ONCE`` batches in random order, each with sentences of about the same length."""
    drawn = sorted(sentences(rng, PAIRS_AT_ONCE * BATCHES_AT_ONCE, held=False), key=lambda pair: len(pair.chinese))
    batches = [drawn[i : i + PAIRS_AT_ONCE] for i in range(0, len(drawn), PAIRS_AT_ONCE)]
    rng.shuffle(batches)
    return batches


def new_model(tokenizer: PreTrainedTokenizerFast) -> T5ForConditionalGeneration:
    """A T5 with random weights: relative position buckets, the embedding shared by both sides and the output."""
    config = T5Config(
        vocab_size=len(tokenizer),
        d_model=D_MODEL,
        d_kv=D_MODEL // HEADS,
        d_ff=D_FEED_FORWARD,
        num_layers=LAYERS,
        num_decoder_layers=LAYERS,
        num_heads=HEADS,
        dropout_rate=0.0,
        feed_forward_proj="relu",
        tie_word_embeddings=True,  # pyright: ignore[reportCallIssue]  # of every configuration
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.pad_token_id,  # pyright: ignore[reportCallIssue]  # likewise
    )
    model = T5ForConditionalGeneration(config)
    model.set_attn_implementation("eager")  # the only one that returns its weights
    return model


def report(model: T5ForConditionalGeneration, tokenizer: PreTrainedTokenizerFast) -> Iterator[str]:
    """The lines of the card's tables, in Markdown, as they are measured."""
    yield from ("| held-out sentences (greedy) | exactly right |", "| --- | --- |")
    said = answers(model, tokenizer, count=N_ANSWERS)
    into_chinese, into_english = said[:N_ANSWERS], said[N_ANSWERS:]
    yield f"| English to Chinese | {sum(answer.right for answer in into_chinese)} of {N_ANSWERS} |"
    yield f"| Chinese to English | {sum(answer.right for answer in into_english)} of {N_ANSWERS} |"
    looks: Looks = alignment(model, tokenizer, count=N_ALIGNED)
    yield from ("", "| cross-attention: most weight on the word being translated | best heads |", "| --- | --- |")
    for name, shares in (
        ("English to Chinese", looks.english_to_chinese),
        ("Chinese to English", looks.chinese_to_english),
    ):
        order = shares.flatten().argsort(descending=True)[:4].tolist()
        heads = (f"L{i // shares.shape[1]}H{i % shares.shape[1]} {float(shares.flatten()[i]):.2f}" for i in order)
        yield f"| {name} | {', '.join(heads)} |"
    yield from ("", "| held-out sentence | translation |", "| --- | --- |")
    for answer in (*into_chinese[:N_SHOWN], *into_english[N_SHOWN : 2 * N_SHOWN]):
        yield f"| {answer.source} | {answer.said} |"
    yield from ("", "| mistake | instead of |", "| --- | --- |")
    for answer in (answer for answer in said if not answer.right):
        yield f"| {answer.said[:LONG]}{'…' * (len(answer.said) > LONG)} | {answer.wanted} |"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.translator", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", type=Path, help="folder of a trained model: only print its tables")
    parser.add_argument("--work", type=Path, default=Path("build/translator_training"), help="default: %(default)s")
    parser.add_argument("--out", type=Path, default=Path("build/translator"), help="default: %(default)s")
    parser.add_argument("--steps", type=int, default=8000, help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=17, help="default: %(default)s")
    return parser


if __name__ == "__main__":
    main()
