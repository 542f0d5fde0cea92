"""A request is a value with everything that determines a capture or a generated text, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from operator import index
from typing import Any

from model_runner.edits import Edit
from model_runner.sound import Sound
from model_runner.transforms import Sampling

GREEDY = Sampling(temperature=0.0)

FREE_RUN = 128  # the most tokens that an encoder–decoder generates without a target


@dataclass(frozen=True)
class CaptureRequest:
    """One text for one model; equal requests have equal captures.

    ``continuation`` are token ids that follow the text's own, as chosen in a generation; decoded and tokenized again,
    they could become different tokens. With ``chat`` the text is the user's turn in the model's own chat template.
    ``edits`` change the forward, see :mod:`model_runner.edits`; without them, it is the unmodified model's. Two
    sentences with an encoder's separator between them (``A[SEP]B``) are read as its tokenizer's pair, types included.

    For an encoder–decoder, ``text`` is the encoder's input. ``target`` is the decoder's input (teacher forcing), "" for
    nothing; None: what the model itself writes, greedily, unless there is a ``continuation``. ``attention`` selects
    "encoder", "decoder" or "cross" (None: "decoder"), see :meth:`Capture.attention`. For other models both are None.

    ``source_language`` and ``target_language`` are the languages of the text and of the output, as the tokenizer of a
    translation model names them (``Runner.info.tokenizer.languages``); None: the defaults in the model's folder.

    A model that reads audio (Whisper) takes ``sound`` and no text: ``text`` is "". Its output starts with the tokens
    that name its task; they are added unless a ``continuation`` starts with them.

    ``input_ids`` are token ids in place of the text, including any special tokens that the model should read.

    ``model``, ``revision`` and ``dtype`` may be None: the runner that answers fills in its own (see
    ``Capture.request``), and refuses a request that names others. The same holds for ``adapter``: whether the changes
    of the adapter, with which a model was opened, are applied; for any other model it stays None.
    """

    text: str = ""
    model: str | None = None
    revision: str | None = None
    dtype: str | None = None
    adapter: bool | None = None
    chat: bool = False
    continuation: tuple[int, ...] = ()
    edits: tuple[Edit, ...] = ()
    target: str | None = None
    attention: str | None = None
    sound: Sound | None = None
    source_language: str | None = None
    target_language: str | None = None
    input_ids: Sequence[int] = ()

    def __post_init__(self) -> None:
        _make_a_key(self)

    def going_on(self, **other: Any) -> GenerateRequest:
        """A request to continue this text with the same model; ``other`` replaces fields."""
        return GenerateRequest(**{one.name: getattr(self, one.name) for one in fields(self)} | other)


@dataclass(frozen=True)
class GenerateRequest:
    """A text to continue with at most ``max_new_tokens`` tokens, chosen by ``sampling`` (default: greedy).

    The other fields are those of :class:`CaptureRequest`; ``continuation`` holds the tokens forced before the first
    sampled one. An encoder–decoder continues ``target``, with None as "".
    """

    text: str = ""
    max_new_tokens: int = 20
    sampling: Sampling = GREEDY
    model: str | None = None
    revision: str | None = None
    dtype: str | None = None
    adapter: bool | None = None
    chat: bool = False
    continuation: tuple[int, ...] = ()
    edits: tuple[Edit, ...] = ()
    target: str | None = None
    attention: str | None = None
    sound: Sound | None = None
    source_language: str | None = None
    target_language: str | None = None
    input_ids: Sequence[int] = ()

    def __post_init__(self) -> None:
        _make_a_key(self)

    def so_far(self, continuation: tuple[int, ...], **other: Any) -> CaptureRequest:
        """The request for what has been read with this continuation; ``other`` replaces fields."""
        same: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(CaptureRequest)}
        same["continuation"] = continuation
        return CaptureRequest(**same | other)


def _make_a_key(request: CaptureRequest | GenerateRequest) -> None:
    """Convert token ids and edits to tuples, since lists and arrays are not hashable.

    Raises TypeError for other types.
    """
    for name in ("input_ids", "continuation"):
        try:
            ids = tuple(map(index, getattr(request, name)))
        except TypeError:
            raise TypeError(
                f"{name} are the token ids of one text, whole numbers in a row, such as [5, 6, 7]; of a batch give one "
                f"text: {name}[0]."
            ) from None
        object.__setattr__(request, name, ids)
    if not isinstance(request.edits, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        one = type(request.edits).__name__
        raise TypeError(f"edits are a tuple, also where it is one: edits=({one}(…),).")
    object.__setattr__(request, "edits", tuple(request.edits))


def capture_request(asked: CaptureRequest | str) -> CaptureRequest:
    """The request for the capture of a text, or the request itself. Raises TypeError for anything else."""
    if isinstance(asked, str):
        return CaptureRequest(text=asked)
    if not isinstance(asked, CaptureRequest):  # pyright: ignore[reportUnnecessaryIsInstance]
        kind = type(asked).__name__
        raise TypeError(
            f"A capture is made of a text or a CaptureRequest, not of this {kind}. Give token ids as "
            "CaptureRequest(input_ids=[5, 6, 7]), and several texts to capture_many."
        )
    return asked


def generate_request(asked: GenerateRequest) -> GenerateRequest:
    """The request itself. Raises TypeError for anything else, such as a text."""
    if not isinstance(asked, GenerateRequest):  # pyright: ignore[reportUnnecessaryIsInstance]
        kind = type(asked).__name__
        raise TypeError(
            f"Text is generated from a GenerateRequest, not from this {kind}: "
            "GenerateRequest(text=…, max_new_tokens=20)."
        )
    return asked


def several(requests: Iterable[CaptureRequest | str]) -> Iterator[CaptureRequest | str]:
    """Iterate over requests or texts. Raises TypeError for a single one, such as a str."""
    if isinstance(requests, str | CaptureRequest):
        raise TypeError(f"capture_many reads several texts: give a list, not this {type(requests).__name__}.")
    return iter(requests)


def requests_in(question: object) -> dict[str, CaptureRequest | GenerateRequest]:
    """The requests in a question's fields, by field name; empty for a question that is itself a request."""
    if isinstance(question, CaptureRequest | GenerateRequest) or not is_dataclass(question):
        return {}
    values = ((one.name, getattr(question, one.name)) for one in fields(question))
    return {name: value for name, value in values if isinstance(value, CaptureRequest | GenerateRequest)}
