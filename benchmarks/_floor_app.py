"""The lower bound for an app of this kind: bare Streamlit and one canvas, painted anew after each click on it.

Run by page_latency.py. Its root and the name of its canvas are those of the map of Heads, so that the same probe works
for both.
"""

import streamlit as st
from streamlit.components.v2 import component

JS = """export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".head-map")
  const canvas = root.querySelector("canvas")
  canvas.onclick = () => setTriggerValue("next", data.count + 1)
  const context = canvas.getContext("2d")
  context.fillStyle = data.count % 2 ? "#36339a" : "#d9453a"
  context.fillRect(0, 0, 400, 400)
  canvas.ariaLabel = `L0H${data.count}:`
  root.dataset.painted = String(Number(root.dataset.painted ?? 0) + 1)
}
"""

count = st.session_state.setdefault("count", 0)


def answer() -> None:
    st.session_state["count"] = st.session_state["floor"]["next"]


floor = component("floor", html='<div class="head-map">\n<canvas width="400" height="400"></canvas></div>', js=JS)
floor(key="floor", data={"count": count}, on_next_change=answer)
