"""Compiled forms of the generator and the solver, bit-equal to the plain ones."""
