"""A model at a server (:mod:`served`): a runner that asks over HTTP what the one in this process asks of its engine."""
