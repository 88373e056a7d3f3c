"""Where on a page a fence or a captured value stands."""

from capture.site.markdown import fence_positions

PAGE = """\
---
description: a page
---

# Title

```capture host="h200" show="output"
instruments/a
```

- a list

    ~~~~ capture
    instruments/b
    ~~~~

````markdown
```capture
instruments/shown
```
````

> ```{ .capture lines="1-2" }
> instruments/c
> ```

```capture
never closed
"""


def test_fences_are_found_as_superfences_reads_them():
    """Nested in lists and quotes, in both notations; one that is shown within another fence is none."""
    found = fence_positions.fences(PAGE)
    assert [(place.line, place.body, dict(place.options)) for place in found[:3]] == [
        (7, "instruments/a", {"host": "h200", "show": "output"}),
        (13, "instruments/b", {}),
        (23, "instruments/c", {"lines": "1-2"}),
    ]
    assert [place.closed for place in found] == [True, True, True, False]


def test_captured_values_are_found_outside_fences():
    """A value may be wrapped at the line end; one shown in double backticks or in a fence is none."""
    page = "A `#!captured x/y v` and `#!captured\nx/y w@h`,\n`` `#!captured x/y no` ``\n"
    page += "```\n`#!captured x/y no`\n```\n`:::captured x/y z`\n"
    assert fence_positions.inline_values(page) == (("x/y v", 1), ("x/y w@h", 1), ("x/y z", 7))
