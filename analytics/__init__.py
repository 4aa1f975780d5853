"""Lag, throughput and skew over time: the lake of samples, and Spark on top of it.

`contracts` and `schemas` name the data sets; `lake` keeps them as Parquet with
pyarrow alone, so that the collector and web pages can use it; `session`,
`transforms` and `jobs` are the only modules that load Spark.
"""
