"""Similarity: four measures of the same queries and keys, for small numbers or for the open head."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from analysis.similarities import head_vectors, spread
from attention.similarity import Additive, Split, additive, split, usual_additive
from attention.small_attention import small_attention
from pages.steps.chains import show_chain
from pages.steps.numbers import changed, numbers_of
from pages.steps.on_model import token_names
from pages.steps.similarity_maps import DrawnMaps, arrays_of, code_of, maps_of, show_maps, svg_of, tables_of
from pages.steps.state import state
from ui.shared.chain_matrix import drawn_matrix
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.finding import show_finding
from ui.shell.page import PageContext
from ui.wording.i18n import _
from viz.components.step_by_step import step_by_step
from viz.components.step_by_step.chain import DrawnChain, DrawnMatrix, DrawnStep, Light
from viz.matrices_svg import Table, matrices_svg, written

SHOWN = 6  # dimensions of a model's vectors that are drawn; sums use all


@dataclass(frozen=True, eq=False)
class Similar:
    """Every table, and the code for it."""

    tables: dict[str, Table]
    code: str
    payload: bytes
    maps: DrawnMaps | None = None  # of the model's head

    @property
    def of_model(self) -> bool:
        return self.maps is not None


def show_small_similarity() -> Similar:
    """Q and K of the small numbers, for head 0 of one."""
    held, written_numbers = state(), changed()
    numbers = numbers_of(held.tokens, held.d, written_numbers)
    steps = small_attention(numbers)
    q, k, learned = steps.q[0], steps.k[0], usual_additive(held.d)
    words = _(
        "Q and K of the small numbers, as they are in “the steps”; W, U and v of the additive measure are made up too."
    )
    show_finding(_finding((q @ k.T).numpy(), split(q, k).cosines.numpy()))
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    names = [f"q{i}" for i in range(len(q))], [f"k{i}" for i in range(len(k))]
    code = (
        "import torch\n\n"
        f"q = torch.tensor({q.tolist()}, dtype=torch.float64)\nk = torch.tensor({k.tolist()}, dtype=torch.float64)\n"
    )
    return _show(q.numpy(), k.numpy(), split(q, k), names, code, (additive(q, k, learned).numpy(), learned))


def show_model_similarity(opened: PageContext, query: int) -> Similar:
    """The open head's measures: number by number for a few tokens, and as maps for all cells."""
    capture, layer, head = opened.capture, opened.layer, opened.head
    found, ends = head_vectors(capture, layer, head, query), spread(capture, layer, head)
    words = _(
        "L{layer}H{head}, over the {count} cells that may be seen: ‖q‖ from {q}, ‖k‖ from {k}, cos from {cos}."
    ).format(
        layer=layer, head=head, count=f"{ends.cells:,}", q=_span(ends.q_norm), k=_span(ends.k_norm),
        cos=_span(ends.cosine),
    )  # fmt: skip
    views = maps_of(opened).maps
    if views.products.how == "exact":
        show_finding(_finding(views.products.values, views.cosines.values), of_several=True)
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    names = token_names(opened, found.window.queries), token_names(opened, found.window.keys)
    code = (
        "\nfrom attention_atlas.analysis.similarities import head_vectors, spread\n\n"
        f"found = head_vectors(capture, {layer}, {head}, {query})\nq, k = found.q, found.k\n"
        f"ends = spread(capture, {layer}, {head})\n"
    )
    shown = _show(found.q.numpy(), found.k.numpy(), split(found.q, found.k), names, code, None)
    maps = show_maps(opened)
    return replace(shown, maps=maps, code=shown.code + "\n" + code_of(maps))


def _finding(products: np.ndarray, cosines: np.ndarray) -> str:
    """For how many queries the two measures disagree about the most similar key; maps are NaN where masked; HTML."""
    rows = np.flatnonzero(~np.isnan(products).all(axis=1))
    apart = int((np.nanargmax(products[rows], axis=1) != np.nanargmax(cosines[rows], axis=1)).sum())
    words = _("Cosine and dot product pick different keys for {count} of {total} queries")
    same = _("Cosine and dot product pick the same key for every query")
    return escape(words.format(count=apart, total=len(rows)) if apart else same)


