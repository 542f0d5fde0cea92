"""What can go wrong between a model's name and its folder, where the hub is asked for it."""

from __future__ import annotations

from model_runner.errors import RunnerError

N_ = str  # marks a text for Babel without translating it here


class HubNotAsked(RunnerError):
    """A model that an address names and nobody chose; the screen asks first."""

    message = N_("The model {name} is not on this machine, and only a link names it.")
    hint = N_("Have it fetched from the hub if you know where the link is from.")


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
    message = N_("The download of {name} broke off.")
    hint = N_("Try again: what arrived whole stays on this machine, the rest is fetched.")


class DiskFull(RunnerError):
    message = N_("There is no room on the disk for {name}: {needed} are to be downloaded, {free} are free.")
    hint = N_("Make room, or set HF_HOME to a folder on a larger disk before the app is started.")
