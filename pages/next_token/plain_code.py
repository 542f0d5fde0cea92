"""The next token with transformers alone: the code on the page, and a script that generates."""

from __future__ import annotations

from dataclasses import asdict

from analysis.joined import Joined
from model_runner.transforms import DEFAULT, TRANSFORMS, Sampling
from pages.next_token.views import Bench
from ui.shared.code_pane import CodeLine, code_text

FOLDERS = {"default": "default_model"}  # folder of the embedded model, beside model_runner
WARPERS = {
    "repetition_penalty": "RepetitionPenaltyLogitsProcessor",
    "temperature": "TemperatureLogitsWarper",
    "top_k": "TopKLogitsWarper",
    "top_p": "TopPLogitsWarper",
    "min_p": "MinPLogitsWarper",
    "typical_p": "TypicalLogitsWarper",
}


def plain_lines(bench: Bench) -> list[CodeLine]:
    """From ids to the distribution under settings A; empty where transformers alone cannot do it: edits, adapters, two
    texts.

    Only the last row goes through the output layer.
    """
    capture, info = bench.capture, bench.opened.runner.info
    request = capture.request
    if isinstance(capture, Joined) or capture.attentions or request.attention or request.edits or info.adapter:
        return []
    n, d, vocab = bench.query + 1, capture.hidden.shape[-1], info.n_vocab
    ids = [token.id for token in capture.tokens[:n]]
    used = _used(bench.a)
    from_it = ", ".join(["AutoModelForCausalLM", *(WARPERS[name] for name in used)])
    lines = [
        CodeLine("import torch"),
        CodeLine(f"from transformers import {from_it}"),
        CodeLine(""),
        *_named(request.model or "default"),
        CodeLine("torch.set_grad_enabled(False)"),
        CodeLine(
            f"model = AutoModelForCausalLM.from_pretrained(name{_version(request.revision)}, dtype=torch.{info.dtype})"
        ),
        CodeLine(f"ids = torch.tensor([{ids}])", "", (1, n)),
        CodeLine("hidden = model.base_model(ids).last_hidden_state", "", (1, n, d)),
        CodeLine(f"# model(ids).logits has a row for each token, [1, {n}, {vocab}]; the last one alone is needed"),
        CodeLine("logits = model(ids, logits_to_keep=1).logits", "last", (1, 1, vocab)),
        CodeLine("scores = logits[0, -1]", "last", (vocab,)),
    ]
    for name in used:
        value = getattr(bench.a, name)
        lines.append(CodeLine(f"scores = {WARPERS[name]}({_given(name, value)})(ids, scores[None])[0]", "", (vocab,)))
    if bench.a.temperature == 0:
        lines.append(CodeLine("probabilities = (scores == scores.max()).double()", "", (vocab,)))
    else:
        lines.append(CodeLine("probabilities = scores.double().softmax(dim=-1)", "", (vocab,)))
    return [*lines, CodeLine("likeliest = int(probabilities.argmax())")]


def _used(sampling: Sampling) -> list[str]:
    """The transforms that have an effect, in their order; a temperature of 0 is not a division."""
    on = [name for name in sampling.order if getattr(sampling, name) != TRANSFORMS[name].off]
    return [name for name in on if not (name == "temperature" and sampling.temperature == 0)]


def _given(name: str, value: float) -> str:
    return repr(int(value) if name == "top_k" else float(value))


def _named(model: str) -> list[CodeLine]:
    """The model's name for transformers; for the embedded one its folder."""
    if model not in FOLDERS:
        return [CodeLine(f"name = {model!r}")]
    return [
        CodeLine("from attention_atlas import model_runner  # beside which the embedded model lies"),
        CodeLine(""),
        CodeLine(f'name = model_runner.__path__[0] + "/{FOLDERS[model]}"'),
    ]


def _version(revision: str | None) -> str:
    return "" if revision is None else f", revision={revision!r}"


def generating(bench: Bench) -> str:
    """The same lines, then ``generate()`` and, for a plain text, ``pipeline()``: greedy, and with settings A."""
    request = bench.capture.request
    given = {name: value for name, value in asdict(bench.a).items() if name in DEFAULT.order}
    given = {name: int(value) if name == "top_k" else float(value) for name, value in given.items()}
    greedy = bench.a.temperature == 0
    settings = "do_sample=False" if greedy else f"do_sample=True, **{given}"
    lines = [
        code_text(plain_lines(bench), ""),
        "",
        "greedy = model.generate(ids, max_new_tokens=1, do_sample=False)[0, -1]",
        f"torch.manual_seed({bench.a.seed})",
        f"chosen = model.generate(ids, max_new_tokens=1, {settings})[0, -1]",
    ]
    if bench.a.order != DEFAULT.order:
        lines.insert(2, "# generate() has an order of its own: " + ", ".join(DEFAULT.order))
    last = bench.query == len(bench.capture.tokens) - 1
    if last and not (request.chat or request.continuation or request.input_ids or request.sound):
        lines += [
            "",
            "from transformers import pipeline",
            "",
            'generator = pipeline("text-generation", model=name)',
            f"text = {request.text!r}",
            "written = generator(text, max_new_tokens=1, do_sample=False)[0]['generated_text']",
        ]
    return "\n".join(lines) + "\n"
