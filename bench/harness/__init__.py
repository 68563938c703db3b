"""What all comparisons share: the environment, interleaved measuring, tables and the report."""
