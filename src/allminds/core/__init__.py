"""The foundations of all other packages: errors, names, randomness, time limits, blocks, table."""
