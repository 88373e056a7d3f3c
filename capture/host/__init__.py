"""What a host is: identity, environment, and what a child process inherits of it."""
