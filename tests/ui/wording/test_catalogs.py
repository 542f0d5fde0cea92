"""The catalogs match the sources: every message that Babel finds is translated, with all its placeholders."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from configparser import ConfigParser
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.frontend import parse_mapping_cfg
from babel.messages.pofile import read_po

from attention.metrics import METRICS
from model_runner.errors import PLACES, Cancelled, RunnerError, UserFacingError
from pages.entries import ENTRIES
from ui.state import page_state
from ui.state.selection import ModelOptions, Selection
from ui.wording.i18n import LANGUAGES, LOCALES, catalog
from ui.wording.loading_stages import STAGES

ROOT = Path(__file__).resolve().parents[3]
TRANSLATED = sorted(set(LANGUAGES) - {"en"})
MARKS = ("_", "N_")

# What a learner must recognise: message → the English that its Chinese keeps.
NAMES = {
    "Heads": "Head", "head": "head", "Layer": "layer", "query": "Query", "key": "Key", "token": "token",
    "weights": "weight", "scores": "score", "entropy": "entropy", "induction": "induction", "Mask": "mask",
    "first token (sink)": "sink", "looking (query)": "Query", "looked at (key)": "Key",
    "Query (looking)": "Query", "Key (looked at)": "Key", "Mix the values": "Value", "Scale and soft-cap": "soft-cap",
}  # fmt: skip  # one idea a line
# A Chinese term never stands without its English; what only looks like one is left out: 方向键 is a key to press.
TERMS = {
    "查询": "Query", "(?<!方向)键": "Key", "值 ?(?=向量|Value)": "Value", "熵": "entropy", "归纳": "induction",
    "残差流": "residual stream", "汇聚": "sink", "分词器": "tokenizer",
}  # fmt: skip
KEPT = ("softmax", "logit", "lse", "LayerNorm", "RMSNorm", ".safetensors", "config.json", "W_O")

NAMES_ALIKE = {"ALiBi", "RoPE", "min-p", "top-k", "top-p", "S = {count}"}  # nobody says these in another way


@cache
def messages() -> frozenset[str]:
    """Every message that ``make messages`` would collect."""
    with (ROOT / "babel.cfg").open(encoding="utf-8") as config:
        methods, options = parse_mapping_cfg(config)
    found = extract_from_dir(str(ROOT), methods, options, keywords={**DEFAULT_KEYWORDS, "N_": None})
    return frozenset(message for _file, _line, message, *_rest in found if isinstance(message, str))


def read(path: Path) -> Catalog:
    with path.open("rb") as source:
        return read_po(source, locale=path.stem)


def translations(path: Path) -> dict[str, str]:
    """Message → what the catalog says for it, empty where that is nothing."""
    return {str(entry.id): str(entry.string or "") for entry in read(path) if entry.id}


def placeholders(text: str) -> Counter[str]:
    """The places of a template, as often as they occur."""
    return Counter(name for _literal, name, _spec, _conversion in Formatter().parse(text) if name is not None)


def faults(path: Path) -> list[str]:
    """What is wrong with a catalog, one line a fault."""
    held = read(path)
    entries = translations(path)
    found = [f"not in the catalog: {message}" for message in messages() - entries.keys()]
    found += [f"obsolete: {message}" for message in {*map(str, held.obsolete), *(entries.keys() - messages())}]
    found += [f"fuzzy: {entry.id or 'the header'}" for entry in held if entry.fuzzy]
    for message, text in entries.items():
        if not text:
            found.append(f"not translated: {message}")
        elif placeholders(message) != placeholders(text):
            found.append(f"other placeholders: {message} → {text}")
    return sorted(found)


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_message_is_translated(language: str):
    assert faults(LOCALES / f"{language}.po") == [], "run `make messages`, then translate what is empty"


def test_every_language_of_the_switch_has_a_catalog_and_every_catalog_a_language():
    assert sorted(path.stem for path in LOCALES.glob("*.po")) == TRANSLATED


@pytest.mark.parametrize("language", TRANSLATED)
def test_what_the_app_compiles_is_what_the_catalog_says(language: str):
    compiled = catalog(language)
    for message, text in translations(LOCALES / f"{language}.po").items():
        assert compiled.gettext(message) == (text or message)


# -- the referee itself ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "old, new, fault",
    [
        (r'msgid "whole text"\nmsgstr ".*"\n', "", "not in the catalog: whole text"),
        (r'(msgid "whole text"\nmsgstr )".*"', r'\1""', "not translated: whole text"),
        (r'(msgid "whole text")', r"#, fuzzy\n\1", "fuzzy: whole text"),
        (r'(msgid "{count} earlier"\nmsgstr )".*"', r'\1"{n} 个"', "other placeholders: {count} earlier → {n} 个"),
        (r'(msgid "whole text")', r'msgid "an old text"\nmsgstr "旧"\n\n\1', "obsolete: an old text"),
        (r'(msgid ""\nmsgstr ""\n"Project)', r"#, fuzzy\n\1", "fuzzy: the header"),
        (r"\Z", '\n#~ msgid "an old text"\n#~ msgstr "旧"\n', "obsolete: an old text"),
    ],
)
def test_a_spoilt_catalog_is_refused(tmp_path: Path, old: str, new: str, fault: str):
    sound = LOCALES / "zh.po"
    spoilt = tmp_path / "zh.po"
    spoilt.write_text(re.sub(old, new, sound.read_text(encoding="utf-8"), count=1), encoding="utf-8")
    assert set(faults(spoilt)) - set(faults(sound)) == {fault}


# -- nothing escapes Babel ------------------------------------------------------------------------------------------


def sources() -> Iterator[Path]:
    config = ConfigParser()
    config.read(ROOT / "babel.cfg", encoding="utf-8")
    for section in config.sections():
        yield from ROOT.glob(section.removeprefix("python: ").replace("**.py", "**/*.py"))


def marked(path: Path) -> set[str]:
    """Every constant text inside ``_(…)`` or ``N_(…)``, as Python itself reads the file."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    return {
        call.args[0].value
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id in MARKS and call.args
        if isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str)
    }


