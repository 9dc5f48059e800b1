"""The report: one HTML file that says what was measured, what came of it and how to repeat it."""

from allminds.report.page import write_report

__all__ = ["write_report"]
