"""Executing snippets: plan, preflight, measure, assemble, verify."""
