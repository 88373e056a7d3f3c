"""Static rules over snippets, records and pages; executes no snippet."""
