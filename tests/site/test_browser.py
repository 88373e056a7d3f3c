"""The built site as a reader meets it, in a headless Chromium."""

import json
import time

import pytest
from harness.browsers import CONTRAST, RECORDING, REFUSING, chosen, chromium, find, find_all, hits, serve, tab, wait
from harness.executions import case
from harness.handbooks import GATES, host, make_handbook, record, script

pytestmark = pytest.mark.browser

SPEED = script('"""Times."""\n\nprint("ratio 7.3x")\n', title="Speed", values={"ratio": r"ratio ([\d.]+)x"})
OTHER = script("print(1)\n", title="Other")
LONG = script("\n".join(f"x{number} = {number}" for number in range(60)), title="Long")
CUDA = script("import torch\n", title="Streams", needs=["cuda"])
HOSTILE = (
    "</code></pre></section><script>window.ran = 1; document.title = 'ran'</script>\n"
    "<img src=x onerror='window.ran = 1'>\n"
    "{{ config }} {% include 'x' %}\n```\n# no heading\n\x02wzxhzdk:0\x03 \x1b[31m \u202e%5\u202c &amp;\n"
)
WIDE = "|半精度     |ok  |\nop\tms\n\t0.3\n[" + ", ".join(map(str, range(2000))) + "]\n"
PAGE = """\
---
description: a page
---

# Page

It is `#!captured x/speed ratio` times, and `#!captured x/speed ratio@h200` on another host.

```capture
x/speed
```

## Other

```capture
x/other
```

## Hostile

```capture
x/hostile
```

## Long and wide

```capture
x/long
```

```capture
x/cuda
```

```capture host="epyc"
x/speed
```
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Build one handbook and serve it."""
    folder = tmp_path_factory.mktemp("book")
    hosts = [host("epyc", "EPYC"), host("h200", "H200", "cuda"), host("local", "Mine")]
    cuda = {"gates": GATES | {"cuda": True}}
    records = [
        record("x/speed", "epyc", "ratio 7.3x\nonly the outputword\n", stderr="a warning\n"),
        record("x/speed", "h200", "ratio 0.4x\n", **cuda),
        record("x/other", "epyc", "one\n"),
        record("x/other", "h200", "two\n", **cuda),
        record("x/hostile", "epyc", HOSTILE, stderr=HOSTILE),
        record("x/long", "epyc", WIDE + "row\n" * 60),
        record("x/cuda", "h200", "three\n", **cuda),
    ]
    snippets = {"x/speed": SPEED, "x/other": OTHER, "x/hostile": script("print()\n"), "x/long": LONG, "x/cuda": CUDA}
    book = make_handbook(folder, snippets, hosts, records, {"index.md": "# Start\n\nHello.\n", "page.md": PAGE})
    done = book.build()
    assert done.returncode == 0, done.stderr
    server = serve(folder / "site")
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = chromium(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, address):
    """Open the page as a reader who was never here."""
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.get(f"{address}/page/")
    browser.execute_script("localStorage.clear()")
    browser.get_log("performance")
    browser.get_log("browser")
    browser.get(f"{address}/page/")
    return browser


def test_choosing_a_host_chooses_it_everywhere_and_is_remembered(page, address):
    """Cards follow where they have a result; one that the author pinned, and one without, keep theirs."""
    before = chosen(page)
    assert before == dict.fromkeys(before, "epyc") | {"capture-x-cuda": "h200"}
    tab(page, "capture-x-speed", "h200").click()
    after = {
        "capture-x-speed": "h200", "capture-x-other": "h200", "capture-x-hostile": "epyc", "capture-x-long": "epyc",
        "capture-x-cuda": "h200", "capture-x-speed-2": "epyc",
    }  # fmt: skip
    assert chosen(page) == after
    page.get(f"{address}/page/")
    assert chosen(page) == after
    assert page.execute_script("return localStorage.getItem('capture.host')") == "h200"


def test_a_host_without_a_result_says_so_in_its_own_card_only(page):
    """The panel names gate, answer and command; nothing else changes."""
    tab(page, "capture-x-cuda", "epyc").click()
    panel = find(page, "#capture-x-cuda [data-host=epyc][role=tabpanel]")
    assert "Not captured on EPYC: needs cuda." in panel.text
    assert "torch.cuda.is_available() is False on EPYC" in panel.text
    assert "capture run x/cuda" in panel.text
    assert chosen(page)["capture-x-speed"] == "epyc"
    assert page.execute_script("return localStorage.getItem('capture.host')") is None


