"""Measure a trained model and print the tables of its card.

python -m scripts.check                                  the embedded model
python -m scripts.check --model build/default_model      one that was just trained
python -m scripts.check --corpus build/corpus            also its loss on held-out documents
python -m scripts.check --examples                       only the examples' stories, and whether they hold
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

from analysis.stories import FILE
from scripts.check.completions import PROMPTS, complete
from scripts.check.examples import summary, write_examples
from scripts.check.heads import head_scores, strongest
from scripts.check.held_out import ENGLISH, bits_per_byte, held_out
from scripts.check.loading import load
from scripts.check.quizzes import quizzes, right_answers
from scripts.train.tokenizer import special_ids

EMBEDDED = Path(__file__).parents[2] / "model_runner" / "default_model"
ROUND_TRIPS = ("Hello, world! 1234", "naïve café — 日本語 🙂\n\ttab  two", "مرحبا <|bos", "The capital of France is")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line (``arguments``: as in ``sys.argv[1:]``)."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.check", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, default=EMBEDDED, help="folder of the model; default: the embedded one")
    parser.add_argument("--prompt", nargs="*", default=[], help="more prompts to complete")
    parser.add_argument("--corpus", type=Path, help="folder of the corpus, for the loss on what training held out")
    parser.add_argument("--examples", action="store_true", help=f"write {FILE} beside the model, and nothing else")
    args = parser.parse_args(arguments)
    if args.examples:
        for line in summary(write_examples(args.model)):
            print(line)
        return
    model, tokenizer = load(args.model)
    if args.corpus:
        for line in losses(model, tokenizer, args.corpus):
            print(line, flush=True)
    for line in report(model, tokenizer, (*PROMPTS, *args.prompt)):
        print(line, flush=True)


def report(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, prompts: tuple[str, ...]) -> Iterator[str]:
    """The lines of the card's tables, in Markdown, as they are measured."""
    kept = sum(tokenizer.decode(tokenizer(text)["input_ids"], skip_special_tokens=True) == text for text in ROUND_TRIPS)
    yield f"{model.num_parameters() / 1e6:.2f} M parameters; {kept} of {len(ROUND_TRIPS)} texts survive the tokenizer."
    yield from ("", "| test (greedy) | correct |", "| --- | --- |")
    for quiz in quizzes():
        right = right_answers(model, tokenizer, quiz.questions)
        yield f"| {quiz.name} | {sum(right)} of {len(right)} |"
    scores = head_scores(model, special_ids(tokenizer)["bos_token_id"])
    yield ""
    for name, values in (("previous-token", scores.previous_token), ("induction", scores.induction)):
        yield f"- {name} heads: " + ", ".join(f"{head} {score:.2f}" for head, score in strongest(values))
    yield from ("", "| | text |", "| --- | --- |")
    for prompt in prompts:
        for how in ("greedy", "sampled"):
            text = complete(model, tokenizer, prompt, sample=how == "sampled")
            yield f"| {how} | {' ⏎ '.join(line.strip() for line in text.splitlines() if line.strip())} |"


def losses(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, corpus: Path) -> Iterator[str]:
    """The table of bits per byte on held-out English. Raises CorpusError."""
    yield from ("| held out | bits per byte |", "| --- | --- |")
    for name in ENGLISH:
        yield f"| {name} | {bits_per_byte(model, tokenizer, held_out(corpus, name)):.3f} |"
    yield ""


if __name__ == "__main__":
    main()
