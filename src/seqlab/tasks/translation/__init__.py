"""Turn one sequence into another."""
