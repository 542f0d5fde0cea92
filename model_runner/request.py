"""A request is a value: everything that determines a capture or a generated text, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from operator import index
from typing import Any

from model_runner.edits import Edit
from model_runner.sound import Sound
from model_runner.transforms import Sampling

GREEDY = Sampling(temperature=0.0)

FREE_RUN = 128  # tokens that an encoder–decoder writes by itself, at most


@dataclass(frozen=True)
class CaptureRequest:
    """One text through one model; equal requests have equal captures.

    ``continuation`` are token ids that follow the text's own, as a generation chose them: written out and read again
    they could fall into other tokens. With ``chat`` the text is the user's turn in the model's own chat template.
    ``edits`` change the forward, see :mod:`model_runner.edits`; without them it is the unmodified model's. Two
    sentences with an encoder's separator between them (``A[SEP]B``) are read as its tokenizer's pair, types included.

    Of an encoder–decoder ``text`` is what the encoder reads. ``target`` is what the decoder is given to have written so
    far (teacher forcing), "" for nothing; None: what the model itself writes, greedily, unless there is a
    ``continuation``. ``attention`` is the one asked for, "encoder", "decoder" or "cross" (None: "decoder"), see
    :meth:`Capture.attention`. Of other models both are None.

    ``source_language`` and ``target_language`` are those of the text and of what is written, as the tokenizer of a
    translator has them (``Runner.info.tokenizer.languages``); None: those that the model's folder names.

    A model that listens (Whisper) reads ``sound`` and no text: ``text`` is "". What it has written begins with the
    tokens that tell it its task; they are put there, unless a ``continuation`` begins with them.

    ``input_ids`` are token ids in place of the text, special tokens among them as the model is to read them.

    ``model``, ``revision`` and ``dtype`` may be None: the runner that answers fills in its own (see
    ``Capture.request``), and refuses a request that names another. So may ``adapter`` be, whether a model that was
    opened with one has its changes in it; of any other model it stays None.
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
        """The same, read by the same model, and how it goes on; ``other`` fields are in the place of its own."""
        return GenerateRequest(**{one.name: getattr(self, one.name) for one in fields(self)} | other)


@dataclass(frozen=True)
class GenerateRequest:
    """A text and how it goes on: at most ``max_new_tokens`` more, drawn by ``sampling`` (greedy unless told otherwise).

    The other fields are those of :class:`CaptureRequest`; ``continuation`` holds the tokens forced before the first
    one is drawn. An encoder–decoder goes on with ``target``, None as "".
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
        """What was read when the text had come so far; ``other`` fields are in the place of its own."""
        same: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(CaptureRequest)}
        same["continuation"] = continuation
        return CaptureRequest(**same | other)


def _make_a_key(request: CaptureRequest | GenerateRequest) -> None:
    """Its token ids and edits as tuples, for a list or an array is no key. Raises TypeError for what are none."""
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
    """The request itself. Raises TypeError for what is none, as a text is."""
    if not isinstance(asked, GenerateRequest):  # pyright: ignore[reportUnnecessaryIsInstance]
        kind = type(asked).__name__
        raise TypeError(
            f"Text is generated from a GenerateRequest, not from this {kind}: "
            "GenerateRequest(text=…, max_new_tokens=20)."
        )
    return asked


def several(requests: Iterable[CaptureRequest | str]) -> Iterator[CaptureRequest | str]:
    """These requests or texts, one after the other. Raises TypeError for one by itself, such as a str."""
    if isinstance(requests, str | CaptureRequest):
        raise TypeError(f"capture_many reads several texts: give a list, not this {type(requests).__name__}.")
    return iter(requests)


def requests_in(question: object) -> dict[str, CaptureRequest | GenerateRequest]:
    """The requests in a question's fields, by the fields' names; of no field of a question that is a request itself."""
    if isinstance(question, CaptureRequest | GenerateRequest) or not is_dataclass(question):
        return {}
    values = ((one.name, getattr(question, one.name)) for one in fields(question))
    return {name: value for name, value in values if isinstance(value, CaptureRequest | GenerateRequest)}
