"""Executing one snippet under a contract: `fresh` starts one interpreter for each execution."""
