"""Every error message that is shown to users when they can fix something.

Errors carry their values separately from their words, so that the screen can translate them: ``message`` and ``hint``
are templates (English, marked for translation), ``values`` fills them. A :class:`RunnerError` is something that the
user can fix; :class:`Cancelled` is not a failure, and a handler for one does not catch the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from model_runner.cell_traceback import cell_traceback

N_ = str  # marks a text for Babel without translating it here


@dataclass(frozen=True)
class Reason:
    """A part of a sentence with values of its own; a constant part is a marked string."""

    text: str
    values: dict[str, Any]

    def __str__(self) -> str:
        return self.text.format(**self.values)


class UserFacingError(Exception):
    """What happened, with the value, then what to do about it."""

    message: ClassVar[str]
    hint: ClassVar[str] = ""

    def __init__(self, **values: Any) -> None:
        self.values = values
        super().__init__(f"{self.message} {self.hint}".strip().format(**values))

    def _render_traceback_(self) -> list[str]:
        """IPython's rendering: the cell's own lines and the sentence, without our frames and the causes."""
        return cell_traceback(self)


class Cancelled(UserFacingError):
    """Raised when the work was superseded, or its model was evicted; safe to retry."""

    message = N_("The work was cancelled because a newer request replaced it.")


class RunnerError(UserFacingError):
    """The request cannot be answered as it is."""

    message = N_("Something went wrong: {reason}")


# -- the text -------------------------------------------------------------------------------------------------------


class EmptyText(RunnerError):
    message = N_("There is no text to look at.")
    hint = N_("Type a sentence, or pick one of the examples.")


class NotText(RunnerError):
    message = N_("Character {position} is half of a character (a lone surrogate, U+{code}), so the text has no bytes.")
    hint = N_("Delete it and type it again.")


class NoChatTemplate(RunnerError):
    message = N_("The tokenizer of this model comes without a chat template.")
    hint = N_("Turn the chat template off, or choose a model that was made for chats.")


class ChatTemplateFails(RunnerError):
    message = N_("The chat template of this model rejects the text: {reason}.")
    hint = N_("Turn the chat template off.")


class TokenizerFails(RunnerError):
    message = N_("The tokenizer of this model rejects the text: {reason}.")
    hint = N_("Change the text, or choose another model.")


class TokenizerDiffers(RunnerError):
    message = N_("The tokenizer makes token {token} of this text, but the model has {count} tokens, counted from 0.")
    hint = N_(
        "Its folder holds the tokenizer of another model, or tokens were added to it and not to the model: copy the "
        "folder again, or give the model rows for them (resize_token_embeddings)."
    )


class NoSuchLanguage(RunnerError):
    message = N_("The tokenizer of {name} has no language “{code}”; it has: {codes}.")
    hint = N_("Choose one of these.")


class NoLanguages(RunnerError):
    message = N_("The tokenizer of {name} has no tokens for languages, so “{code}” cannot be chosen.")
    hint = N_("Leave the language out, or choose a translator of several languages, such as M2M100 or NLLB.")


class SequenceTooLong(RunnerError):
    message = N_("The text is {tokens} tokens long, but {limit} fit: this model was built for that many positions.")
    hint = N_("Shorten the text to about its first {characters} characters, or choose a model with a longer context.")


class TextAndIds(RunnerError):
    message = N_("The request has token ids beside a text or a chat template, but the model reads only one of them.")
    hint = N_("Give one of them: text or input_ids.")


class TooManyIds(RunnerError):
    message = N_("{tokens} token ids were passed, but only {limit} fit: this model was built for that many positions.")
    hint = N_("Give fewer of them, or choose a model with a longer context.")


class WeightsExceedMemory(RunnerError):
    message = N_("The weights of all heads of layer {layer} need {needed} of memory, {free} are free.")
    hint = N_("Ask for one head, or for some of the rows: weights({layer}, queries=slice(0, 100)).")


class TextExceedsMemory(RunnerError):
    message = N_(
        "The text is {tokens} tokens long, but about {limit} fit: its vectors need {needed} of memory, {free} are free."
    )
    hint = N_("Shorten the text, or choose a smaller model.")


# -- the model ------------------------------------------------------------------------------------------------------


class ModelFolderMissing(RunnerError):
    message = N_("There is no folder {name} that holds a model and may be read.")
    hint = N_("Give the full path of a folder that holds config.json and .safetensors files.")


class ModelNotListed(RunnerError):
    message = N_("This server offers only these models: {names}.")
    hint = N_("Choose one of them.")


class ModelIncomplete(RunnerError):
    message = N_("The model in {name} is not complete: {reason}.")
    hint = N_("Copy or download it again.")


class ModelPickled(RunnerError):
    message = N_("The weights in {name} are pickled ({file}); such a file can run any code, so it is not opened.")
    hint = N_("Convert it to .safetensors, or choose a version of the model that has such files.")


class ModelNameInvalid(RunnerError):
    message = N_("“{name}” is neither a folder nor a model id.")
    hint = N_("A model id looks like owner/name, a folder starts with / or ~.")


class NotAModel(RunnerError):
    message = N_("The model that was passed is a {kind}, not a transformers model.")
    hint = N_(
        "Give the PreTrainedModel itself; for a wrapper (DistributedDataParallel, a trainer), the model inside it."
    )


class NotATokenizer(RunnerError):
    message = N_("The tokenizer that was passed is a {kind}, which does not say which characters a token covers.")
    hint = N_("Pass a fast tokenizer, such as AutoTokenizer.from_pretrained returns.")


class TokenizerTooLarge(RunnerError):
    message = N_("The tokenizer has {tokens} tokens, but {name} has vectors for {count}, so it is another model's.")
    hint = N_("Give the tokenizer that the model was trained with.")


class ModelCompiled(RunnerError):
    message = N_("{name} is compiled (torch.compile), and compiled code does not show what its attention reads.")
    hint = N_("Give the model that was compiled: model._orig_mod has the same weights.")


class AdapterWritesTokens(RunnerError):
    message = N_("The adapter of {name} ({kind}) adds vectors of its own beside the tokens.")
    hint = N_("Give the model without it (model.get_base_model()), or one with a LoRA adapter.")


class ModelNotCopied(RunnerError):
    message = N_("A module of {name} holds something that Python cannot copy ({reason}), so it cannot be recorded.")
    hint = N_("Remove that attribute from the module, then open the model again.")


class ModelChanged(RunnerError):
    message = N_("Modules of {name}, or the shape, dtype or device of its weights, were changed after it was opened.")
    hint = N_("Open it again: attention_atlas.runner_of(model, tokenizer).")


class WeightsChanged(RunnerError):
    message = N_(
        "The model’s weights were changed after this capture was made, so the model can no longer answer for it."
    )
    hint = N_("Capture the text again.")


class RunnerClosed(RunnerError):
    message = N_("The runner of {name} is closed, so it answers no more questions.")
    hint = N_("Ask inside the with block, or open the model again.")


class LoadingTooLong(RunnerError):
    message = N_("Loading the model took more than {minutes} minutes, so it was stopped.")
    hint = N_("Choose a smaller model.")


class ModelSilent(RunnerError):
    message = N_("The model {name} stopped answering: nothing came from it for {minutes} minutes, so it was given up.")
    hint = N_("Ask again: the app then loads it again. In a notebook, load it yourself.")


class DeviceMissing(RunnerError):
    message = N_("This machine has no device “{device}” that torch can compute on.")
    hint = N_("Choose another device, or “auto”.")


class ModelTooLarge(RunnerError):
    message = N_("The model {name} needs about {needed} of memory, but only {free} are free.")
    hint = N_("Close other programs or models, or choose a smaller model.")


class OutOfMemory(RunnerError):
    message = N_("The memory ran out while {stage}.")
    hint = N_("Shorten the text, or choose a smaller model.")


class NotCapturable(RunnerError):
    message = N_("The attention of {name} ({family}) cannot be captured: {reason}.")
    hint = N_("Choose another model, such as Llama, Qwen, Gemma, GPT-2 or BERT.")


class TokenizerMissing(RunnerError):
    message = N_("The tokenizer of {name} cannot be loaded: {reason}.")
    hint = N_("The folder needs the tokenizer's files, such as tokenizer.json.")


class TokenizerFileTooLarge(RunnerError):
    message = N_("The tokenizer of {name} cannot be loaded: {file} is {size}, and the limit is {most}.")
    hint = N_("Copy or download it again: it may be damaged.")


class WrongModel(RunnerError):
    message = N_("The request names {wanted}, but this runner holds {held}.")
    hint = N_("Load that model, or leave the name out of the request.")


PLACES = (N_("layer"), N_("head"), N_("position"), N_("token id"), N_("class"))  # what a NoSuchPlace names

# -- the capture ----------------------------------------------------------------------------------------------------


class NoSuchPlace(RunnerError):
    message = N_("There is no {what} {value}: this model and text have {count}, counted from 0.")


class NoWeights(RunnerError):
    message = N_("Layer {layer} has no softmax attention ({kind}).")
    hint = N_("Choose another layer.")


class NoCompressedKeys(RunnerError):
    message = N_("Layer {layer} reads only keys of single tokens.")
    hint = N_("Choose another layer, or look at the keys of tokens.")


class NoIndexer(RunnerError):
    message = N_("Layer {layer} has no indexer that chooses keys: its queries read every key that its mask leaves.")
    hint = N_("Only models such as DeepSeek-V3.2 and GLM-5 have one.")


class NotUnderstood(RunnerError):
    message = N_("How the indexer of layer {layer} scores keys is not known: its code multiplies in another way.")


class NoSuchAttention(RunnerError):
    message = N_("This capture has no “{wanted}” attention; it has: {names}.")
    hint = N_("Only an encoder–decoder has several kinds of attention.")


class OtherText(RunnerError):
    message = N_("Keys come from the first text and queries from the second: token {position} is in the other one.")


class EncoderSaysNothing(RunnerError):
    message = N_("An encoder only reads: it predicts no token.")
    hint = N_("Choose the decoder or cross-attention, and a token of the output.")


class OneStackOnly(RunnerError):
    message = N_("So far this works only for models with one stack of layers; {name} is an encoder–decoder.")
    hint = N_("Other pages and views show it, Heads first of all; or choose another model here.")


class NotVerified(RunnerError):
    message = N_(
        "Layer {layer} is not drawn: what was recomputed differs from the model's own output by {error}, more than "
        "rounding can explain ({tolerance})."
    )


class NotRecoverable(RunnerError):
    message = N_("The vectors of layer {layer} before the rotation cannot be recovered: {reason}.")


class NoRotation(NotRecoverable):
    message = N_("Layer {layer} has no rotation: its queries and keys do not depend on positions this way.")


class NoDifference(RunnerError):
    message = N_("Layer {layer} does not subtract heads from each other.")
    hint = N_("Choose the weights of one head instead.")


class NoLogits(RunnerError):
    message = N_("The model {name} comes without an output layer, so it predicts no tokens.")


class ScoresClasses(NoLogits):
    message = N_("The model {name} is a classifier: it scores {count} classes and predicts no token.")
    hint = N_("Its class scores are on the pages Heads and Edit heads.")


class ScoresTokens(NoLogits):
    message = N_("The model {name} gives each token one of {count} classes: it predicts no token.")
    hint = N_("Its class scores are not shown here; its attention is.")


class MarksAnswers(NoLogits):
    message = N_("The model {name} marks where in a text an answer begins and ends: it predicts no token.")
    hint = N_("These marks are not shown here; its attention is.")


class AwayFromModel(RunnerError):
    message = N_("Only the model can answer this, and this capture was loaded without it.")
    hint = N_("Load it with the runner of its model: load_capture(path, runner).")


class CaptureOfOthers(RunnerError):
    message = N_(
        "For this text the weights of {name} give numbers other than the capture’s: it was made with other weights."
    )
    hint = N_("Load it without a runner, or capture the text again.")


class Unreadable(RunnerError):
    message = N_("These bytes hold no capture, question or answer of this version.")
    hint = N_("Write them again with the version that reads them.")


class NoAttribution(RunnerError):
    message = N_("What this head adds to the logits cannot be separated in this model: {reason}.")


class NoSuchMatrix(RunnerError):
    message = N_(
        "Layer {layer} has no {name} for each head: it computes these vectors from others, or in code of its own."
    )
    hint = N_("What its heads read and pass on is in the capture: q, k, v and z.")


class NotSeparable(RunnerError):
    message = N_("This cannot be shown of this model: {reason}.")


# -- generation -----------------------------------------------------------------------------------------------------


class ContextFull(RunnerError):
    message = N_("The text is {tokens} tokens long and fills the {limit} positions of this model: no token can follow.")
    hint = N_("Shorten the text, or choose a model with a longer context.")


class CannotContinue(RunnerError):
    message = N_("The model {name} ({family}) cannot continue a text: {reason}.")
    hint = N_("Choose a model that predicts the next token, such as Llama, Qwen, Gemma or GPT-2.")


# -- sampling -------------------------------------------------------------------------------------------------------


class BadSetting(RunnerError):
    """``setting`` is the invalid field of Sampling."""

    message = N_("{reason}")


class BrokenLogits(RunnerError):
    message = N_("The model's logits are not numbers (NaN or infinite), so no token can be chosen from them.")
    hint = N_("Choose another model: the weights of this one may be damaged.")


# -- beam search ----------------------------------------------------------------------------------------------------


class BeamWidthInvalid(RunnerError):
    message = N_("A beam search {width} beams wide is not offered; choose from {least} to {most}.")


# -- edits ----------------------------------------------------------------------------------------------------------


class EditInvalid(RunnerError):
    message = N_("The {what} is {value}; it must be at least {least}.")


class EditNotPossible(RunnerError):
    message = N_("This change cannot be made: {reason}.")


class EditsContradict(RunnerError):
    message = N_("Two changes of L{layer}H{head} contradict each other.")
    hint = N_("Undo one of them.")


class NotOneToken(RunnerError):
    message = N_("“{text}” is not one token of this model but {count}: {pieces}.")
    hint = N_("Type one of these, or pick a token from the list; a leading space belongs to a token.")


class CapturesDiffer(RunnerError):
    message = N_("The two captures are of different tokens, so their cells do not correspond.")


# -- a remote model --------------------------------------------------------------------------------------------------


class TextTooLongHere(RunnerError):
    message = N_("The text has {characters} characters, and this server reads up to {limit}.")
    hint = N_("Shorten it.")


class TooManyTokensHere(RunnerError):
    message = N_("You asked for {tokens} tokens; this server generates up to {limit}.")
    hint = N_("Ask for fewer.")


class RunnerAway(RunnerError):
    message = N_("The model’s server does not answer ({reason}).")
    hint = N_("Check its address, and whether it runs; or try again in a moment.")


class RunnerBusy(RunnerError):
    message = N_("The model’s server is busy: it is answering as many questions as it can.")
    hint = N_("Try again in a moment.")


class KeyRefused(RunnerError):
    message = N_("The model’s server does not accept this key.")
    hint = N_("Ask whoever runs it for a key.")


class OtherVersion(RunnerError):
    message = N_("The model’s server writes “{theirs}”, but this version of Attention Atlas reads “{ours}”.")
    hint = N_("Install the same version on both.")


class QuestionTooLarge(RunnerError):
    message = N_("The question is larger than the model’s server accepts ({limit}).")
    hint = N_("Shorten the text.")


class AnswerTooLarge(RunnerError):
    message = N_("The answer would be larger than the {limit} that the model’s server computes for one question.")
    hint = N_("Ask for less at a time.")


class AnswerTooLate(RunnerError):
    message = N_("The answer took longer than {seconds} seconds, so the model’s server gave it up.")
    hint = N_("Shorten the text.")


class QuestionFails(RunnerError):
    message = N_("The model cannot answer this question ({error}).")


class QuestionEndsServer(RunnerError):
    message = N_(
        "The model’s server or its model stopped {times} times while it worked on this question, so the question was "
        "given up."
    )
    hint = N_("Shorten the text, or tell whoever runs the server.")


def by_name(name: str) -> type[UserFacingError]:
    """The class of this name. Raises LookupError."""
    kinds = [Cancelled, RunnerError, *RunnerError.__subclasses__()]
    kinds += [special for kind in kinds[1:] for special in kind.__subclasses__()]
    return {kind.__name__: kind for kind in kinds}[name]


def first_line(error: BaseException) -> str:
    """The message of a library's error, short enough for a sentence."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    shown = " ".join(lines[:2]) if lines and lines[0].endswith(":") else (lines or [type(error).__name__])[0]
    return shown.rstrip(".: ")[:200]


