"""The third and fourth view of the page Positions: the score by frequency, and the score against distance."""

from __future__ import annotations

import numpy as np
import pandas as pd

from analysis.distance_curves import Contents, DistanceCurves, distance_curves
from analysis.head_names import group_size
from analysis.positions import Turned
from analysis.score_by_frequency import frequency_map
from pages.positions.finding import show_largest_pair, show_peak
from pages.positions.places import look_at_key, titled
from ui.shared import cached
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shell.components import mount
from ui.shell.page import PageContext, translated
from ui.state import session
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.components.rotation import score_split, score_sweep
from viz.figure_svg import map_svg
from viz.position_svg import panels_svg

MOST_KEYS = 200  # columns of the map for a long text


def show_split(opened: PageContext, layout: Turned, query: int, key: int) -> ExportBundle:
    """One query's scores by pair, for every visible key, or the nearest of them."""
    capture, layer, head = opened.capture, opened.layer, opened.head
    found = frequency_map(capture, layer, head, query)
    show_largest_pair(opened, found, key)
    drawn = _nearest(found.keep, query, key)
    note = ""
    if len(drawn) < len(found.keep):
        note = _("Showing the {count} of {total} keys nearest to the query, and the chosen one.").format(
            total=len(found.keep), count=len(drawn)
        )
    payload = score_split.ScoreSplitPicture(
        head=f"L{layer}H{head}",
        query=(capture.tokens[query].text, query),
        key=key,
        labels=[capture.tokens[position].text for position in drawn],
        positions=drawn,
        theta=layout.theta,
        contributions=found.contributions[:, drawn],
        rest=found.rest[drawn],
        n_rest=found.n_rest,
        keep=found.keep[drawn],
        softcap=capture.record(layer).softcap,
        note=note,
        texts=translated(score_split.TEXTS),
    ).packed()
    mount(score_split.SOURCE, payload, key="score_split", on={"key": look_at_key})
    waves = [f"{wavelength:.4g}" for wavelength in layout.wavelengths]
    shown = np.where(found.keep[drawn], found.contributions[:, drawn], np.nan)
    most = float(np.nanmax(np.abs(shown), initial=1e-9))
    words = translated({"row_axis": score_split.TEXTS["axis_wave"]})
    table = pd.DataFrame(
        np.vstack([found.contributions, found.rest, found.scaled]),
        index=[*waves, "rest", "score"],
        columns=[f"{position} {token.text}" for position, token in enumerate(capture.tokens)],
    )
    title = titled(opened, _("frequencies"))
    return ExportBundle(
        name=f"positions-L{layer}H{head}-frequencies",
        title=title,
        what=f"scores of query {query} by rotated pair, named by its wavelength in tokens; columns are keys",
        tables=lambda: {title: table},
        page=component_page(score_split.SOURCE, payload),
        arrays={"contributions": found.contributions, "rest": found.rest, "scaled": found.scaled, "theta": found.theta},
        code="\nfrom attention_atlas.analysis.score_by_frequency import frequency_map\n\n"
        f"found = frequency_map(capture, {layer}, {head}, {query})\n"
        f"parts = found.contributions[:, {key}]  # add up, with found.rest[{key}], to found.scaled[{key}]",
        picture=lambda title, about: map_svg(
            shown, row_labels=waves, col_labels=[f"{capture.tokens[p].text} {p}" for p in drawn], scale="diverging",
            low=-most, high=most, log=False, title=title, caption=about, number="plain", texts=words,
        ),
    )  # fmt: skip  # the map's many settings in two lines


def _nearest(keep: np.ndarray, query: int, key: int) -> np.ndarray:
    """All keys of a short text; for a longer one the visible keys nearest to the query, and the chosen key."""
    if len(keep) <= MOST_KEYS:
        return np.arange(len(keep))
    seen = np.flatnonzero(keep)
    nearest = seen[np.argsort(np.abs(seen - query), kind="stable")][: MOST_KEYS - 1]
    return np.unique(np.append(nearest, key))


def show_sweep(opened: PageContext, query: int, key: int, *, contents: Contents, reach: int) -> ExportBundle:
    """Score against distance for every head of the layer that has scores. Raises NoSoftmax if the open one has none."""
    capture, layer, head = opened.capture, opened.layer, opened.head
    capture.check_softmax(layer, head)
    distances = np.arange(min(reach, opened.runner.info.max_tokens))
    curves = distance_curves(capture, layer, range(len(distances)), contents=contents, query=query, key=key)
    show_peak(opened, curves)
    before = cached.grid(capture).metrics["previous"][layer]
    heads = [f"L{layer}H{i}" for i in range(len(curves.scores))]
    payload = score_sweep.ScoreSweepPicture(
        layer=layer,
        head=head,
        distances=distances,
        scores=curves.scores,
        facts=["" if np.isnan(share) else number(float(share), "share") for share in before[: len(heads)]],
        notes=_whose(opened, curves, query, key),
        texts=translated(score_sweep.TEXTS),
        group=group_size(capture, layer),
    ).packed()
    mount(score_sweep.SOURCE, payload, key="score_sweep", on={"head": lambda head: session.move(head=int(head))})
    at = f", contents={contents!r}, query={query}, key={key}"
    title = titled(opened, _("distance"))
    return ExportBundle(
        name=f"positions-L{layer}H{head}-distance",
        title=title,
        what=f"score before soft-cap and mask against distance, mean over {curves.n_contents} pairs of contents",
        tables=lambda: {title: pd.DataFrame(curves.scores.T, [str(distance) for distance in distances], heads)},
        page=component_page(score_sweep.SOURCE, payload),
        arrays={"scores": curves.scores, "distances": distances},
        code="\nfrom attention_atlas.analysis.distance_curves import distance_curves\n\n"
        f"curves = distance_curves(capture, {layer}, range({len(distances)}){at})\nscores = curves.scores[{head}]",
        picture=lambda title, about: panels_svg(heads, curves.scores[:, None], title=title, caption=about),
    )


def _whose(opened: PageContext, curves: DistanceCurves, query: int, key: int) -> list[str]:
    tokens = opened.capture.tokens
    values = {
        "query": f"{tokens[query].text} ({query})",
        "key": f"{tokens[key].text} ({key})",
        "count": curves.n_contents,
    }
    words = {
        "text": _("The contents held fixed: the mean over all {count} pairs of tokens that may see each other."),
        "query": _("The contents held fixed: {query} with each of the {count} keys that it may see, their mean."),
        "cell": _("The contents held fixed: only {query} and {key}."),
    }
    notes = [words[curves.contents].format(**values)]
    if curves.softcap is not None:
        notes.append(_("Before the soft-cap."))
    return notes
