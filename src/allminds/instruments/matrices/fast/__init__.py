"""Compiled forms, bit-equal to the plain ones."""
