"""One call for a picture of a capture: a head's map or lines, all heads, or a query's products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Literal, get_args

from analysis.color_scale import scale_of
from analysis.given_weights import Given, given_capture
from analysis.head_grid import head_grid
from analysis.head_lines import head_lines
from analysis.head_map import Reading
from analysis.joined import joined
from analysis.made_with import made_with
from analysis.opening import opening_head
from analysis.read_head import read_head
from analysis.strongest_key import look_words, strongest_key
from attention.own_metrics import all_metrics
from attention_atlas.version import __version__
from inline.cell_output import CellOutput, shown
from inline.products import products_payload
from model_runner import Capture, Check
from model_runner.capture import index
from model_runner.edit_words import described
from model_runner.errors import NotVerified
from viz.components.head_grid import head_grid as grid_component
from viz.components.head_map import head_map as map_component
from viz.components.packing import unpack
from viz.components.token_lines import token_lines
from viz.drawn_maps_svg import drawn_maps_svg
from viz.export import standalone_html
from viz.grid_svg import grid_svg
from viz.lines_svg import lines_svg
from viz.share_text import share_digits

Kind = Literal["map", "lines", "grid", "products"]

WEIGHTS = Reading()
HEIGHT = 480  # CSS pixels, at most
AROUND = 150  # approximate height of title and caption


def show(  # noqa: PLR0913  all but the first three by keyword
    capture: Capture | Given,
    layer: int | None = None,
    head: int | None = None,
    *,
    tokens: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    kind: Kind = "map",
    reading: Reading = WEIGHTS,
    query: int | None = -1,
    key: int | None = None,
    metric: str = "entropy",
) -> CellOutput:
    """Draw a capture: a notebook shows the figure at once, and its ``save`` writes it to a file.

    ``capture`` may also be attention weights from elsewhere, such as transformers' eager attention or TransformerLens:
    [heads, queries, keys], [layers, heads, queries, keys], or a list with one tensor per layer, whose rows sum to 1.
    ``tokens`` are then the row labels, and ``keys`` the column labels if they differ.

    ``kind``: "map" is one head's attention map, "lines" draws the same weights between two columns of words, "grid"
    shows every head of every layer, and "products" q × k in every dimension for one query. Layer and head default to
    those that the app would open; given only one of them, to the best choice for it. ``query`` and ``key`` are pinned
    token positions or None; for cross-attention, in the target and in the source. ``reading`` is the map's quantity;
    ``metric``, a name in ``attention.metrics`` or of your own metric, sets the strength of the grid's frames.

    Raises NoSuchPlace, NoWeights, and NotVerified if the layer's weights do not reproduce the model's own output;
    ValueError for an unknown kind or metric, invalid weights, or labels that do not fit.
    """
    for what, wanted, names in (
        ("kind", kind, get_args(Kind)),
        ("metric", metric, [one.name for one in all_metrics()]),
    ):
        if wanted not in names:
            raise ValueError(f"There is no {what} {wanted!r}; choose from {', '.join(names)}.")
    given = not isinstance(capture, Capture)
    capture = capture if isinstance(capture, Capture) else given_capture(capture, tokens, keys)
    if not given and (tokens is not None or keys is not None):
        raise ValueError("A capture has its own tokens: give tokens and keys only with weights that you computed.")
    if given and kind == "products":
        raise ValueError("Weights alone have no q and k: products are drawn of a capture.")
    query = None if query is None else index("position", query, len(capture.tokens))
    key = None if key is None else index("position", key, len(capture.keys))
    if capture.source is not None:  # cross-attention: source and target are drawn as one row
        query, capture = None if query is None else query + len(capture.keys), joined(capture)
    if layer is None or head is None:
        layer, head = opening_head(capture, layer, head)
    check = None if given else _checked(capture, layer)
    layer, head = layer % capture.n_layers, index("head", head, len(capture.q(layer)))
    says = _summary(capture, layer, head, reading, query, key)
    match kind:
        case "map":
            source, payload = map_component.SOURCE, _map(capture, layer, head, reading, query, key, says)
        case "lines":
            source, payload = token_lines.SOURCE, _lines(capture, layer, head, reading, query)
        case "grid":
            source, payload = grid_component.SOURCE, _grid(capture, layer, head, metric)
        case "products":
            query = len(capture.tokens) - 1 if query is None else query
            payload = products_payload(capture, layer, head, query, key, max_height=HEIGHT)
            source = map_component.SOURCE
    title = "Every head" if kind == "grid" else f"L{layer}H{head}"
    caption = _caption(capture, layer, check)
    page = standalone_html(source, payload, title=title, caption=caption, lang="en")
    return shown(CellOutput(page, says, HEIGHT + AROUND, partial(_picture, kind, payload, title, caption)))


def _picture(kind: Kind, payload: bytes, title: str, caption: str, room: float | None) -> str:
    """The SVG of the payload; with ``room`` at most that wide, without title and caption, as for a paper."""
    match kind:
        case "lines":
            return lines_svg(payload, title=title, caption=caption, room=room)
        case "grid":
            _meta, arrays = unpack(payload)
            grid = {name: arrays[name] for name in ("thumbnails", "keep", "left_out") if name in arrays}
            return grid_svg(**grid, title=title, caption=caption, room=room)
        case "map" | "products":
            return drawn_maps_svg(payload, title=title, caption=caption, room=room, every_row=kind == "products")


def _checked(capture: Capture, layer: int) -> Check:
    check = capture.verify(layer)
    if not check.ok:
        values = {"error": f"{check.max_abs_error:.0e}", "tolerance": f"{check.tolerance:.0e}"}
        raise NotVerified(layer=layer, **values)
    return check


def _map(
    capture: Capture, layer: int, head: int, reading: Reading, query: int | None, key: int | None, summary: str
) -> bytes:
    read = read_head(capture, layer, head, reading)
    view = read.view
    texts = map_component.texts_of(read.shows, mean=view.how == "mean")
    return map_component.HeadMapPicture(
        values=view.values,
        window=view.inside,
        total=view.total,
        row_labels=view.row_labels,
        col_labels=view.column_labels,
        **asdict(scale_of(view, reading, shares=read.shares)),
        selected=view.units_at(query, key),
        pool=view.pool,
        left_out=view.left_out,
        texts=texts | {"summary": summary, "note": " ".join(read.notes())},
        max_height=HEIGHT,
    ).packed()


def _lines(capture: Capture, layer: int, head: int, reading: Reading, query: int | None) -> bytes:
    view = head_lines(capture, [(layer, head)], query, hide_first=reading.hides_first)
    return token_lines.TokenLinesPicture(
        queries=view.labels,
        keys=view.key_labels,
        query_offset=view.start,
        key_offset=view.key_start,
        weights=view.weights,
        head_labels=[f"L{layer}H{head}"],
        selected=query if view.holds(query) else None,
        texts=token_lines.TEXTS,
        max_height=HEIGHT,
    ).packed()


def _grid(capture: Capture, layer: int, head: int, metric: str) -> bytes:
    grid = head_grid(capture)
    (chosen,) = (item for item in all_metrics() if item.name == metric)
    share = chosen.unit == "share"
    return grid_component.HeadGridPicture(
        thumbnails=grid.thumbnails,
        keep=grid.keep,
        left_out=grid.left_out,
        metric=grid.metrics[metric],
        mode="maps",
        order=None,
        layer_has_weights=grid.has_weights,
        selected=(layer, head),
        compare=None,
        groups=capture.record(layer).group,
        texts=grid_component.TEXTS | {"metric": chosen.label},
        metric_range=(0.0, 1.0) if share else None,
        number="percent" if share else "plain",
        max_height=HEIGHT,
    ).packed()


def _summary(capture: Capture, layer: int, head: int, reading: Reading, query: int | None, key: int | None) -> str:
    """A sentence such as: L3H7: ·it (7) puts 62 % on ·dog (2)."""
    found = strongest_key(capture, layer, head, query, key, hide_first=reading.hides_first)
    return look_words(capture, f"L{layer}H{head}", found, str, lambda weight, _unit: f"{share_digits(weight)} %")


def _caption(capture: Capture, layer: int, check: Check | None) -> str:
    if check is None:
        return f"weights that were given, not checked against a model\n{made_with(__version__)}"
    request = capture.request
    model = request.model or "" if request.revision is None else f"{request.model} @ {request.revision}"
    model += " without its adapter" if request.adapter is False else ""
    rows = f", {check.rows:,} of {check.of:,} rows" if check.rows < check.of else ""
    parts = [model, request.dtype or "", f"L{layer} verified, max diff {check.max_abs_error:.0e}{rows}"]
    parts += [f"changed: {described(request.edits)}"] if request.edits else []
    return "\n".join([" · ".join(filter(None, parts)), made_with(__version__, capture.fingerprint)])
