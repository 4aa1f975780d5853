"""Celery tasks that run analytics, and the warm Spark process behind them.

No module here loads Spark: it lives in a child process, spoken to in JSON lines.
"""
