"""How the whole stack copes with a crowded cluster on a crowded machine."""
