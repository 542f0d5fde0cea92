"""What the server has done in a process of its own, with limits: reading what strangers wrote.

This file is that process's program. It is started by its path, imports of ours only what knows no torch, and answers
questions on its standard output, each side's messages being a length of eight bytes and JSON. The other side is
:mod:`model_runner.local.loading.sandboxed_process`. ``python subprocess_probe.py DUTY MEMORY FOLDER``, DUTY one of
those below.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

LONGEST_PIECE = 4096  # characters of a token; the longest of published tokenizers have some hundreds


def main() -> None:
    """Answer until there are no more questions."""
    duty, memory, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is no answer
    _limit_memory(memory)
    tell, seconds = DUTIES[duty](folder), 0
    while question := _read(questions):
        seconds = int(question.pop("seconds"))
        _limit_time(seconds)
        try:
            answer = tell(question)
        except MemoryError:
            os._exit(1)  # the limit is reached: who asked sees it end
        except BaseException as error:  # noqa: BLE001  # a panic of the tokenizers library is no Exception
            answer = {"error": _first_line(error)}
        _write(answers, answer)


# -- duties -----------------------------------------------------------------------------------------------------------


def tokenizer_of(folder: str) -> Callable[[dict[str, Any]], Any]:
    """Texts to tokens, by the tokenizer of the folder; the first question loads it."""
    sys.modules["torch"] = None  # type: ignore[assignment]  # it would take two seconds and 200 MB, and no part here
    _leave_out_our_package()
    from model_runner.local.loading import folder_tokenizer as ours

    held: dict[str, Any] = {}

    def tell(question: dict[str, Any]) -> Any:
        if question["ask"] == "load":
            held["tokenizer"] = ours.open_tokenizer(Path(folder))
            return _facts(held["tokenizer"], ours)
        tokenizer = held["tokenizer"]
        if question["ask"] == "encode":
            found = tokenizer(
                *question["texts"],
                return_offsets_mapping=True,
                verbose=False,
                add_special_tokens=question["add_special_tokens"],
                **({"target": True} if question["target"] else {}),
            )
            return {name: found[name] for name in ("input_ids", "offset_mapping", "token_type_ids") if name in found}
        if question["ask"] == "template":
            turns = question["turns"]
            return {"text": str(tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False))}
        return {"text": str(tokenizer.decode(question["ids"]))}

    return tell


def _leave_out_our_package() -> None:
    """A module that stands beside this file is imported without what its package imports, torch first of all."""
    package = ModuleType("model_runner")
    package.__path__ = [str(Path(__file__).parents[2])]
    sys.modules["model_runner"] = package


def _facts(tokenizer: Any, ours: Any) -> dict[str, Any]:
    """What is asked of it often, told once."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    pieces = {int(token_id): str(piece) for piece, token_id in tokenizer.get_vocab().items()}
    if any(len(piece) > LONGEST_PIECE for piece in pieces.values()):
        raise ValueError(f"one of its tokens has more than {LONGEST_PIECE} characters")
    longest = tokenizer.model_max_length
    if not isinstance(longest, int | float):  # compared with the length of every text
        tokenizer.model_max_length = longest = sys.maxsize
    return {
        "is_fast": bool(tokenizer.is_fast),
        "pieces": list(pieces.items()),
        "length": len(tokenizer),
        "kinds": list(getattr(tokenizer, ours.KINDS)),
        "special": [int(one) for one in ours.special_ids(tokenizer)],
        "added": {str(token): int(one) for token, one in tokenizer.get_added_vocab().items()},
        "target": getattr(tokenizer, "tgt_lang", None),
        "two_sided": getattr(tokenizer, "two_sided", False),
        "unknown": tokenizer.unk_token_id,
        "mask": tokenizer.mask_token_id,
        "decoder": "" if backend is None else str(backend.decoder),
        "chat": bool(tokenizer.chat_template),
        "longest": int(longest) if 0 < longest < 2**63 else None,
    }


def shapes_of(folder: str) -> Callable[[dict[str, Any]], Any]:
    """Every weight that the configuration of the folder declares, by a model without any memory for its weights."""
    import torch
    import transformers
    from transformers import initialization

    def tell(question: dict[str, Any]) -> Any:
        try:
            config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        except Exception as error:  # noqa: BLE001  # what it is, is told
            return {"error": f"config.json: {_first_line(error)}"}
        if question["auto"] == "AutoModelForTextEncoding":  # as class_of_family.py has it
            config.is_encoder_decoder = False
        config._attn_implementation = None  # pyright: ignore[reportPrivateUsage]  # no other way to unset it
        with torch.device("meta"), initialization.meta_device_safe_creation_ops(), initialization.no_init_weights():
            model = getattr(transformers, question["auto"]).from_config(config)
            model.tie_weights()  # which goes with filling them otherwise: one table under four names counts once
        return shapes_in(model)

    return tell


def shapes_in(model: Any) -> dict[str, Any]:
    """The shape of every weight and buffer of a model, by name."""
    return {
        "prefix": str(model.base_model_prefix),
        "weights": {name: list(weight.shape) for name, weight in model.named_parameters()},
        "buffers": {name: list(buffer.shape) for name, buffer in model.named_buffers()},
    }


def names_of(_folder: str) -> Callable[[dict[str, Any]], Any]:
    """Which names a regular expression fits: one may take longer than anybody lives."""

    def tell(question: dict[str, Any]) -> Any:
        pattern = re.compile(question["pattern"])
        return {"names": [name for name in question["names"] if pattern.fullmatch(name)]}

    return tell


DUTIES: dict[str, Callable[[str], Callable[[dict[str, Any]], Any]]] = {
    "tokenizer": tokenizer_of,
    "shapes": shapes_of,
    "names": names_of,
}

# -- limits -----------------------------------------------------------------------------------------------------------


def _limit_memory(most: int) -> None:
    """Its own pages, files none; where the system knows no such limits, the other side still watches."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        for limit, value in ((resource.RLIMIT_DATA, most), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
            resource.setrlimit(limit, (value, value))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")  # where memory runs out all the same, this process goes first


def _limit_time(seconds: int) -> None:
    """Of work from now on: the last word where the other side has ended."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        most = int(used.ru_utime + used.ru_stime) + seconds + 5
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))


# -- messages ---------------------------------------------------------------------------------------------------------


def _read(questions: BinaryIO) -> dict[str, Any] | None:
    length = int.from_bytes(questions.read(8), "little")
    return json.loads(questions.read(length)) if length else None


def _write(answers: BinaryIO, answer: Any) -> None:
    text = json.dumps(answer).encode()
    answers.write(len(text).to_bytes(8, "little") + text)
    answers.flush()


def _first_line(error: BaseException) -> str:
    """What an error of a library says, short enough for a sentence."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    shown = " ".join(lines[:2]) if lines and lines[0].endswith(":") else (lines or [type(error).__name__])[0]
    return shown.rstrip(".: ")[:200]


if __name__ == "__main__":
    main()
