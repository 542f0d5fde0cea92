"""The script that Streamlit runs for every interaction: page config and navigation. In its own folder, see app.py."""

import streamlit as st

from hosting.visitors.entrance import admitted
from hosting.visitors.sign_in import may_teach, show_foot
from pages.entries import ENTRIES
from pages.extras import extras_of
from ui.shell.frame import navigation, run_framed
from ui.state.kept_click import call_lost

st.set_page_config(page_title="Attention Atlas", layout="wide", initial_sidebar_state="auto")
call_lost()
page = navigation(ENTRIES)
if admitted():
    run_framed(page, ENTRIES, extras_of(page.url_path, may_teach))
    show_foot()
