"""The tokenizer of a folder, which cuts a text as the folder's files say.

transformers 5 builds the pre-tokenizer of a class anew and passes over the one in tokenizer.json (its issues 45812,
45920, 46710). So where there is such a file it is asked too: where the class gives other ids for a text of everything
that is cut in different ways, the file is what is read. A folder of SentencePiece files alone is read by SentencePiece
itself (:mod:`model_runner.local.loading.sentence_pieces`). Knows no torch: a process apart runs it too, see
``subprocess_probe.py``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as Backend
from transformers import AutoTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from model_runner.local.loading.sentence_pieces import PieceTokenizer, piece_tokenizer, pieces_file
from model_runner.local.loading.tokenizer_file import RULES, GivenFile, file_with_model_of, heard
from model_runner.local.loading.tokenizer_languages import languages_in, languages_of, source_of
from model_runner.tokens import TokenizerInfo

FILE = "tokenizer.json"
PROBES = (
    "The  dog's 12345 tails, don't: naïve ﬁne ｆｕｌｌ 3.14 AbcDEF_gh\n\n   def f(x):\n\treturn x  # 狗看见了猫，它 "
    "👨\u200d👩\u200d👧🙂 ½e\u0301 …—«a»\r\n it's 7 + 70 ",
    " dog",  # a space before the first word is a special case
)
MOST_PROBED = 64  # added tokens that are tried in a text
NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
# attributes of a tokenizer that was opened here: its class, its file and whether that overrules it; its special tokens
KINDS, SPECIAL = "read_as", "every_special_id"

Opened = PreTrainedTokenizerBase | PieceTokenizer


def open_tokenizer(folder: Path) -> Opened:
    """Open the tokenizer; :func:`info_of` describes it. Raises whatever the libraries raise."""
    by_file = (folder / FILE).is_file()
    if not by_file and (file := pieces_file(folder)) is not None and (found := piece_tokenizer(folder, file)):
        return _noted(found, found.name, file.name)
    with heard() as given:
        try:
            made: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        except Exception:
            if by_file:  # for a class with files of its own, tokenizer.json is enough
                with suppress(Exception):
                    return _by_file(folder, None, given)
            raise
    return _by_file(folder, made, given) if by_file else _noted(made, type(made).__name__)


def info_of(tokenizer: Any, target: int | None = None) -> TokenizerInfo:
    """Describe a tokenizer; ``target`` is the token with which the model's settings have its output begin."""
    name, file, overruled = getattr(tokenizer, KINDS, (type(tokenizer).__name__, "", False))
    languages = languages_of(tokenizer)
    written = next((code for code, token_id in languages.items() if token_id == target), None)
    return TokenizerInfo(
        name=name,
        file=file,
        overruled=overruled,
        count=len(tokenizer),
        languages=tuple(sorted(languages)),
        source=source_of(tokenizer, languages),
        target=written or next((code for code in languages if code == getattr(tokenizer, "tgt_lang", None)), None),
    )


def special_ids(tokenizer: Any) -> list[int]:
    """All special tokens: those named by the settings, and those marked as special in tokenizer.json."""
    if (known := getattr(tokenizer, SPECIAL, None)) is not None:  # it is built anew on every access
        return known
    added: dict[int, Any] = getattr(tokenizer, "added_tokens_decoder", {})
    return sorted({*tokenizer.all_special_ids, *(one for one, token in added.items() if token.special)})


