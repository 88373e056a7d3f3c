"""Executing snippets: plan, preflight, measure, confirm, assemble, verify."""
