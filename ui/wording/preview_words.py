"""One-line preview of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from model_runner.memory import readable
from model_runner.preview import ModelPreview

N_ = str  # marks a text for Babel without translating it here

COUNTS = (
    (1e9, N_("{count} billion parameters")),
    (1e6, N_("{count} million parameters")),
    (1, N_("{count} parameters")),
)


def in_words(preview: ModelPreview, say: Callable[[str], str]) -> str:
    """Describe family, support, size, layers, heads, context and memory as far as known. ``say`` translates."""
    return " · ".join(_parts(preview, say))


def _parts(preview: ModelPreview, say: Callable[[str], str]) -> Iterator[str]:
    yield preview.family
    yield _capturable(preview, say)
    if preview.n_parameters is not None:
        unit, words = next((one for one in COUNTS if preview.n_parameters >= 0.9995 * one[0]), COUNTS[-1])
        yield say(words).format(count=f"{preview.n_parameters / unit:.3g}" if unit > 1 else f"{preview.n_parameters:,}")
    yield preview.dtype
    layers, heads, kv_heads = preview.n_layers, preview.n_heads, preview.n_kv_heads
    if layers is not None and heads is None:
        yield say(N_("{count} layers") if layers > 1 else N_("1 layer")).format(count=layers)
    if layers is not None and heads is not None:
        yield say(N_("{layers} layers × {heads} heads")).format(layers=layers, heads=heads)
        if kv_heads is not None and kv_heads != heads:
            yield say(N_("{count} kv heads") if kv_heads > 1 else N_("1 kv head")).format(count=kv_heads)
    if preview.max_tokens is not None:
        yield say(N_("up to {count} tokens")).format(count=f"{preview.max_tokens:,}")
    words = N_("needs {needed} of {free} free memory on {device}")
    yield say(words).format(needed=readable(preview.needed), free=readable(preview.free), device=preview.device)
    if preview.missing:
        yield say(N_("{size} to download")).format(size=readable(preview.missing))


def _capturable(preview: ModelPreview, say: Callable[[str], str]) -> str:
    if preview.refused is not None:
        return say(N_("cannot be captured: {reason}")).format(reason=say(preview.refused))
    if preview.capturable:
        return say(N_("its family can be captured"))
    return say(N_("whether it can be captured is known once it is loaded"))