def _span(ends: tuple[float, float]) -> str:
    return _("{low} to {high}").format(low=written(ends[0]), high=written(ends[1]))


def _show(
    q: np.ndarray, k: np.ndarray, found: Split, names: tuple[list[str], list[str]], code: str,
    network: tuple[np.ndarray, Additive] | None,
) -> Similar:  # fmt: skip  # its arguments in two lines
    d = q.shape[1]
    across = [str(i) for i in range(min(d, SHOWN))]
    lengths = found.q_norms.numpy(), found.k_norms.numpy()
    tables = {
        "Q": Table("Q", names[0], across, q[:, :SHOWN]), "K": Table("K", names[1], across, k[:, :SHOWN]),
        "S": Table("Q Kᵀ", *names, q @ k.T), "C": Table("Q Kᵀ ÷ √d", *names, q @ k.T / math.sqrt(d)),
        "NQ": Table("‖q‖", names[0], ["‖q‖"], lengths[0][:, None]),
        "NK": Table("‖k‖", names[1], ["‖k‖"], lengths[1][:, None]),
        "COS": Table("cos", *names, found.cosines.numpy(), most=1.0),
    }  # fmt: skip  # a pair a name
    if network is not None:
        tables |= _network(q, k, names, network)
    payload = show_chain("steps_similarity", DrawnChain(_matrices(tables, d), _steps(tables, q, k, network)))
    lines = "products, norms = q @ k.T, torch.outer(q.norm(dim=1), k.norm(dim=1))\ncosines = products / norms"
    if network is not None:
        w_q, w_k, v = (getattr(network[1], name).tolist() for name in ("w_q", "w_k", "v"))
        code += "".join(
            f"{name} = torch.tensor({value}, dtype=torch.float64)\n"
            for name, value in (("w_q", w_q), ("w_k", w_k), ("v", v))
        )
        lines += "\nadditive = torch.tanh((q @ w_q)[:, None] + (k @ w_k)[None]) @ v"
    start = "" if "import torch" in code else "import torch\n"
    return Similar(tables, code + start + lines, payload)


def _network(
    q: np.ndarray, k: np.ndarray, names: tuple[list[str], list[str]], network: tuple[np.ndarray, Additive]
) -> dict[str, Table]:
    """The additive measure's parameters, its transformed queries and keys, and the measure."""
    measured, learned = network
    units = [str(i) for i in range(q.shape[1])]
    w, u, v = (one.numpy() for one in (learned.w_q, learned.w_k, learned.v))
    return {
        "W": Table("W", units, units, w), "QW": Table("Q W", names[0], units, q @ w),
        "U": Table("U", units, units, u), "KU": Table("K U", names[1], units, k @ u),
        "V": Table("v", ["v"], units, v[None]), "ADD": Table("v · tanh(q W + k U)", *names, measured),
    }  # fmt: skip  # a side a line


def _matrices(tables: dict[str, Table], d: int) -> dict[str, DrawnMatrix]:
    sides = {"Q": "query", "NQ": "query", "K": "key", "NK": "key"}
    shapes = {name: (len(tables[name].rows), d) for name in ("Q", "K")}
    return {
        name: drawn_matrix(table, side=sides.get(name, ""), shape=shapes.get(name)) for name, table in tables.items()
    }


