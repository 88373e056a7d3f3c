"""How the facts of a host are found out."""