def _by_file(folder: Path, made: Any, given: GivenFile) -> PreTrainedTokenizerBase:
    """The tokenizer of the class if it cuts text as tokenizer.json says, else that of the file, with the folder's
    settings.
    """
    if made is not None and made.is_fast:
        with suppress(Exception):  # on anything unexpected, the file is used
            quick = file_with_model_of(made, folder / FILE, given)
            if quick is not None and _cuts_as(quick, made, _probes(quick, made)):
                return _noted(made, type(made).__name__, FILE)
    if type(made) is PreTrainedTokenizerFast and _holds_as_they_are(made, folder / FILE):
        return _noted(made, type(made).__name__, FILE)  # this class reads the file and adds to it
    backend: Any = Backend.from_file(str(folder / FILE))
    backend.no_truncation()
    backend.no_padding()
    probes, name = _probes(backend, made), type(made).__name__
    by_class = made is not None and made.is_fast
    if by_class and _cuts_as(backend, made, probes):
        return _noted(made, name, FILE)
    of_languages = by_class and _tells_language(backend)  # the class places these tokens
    read: Any = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    _swap_backend(read, backend, made if of_languages else None)
    if by_class and _cuts(made, probes) == _cuts(read, probes):  # the folder's settings say more than the file
        return _noted(made, name, FILE)
    if made is None:
        return _noted(read, type(read).__name__, FILE)
    read.model_input_names = list(made.model_input_names)
    special = {token.content for token in backend.get_added_tokens_decoder().values() if token.special}
    for named in NAMED:  # set by the class, not by a setting
        if getattr(read, named) is None and str(getattr(made, named)) in special:
            setattr(read, named, str(getattr(made, named)))
    return _noted(read, name, FILE, by_class and name != type(read).__name__)


def _cuts_as(backend: Any, made: Any, probes: Sequence[str]) -> bool:
    """Whether the class gives the ids of the file's own tokenizer, apart from where the language token is placed."""
    around = not _tells_language(backend)
    own = _ids(lambda text, special: backend.encode(text, add_special_tokens=special).ids, probes, around)
    return _cuts(made, probes, around) == own


def _holds_as_they_are(made: Any, file: Path) -> bool:
    """Whether the added tokens are matched as the file says; settings can change that."""
    text = file.read_bytes().decode("utf-8")
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        tokens, _ = json.JSONDecoder().raw_decode(text, text.index("[", text.index('"added_tokens"')))
        held = made.added_tokens_decoder
        return all(_rules(held[one["id"]]) == {name: one[name] for name in RULES} for one in tokens)
    return False


def _rules(token: Any) -> dict[str, Any]:
    return {name: getattr(token, name) for name in RULES}


def _tells_language(backend: Any) -> bool:
    """Whether what the file puts around a text includes its language; old files have it at the end (NLLB)."""
    languages = languages_in({token.content: one for one, token in backend.get_added_tokens_decoder().items()})
    return not set(languages.values()).isdisjoint(backend.encode("a").ids)


def _swap_backend(read: Any, backend: Any, of_languages: Any) -> None:
    """Use the file's tokenizer as it is: a token also named by settings keeps the file's matching rule, new ones are
    appended.
    """
    known = {token.content for token in backend.get_added_tokens_decoder().values()}
    more = [token for _, token in sorted(read.added_tokens_decoder.items()) if token.content not in known]
    backend.add_tokens(more)
    if of_languages is not None:
        backend.post_processor = of_languages.backend_tokenizer.post_processor
    read._tokenizer = backend


def _noted(tokenizer: Any, name: str, file: str = "", overruled: bool = False) -> Any:
    setattr(tokenizer, KINDS, (name, file, overruled))
    setattr(tokenizer, SPECIAL, special_ids(tokenizer))
    return tokenizer


def _probes(backend: Any, made: Any) -> list[str]:
    """Texts with everything that may be tokenized differently, including the added tokens of both."""
    named = [] if made is None else made.all_special_tokens
    added = [token.content for token in backend.get_added_tokens_decoder().values()]
    tokens = list(dict.fromkeys([*named, *added]))[:MOST_PROBED]
    return [*PROBES, *(f"a {token} b{token}c" for token in tokens)]


def _cuts(tokenizer: Any, probes: Sequence[str], around: bool = True) -> list[list[int]] | None:
    """The ids that it gives; None where it gives none, e.g. for a class that lacks the file's unknown token."""

    def ids(text: str, special: bool) -> list[int]:
        return tokenizer(text, add_special_tokens=special, verbose=False)["input_ids"]

    try:
        return _ids(ids, probes, around)
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:  # noqa: BLE001  # a panic of the tokenizers library is no Exception
        return None


def _ids(encode: Callable[[str, bool], list[int]], probes: Sequence[str], around: bool) -> list[list[int]]:
    """The ids without the special tokens around a text, and also with them where they matter."""
    return [encode(text, special) for text in probes for special in ((False, True) if around else (False,))]
