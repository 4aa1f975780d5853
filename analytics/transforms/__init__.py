"""The building blocks of jobs, on arrays of a bucket of groups or of a landing file.

Only `tasks` writes, and only `measured` and `rolling` read.
"""
