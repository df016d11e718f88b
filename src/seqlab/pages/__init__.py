"""Plain data -> SVG and HTML."""
