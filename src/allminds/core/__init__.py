"""What everything else stands on: errors, names, randomness, time limits, blocks and the table."""
