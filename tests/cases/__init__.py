"""Faults that people reported of tools which capture, store or publish output, and the tests that show them absent."""
