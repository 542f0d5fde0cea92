"""A layer's attention as PyTorch code on the capture's tensors; running it gives the model's own numbers."""

from __future__ import annotations

from analysis.joined import Joined
from model_runner import Capture
from model_runner.edits import SharedKeys
from model_runner.python_lines import python_start
from model_runner.record import LayerRecord
from model_runner.rotary import Rotation
from ui.shared.code_pane import CodeLine

SQUARE = 512  # longest text whose mask is compared in full


def attention_lines(
    capture: Capture, layer: int, *, query: int | None = None, shared: int | None = None
) -> list[CodeLine]:
    """Code for all heads of the layer, from the residual stream to the weighted mean; ``query`` adds the output at that
    token.

    ``shared``: keys and values averaged to this many heads, in this layer alone and, through the model, in every layer.
    Returns None for two texts, for an edited model, and for a layer whose rows are not one softmax over the text.
    """
    request = capture.request
    if isinstance(capture, Joined) or request.attention or request.edits or not capture.has_weights(layer):
        return []
    record = capture.record(layer)
    if record.sinks is not None or record.without_softmax or record.choice is not None:
        return []
    n, heads, own = len(capture.tokens), record.q.shape[0], record.k.shape[0]
    d, d_value = record.q.shape[-1], record.v.shape[-1]
    start = [CodeLine(line) for line in python_start(request).splitlines() if line]
    turned = isinstance(record.rotation, Rotation)
    return [
        *start,
        CodeLine("import torch"),
        CodeLine(""),
        CodeLine(f"layer, n, h, kv = {layer}, {n}, {heads}, {own}"),
        CodeLine("record = capture.record(layer)"),
        CodeLine("x = capture.residual(layer)", "x", tuple(capture.residual(layer).shape)),
        *_vectors("q", heads, n, d, turned=turned),
        *_vectors("k", own, n, d, turned=turned),
        CodeLine("v = capture.v(layer)[None].double()", "v", (1, own, n, d_value)),
        *_copied(record, n, shared),
        *_weighed(record, n, square=_causal(record, n)),
        *(_added(capture, query) if query is not None else []),
        *_everywhere(capture, shared, n),
    ]


def _vectors(name: str, heads: int, n: int, d: int, *, turned: bool) -> list[CodeLine]:
    """Code for the vectors as they are scored, and before the rotation if there is one."""
    shape = (1, heads, n, d)
    line = CodeLine(f"{name} = capture.{name}(layer)[None].double()", f"r{name}" if turned else name, shape)
    before = CodeLine(f"unrotated_{name} = capture.{name}_unrotated(layer)[None]", name, shape)
    return [before, line] if turned else [line]


def _copied(record: LayerRecord, n: int, shared: int | None) -> list[CodeLine]:
    """Code that averages key/value heads if ``shared`` asks for it, then repeats them for each query head."""
    heads, own, d, d_value = record.q.shape[0], record.k.shape[0], record.q.shape[-1], record.v.shape[-1]
    lines, left = [], own
    if shared is not None:
        left = shared
        lines.append(CodeLine(f"groups = {shared}"))
        lines += [
            CodeLine(f"{name} = {name}.view(1, groups, kv // groups, n, -1).mean(dim=2)", "pool", (1, left, n, size))
            for name, size in (("k", d), ("v", d_value))
        ]
    if left < heads:
        count = "groups" if shared is not None else "kv"
        lines += [
            CodeLine(
                f"{name} = {name}.repeat_interleave(h // {count}, dim=1)",
                "" if shared is None else "pool",
                (1, heads, n, size),
            )
            for name, size in (("k", d), ("v", d_value))
        ]
    return lines


def _weighed(record: LayerRecord, n: int, *, square: bool) -> list[CodeLine]:
    """Code for the scores with everything that the layer does to them, the softmax, and the weighted values."""
    heads = record.q.shape[0]
    cells = (1, heads, n, n)
    tile = "slice(0, h), slice(0, n), slice(0, n)"
    lines = [
        CodeLine("scores = q @ k.transpose(-2, -1)", "scores", cells),
        CodeLine(f"scaled = scores * {record.scale!r}", "scale", cells),
    ]
    if record.softcap is not None:
        lines.append(CodeLine(f"scaled = {record.softcap!r} * torch.tanh(scaled / {record.softcap!r})", "scale", cells))
    if record.bias is not None:
        lines.append(CodeLine(f"scaled = scaled + record.biases({tile})", "scale", cells))
    keep = "torch.ones(n, n, dtype=torch.bool).tril()" if square else f'record.mask.tiles({tile}, torch.device("cpu"))'
    return [
        *lines,
        CodeLine(f"keep = {keep}", "mask"),
        CodeLine('masked = scaled.masked_fill(~keep, float("-inf"))', "mask", cells),
        CodeLine("weights = masked.softmax(dim=-1)", "softmax", cells),
        CodeLine("mixed = weights @ v", "mix", (1, heads, n, record.v.shape[-1])),
        CodeLine("concat = mixed.transpose(1, 2).reshape(1, n, -1)", "concat", (1, n, heads * record.v.shape[-1])),
    ]


def _added(capture: Capture, query: int) -> list[CodeLine]:
    d = capture.hidden.shape[-1]
    return [CodeLine(f"added = capture.head_writes(layer, {query}).sum(dim=0)", "out", (d,))]


def _everywhere(capture: Capture, shared: int | None, n: int) -> list[CodeLine]:
    """Code for the same in every layer, as on the page: the streams entering this layer change too."""
    if shared is None:
        return []
    edits = (*capture.request.edits, SharedKeys(shared))
    return [
        CodeLine(""),
        CodeLine("from dataclasses import replace"),
        CodeLine("from attention_atlas.model_runner.edits import SharedKeys"),
        CodeLine(f"changed = runner.capture(replace(capture.request, edits={edits!r}))  # in every layer: the page"),
        CodeLine("everywhere = changed.weights(layer)", "", (capture.n_heads, n, n)),
    ]


def _causal(record: LayerRecord, n: int) -> bool:
    """Return True if every head's mask is exactly causal."""
    if n > SQUARE:
        return False
    whole = slice(0, n)
    keep = record.mask.tiles(slice(0, record.q.shape[0]), whole, whole, record.q.device)
    return bool((keep == keep.new_ones(n, n).tril()).all())