class TokenizerStops(SequenceTooLong):
    message = N_(
        "The text is {tokens} tokens long, but {limit} fit: this model sets no maximum length, and "
        "its tokenizer was made for that many tokens."
    )


class NeedleTooLong(SequenceTooLong):
    message = N_("The text with the needle is {tokens} tokens long, but {limit} fit: this model has no more positions.")
    hint = N_("Choose less hay where its length can be chosen, or a model with a longer context.")


class WrittenFull(ContextFull):
    message = N_(
        "The output is {tokens} tokens long, and this model has {limit} positions for it: no token can follow."
    )
    hint = N_("Write less, or choose a model with a longer context.")


class NotOverOneText(RunnerError):
    message = N_("This view compares two sides piece by piece and needs self-attention.")
    hint = N_("Choose the decoder’s attention or, for the text that is read, the encoder’s; or another view.")


class BrokenNumbers(RunnerError):
    message = N_("This model’s output for the text is not numbers (NaN or infinite): there is nothing to draw.")
    hint = N_(
        "Undo the changes to it, choose float32 as the number format, or choose another model: this one may be damaged."
    )


class ForwardFails(RunnerError):
    message = N_("The model’s own code does not read this text of {tokens} tokens ({error}).")
    hint = N_("Shorten the text, or choose another model.")


