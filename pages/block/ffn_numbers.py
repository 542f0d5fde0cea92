"""The feed-forward network step by step: on small editable matrices, and on the open layer's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from analysis.ffn_sums import sum_arrays
from analysis.number_text import three_digits
from attention.small_feed_forward import SmallFeedForward, small_feed_forward, usual_feed_forward
from model_runner.block_questions import FeedForwardSums, UnitSums
from pages.block.ffn import layer_of
from pages.block.state import FFN_LETTERS, SMALL_ACTIVATIONS, BlockState, state
from pages.block.which_text import one_text
from ui.classroom.class_number import Numbered, ask_class
from ui.shared.chain_matrix import drawn_matrix
from ui.shared.changed_numbers import readable_changes, with_changes
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.finding import show_finding, token_name
from ui.shell.components import mount
from ui.shell.page import PageContext, asked, translated
from ui.state import session
from ui.state.controls import choose, switch
from ui.state.page_state import change
from ui.wording.i18n import _
from viz.components.step_by_step import step_by_step
from viz.components.step_by_step.chain import DrawnChain, DrawnStep, StepSettings
from viz.matrices_svg import Table, matrices_svg

N_ = str  # marks a text for Babel without translating it here

NAMES = {"X": "x", "WG": "w_gate", "W1": "w_1", "B1": "b_1", "W2": "w_2", "B2": "b_2"}
BY_LETTER = dict(zip(FFN_LETTERS, NAMES.values(), strict=True))
SHOWN = 6  # dimensions of the model's own vectors that are shown


@dataclass(frozen=True, eq=False)
class FfnNumbers:
    """What is drawn: the matrices with their names, and Python code for the same."""

    tables: dict[str, Table]
    payload: bytes
    small: bool
    what: str
    code: str


# -- small ------------------------------------------------------------------------------------------------------------


def show_small_ffn() -> FfnNumbers:
    """Show the controls for activation and gate, then the steps; every entry of a matrix can be edited."""
    held = state()
    written = readable_changes(BlockState, held.numbers, FFN_LETTERS)
    numbers = numbers_of(written)
    tables = small_tables(numbers, held.activation, gated=held.gated)
    words = _("Small made-up numbers: click one of X, of a W or of a b and type.")
    if not held.ask:  # the finding would give a hidden number away
        values = np.asarray(tables["M" if held.gated else "A"].values)
        token, unit, norm = largest_part(values, np.asarray(tables["W2"].values))
        show_finding(_most(unit, f"x{token}", norm), escape(words))
    with st.container(key="ffn_controls", horizontal=True, vertical_alignment="center", gap="small"):
        choose(BlockState, "activation", held.activation, {name: name for name in SMALL_ACTIVATIONS})
        switch(BlockState, "gated", held.gated, _("gated"))
    usual = usual_feed_forward()
    names = GATED if held.gated else PLAIN
    payload = _show(
        usual={name: getattr(usual, field).tolist() for name, field in NAMES.items()},
        edits=written,
        settings=StepSettings(activation=held.activation, gated=held.gated),
        chain=None,
        steps=names,
        first=names[1],
        results={step: tables[name].values.tolist() for step, name in RESULTS.items() if name in tables},
    )
    return FfnNumbers(
        tables,
        payload,
        small=True,
        what=f"a feed-forward part on small made-up numbers, not the model's: {held.activation}"
        + (", gated" if held.gated else ""),
        code=SMALL_CODE.format(
            numbers=",\n".join(
                f"    {one.name}=torch.tensor({getattr(numbers, one.name).tolist()}, dtype=torch.float64)"
                for one in fields(numbers)
            ),
            activation=held.activation,
            gated=held.gated,
        ),
    )


def largest_part(values: np.ndarray, down: np.ndarray) -> tuple[int, int, float]:
    """The token and unit with the longest contribution (value [tokens, units] times the unit's row [units, d]) and its
    norm.
    """
    norms = np.abs(values) * np.linalg.norm(down, axis=1)
    token, unit = (int(place) for place in np.unravel_index(int(norms.argmax()), norms.shape))
    return token, unit, float(norms[token, unit])


def _most(unit: int, token: str, norm: float) -> str:
    """Name the unit that adds most to a token (whose name is HTML already); HTML."""
    words = escape(_("Unit {unit} adds most to {token}: a vector of norm {norm}"))
    return words.format(unit=unit, token=token, norm=three_digits(norm))


def numbers_of(written: str) -> SmallFeedForward:
    """The default numbers with these edits; entries out of range are ignored."""
    return with_changes(usual_feed_forward(), written, BY_LETTER, FFN_LETTERS)


def small_tables(numbers: SmallFeedForward, activation: str, *, gated: bool) -> dict[str, Table]:
    """Every matrix, in order of computation."""
    steps = small_feed_forward(numbers, activation, gated=gated)
    made = {
        "X": numbers.x, "WG": numbers.w_gate if gated else None, "G": steps.gate, "W1": numbers.w_1,
        "P": steps.product, "B1": numbers.b_1, "H": steps.hidden, "A": steps.active,
        "M": steps.values if gated else None, "W2": numbers.w_2, "S": steps.written, "B2": numbers.b_2,
        "Y": steps.added,
    }  # fmt: skip  # a few a line
    return {name: _table(TITLES[name], one.numpy()) for name, one in made.items() if one is not None}


def _table(
    name: str, values: np.ndarray, rows: Sequence[str] | None = None, columns: Sequence[str] | None = None
) -> Table:
    down, across = values.shape
    return Table(name, rows or [str(i) for i in range(down)], columns or [str(j) for j in range(across)], values)


# -- the model's own --------------------------------------------------------------------------------------------------


def show_own_ffn(opened: PageContext) -> FfnNumbers:
    """Show the units that add most, each number computed from the previous ones. Raises RunnerError."""
    opened = one_text(opened)
    capture = opened.capture
    position = len(capture.tokens) - 1 if opened.query is None else opened.query
    layer = layer_of(opened)
    found = asked(opened, FeedForwardSums(capture.request, layer, position))
    token = f"{capture.tokens[position].text} ({opened.first + position})"
    words = _(
        "L{layer} at {token}: the {count} units that add most, of {width}, and the first {shown} of {d} dimensions."
    )
    words = words.format(
        layer=layer, token=token, count=len(found.units), width=f"{found.width:,}",
        shown=min(SHOWN, len(found.read)), d=f"{len(found.read):,}",
    )  # fmt: skip
    own = sum_arrays(found)
    if state().ask:  # the finding would give a hidden number away
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    else:
        _token, place, norm = largest_part(own.values[None], own.down)
        show_finding(_most(int(found.units[place]), token_name(capture, position), norm), escape(words))
    tables, steps = own_chain(found, capture.tokens[position].text)
    shapes = shapes_of(found)
    matrices = {name: drawn_matrix(table, shape=shapes.get(name)) for name, table in tables.items()}
    payload = _show(
        usual=None,
        edits="",
        settings=StepSettings(),
        chain=DrawnChain(matrices, steps),
        steps=[step.id for step in steps],
        first="ffn_act",
        results={step.id: matrices[step.result].values for step in steps},
    )
    return FfnNumbers(
        tables,
        payload,
        small=False,
        what=f"the units of layer {layer} that add most at token {opened.first + position}: what each reads and adds",
        code=OWN_CODE.format(layer=layer, position=position),
    )


def own_chain(found: UnitSums, token: str) -> tuple[dict[str, Table], list[DrawnStep]]:
    """The matrices of these units and how each is computed; terms that are not shown are summed as the rest."""
    own = sum_arrays(found)
    count = min(SHOWN, len(own.read))
    dims = [str(place) for place in range(count)]
    units = [str(unit) for unit in found.units.tolist()]
    tables: dict[str, Table] = {"X": _table("x", own.read[None, :count], [token], dims)}
    steps = [DrawnStep("ffn_x", "model", "X", short="x")]
    gated = own.up is not None

    def row(name: str, title: str, values: np.ndarray, columns: list[str] = units) -> None:
        tables[name] = _table(title, values[None], [token], columns)

    def first(
        step: str, names: tuple[str, str, str, str], matrix: np.ndarray, bias: np.ndarray | None, made: np.ndarray
    ) -> None:
        """A product with these units' columns, plus the bias if there is one."""
        weight, product, added, result = names
        plain = made if bias is None else made - bias
        tables[weight] = _table(TITLES[weight], matrix[:count], dims, units)
        name = result if bias is None else product
        row(name, TITLES[name], plain)
        rest, more = plain - own.read[:count] @ matrix[:count], len(own.read) - count
        steps.append(_product(step, "X", weight, name, rest, more, "dimensions"))
        if bias is not None:
            tables[added] = _table(TITLES[added], bias[None], [TITLES[added]], units)
            row(result, TITLES[result], made)
            steps.append(
                DrawnStep(
                    f"{step}_bias",
                    "add",
                    result,
                    left=name,
                    right=added,
                    title=_(BIAS),
                    note="",
                    short=f"+ {TITLES[added]}",
                )
            )

    names = ("WG", "P", "BG", "G") if gated else ("W1", "P", "B1", "H")
    first("ffn_gate" if gated else "ffn_first", names, own.gate, own.gate_bias, own.before)
    row("A", TITLES["A"], own.active)
    steps.append(
        DrawnStep(
            "ffn_act", "apply", "A", left="G" if gated else "H", activation=found.activation, short=found.activation
        )
    )
    if own.up is not None and own.raised is not None:
        first("ffn_first", ("W1", "P1", "B1", "H"), own.up, own.up_bias, own.raised)
        row("M", TITLES["M"], own.values)
        steps.append(DrawnStep("ffn_times", "times", "M", left="A", right="H", short="A ⊙ H"))
    whole = own.added if own.down_bias is None else own.added - own.down_bias
    name = "Y" if own.down_bias is None else "S"
    tables["W2"] = _table(TITLES["W2"], own.down[:, :count], units, dims)
    row(name, TITLES[name], whole[:count], dims)
    rest = whole[:count] - own.values @ own.down[:, :count]
    steps.append(_product("ffn_second", "M" if gated else "A", "W2", name, rest, found.width - len(units), "units"))
    if own.down_bias is not None:
        tables["B2"] = _table(TITLES["B2"], own.down_bias[None, :count], [TITLES["B2"]], dims)
        row("Y", TITLES["Y"], own.added[:count], dims)
        steps.append(DrawnStep("ffn_out", "add", "Y", left="S", right="B2", short="+ b₂"))
    return tables, steps


def _product(step: str, left: str, right: str, result: str, rest: np.ndarray, more: int, of: str) -> DrawnStep:
    short = {"ffn_gate": "x W_gate", "ffn_first": "x W₁", "ffn_second": "· W₂"}[step]
    made = DrawnStep(step, "product", result, left=left, right=right, short=short)
    return replace(made, rest=[rest.tolist()], more=[more], of=of) if more else made


def shapes_of(found: UnitSums) -> dict[str, list[int]]:
    """The full shapes of the matrices that are shown in part."""
    d, width, made = len(found.read), found.width, len(found.added)
    rows = {name: [1, width] for name in ("P", "P1", "G", "H", "A", "M", "B1", "BG")}
    return rows | {
        "X": [1, d], "WG": [d, width], "W1": [d, width], "W2": [width, made], "S": [1, made], "Y": [1, made],
        "B2": [1, made],
    }  # fmt: skip  # a few a line


# -- both -------------------------------------------------------------------------------------------------------------


def _show(
    *,
    usual: Mapping[str, Sequence[Sequence[float]]] | None,
    edits: str,
    settings: StepSettings,
    chain: DrawnChain | None,
    steps: Sequence[str],
    first: str,
    results: Numbered,
) -> bytes:
    held = state()
    payload = step_by_step.StepByStepPicture(
        usual=usual,
        edits=edits,
        settings=settings,
        chain=chain,
        step=next((one for one in (held.step, first) if one in steps), steps[0]),
        ask=held.ask,
        texts=translated(step_by_step.TEXTS),
        room=session.room() is not None,
    ).packed()
    events: dict[str, Callable[[Any], None]] = {
        "step": lambda step: change(BlockState, step=str(step)),
        "numbers": lambda written: change(BlockState, numbers=str(written)),
        "ask": lambda ask: change(BlockState, ask=bool(ask)),
        "class": lambda told: ask_class(results, told),
    }
    mount(step_by_step.SOURCE, payload, key="ffn_steps", on=events)
    return payload


def covered() -> str:
    """Why the tables are hidden now; empty if nothing is hidden."""
    held = state()
    words = _("Numbers are hidden. Choose “show all numbers” to reveal them, and the tables.")
    return words if held.ask and held.view == "ffn" and held.ffn != "units" else ""


def ffn_numbers_view(found: FfnNumbers) -> ExportBundle:
    """Every matrix as a table; the network's output comes first."""
    frames = {
        table.name: pd.DataFrame(table.values, [*table.rows], [*table.columns]) for table in found.tables.values()
    }
    result = frames.pop("Y")
    return ExportBundle(
        name="ffn-numbers" if found.small else "ffn-sums",
        title=_("The feed-forward part, number by number"),
        of_text=not found.small,
        what=found.what,
        tables=lambda: {"Y": result, **frames},
        page=component_page(step_by_step.SOURCE, found.payload),
        picture=lambda title, words: matrices_svg([*found.tables.values()], title=title, caption=words),
        arrays={name: np.asarray(table.values) for name, table in found.tables.items()},
        code=found.code,
        starts_with_capture=not found.small,
    )


PLAIN = ("ffn_x", "ffn_first", "ffn_bias", "ffn_act", "ffn_second", "ffn_out")
GATED = ("ffn_x", "ffn_gate", "ffn_act", "ffn_first", "ffn_bias", "ffn_times", "ffn_second", "ffn_out")
RESULTS = {
    "ffn_x": "X", "ffn_gate": "G", "ffn_first": "P", "ffn_bias": "H", "ffn_act": "A", "ffn_times": "M",
    "ffn_second": "S", "ffn_out": "Y",
}  # fmt: skip
TITLES = {
    "X": "X", "WG": "W_gate", "G": "G", "W1": "W₁", "P": "X W₁", "P1": "X W₁", "B1": "b₁", "BG": "b_gate", "H": "H",
    "A": "A", "M": "A ⊙ H", "W2": "W₂", "S": "· W₂", "B2": "b₂", "Y": "Y",
}  # fmt: skip
BIAS = N_("The bias: each unit’s own threshold")
SMALL_CODE = """
import torch

from attention_atlas.attention.small_feed_forward import SmallFeedForward, small_feed_forward

numbers = SmallFeedForward(
{numbers},
)
steps = small_feed_forward(numbers, "{activation}", gated={gated})
print(steps.added)  # what the part adds to each token
"""
OWN_CODE = """
from attention_atlas.model_runner.block_questions import FeedForwardSums

sums = runner.submit(FeedForwardSums(capture.request, {layer}, {position})).result()
for unit, reads, value, row in zip(sums.units.tolist(), sums.before, sums.values, sums.down):
    print(unit, float(reads), float(value), float((value * row).norm()))  # the length of what it adds
"""
