"""What a stranger, a colleague and another user of the machine must not be able to do.

`docs/security.md` has a row for each case.
"""
