"""The building blocks of jobs, from DataFrame to DataFrame, or on arrays of a bucket.

Only `spread` writes, and only `bucket` reads.
"""
