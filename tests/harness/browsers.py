"""A headless Chromium, a file server, and scripts that ask a page questions."""

import contextlib
import functools
import http.server
import shutil
import threading
import time

import pytest

RECORDING = """
window.taken = [];
const old = navigator.clipboard.writeText.bind(navigator.clipboard);
navigator.clipboard.writeText = (text) => { taken.push(text); return old(text); };
"""
REFUSING = """
window.taken = [];
navigator.clipboard.writeText = () => Promise.reject(new Error("no"));
document.addEventListener("copy", () => taken.push(document.activeElement.value));
"""
CONTRAST = """
const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
const over = (colours) => {
  canvas.globalAlpha = 1; canvas.clearRect(0, 0, 1, 1);
  for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
  return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
};
const poor = {};
const walker = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.offsetParent || element.closest(".headerlink")) continue;
  const grounds = [];
  for (let at = element; at; at = at.parentElement) grounds.unshift(getComputedStyle(at).backgroundColor);
  const ground = over(grounds), text = over([...grounds, getComputedStyle(element).color]);
  const [a, b] = [light(ground), light(text)].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  const name = `${element.tagName}.${element.className} ${walker.currentNode.data.trim().slice(0, 20)}`;
  if (ratio < 4.5) poor[name] = ratio.toFixed(2);
}
return poor;
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A file server that says nothing, and serves YAML as text."""

    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".yaml": "text/plain; charset=utf-8"}  # noqa: RUF012

    def log_message(self, *_):
        pass


def serve(folder, kind=Quiet):
    handler = functools.partial(kind, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@contextlib.contextmanager
def served(book):
    """Build a handbook whose pages are fetched and put in place without loading anew; serve it and give its address."""
    text = (book.root / "mkdocs.yml").read_text("utf-8")
    book.write("mkdocs.yml", text.replace("  features:\n", "  features:\n    - navigation.instant\n", 1))
    (book.root / "site").mkdir()
    server = serve(book.root / "site")
    url = f"http://127.0.0.1:{server.server_port}"
    done = book.build({"HANDBOOK_SITE_URL": f"{url}/"})
    assert done.returncode == 0, done.stderr
    yield url
    server.shutdown()


def chromium(profile):
    """Start the system's Chromium; where there is none the test fails and says what to install."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not browser or not driver:
        pytest.fail("the browser tests need Chromium and its driver: apt-get install chromium chromium-driver")
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        pytest.fail('the browser tests need selenium: pip install -e ".[test]"')
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for switch in (
        "headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
        "disable-component-update", "disable-sync", "disable-dev-shm-usage", "window-size=1280,1000",
        f"user-data-dir={profile}",
    ):  # fmt: skip
        options.add_argument(f"--{switch}")
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(driver))


def find(browser, selector):
    return browser.find_element("css selector", selector)


def find_all(browser, selector):
    return browser.find_elements("css selector", selector)


def wait(condition, seconds=20):
    """Ask until the answer is true; an element that a script has replaced, or not made yet, is asked for again."""
    from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException

    end = time.monotonic() + seconds
    last = None
    while time.monotonic() < end:
        try:
            if found := condition():
                return found
        except (NoSuchElementException, StaleElementReferenceException) as fault:
            last = fault
        time.sleep(0.05)
    raise AssertionError("it never came") from last


def hits(browser, page):
    """Return the addresses search offers, once one of them leads to the page: the list is redrawn while it grows."""
    links = ".md-search-result__link"

    def offered():
        found = [hit.get_attribute("href") for hit in find_all(browser, links)]
        return any(page in address for address in found) and found

    return wait(offered)


def chosen(browser):
    """Return the host that each card with tabs shows."""
    return browser.execute_script(
        "const shown = {};"
        "for (const panel of document.querySelectorAll('[role=tabpanel]'))"
        "  if (panel.offsetParent) shown[panel.closest('.capture').id] = panel.dataset.host;"
        "return shown"
    )


def tab(browser, card, label):
    return find(browser, f"#{card} [role=tab][data-host='{label}']")


def size(browser, width):
    """Give the window a width, that of a telephone or of a desk."""
    metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def sideways(browser):
    """Return by how many pixels the page is wider than its window, and which cards reach beyond it."""
    return browser.execute_script(
        "return [document.documentElement.scrollWidth - innerWidth,"
        " ...[...document.querySelectorAll('.capture')]"
        ".filter(card => card.getBoundingClientRect().right > innerWidth).map(card => card.id)]"
    )
