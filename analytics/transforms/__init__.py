"""The building blocks of jobs: on arrays of a bucket; on frames for roll-ups (`parts`).

Only `tasks` writes, and only `measured` reads.
"""
