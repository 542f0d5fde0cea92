"""The hosted app where a service runs ``streamlit run`` itself: docs/deploy-streamlit-cloud.md."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
HOME = HERE.parents[1]
os.environ.setdefault("ATLAS_HOSTING", str(HERE / "atlas.toml"))  # before the app is imported, which reads it
sys.path.insert(0, str(HOME))

import streamlit as st  # noqa: E402

from app import OPTIONS, SCRIPT  # noqa: E402

app = st.App(SCRIPT, **OPTIONS)  # Streamlit (1.67) looks for this call in the file that it is given
