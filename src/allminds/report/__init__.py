"""The report: one HTML file with what was measured, the results, and how to repeat them."""

from allminds.report.page import write_report

__all__ = ["write_report"]
