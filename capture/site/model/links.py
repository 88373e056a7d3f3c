"""Addresses on a card: into the site where the page knows where that is, else into the repository."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from capture.site.model.card_view import Actions
from capture.site.model.site import Settings
from capture.snippet.snippet import Snippet

HOSTS = "hosts"  # the folder of the pages about hosts


@dataclass(frozen=True)
class Links:
    """`base` is the site's root as seen from the page, such as `../`; `page` the page's path from the root.

    With `files` a page's address is that of its file, `name.html`, as a site without a server needs it.
    """

    settings: Settings
    base: str | None = None
    page: str | None = None
    files: bool = False

    def record(self, label: str, snippet_id: str) -> str | None:
        """Return the record: the copy in the site, which needs no network, or the file in the repository."""
        if self.base is not None:
            return f"{self.base}captures/{quote(label)}/{quote(snippet_id)}.yaml"
        return self.view(f"docs/captures/{label}/{snippet_id}.yaml")

    def host(self, label: str) -> str | None:
        """Return the page about a host: in the site, or its facts in the repository."""
        if self.base is not None:
            return f"{self.base}{HOSTS}/{quote(label)}/{'index.html' if self.files else ''}"
        return self.view(f"docs/captures/{label}/host.yaml")

    def script(self, snippet: Snippet) -> str | None:
        """Return the script as a file to keep."""
        return f"{self.base}{quote(snippet.path)}" if self.base is not None else self.view(snippet.path)

    def lesson(self, path: str) -> str | None:
        """Return another page, given as `docs/chapter/name.md`: in the site, or its source in the repository."""
        if self.base is None:
            return self.view(path)
        bare = path.removeprefix("docs/").removesuffix(".md")
        if self.files:
            return f"{self.base}{quote(bare)}.html"
        folder = bare.removesuffix("index") if bare.endswith("/index") or bare == "index" else f"{bare}/"
        return f"{self.base}{quote(folder)}"

    def view(self, path: str) -> str | None:
        """Return a file's page in the repository."""
        root = self.settings.repository
        return f"{root}{self.settings.view_uri}{quote(path)}" if root else None

    def edit(self, path: str) -> str | None:
        """Return the editor of a file in the repository."""
        root = self.settings.repository
        return f"{root}{self.settings.edit_uri}{quote(path)}" if root else None

    def report(self, snippet: Snippet) -> str | None:
        """Return a new issue about a result, with a title that says which."""
        if not self.settings.repository:
            return None
        subject = f"{snippet.id} on {self.page}" if self.page else snippet.id
        return f"{self.settings.repository}{self.settings.report_uri}?{urlencode({'title': subject})}"

    def actions(self, snippet: Snippet) -> Actions:
        """Return all of them for one snippet."""
        return Actions(
            download=self.script(snippet),
            edit_snippet=self.edit(snippet.path),
            edit_page=self.edit(self.page) if self.page else None,
            report=self.report(snippet),
        )