class HubNotAsked(RunnerError):
    """A model that only a URL names, which the user did not choose; the screen asks first."""

    message = N_("The model {name} is not on this machine, and only a link names it.")
    hint = N_("Have it fetched from the hub if you know where the link is from.")


class FolderNotAsked(RunnerError):
    """A folder that only a URL names, which the user did not choose; the screen asks first."""

    message = N_("Only a link names the folder {name}.")
    hint = N_("Have it opened if you know where the link is from.")


class ModelNotFound(RunnerError):
    message = N_("The hub has no model {name}, or it is private.")
    hint = N_("Check the spelling: owner/name.")


class ModelRevisionMissing(RunnerError):
    message = N_("The hub has the model {name}, but no version {revision} of it.")
    hint = N_("A version is a branch, a tag or a commit, written behind the name: owner/name@version.")


class ModelGated(RunnerError):
    message = N_("The model {name} may only be downloaded after its owner's terms were accepted.")
    hint = N_("Accept them on its page on the hub, log in with “hf auth login”, and try again.")


class HubUnreachable(RunnerError):
    message = N_("The hub cannot be reached, and {name} is not on this machine yet.")
    hint = N_("Check the network, or choose the embedded model or a local folder.")


class DownloadBroken(RunnerError):
    message = N_("The download of {name} was interrupted.")
    hint = N_("Try again: completed files are kept; only the rest is downloaded.")


class DiskFull(RunnerError):
    message = N_("There is no room on the disk for {name}: {needed} are to be downloaded, {free} are free.")
    hint = N_("Make room, or set HF_HOME to a folder on a larger disk before the app is started.")
