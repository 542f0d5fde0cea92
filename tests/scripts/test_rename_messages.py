"""Messages are renamed where they stand, in one piece or several, and their translations stay."""

from __future__ import annotations

import ast

from scripts.rename_messages import literal, renamed_catalog, renamed_source

OLD, NEW = "Drawn are “{count}” tokens.", 'Showing "{count}" tokens: ' + "word " * 40 + "."


def test_a_string_is_renamed_whether_it_is_in_one_piece_or_in_several():
    whole, pieces = (
        'a = _("Drawn are “{count}” tokens.")  # über',
        'b = _(\n    "Drawn are "\n    "“{count}” tokens."\n)',
    )
    source = f'{whole}\n{pieces}\nc = "Drawn are"\n'
    names = {}
    exec(renamed_source(source, {OLD: NEW}), {"_": str}, names)
    assert names == {"a": NEW, "b": NEW, "c": "Drawn are"}


def test_a_long_string_is_cut_into_pieces_that_are_the_same_together():
    assert ast.literal_eval(f"({literal(NEW)})") == NEW
    assert max(map(len, literal(NEW).splitlines())) < 100


def test_a_catalog_keeps_its_translation_unless_another_is_given():
    catalog = 'msgid "Drawn are “{count}” tokens."\nmsgstr "图中是"\n\nmsgid "other"\nmsgstr "别的"\n'
    kept = renamed_catalog(catalog, {OLD: 'Showing "x"'}, {})
    assert kept == 'msgid "Showing \\"x\\""\nmsgstr "图中是"\n\nmsgid "other"\nmsgstr "别的"\n'
    assert 'msgstr "显示"' in renamed_catalog(catalog, {OLD: "Showing"}, {OLD: "显示"})
