"""The fences and captured values of a page, as Markdown extensions call them."""