def _steps(
    tables: dict[str, Table], q: np.ndarray, k: np.ndarray, network: tuple[np.ndarray, Additive] | None
) -> list[DrawnStep]:
    d, rows = q.shape[1], len(q)
    rest = (q[:, SHOWN:] @ k[:, SHOWN:].T).tolist() if d > SHOWN else None
    ends = [Light("NQ", row="i"), Light("NK", row="j"), Light("COS", row="i", column="j")]
    steps = [
        DrawnStep("dot", "product", "S", left="Q", right="K", turned=True, rest=rest,
                  more=[d - SHOWN] * rows if rest else [], of="dimensions", short="q · k", title=_("Dot product"),
                  note=_("Large where two vectors point the same way, and where their norms are large.")),
        DrawnStep("scale", "scale", "C", left="S", factor=1 / math.sqrt(d), root=d,
                  title=_("Scaled dot product"), note=_("The same order, a smaller size: what transformers use.")),
        DrawnStep("cosine", "told", "S", parts=["NQ", "NK", "COS"], lights=ends, lines=_cosine_lines(tables),
                  short="cos", title="q · k = ‖q‖ ‖k‖ cos",
                  note=_("The cosine is only the angle, between −1 and 1; the dot product also knows both norms.")),
    ]  # fmt: skip  # one step a paragraph
    if network is not None:
        lights = [Light("QW", row="i"), Light("KU", row="j"), Light("V", row=0)]
        steps += [
            DrawnStep("asked", "product", "QW", left="Q", right="W", more=[], short="q W", title="Q W",
                      note=_("The additive measure first multiplies every query by one matrix …")),
            DrawnStep("offered", "product", "KU", left="K", right="U", more=[], short="k U", title="K U",
                      note=_("… and every key by another.")),
            DrawnStep("additive", "told", "ADD", parts=["QW", "KU", "V"], short=_("additive"), lights=lights,
                      lines=_additive_lines(tables, q, k, network[1]), title=_("Additive (Bahdanau): a small network"),
                      note=_("Query and key are added, bent by tanh, and weighed by v: no single matrix product does "
                             "it.")),
        ]  # fmt: skip  # one step a paragraph
    return steps


def _cosine_lines(tables: dict[str, Table]) -> list[list[list[str]]]:
    products, cosines = tables["S"].values, tables["COS"].values
    return [
        [
            [
                f"{_written(tables['NQ'].values[i, 0])} · {_written(tables['NK'].values[j, 0])} · "
                f"{_written(cosines[i, j])} ≈ {_written(products[i, j])}"
            ]
            for j in range(products.shape[1])
        ]
        for i in range(products.shape[0])
    ]


def _additive_lines(tables: dict[str, Table], q: np.ndarray, k: np.ndarray, learned: Additive) -> list[list[list[str]]]:
    asked, offered, v = q @ learned.w_q.numpy(), k @ learned.w_k.numpy(), learned.v.numpy()
    values = tables["ADD"].values
    found: list[list[list[str]]] = []
    for i in range(len(q)):
        row: list[list[str]] = []
        for j in range(len(k)):
            terms = [
                f"{_written(w)}·tanh({_written(a)} + {_written(b)})"
                for w, a, b in zip(v, asked[i], offered[j], strict=True)
            ]
            row.append([" + ".join(terms), f"≈ {_written(values[i, j])}"])
        found.append(row)
    return found


def _written(value: float) -> str:
    """Three decimals, with a negative number in brackets."""
    text = f"{round(float(value), 3) + 0.0:g}".replace("-", "−")
    return f"({text})" if text.startswith("−") else text


def similarity_view(found: Similar) -> ExportBundle:
    """Every measure for the cells in view."""
    maps = found.maps
    order = ["COS", *(name for name in found.tables if name != "COS")]
    tables = [found.tables[name] for name in order]
    whose = "the open head's own vectors, as attention saw them" if found.of_model else "small made-up numbers"
    return ExportBundle(
        name="similarity",
        title=_("Similarity"),
        of_text=found.of_model,
        what=f"measures of queries and keys: {whose}",
        tables=lambda: (
            {one.name: pd.DataFrame(one.values, list(one.rows), list(one.columns)) for one in tables}
            | ({} if maps is None else tables_of(maps))
        ),
        page=component_page(step_by_step.SOURCE, found.payload),
        picture=lambda title, words: matrices_svg(tables, title=title, caption=words),
        arrays={} if maps is None else arrays_of(maps),
        files={} if maps is None else {f"{name}.svg": partial(svg_of, maps, name) for name in maps.views},
        code=found.code,
        starts_with_capture=found.of_model,
    )
