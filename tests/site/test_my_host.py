"""The reader's host: chosen once in the header, followed by every card, in a headless Chromium."""

import pytest
from harness.browsers import chosen, find, find_all, served, sideways, size, tab, wait
from harness.handbooks import GATES, host, make_handbook, record, script

pytestmark = pytest.mark.browser

HOSTS = [
    host("epyc", "EPYC"),
    host("a100", "A100", "cuda"),
    host("h200", "H200", "cuda"),
    host("odd", "</script>Odd & long title of a host", isa="AVX512"),
]
CUDA = {"gates": GATES | {"cuda": True}}
ALL = script("print()\n", title="Everywhere")
NEEDS = script("print()\n", title="Streams", needs=["cuda"])
CARDS = "\n".join(f"```capture{options}\n{name}\n```\n" for name, options in (
    ("x/all", ""), ("x/gpu", ""), ("x/few", ""), ("x/all", ' host="epyc"'),
))  # fmt: skip
PAGES = {
    "index.md": "# Start\n\nHello.\n\n[on](one.md)\n",
    "one.md": f"# One\n\n{CARDS}\n[on](two.md)\n",
    "two.md": f"# Two\n\n{CARDS}\n",
}
RECORDS = [
    record("x/all", "epyc", "epyc\n" * 3),
    record("x/all", "a100", "a100\n", **CUDA),
    record("x/all", "h200", "h200\n" * 20, **CUDA),
    record("x/all", "odd", "odd\n"),
    record("x/gpu", "a100", "a100\n", **CUDA),
    record("x/few", "epyc", "epyc\n"),
    record("x/few", "a100", "a100\n", **CUDA),
]
NO_STORAGE = (
    "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError') } })"
)
FIRST = {"capture-x-all": "epyc", "capture-x-gpu": "a100", "capture-x-few": "epyc", "capture-x-all-2": "epyc"}
H200 = {"capture-x-all": "h200", "capture-x-gpu": "a100", "capture-x-few": "a100", "capture-x-all-2": "epyc"}


def book(folder):
    return make_handbook(folder, {"x/all": ALL, "x/gpu": NEEDS, "x/few": ALL}, HOSTS, RECORDS, PAGES)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Build one handbook whose pages are fetched and put in place without loading anew, and serve it."""
    with served(book(tmp_path_factory.mktemp("book"))) as url:
        yield url


@pytest.fixture
def browser(driver, address):
    """Open a page as a reader who was never here."""
    size(driver, 1280)
    driver.get(f"{address}/one/")
    driver.execute_script("localStorage.clear()")
    driver.get_log("browser")
    driver.get(f"{address}/one/")
    return driver


def pick(browser, label):
    """Choose a host in the header, as a click on its entry does."""
    find(browser, f".capture-mine option[value='{label}']").click()


def mine(browser):
    return find(browser, ".capture-mine select").get_attribute("value")


def notes(browser):
    return {item.find_element("xpath", "..").get_attribute("id"): item.text
            for item in find_all(browser, ".capture__instead")}  # fmt: skip


def test_a_host_picked_in_the_header_is_shown_everywhere(browser, address):
    """On this page, on others and after loading anew; a card that the author pinned keeps its host."""
    assert chosen(browser) == FIRST
    assert mine(browser) == ""
    pick(browser, "h200")
    for page in ("one", "two", "one"):
        assert chosen(browser) == H200, page
        assert mine(browser) == "h200"
        browser.get(f"{address}/{page}/")
    pick(browser, "")
    assert chosen(browser) == FIRST
    browser.get(f"{address}/two/")
    assert chosen(browser) == FIRST


def test_a_card_says_which_host_stands_in_and_why(browser):
    """The nearest captured host, a GPU for a GPU, and the reason; nothing where the reader's own is shown."""
    pick(browser, "h200")
    assert notes(browser) == {
        "capture-x-gpu": "Not captured on H200 yet. Shown: A100.",
        "capture-x-few": "Not captured on H200 yet. Shown: A100.",
    }
    pick(browser, "epyc")
    assert notes(browser) == {"capture-x-gpu": "Not captured on EPYC: needs cuda. Shown: A100."}
    assert "EPYC: 1 of the results here" in find(browser, ".capture-mine [role=status]").get_attribute("textContent")
    tab(browser, "capture-x-gpu", "epyc").click()
    assert notes(browser) == {}
    pick(browser, "")
    assert notes(browser) == {}


def test_a_tab_makes_the_same_choice(browser):
    """The header follows a click on a tab, in a pinned card too, and a host without a result is no choice."""
    tab(browser, "capture-x-all", "h200").click()
    assert (mine(browser), chosen(browser)) == ("h200", H200)
    tab(browser, "capture-x-all-2", "a100").click()
    assert mine(browser) == "a100"
    assert set(chosen(browser).values()) == {"a100"}
    tab(browser, "capture-x-few", "odd").click()
    assert mine(browser) == "a100"


