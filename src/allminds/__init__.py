"""Measure minds."""
