"""What tests share: small handbooks, hosts and hardware texts, a served site, a browser."""