def test_the_clicked_tab_stays_where_it_is(page):
    """Cards above grow or shrink with the choice; the reader's place does not move."""
    item = tab(page, "capture-x-other", "h200")
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", item)
    before = item.rect["y"] - page.execute_script("return scrollY")
    item.click()
    assert abs(item.rect["y"] - page.execute_script("return scrollY") - before) < 2


def test_tabs_by_keyboard(page):
    """One stop for the row; arrows move and choose, Home and End jump, and the ARIA states follow."""
    first = tab(page, "capture-x-speed", "epyc")
    page.execute_script("arguments[0].focus()", first)
    keys = {"right": "\ue014", "left": "\ue012", "home": "\ue011", "end": "\ue010"}
    for key, expected in (("right", "h200"), ("left", "epyc"), ("left", "local"), ("home", "epyc"), ("end", "local")):
        page.switch_to.active_element.send_keys(keys[key])
        active = page.switch_to.active_element
        assert active.get_attribute("data-host") == expected
        assert active.get_attribute("aria-selected") == "true"
        assert find(page, f"#{active.get_attribute('aria-controls')}").is_displayed()
    stops = [item.get_attribute("tabindex") for item in find_all(page, "#capture-x-speed [role=tab]")]
    assert stops == ["-1", "-1", "0"]


def test_scroll_boxes_by_keyboard(page):
    """Every box that scrolls can be reached, has a name, and scrolls by the arrow keys."""
    boxes = find_all(page, ".capture__scroll")
    assert all(box.get_attribute("tabindex") == "0" and box.get_attribute("aria-label") for box in boxes)
    box = find(page, "#capture-x-long--epyc-stdout .capture__scroll")
    page.execute_script("arguments[0].focus()", box)
    for _ in range(3):
        box.send_keys("\ue014")
    assert wait(lambda: page.execute_script("return arguments[0].scrollLeft", box) > 0)


@pytest.mark.parametrize("clipboard", [RECORDING, REFUSING], ids=["clipboard", "fallback"])
def test_copying_source_and_output(page, address, clipboard):
    """Both are copied as they were captured, with the clipboard's newer way and without it."""
    permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
    page.execute_cdp_cmd("Browser.grantPermissions", {"origin": address, "permissions": permissions})
    page.execute_script(clipboard)
    find(page, "#capture-x-speed .capture__acts [data-copy]").click()
    find(page, "#capture-x-speed--epyc .capture__badge [data-copy]").click()
    taken = wait(lambda: len(found := page.execute_script("return window.taken")) == 2 and found)
    assert taken == ['"""Times."""\n\nprint("ratio 7.3x")\n', "ratio 7.3x\nonly the outputword\n"]
    assert wait(lambda: "copied" in find(page, "#capture-x-speed .capture__acts").text)


@case("render-tabs")
def test_copied_output_keeps_tabs_and_width(case, page):
    """Tabs and wide characters come out as they went in."""
    text = page.execute_script("return document.querySelector('#capture-x-long--epyc-stdout code').textContent")
    assert text.startswith("|半精度     |ok  |\nop\tms\n\t0.3\n[0, 1, ")


def test_long_texts_open(page):
    """A long source and a long output show their beginning, and all of it on demand."""
    for part in ("#capture-x-long .capture__acts", "#capture-x-long--epyc .capture__badge"):
        button = find(page, f"{part} [data-expand]")
        box = find(page, f"#{button.get_attribute('data-expand')} .capture__scroll")
        low = box.size["height"]
        button.click()
        assert box.size["height"] > low
        assert button.get_attribute("aria-expanded") == "true"
        button.click()
        assert box.size["height"] == low


def test_the_record_and_the_script_are_one_link_away(page):
    """The record is the YAML beside the page, the download the script itself."""
    link = find(page, "#capture-x-speed--epyc .capture__record")
    download = find(page, "#capture-x-speed .capture__acts a[download]").get_attribute("href")
    fetched = page.execute_async_script(
        "const done = arguments[1]; fetch(arguments[0]).then(r => r.text()).then(done)", download
    )
    assert fetched == SPEED
    link.click()
    assert page.current_url.endswith("/captures/epyc/x/speed.yaml")
    assert "snippet: x/speed" in find(page, "body").text


def test_a_value_leads_to_its_card_and_host(page):
    """The link of a value for one host shows that host's output."""
    values = find_all(page, ".cap-value a")
    assert [value.text for value in values] == ["7.3", "0.4"]
    values[1].click()
    wait(lambda: chosen(page)["capture-x-speed"] == "h200")
    assert chosen(page)["capture-x-other"] == "epyc"


