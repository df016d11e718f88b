"""Translate one sequence into another."""
