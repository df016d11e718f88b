"""Measurements, each against its target or against another way of doing the same.

Never part of the tests, which a slow machine must not fail.
"""
