"""What parts of an address were called before each page's stood under its own name: old addresses keep working."""

from __future__ import annotations

from collections.abc import Mapping

SAMPLING = {"transforms": "order"} | {
    name: name for name in ("repetition_penalty", "temperature", "top_k", "top_p", "min_p", "typical_p", "seed")
}
# pages whose parts had the same names, without the page's before them
ALONE = {
    "heads": "metric grid order what color unit other",
    "kv_cache": "drop keep sinks",
    "positions": "at m n contents reach what_if",
    "sharing": "kv_heads drift",
    "next_token": "compare draws find",
    "film": "length forced steps",
}
# old name → new ones; two pages may have shared one
PARTS = {
    **{name: f"{page}.{name}" for page, names in ALONE.items() for name in names.split()},
    "nofirst": "heads.hide_first",
    "sets": "cell.sets positions.sets",
    "heads": "edit_heads.view",
    "edit": "edit_heads.change",
    "edit_scale": "edit_heads.factor",
    "edit_sharpen": "edit_heads.temperature",
    "edit_other": "edit_heads.other",
    "edit_where": "edit_heads.where",
    "effect_token": "edit_heads.token",
    "patch": "edit_heads.patched",
    "patch_way": "edit_heads.way",
    "patch_text": "edit_heads.text",
    "patch_first": "edit_heads.first",
    "patch_second": "edit_heads.second",
    "patch_row": "edit_heads.row",
    "masks": "masks.view",
    "mask": "masks.pattern",
    "mask_reach": "masks.reach",
    "mask_hidden": "masks.hidden",
    "mask_where": "masks.where",
    "mask_layers": "masks.layers",
    "mask_heads": "masks.heads",
    "kv": "kv_cache.view",
    "race_length": "kv_cache.length",
    "kv_tokens": "kv_cache.published",
    "positions": "positions.view",
    "amount_theta": "positions.theta",
    "amount_ntk": "positions.ntk",
    "amount_shift": "positions.shift",
    "amount_restart": "positions.restart",
    "amount_documents": "positions.documents",
    "sharing": "sharing.view",
    "onehead": "film.one_head",
    **{name: f"sampling.{now}" for name, now in SAMPLING.items()},
    **{f"{name}_b": f"sampling_b.{now}" for name, now in SAMPLING.items()},
}
BETWEEN = {
    "transforms": ("-", "."),
    "transforms_b": ("-", "."),
    "forced": (".-", "-."),
}  # of a list's parts, then and now
STARTS = {"mask_": "masks.values."}  # what is left begins so: the numbers of patterns
# variants of the zoo, as attention.zoo.table.FORMER has them: no torch is imported here
VARIANTS = {
    "refined": "rollout", "refined_added": "rollout_mixed", "refined_values": "value_norms",
    "refined_drawn": "drawn_keys",
}  # fmt: skip  # pairs
NAMED = ("zoo.variant", "zoo.beside")  # parts whose value is the name of one
NUMBERS = ("zoo.values.", "zoo.long.")  # parts that begin so go on with one


def renamed(parts: Mapping[str, str]) -> dict[str, str]:
    """The parts of an address under the names they have now; a part that has its new name wins over an old one."""
    old = {
        now: value.translate(str.maketrans(*BETWEEN.get(name, ("", ""))))
        for name, value in parts.items()
        for now in _now(name).split()
    }
    found = old | {name: value for name, value in parts.items() if _now(name) == name}
    return found | {name: VARIANTS.get(found[name], found[name]) for name in NAMED if name in found}


def _now(name: str) -> str:
    if name in PARTS:
        return PARTS[name]
    for start, now in STARTS.items():
        if name.startswith(start):
            return now + name.removeprefix(start)
    for start in NUMBERS:
        variant, dot, number = name.removeprefix(start).partition(".")
        if name.startswith(start) and variant in VARIANTS:
            return f"{start}{VARIANTS[variant]}{dot}{number}"
    return name
