"""From a capture to small frozen numpy view-models, each with what a picture needs."""
