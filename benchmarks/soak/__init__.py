"""How the whole stack bears a crowded cluster on a crowded machine."""
