"""One file for each comparison: SUMMARY, PEERS (PyPI names) and `compare(environment, result)`."""
