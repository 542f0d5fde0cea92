"""The technical terms on the pages, each explained in a sentence or two for beginners."""

from __future__ import annotations

from viz.components.glossary.terms_of_models import OF_MODELS
from viz.components.glossary.terms_of_use import OF_USE
from viz.components.glossary.terms_of_vectors import OF_VECTORS

TERMS = (*OF_MODELS, *OF_USE, *OF_VECTORS)
