"""How often what allminds prints is wrong: simulated, shown as a table, and held by a gate."""
