"""DataFrame in, DataFrame out: what the jobs are made of; nothing reads or writes."""
