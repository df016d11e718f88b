"""How a network is told where a step stands: attention by itself does not see order."""
