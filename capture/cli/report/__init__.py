"""What commands tell people, as plain text and rich renderables; nothing here prints."""
