"""The names that mkdocs.yml may take from packages: to import and to call is to run, and strangers' branches are read.

What is left out on purpose: `pymdownx.b64` opens whatever a page names.
"""

from __future__ import annotations

_PYTHON_MARKDOWN = (
    "abbr", "admonition", "attr_list", "codehilite", "def_list", "extra", "fenced_code", "footnotes", "legacy_attrs",
    "legacy_em", "md_in_html", "meta", "nl2br", "sane_lists", "smarty", "tables", "toc", "wikilinks",
)  # fmt: skip
_PYMDOWNX = (
    "arithmatex", "betterem", "blocks.admonition", "blocks.caption", "blocks.definition", "blocks.details",
    "blocks.html", "blocks.tab", "bracketspan", "caret", "critic", "details", "emoji", "escapeall", "extra",
    "fancylists", "highlight", "inlinehilite", "keys", "magiclink", "mark", "pathconverter", "progressbar", "quotes",
    "saneheaders", "smartsymbols", "snippets", "striphtml", "superfences", "tabbed", "tasklist", "tilde",
)  # fmt: skip
EXTENSIONS = frozenset([
    *_PYTHON_MARKDOWN,
    *(f"markdown.extensions.{name}" for name in _PYTHON_MARKDOWN),
    *(f"pymdownx.{name}" for name in _PYMDOWNX),
    "material.extensions.preview",
])  # fmt: skip
# What draws a fence, a value, an icon or an id of a heading. Each takes text and returns text or an element.
OBJECTS = frozenset([
    "capture.site.markdown.card_fence.formatter",
    "capture.site.markdown.card_fence.validator",
    "capture.site.markdown.inline_value.formatter",
    "capture.site.plot.plot_fence.formatter",
    "capture.site.table.table_fence.formatter",
    "markdown.extensions.toc.slugify",
    "markdown.extensions.toc.slugify_unicode",
    "material.extensions.emoji.to_svg",
    "material.extensions.emoji.twemoji",
    *(
        f"pymdownx.emoji.{name}"
        for name in ("emojione", "gemoji", "twemoji", "to_alt", "to_png", "to_png_sprite", "to_svg", "to_svg_sprite")
    ),
    "pymdownx.superfences.default_validator",
    "pymdownx.superfences.fence_code_format",
    "pymdownx.superfences.fence_div_format",
])  # fmt: skip
PLUGINS = frozenset([
    "captured", "search",
    *(f"{prefix}{name}" for prefix in ("", "material/") for name in ("info", "meta", "offline", "optimize", "tags")),
    "material/search",
])  # fmt: skip
THEMES = frozenset(["material", "mkdocs", "readthedocs"])
VARIABLES = "HANDBOOK_"  # how the names of those begin that `!ENV` may read: others hold what is nobody's to publish
