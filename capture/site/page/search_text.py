"""What of a page the search index needs: much less than the page, and half of the time of a build was its parser's.

What is left out here the parser would have passed over, one tag at a time; the index is the same to the byte.
"""

from __future__ import annotations

import re

_PRE_ELEMENT = re.compile(r"<pre\b.*?</pre>", re.DOTALL)
_HIGHLIGHT_TAG = re.compile(r'</?span\b[^>]*>|<a id="__codelineno[^>]*></a>')
# The parts of a card that its template excludes. The empty element stays: around it the parser collapses blanks.
_EXCLUDED_ELEMENT = re.compile(
    r'(<(div|details|footer|code|p|span|samp)\b(?: class="capture__[\w -]*")?[^<>]*\bdata-search-exclude>)(.*?)(</\2>)',
    re.DOTALL,
)
_VALUE_ELEMENT = re.compile(r'(?<=[^\s>] )<span class="cap-value [^<>]*>(?:<a\b[^<>]*>)?([^<>]*\S)(?:</a>)?</span>')
_SOURCE_BOX = re.compile(
    r'(<div class="capture__source" id="[^"<>]*">)\n<div class="capture__scroll".*?</pre></div>\n</div>\n(?=</div>)',
    re.DOTALL,
)
SOURCES_UP_TO = 300  # pages; past that the index, which every reader who searches loads as a whole, leaves sources out


def reduced(content: str, sources: bool = True) -> str:
    """Return HTML of a page from which search makes the same entries, or the same but for the sources of snippets."""
    if not sources:
        content = _SOURCE_BOX.sub(r"\1", content)
    parts, at = [], 0
    for match in _EXCLUDED_ELEMENT.finditer(content):
        if f"<{match[2]}" not in match[3]:
            parts += [content[at : match.end(1)], match[4]]
            at = match.end()
    content = "".join([*parts, content[at:]])
    return _VALUE_ELEMENT.sub(r"\1", _PRE_ELEMENT.sub(lambda block: _HIGHLIGHT_TAG.sub("", block[0]), content))
