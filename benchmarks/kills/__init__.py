"""Kills every process of the stack, over and over, and looks for what was lost."""
