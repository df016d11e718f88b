"""Charts and diagrams as SVG."""
