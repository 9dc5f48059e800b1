"""Solve problems from their pixels."""
