"""Positional encodings, which tell a network the position of each step: attention alone does not see
order.
"""
