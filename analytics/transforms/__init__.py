"""The building blocks of jobs, from DataFrame to DataFrame; nothing reads or writes."""
