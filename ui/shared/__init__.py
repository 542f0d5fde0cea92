"""What several pages share: head maps, what-if, second texts, sampling settings and exports."""
