"""The table of pages, in the order of the sidebar. It is read before the engine is imported."""

from __future__ import annotations

from ui.shell.frame import Entry

N_ = str  # marks a text for Babel without translating it here

ENTRIES = (
    Entry(
        "pages/heads/page.py", "", N_("Explore"), N_("Heads"),
        N_("Which token looks at which?"), N_("every head of every layer, on your text"),
    ),
    Entry(
        "pages/cell/page.py", "cell", N_("Explore"), N_("Inside a cell"),
        N_("Where does one number come from?"), N_("one query, one key, step by step"),
    ),
    Entry(
        "pages/positions/page.py", "positions", N_("Explore"), N_("Positions"),
        N_("How does it know where?"), N_("queries and keys are turned"),
    ),
    Entry(
        "pages/compare/page.py", "compare", N_("Explore"), N_("Compare"),
        N_("What differs?"), N_("two heads, layers, texts, models or tokenizers"),
    ),
    Entry(
        "pages/long_texts/page.py", "long_texts", N_("Explore"), N_("Long texts"),
        N_("What happens in long contexts?"), N_("sinks, recency, and how far heads look"),
    ),
    Entry(
        "pages/next_token/page.py", "next_token", N_("Generate"), N_("Next token"),
        N_("What comes next?"), N_("the whole distribution, and one draw"),
    ),
    Entry(
        "pages/film/page.py", "film", N_("Generate"), N_("Generation film"),
        N_("How is a text written?"), N_("token by token"),
    ),
    Entry(
        "pages/kv_cache/page.py", "kv_cache", N_("Generate"), N_("KV cache"),
        N_("What does the cache save?"), N_("keys and values, kept"), plain=True,
    ),
    Entry(
        "pages/masks/page.py", "masks", N_("Change it"), N_("Masks"),
        N_("What if it saw less?"), N_("patterns, their cost, and this model under them"), plain=True,
    ),
    Entry(
        "pages/sharing/page.py", "sharing", N_("Change it"), N_("Sharing heads"),
        N_("Who shares what?"), N_("keys and values for several heads"), plain=True,
    ),
    Entry(
        "pages/edit_heads/page.py", "edit_heads", N_("Change it"), N_("Edit heads"),
        N_("What does a head do?"), N_("change it, and compare"), plain=True,
    ),
    Entry(
        "pages/steps/page.py", "steps", N_("Understand"), N_("Step by step"),
        N_("How is it computed?"), N_("number by number"),
    ),
    Entry(
        "pages/block/page.py", "block", N_("Understand"), N_("The block"),
        N_("What is it made of?"), N_("its parts, and what each adds"),
    ),
    Entry(
        "pages/families/page.py", "families", N_("Understand"), N_("Families"),
        N_("Which kind of model is it?"), N_("one text, four ways to look at it"), plain=True,
    ),
    Entry(
        "pages/zoo/page.py", "zoo", N_("Understand"), N_("Zoo"),
        N_("What if it were not softmax?"), N_("its rivals on this head’s queries and keys"),
    ),
)  # fmt: skip  # one page a paragraph