def test_babel_finds_what_python_finds_marked():
    """Under Python 3.11, Babel does not look into the braces of an f-string, and it takes any string for a message."""
    in_code = {text: path.relative_to(ROOT).as_posix() for path in sources() for text in marked(path)}
    assert {text: in_code[text] for text in in_code.keys() - messages()} == {}, "take them out of the f-string"
    assert messages() - in_code.keys() == set(), "these stand inside a marked call without being its text"


def test_every_error_a_user_can_meet_is_marked():
    def family(error: type[UserFacingError]) -> Iterator[type[UserFacingError]]:
        yield error
        for child in error.__subclasses__():
            if child.__module__.startswith("model_runner"):
                yield from family(child)

    shown = [text for error in family(RunnerError) for text in (error.message, error.hint) if text]
    shown.append(Cancelled.message)
    assert len(shown) > 30
    assert [text for text in shown if text not in messages()] == []


def test_every_text_kept_in_a_table_is_marked():
    tables = [
        *PLACES,
        *STAGES.values(),
        *(
            page_state.setting_of(kind, name).label
            for kind in (Selection, ModelOptions)
            for name in page_state.fields(kind)
        ),
        *(text for metric in METRICS for text in (metric.label, metric.definition)),
        *(text for entry in ENTRIES for text in (entry.section, entry.name, entry.title, entry.subtitle)),
    ]
    assert [text for text in tables if text not in messages()] == []


@pytest.mark.parametrize("path", sorted((ROOT / "viz").rglob("*.py")), ids=lambda path: path.stem)
def test_every_word_of_a_figure_is_marked(path: Path):
    """Every string in a module's dict of TEXTS is inside N_()."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "TEXTS":
            assert isinstance(node.value, ast.Dict)
            assert [ast.unparse(value) for value in node.value.values if isinstance(value, ast.Constant)] == []


# -- Chinese --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chinese() -> dict[str, str]:
    return translations(LOCALES / "zh.po")


@pytest.mark.parametrize("message, english", NAMES.items())
def test_the_name_of_a_field_term_contains_its_english(chinese: dict[str, str], message: str, english: str):
    assert english in chinese[message]
    assert re.search(r"[\u4e00-\u9fff]", chinese[message])


@pytest.mark.parametrize("term, english", TERMS.items())
def test_a_field_term_never_stands_without_its_english(chinese: dict[str, str], term: str, english: str):
    using = [text for text in chinese.values() if re.search(term, text)]
    assert using
    assert [text for text in using if english not in text] == []


@pytest.mark.parametrize("word", KEPT)
def test_words_of_the_field_without_a_chinese_form_are_kept(chinese: dict[str, str], word: str):
    whole = re.compile(rf"(?<![a-z]){re.escape(word)}", re.IGNORECASE)
    using = [message for message in chinese if whole.search(message)]
    assert using
    assert [message for message in using if not whole.search(chinese[message])] == []


def test_chinese_sentences_use_full_width_punctuation(chinese: dict[str, str]):
    """After a Chinese character there is no ASCII comma, colon, question mark or full stop, and no ASCII bracket."""
    narrow = re.compile(r"[\u4e00-\u9fff] ?[,:;?!()]|[\u4e00-\u9fff]\.(?![a-z])|[,;?!][\u4e00-\u9fff]")
    assert [text for text in chinese.values() if narrow.search(text)] == []


def test_a_message_says_one_thing_in_chinese_too(chinese: dict[str, str]):
    """No translation is left in English: the same text on both sides only where there is nothing to translate."""
    same = {message for message, text in chinese.items() if message == text}
    assert {message for message in same if re.search("[A-Za-z]", re.sub(r"{\w+}", "", message))} == NAMES_ALIKE
