"""One question per script; each prints a Markdown table for docs/performance.md."""
