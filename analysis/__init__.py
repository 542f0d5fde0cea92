"""From a capture to small frozen numpy view-models: what a picture needs and no more."""
