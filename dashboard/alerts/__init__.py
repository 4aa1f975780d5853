"""Alerts: what their pages show of rules, and of what these would have done."""
