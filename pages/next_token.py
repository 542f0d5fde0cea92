"""Next token: the whole distribution, what every transform makes of it, and draws from what is left."""

from ui.frame import begin_with_frame

begin_with_frame()

import streamlit as st

from model_runner.errors import RunnerError
from ui.i18n import _
from ui.next_token_export import take_next_away
from ui.next_token_views import read_bench, show_bench, tables_of
from ui.page import open_page, show_badge, show_reading, show_strip
from ui.tables import show_tables
from ui.wording import plain, sentence

FORMULAS = """p = softmax(logits)
repetition penalty θ:  logit → logit / θ where above 0, logit · θ where below, for tokens of the text
temperature T:  logit → logit / T
top-k:    keep the k largest p
top-p:    keep the fewest tokens with Σ p ≥ p₀, the one that crosses included
min-p:    keep p ≥ share · max p
typical:  keep the smallest |−log p − H| until Σ p ≥ p₀"""

opened = open_page()
show_badge(opened)
show_strip(opened)
try:
    bench = read_bench(opened)
except RunnerError as error:
    st.warning(plain(sentence(error)))
    st.stop()
show_bench(bench)
show_reading(
    [
        _("Outlines are the model’s own probabilities, over its whole vocabulary; bars are what your settings leave."),
        _("Left, every transform in the order in which it is applied, and what it keeps; move a slider, or the order."),
        _("Dots are draws with your seed: the more there are, the closer they come to the ends of their bars."),
    ],
    formula=FORMULAS,
    source=(
        "Holtzman et al. 2020, arXiv:1904.09751 (top-p); Fan et al. 2018, arXiv:1805.04833 (top-k); Nguyen et al. "
        "2024, arXiv:2407.01082 (min-p); Meister et al. 2023, arXiv:2202.00666 (typical); Keskar et al. 2019, "
        "arXiv:1909.05858 (repetition penalty)"
    ),
    attempt=_("Click an earlier token of the text, then drag the temperature from 0 to 2 and watch the entropy."),
)
show_tables(lambda: tables_of(bench))
take_next_away(bench)
