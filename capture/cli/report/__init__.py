"""The texts of commands, as plain lines and rich renderables; nothing here prints."""
