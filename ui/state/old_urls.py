"""Former names of URL parameters, from before each page had its own prefix; old links keep working."""

from __future__ import annotations

from collections.abc import Mapping

SAMPLING = {"transforms": "order"} | {
    name: name for name in ("repetition_penalty", "temperature", "top_k", "top_p", "min_p", "typical_p", "seed")
}
# pages whose parameters kept their names but had no prefix
ALONE = {
    "heads": "metric grid order what color unit other",
    "kv_cache": "drop keep sinks",
    "positions": "at m n contents reach what_if",
    "sharing": "kv_heads drift",
    "next_token": "compare draws find",
    "film": "length forced steps",
}
# old name → new names; two pages may have shared one
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
}  # entries of a list, old → new
STARTS = {"mask_": "masks.values."}  # prefixes of the remaining ones: the numbers of mask patterns
# variants of the zoo, as in attention.zoo.table.FORMER, which is not imported since it needs torch
VARIANTS = {
    "refined": "rollout", "refined_added": "rollout_mixed", "refined_values": "value_norms",
    "refined_drawn": "drawn_keys",
}  # fmt: skip  # pairs
NAMED = ("zoo.variant", "zoo.beside")  # parameters whose value is a variant's name
NUMBERS = ("zoo.values.", "zoo.long.")  # prefixes that are followed by a variant's name


def renamed(parts: Mapping[str, str]) -> dict[str, str]:
    """Rename a URL's parameters; a parameter that is also given under its new name keeps that value."""
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
