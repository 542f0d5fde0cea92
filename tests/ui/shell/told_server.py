"""The server of told_app.py, with the route for its component's script."""

from pathlib import Path

import streamlit as st
from starlette.routing import Route

from hosting.visitors.served_texts import served_texts
from viz.components.served import FOLDER

app = st.App(Path(__file__).with_name("told_app.py"), routes=[Route(f"/{FOLDER}/{{name}}", served_texts)])
