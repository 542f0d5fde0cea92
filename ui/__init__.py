"""The Streamlit layer: session state, the page frame, mounting of components, and the wording of the interface."""
