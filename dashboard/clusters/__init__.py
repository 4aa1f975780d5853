"""All clusters on one page, worst first; attaching clusters and removing them."""
