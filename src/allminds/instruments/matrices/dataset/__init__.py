"""Write data sets of problems, with the probes and shortcuts that test them."""