def test_the_choice_survives_a_page_put_in_place_without_loading(browser):
    """The theme exchanges the page under the header; its cards follow the host chosen before, and can be used."""
    browser.execute_script("window.same = 1")
    pick(browser, "h200")
    link = find(browser, ".md-content a[href$='two/']")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", link)
    link.click()
    wait(lambda: browser.current_url.endswith("/two/") and find(browser, "h1").text.startswith("Two"))
    assert browser.execute_script("return window.same") == 1
    wait(lambda: chosen(browser) == H200)
    assert len(find_all(browser, ".capture-mine")) == 1
    browser.execute_script("arguments[0].click()", tab(browser, "capture-x-all", "odd"))  # the page may still scroll
    assert mine(browser) == "odd"
    assert chosen(browser)["capture-x-few"] == "epyc"


def test_a_page_that_the_browser_kept_follows_a_later_choice(browser, address):
    """Going back shows the host that was chosen meanwhile."""
    browser.get(f"{address}/two/")
    pick(browser, "h200")
    browser.back()
    wait(lambda: browser.current_url.endswith("/one/"))
    assert wait(lambda: chosen(browser) == H200 and mine(browser) == "h200")


def test_a_page_without_results_has_the_control_too(browser, address):
    """A reader chooses where he starts."""
    browser.get(f"{address}/")
    names = [item.get_attribute("textContent") for item in find_all(browser, ".capture-mine option")]
    assert names == ["any host", "EPYC", "A100", "H200", "</script>Odd & long title of a host"]
    pick(browser, "h200")
    browser.get(f"{address}/one/")
    assert chosen(browser) == H200


def test_the_control_by_keyboard(browser):
    """It is a stop of the Tab key with a name and a ring; arrows choose."""
    select = find(browser, ".capture-mine select")
    assert browser.execute_script("return arguments[0].labels[0].textContent", select).startswith("My host")
    browser.execute_script("document.querySelector('.md-logo').focus()")
    for _ in range(6):
        browser.switch_to.active_element.send_keys("\ue004")
        if browser.switch_to.active_element == select:
            break
    assert browser.switch_to.active_element == select
    assert browser.execute_script("return getComputedStyle(arguments[0]).outlineStyle", select) == "solid"
    select.send_keys("\ue015", "\ue015", "\ue015")
    assert (mine(browser), chosen(browser)) == ("h200", H200)


def test_without_storage_the_choice_lasts_as_long_as_the_page(browser, address):
    """A browser that keeps nothing does no harm: no error, and header and tabs work."""
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NO_STORAGE})
    try:
        browser.get(f"{address}/one/")
        pick(browser, "h200")
        assert chosen(browser) == H200
        tab(browser, "capture-x-all", "a100").click()
        assert mine(browser) == "a100"
        errors = [entry["message"] for entry in browser.get_log("browser") if "capture" in entry["message"]]
        assert errors == []
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    browser.get(f"{address}/one/")
    assert chosen(browser) == FIRST


def test_a_host_that_is_gone_is_no_choice(browser, address):
    """A name remembered from an older site leaves each card as its page chose it."""
    browser.execute_script("localStorage.setItem('capture.host', 'gone')")
    browser.get(f"{address}/one/")
    assert (mine(browser), chosen(browser), notes(browser)) == ("", FIRST, {})


def test_the_reader_keeps_his_place(browser):
    """Cards above grow; the heading that he reads does not move."""
    size(browser, 390)
    card = find(browser, "#capture-x-few")
    browser.execute_script("scrollTo({top: arguments[0].getBoundingClientRect().top + scrollY - 80})", card)
    top = "return arguments[0].getBoundingClientRect().top"
    before = browser.execute_script(top, card)
    pick(browser, "h200")
    assert abs(browser.execute_script(top, card) - before) < 2


@pytest.mark.parametrize("width", [390, 320])
def test_the_control_fits_a_telephone(browser, address, width):
    """It is in the header, large enough for a finger, and no page scrolls sideways."""
    size(browser, width)
    browser.get(f"{address}/one/")
    pick(browser, "odd")
    assert sideways(browser) == [0]
    box = find(browser, ".capture-mine select").rect
    assert box["height"] >= 24
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert find(browser, ".md-header [for=__search]").is_displayed()


def test_without_scripts_there_is_no_control(browser, address):
    """A choice that nothing would follow is not offered."""
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(f"{address}/one/")
        assert find_all(browser, ".capture-mine") == []
        assert "</script>Odd" not in find(browser, "h1").text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
