"""Draw problems as SVG and PNG."""
