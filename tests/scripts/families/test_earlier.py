"""A sweep of some families keeps what an earlier one said of the others."""

from __future__ import annotations

import json
from pathlib import Path

from scripts.families.earlier import FORM_OF, earlier, in_order, still_refused
from scripts.families.trying import Tried, table

FORM = next(iter(FORM_OF))
FOUND = [
    Tried("causal", "llama", "captured", "attention interface, 2e-06"),
    Tried("masked", "bert", "captured", "attention interface, 3e-07"),
    Tried("masked", "yoso", "refused", "it does not go, and that is so"),
    Tried("masked", "mra", "refused", "of these sizes"),
]


def test_rows_of_other_families_stay_as_they_were(tmp_path: Path) -> None:
    written = tmp_path / "families.md"
    forms = [Tried("masked", name, "refused", "so it is") for name in FORM_OF]
    written.write_text("\n".join(table(FOUND, forms, "5.23.0")), "utf-8")
    kept, kept_forms = earlier(written, {"bert", FORM_OF[FORM]})
    assert sorted(one.family for one in kept) == ["llama", "mra", "yoso"]
    assert all(one in FOUND for one in kept)
    assert [one.family for one in kept_forms] == [name for name in FORM_OF if FORM_OF[name] != FORM_OF[FORM]]
    again = in_order([*reversed(kept_forms), forms[0]])
    assert again[0].family == FORM
    known = tmp_path / "known.json"
    known.write_text(json.dumps({"captured": [], "refused": {"yoso": {"reason": "", "where": {}}}}), "utf-8")
    assert still_refused(known, kept) == [("masked", "yoso", "it does not go, and that is so")]
