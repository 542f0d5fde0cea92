"""Next token: the full distribution, the effect of every transform, and samples from the result."""

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from model_runner.errors import RunnerError
from model_runner.transforms import TRANSFORMS
from pages.next_token.export import next_token_view
from pages.next_token.plain_code import plain_lines
from pages.next_token.views import finding, read_bench, show_bench
from ui.shared.class_scores import show_classes
from ui.shared.code_pane import show_code
from ui.shared.export_bundle import show_export_menu
from ui.shared.finding import show_finding
from ui.shared.help_card import show_reading
from ui.shared.open_text import offer_open_text
from ui.shell.model_strip import StripView
from ui.shell.page import open_page, show_badge, show_strip
from ui.wording.i18n import _
from ui.wording.sentences import sentence
from viz.markdown import plain

opened = open_page(two_texts=True, strip=StripView(("logits", "next"), here=False))
show_badge(opened)
show_strip(opened)
offer_open_text(opened.capture)
try:
    bench = read_bench(opened)
except RunnerError as error:
    st.warning(plain(sentence(error)))
    show_classes(opened)
    raise StopException from None
show_finding(*finding(bench))
show_bench(bench)
if lines := plain_lines(bench):
    words = _("The same with transformers only: ◀ only the last row goes through the output layer; then settings A")
    show_code(lines, "last", words)
show_reading(
    [
        _("Outlines are the model’s own probabilities, over its whole vocabulary; bars are what your settings leave."),
        _("Left, every transform in the order in which it is applied, and what it keeps; move a slider, or the order."),
        _("Dots are draws with your seed: the more there are, the closer they come to the ends of their bars."),
    ],
    formula="\n".join(["p = softmax(logits)", *(f"{_(one.label)}: {_(one.formula)}" for one in TRANSFORMS.values())]),
    source="; ".join(f"{one.source} ({_(one.label)})" for one in TRANSFORMS.values() if one.source),
    attempt=_("Click an earlier token of the text, then drag the temperature from 0 to 2 and watch the entropy."),
)
show_export_menu(opened, next_token_view(bench))
