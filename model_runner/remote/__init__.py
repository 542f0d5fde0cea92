"""A model on a server (:mod:`served`): a runner that sends its questions over HTTP."""
