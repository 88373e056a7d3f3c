"""What mkdocs.yml may not say: whatever would run, read or write what a branch brings when its site is looked at.

Python-Markdown calls what an extension's name leads to, and MkDocs imports themes, plugins and hooks, before a line of
the handbook's own code runs there. So names are taken from lists, folders lie in the handbook, and the environment
decides none of it.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from capture import store
from capture.errors import CaptureError, Problem, nearest, suggestion
from capture.site.markdown import trusted_names

MARKDOWN = "markdown_extensions"
_OVERRIDES = "overrides"
# Templates run: only where a change of them is named to the reviewer of a pull request, as that of mkdocs.yml is.
_TEMPLATES = (_OVERRIDES, "capture/site/theme")
# Settings by which a build finds code, or the folders that it reads and empties.
_DECIDING = (MARKDOWN, "theme", "plugins", "hooks", "INHERIT", "docs_dir", "site_dir", "extra_templates", "watch")
_REFUSED = {
    "hooks": "runs files of the branch at every build; write a plugin, and review it as code",
    "INHERIT": "brings settings that no check reads; write them here",
    "extra_templates": "lets pages run as templates; put the template into overrides/ and name it theme.custom_dir",
}
_READ_FROM = ("docs", "snippets", _OVERRIDES)
_PATHS = ("base_path", "custom_icons")  # options of extensions that name folders
_CODEHILITE = frozenset([
    "anchorlinenos", "css_class", "guess_lang", "lang_prefix", "lang_str", "linenos", "linenums", "noclasses",
    "pygments_style", "use_pygments",
])  # fmt: skip
_Entry = tuple[store.Place, Any]


def problems(config: Mapping[str, Any], places: store.SettingPlaces) -> tuple[list[Problem], list[Problem]]:
    """Return what Markdown may not be given, and what else is at fault, at mkdocs.yml:line; nothing is imported."""
    markdown = [*_extension_faults(config), *_object_faults(config)]
    others = [*_structure_faults(config), *_folder_faults(config), *_theme_faults(config), *_plugin_faults(config)]
    others += _environment_faults(places)
    others += [((key,), f"{key} {reason}") for key, reason in _REFUSED.items() if config.get(key)]
    return [_problem(places, *each) for each in markdown], [_problem(places, *each) for each in others]


def require_own(book: store.Handbook) -> None:
    """Raise CaptureError where mkdocs.yml names foreign code, or a link leads out of what the site is made of."""
    markdown, others = problems(*store.read_located_config(book, {}))
    if faults := [*markdown, *others, *store.links(book)]:
        raise CaptureError(*faults)


def _problem(places: store.SettingPlaces, place: store.Place, message: str) -> Problem:
    """Return the problem of a setting at its line."""
    return Problem(store.CONFIG, places.line(place), message, "site")


def named_extensions(config: Mapping[str, Any]) -> Iterator[tuple[store.Place, Any, Any]]:
    """Yield place, name and options of each extension of mkdocs.yml, as MkDocs reads its list or table."""
    chosen = config.get(MARKDOWN)
    if isinstance(chosen, dict):
        yield from (((MARKDOWN, str(name)), name, options) for name, options in chosen.items())
    for position, entry in enumerate(chosen if isinstance(chosen, list) else ()):
        if isinstance(entry, dict):
            yield from (((MARKDOWN, position, str(name)), name, options) for name, options in entry.items())
        else:
            yield (MARKDOWN, position), entry, None


def extension_fault(name: object) -> str:
    """Say why an extension may not be named, or nothing."""
    if isinstance(name, str) and name in trusted_names.EXTENSIONS:
        return ""
    if not isinstance(name, str):
        return f"{MARKDOWN}: a name of an extension must be text"
    near = suggestion(name, trusted_names.EXTENSIONS) if ":" not in name else ""
    return (
        f'{MARKDOWN}: "{name[:80]}" is no extension that may be named: importing another runs code{near}; known ones '
        "are those of Python-Markdown, pymdownx and material"
    )


def _extension_faults(config: Mapping[str, Any]) -> Iterator[tuple[store.Place, str]]:
    """Yield what is wrong with the list of extensions, their names and their options."""
    chosen = config.get(MARKDOWN)
    if chosen is not None and not isinstance(chosen, (list, dict)):
        yield (MARKDOWN,), f"{MARKDOWN} must be a list of extensions, as: [admonition, toc]"
    names = {name for _, name, _ in named_extensions(config) if isinstance(name, str)}
    for place, name, options in named_extensions(config):
        if fault := extension_fault(name):
            yield place, fault
        elif options is not None and not isinstance(options, dict):
            yield place, f"{MARKDOWN}: the options of {name} must be a table"
        elif "codehilite" in name.split("."):
            yield from ((place, message) for message in _codehilite_faults(options or {}, names))
        yield from ((place + inner, message) for inner, message in _option_faults(str(name), options))


def _codehilite_faults(options: Mapping[str, Any], names: Iterable[str]) -> Iterator[str]:
    """Yield why codehilite may not be used so: it hands on all that it is given, and Pygments writes files if asked."""
    if "pymdownx.superfences" not in names:
        yield "codehilite hands the words of a page's fences to Pygments; name pymdownx.superfences beside it"
    for key in sorted(map(str, options.keys() - _CODEHILITE)):
        yield f'codehilite: unknown option "{key[:40]}"{nearest(key, _CODEHILITE)}'


def _option_faults(name: str, value: object) -> Iterator[tuple[store.Place, str]]:
    """Yield options, at any depth, that name folders outside of the site, or let Markdown fetch or leave them."""
    for place, part in entries(value):
        key = place[-1] if place else ""
        if key in _PATHS or (len(place) > 1 and place[-2] in _PATHS):
            if isinstance(part, list):
                continue  # its items follow
            if not isinstance(part, str) or not _lies_in(part, _READ_FROM):
                yield place, f"{name}: {_PATHS[key == _PATHS[1]]} must lie in docs/, snippets/ or overrides/"
        elif key == "url_download" and part is not False:
            yield place, f"{name}: url_download fetches what a page names; keep the text in the repository"
        elif key == "restrict_base_path" and part is not True:
            yield place, f"{name}: restrict_base_path must stay true, or pages read any file"
    if name.endswith("pymdownx.snippets") and "base_path" not in (value if isinstance(value, dict) else {}):
        yield (), f"{name}: say base_path, as: [docs, snippets]; without it pages read any file of the repository"


def _object_faults(config: Mapping[str, Any]) -> Iterator[tuple[store.Place, str]]:
    """Yield each `!!python/name` that names what draws nothing."""
    for place, value in entries(config):
        if isinstance(value, store.PythonName) and (fault := object_fault(value)):
            yield place, fault


def object_fault(name: str) -> str:
    """Say why an object may not be named, or nothing."""
    if name in trusted_names.OBJECTS:
        return ""
    packages = sorted({known.split(".")[0] for known in trusted_names.OBJECTS})
    packages[packages.index("capture")] = "capture.site"
    if not any(name.startswith(f"{package}.") for package in packages):
        return f"names {name[:80]}; only objects of {', '.join(packages)} are imported, and of these what draws text"
    near = nearest(name, trusted_names.OBJECTS)
    return f"names {name[:80]}, which does not exist or draws nothing on a page{near}"


def _structure_faults(config: Mapping[str, Any]) -> Iterator[tuple[store.Place, str]]:
    """Yield settings of another type than MkDocs reads."""
    for key, types, form in (
        ("nav", list, "a list of pages"),
        ("plugins", (list, dict), "a list of plugins, as: [search, captured]"),
        ("extra", dict, "a table"),
        ("theme", (str, dict), "a theme's name, or a table with its name"),
    ):
        if config.get(key) is not None and not isinstance(config[key], types):
            yield (key,), f"{key} must be {form}"
    for place, value in entries(config["nav"]) if isinstance(config.get("nav"), list) else ():
        if not isinstance(value, (str, list, dict)):
            yield ("nav", *place), "nav: an entry is a page, or a title with a page or a list of them"


def _folder_faults(config: Mapping[str, Any]) -> Iterator[tuple[store.Place, str]]:
    """Yield folders that are not where a check reads and a reviewer looks."""
    if config.get("docs_dir", "docs") != "docs":
        yield ("docs_dir",), "docs_dir must be docs, which is what the check reads"
    if config.get("site_dir", "site") != "site":
        yield ("site_dir",), "site_dir must be site: a build empties that folder"
    extra = config.get("extra")
    table = extra.get("capture") if isinstance(extra, dict) else None
    verified = table.get("verification") if isinstance(table, dict) else None
    if isinstance(verified, str) and verified and not _lies_in(verified, ()):
        yield ("extra", "capture", "verification"), "extra.capture.verification must lie in the repository"


def _theme_faults(config: Mapping[str, Any]) -> Iterator[tuple[store.Place, str]]:
    """Yield a theme that is none of those known, or folders of templates that no reviewer is told of."""
    theme = config.get("theme")
    table = theme if isinstance(theme, dict) else {"name": theme}
    name = table.get("name")
    if name is not None and not (isinstance(name, str) and name in trusted_names.THEMES):
        words = nearest(str(name), trusted_names.THEMES)
        yield ("theme", "name"), f"theme.name must be one of {', '.join(sorted(trusted_names.THEMES))}{words}"
    folder = table.get("custom_dir")
    if folder is not None and (not isinstance(folder, str) or folder.rstrip("/") not in _TEMPLATES):
        message = f"theme.custom_dir must be {_OVERRIDES}: templates are code, named to the reviewer if there"
        yield ("theme", "custom_dir"), message


def _plugin_faults(config: Mapping[str, Any]) -> Iterator[tuple[store.Place, str]]:
    """Yield plugins that may not be named, and a list of them that lacks the one that draws results."""
    chosen = config.get("plugins")
    if not isinstance(chosen, (list, dict)):
        return
    entries_: list[_Entry] = [(("plugins", str(name)), name) for name in chosen] if isinstance(chosen, dict) else []
    for position, entry in enumerate(chosen if isinstance(chosen, list) else ()):
        names = list(entry) if isinstance(entry, dict) else [entry]
        entries_ += [(("plugins", position), name) for name in names]
    for place, name in entries_:
        if not isinstance(name, str):
            yield place, "plugins: a name of a plugin must be text"
        elif name not in trusted_names.PLUGINS:
            near = suggestion(name, trusted_names.PLUGINS)
            yield place, f'plugins: "{name[:80]}" is none that may be named: a plugin runs code{near}'
    if not any(name == "captured" for _, name in entries_):
        yield ("plugins",), "plugins lacks captured, without which no page shows a result; add it"


def _environment_faults(places: store.SettingPlaces) -> Iterator[tuple[store.Place, str]]:
    """Yield each `!ENV` that would decide what runs, or publish a variable of others; never its value."""
    for place, names in places.variables.items():
        if not place or place[0] in _DECIDING:
            yield place, f"{place[0] if place else 'mkdocs.yml'} must not depend on the environment; write it out"
            continue
        for name in names:
            if not name.startswith(trusted_names.VARIABLES):
                message = f"!ENV reads {name[:80]}; only variables named {trusted_names.VARIABLES}… may reach the site"
                yield place, message


def entries(value: object) -> Iterator[_Entry]:
    """Yield place and value of everything in plain data that is no table; how much that is was bounded in reading."""
    waiting: list[_Entry] = [((), value)]
    while waiting:
        place, part = waiting.pop(0)
        if isinstance(part, dict):
            waiting += [((*place, str(key)), child) for key, child in part.items()]
            waiting += [((*place, str(key)), key) for key in part if isinstance(key, store.PythonName)]
        else:
            yield place, part
            waiting += [((*place, at), child) for at, child in enumerate(part if isinstance(part, list) else ())]


def _lies_in(path: str, folders: Iterable[str]) -> bool:
    """Tell whether a relative path stays in the handbook, and in one of the folders where any are given."""
    parts = posixpath.normpath(path.replace("\\", "/")).split("/")
    inside = parts[0] not in ("", "..") and ":" not in path
    return inside and (not folders or parts[0] in folders)
