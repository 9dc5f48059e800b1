"""Draw problems as SVG and PNG, and solve them from their pixels."""
