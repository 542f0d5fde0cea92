"""Attention Atlas: navigation and page config. Run with ``streamlit run app.py``."""

import streamlit as st

from ui.frame import draw_frame, navigation

st.set_page_config(page_title="Attention Atlas", layout="wide", initial_sidebar_state="auto")
page = navigation()
draw_frame(page)
page.run()