def test_a_value_says_what_it_was_got_on(page):
    """To sight, and to those who hear the page."""
    value = find(page, ".cap-value a")
    for name in ("title", "aria-description"):
        assert "AMD EPYC" in value.get_attribute(name)
        assert "torch 2.13.0+cpu" in value.get_attribute(name)


def test_search_finds_a_word_of_the_output(page, address):
    """A word that occurs in captured output alone leads to its page."""
    page.get(f"{address}/")
    find(page, "[data-md-component=search-query]").click()
    find(page, "[data-md-component=search-query]").send_keys("outputword")
    assert "/page/" in hits(page, "/page/")[0]


@case("render-html")
def test_hostile_output_shows_and_does_nothing(case, page):
    """No script ran, no picture was asked for, and every character can be read."""
    assert page.execute_script("return window.ran") is None
    assert page.title.startswith("Page")
    assert find_all(page, ".capture img, .capture script, .capture h1") == []
    text = page.execute_script("return document.querySelector('#capture-x-hostile--epyc-stdout code').textContent")
    assert text == HOSTILE.rstrip("\n").translate(
        {2: "\\x02", 3: "\\x03", 27: "\\x1b", 0x202E: "\\u202e", 0x202C: "\\u202c"}
    )
    assert len(find_all(page, "section.capture")) == 6


@pytest.mark.parametrize("width", [390, 320])
def test_no_page_scrolls_sideways(page, address, width):
    """Wide output scrolls in its own box on a telephone."""
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    )
    page.get(f"{address}/page/")
    assert page.execute_script("return [document.documentElement.scrollWidth, innerWidth]") == [width, width]
    outside = page.execute_script(
        "return [...document.querySelectorAll('.capture')]"
        ".filter(card => card.getBoundingClientRect().right > innerWidth).length"
    )
    assert outside == 0


def test_right_to_left(page):
    """In a page that reads from the right, code still reads from the left and the arrows follow the eye."""
    page.execute_script("document.body.dir = 'rtl'")
    assert page.execute_script("return getComputedStyle(document.querySelector('.capture pre')).direction") == "ltr"
    first = tab(page, "capture-x-speed", "epyc")
    page.execute_script("arguments[0].focus()", first)
    first.send_keys("\ue012")
    assert page.switch_to.active_element.get_attribute("data-host") == "h200"
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    first, last = page.execute_script(
        "const day = [...document.querySelectorAll('.capture time')].find((time) => time.offsetParent).firstChild;"
        "return [0, day.length - 1].map((from) => { const range = document.createRange();"
        "  range.setStart(day, from); range.setEnd(day, from + 1); return range.getBoundingClientRect().x; })"
    )
    assert first < last, "29 Nov 2026, not Nov 2026 29"


def test_opening_a_page_asks_this_machine_only(page):
    """No font, script, picture or count comes from elsewhere, and nothing fails to load."""
    time.sleep(1)
    asked = set()
    for entry in page.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.add(message["params"]["request"]["url"])
    assert len(asked) > 5
    foreign = [url for url in asked if not url.startswith(("http://127.0.0.1:", "data:", "blob:http://127.0.0.1:"))]
    assert foreign == []
    assert [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_no_id_stands_twice(page):
    """Not even after the theme's own script has added its ids."""
    time.sleep(0.5)
    doubled = page.execute_script(
        "const seen = {}; for (const e of document.querySelectorAll('[id]')) seen[e.id] = (seen[e.id] || 0) + 1;"
        "return Object.keys(seen).filter(id => seen[id] > 1)"
    )
    assert doubled == []


def test_without_scripts_every_host_can_be_read(browser, address):
    """Panels stand below each other under their hosts' names, whole; dead buttons are not shown."""
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(f"{address}/page/")
        text = find(browser, "#capture-x-speed").text
        assert text.index("ratio 7.3x") < text.index("H200") < text.index("ratio 0.4x")
        assert "Not captured on this machine yet." in text
        assert not find(browser, "#capture-x-speed [role=tablist]").is_displayed()
        assert not [item for item in find_all(browser, ".capture button") if item.is_displayed()]
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_told_from_its_ground(page, address, scheme):
    """4.5:1 for every text of a page, in both schemes, with everything unfolded."""
    page.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    page.get(f"{address}/page/")
    page.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    time.sleep(0.5)
    assert page.execute_script(CONTRAST) == {}
