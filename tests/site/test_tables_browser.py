"""Tables over all records in a headless Chromium: sorted, filtered, by keyboard, on a telephone, without scripts."""

import pytest
from harness.browsers import CONTRAST, find, find_all, served, sideways, size, wait
from harness.handbooks import GATES, host, make_handbook, record, script

pytestmark = pytest.mark.browser

CLAIMS = {f"any{number}": {"says": f"it gains {number}", "holds": "gain > 1"} for number in range(6)}
CLAIMS["much"] = {"says": "it gains much", "holds": "gain > 10", "where": "gate.cuda"}
GAIN = script("print('gain 2.0x')", values={"gain": r"gain ([\d.]+)x"}, claims=CLAIMS)
SNIPPETS = {f"x/{name}": script("print()") for name in ("a", "b", "c10", "c9", "d_name_that_is_long_enough_to_break")}
SNIPPETS |= {"x/gain": GAIN, "x/gpu": script("print()", needs=["cuda"])}
CUDA = {"gates": GATES | {"cuda": True}}
HOSTS = [host("zen", "Zen"), host("h200", "H200", "cuda")]
RECORDS = [
    *(record(key, "zen", "gain 2.0x\n") for key in SNIPPETS if key != "x/gpu"),
    record("x/gain", "h200", "gain 2.0x\n", **CUDA),
    record("x/gpu", "h200", **CUDA),
    record("x/b", "h200", source_sha256="5" * 64, **CUDA),
]
FENCES = "\n".join(f"## {name}\n\n```capture-table\n{name}\n```\n" for name in ("matrix", "claims", "results h200"))
PAGES = {"index.md": f"# Start\n\n{FENCES}\n[on](two.md)\n", "two.md": "# Two\n\n```capture-table\nmatrix\n```\n"}
ROWS = """
const table = document.querySelector(`[data-table='${arguments[0]}'] table`);
const seen = (cells) => [...cells].filter((cell) => !cell.hidden);
return seen(table.tBodies[0].rows).map((row) => seen(row.cells).map((cell) => cell.textContent.trim()));
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with served(make_handbook(tmp_path_factory.mktemp("book"), SNIPPETS, HOSTS, RECORDS, PAGES)) as url:
        yield url


@pytest.fixture
def browser(driver, address):
    size(driver, 1280)
    driver.get(f"{address}/")
    return driver


def bar(browser, table):
    return find(browser, f".capture-table__bar:has(+ [data-table={table}])")


def choose(browser, table, kind, value):
    """Choose as a click on an option does."""
    (label,) = [
        item for item in bar(browser, table).find_elements("css selector", "label") if item.text.startswith(kind)
    ]
    (option,) = [item for item in label.find_elements("css selector", "option") if item.text == value]
    option.click()


def rows(browser, table="matrix"):
    return browser.execute_script(ROWS, table)


def first(browser, table="matrix"):
    return [row[0] for row in rows(browser, table)]


def status(browser, table="matrix"):
    return bar(browser, table).find_element("css selector", "[role=status]").text


def test_filters_by_gate_chip_state_and_words(browser):
    """Rows by gate and words, columns by chip, rows by a state in a column that shows; the count follows."""
    assert status(browser) == "7 of 7 rows shown"
    choose(browser, "matrix", "gate", "needs cuda")
    assert rows(browser) == [["x/gpu", "needs cuda", "current"]]
    choose(browser, "matrix", "gate", "any gate")
    choose(browser, "matrix", "state", "stale")
    assert first(browser) == ["x/b"]
    choose(browser, "matrix", "chip", "AMD EPYC, AVX2, 2 vCPU (virtual machine)")
    assert status(browser) == "No row fits all of these."
    choose(browser, "matrix", "state", "current")
    assert [len(row) for row in rows(browser)] == [2] * 6
    find(browser, ".capture-table__bar input").send_keys("C1")
    assert first(browser) == ["x/c10"]
    bar(browser, "matrix").find_element("css selector", "button").click()
    assert status(browser) == "7 of 7 rows shown"
    assert len(rows(browser)[0]) == 3


def test_the_ledger_says_what_fails_where(browser):
    """Verdict and host are asked of the same cell; another table of the page keeps its rows."""
    choose(browser, "claims", "verdict", "fails")
    assert first(browser, "claims") == ["it gains much"]
    choose(browser, "claims", "host", "Zen")
    assert status(browser, "claims") == "No row fits all of these."
    choose(browser, "claims", "verdict", "holds")
    assert status(browser, "claims") == "6 of 7 rows shown"
    assert status(browser) == "7 of 7 rows shown"


def test_a_hosts_results_by_state(browser):
    """What is missing on it can be listed."""
    choose(browser, "results", "state", "missing")
    assert first(browser, "results") == ["x/a", "x/c10", "x/c9", "x/d_name_that_is_long_enough_to_break"]


def test_columns_sort_both_ways_and_back(browser):
    """Numbers by their size; what is empty stays last; the head says how it is sorted."""
    button = find(browser, "[data-table=matrix] thead th .capture-table__sort")
    before = first(browser)
    for mark, wanted in (
        ("ascending", ["x/a", "x/b", "x/c9", "x/c10"]), ("descending", ["x/gpu", "x/gain"]), ("none", before),
    ):  # fmt: skip
        button.click()
        assert first(browser)[: len(wanted)] == wanted
        assert find(browser, "[data-table=matrix] thead th").get_attribute("aria-sort") == mark
    head = find_all(browser, "[data-table=results] thead .capture-table__sort")[2]
    for _ in range(2):
        head.click()
        assert [row[2] for row in rows(browser, "results")][-4:] == [""] * 4


def test_a_link_holds_what_was_chosen(browser):
    """It opens the same view; a value that the site no longer has is left out; back leaves the page at once."""
    choose(browser, "matrix", "state", "stale")
    find(browser, "[data-table=matrix] thead th .capture-table__sort").click()
    link = browser.current_url
    assert link.endswith("/?matrix.state=stale&matrix.sort=1")
    browser.get(link)
    assert first(browser) == ["x/b"]
    assert find(browser, "[data-table=matrix] thead th").get_attribute("aria-sort") == "ascending"
    browser.get(link.replace("stale", "gone").replace("sort=1", "sort=99"))
    assert status(browser) == "7 of 7 rows shown"
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_a_page_put_in_place_without_loading_has_its_controls(browser):
    """Once each, and with nothing of the other page's choice."""
    choose(browser, "matrix", "state", "stale")
    browser.execute_script("window.same = 1; document.querySelector(\".md-content a[href$='two/']\").click()")
    wait(lambda: find(browser, "h1").text.startswith("Two") and find_all(browser, ".capture-table__bar"))
    assert browser.execute_script("return window.same") == 1
    wait(lambda: len(find_all(browser, ".capture-table__bar")) == 1)
    assert status(browser) == "7 of 7 rows shown"


def test_all_of_it_by_keyboard(browser):
    """Every control has a name, a ring, and 24 pixels; Enter on a head sorts."""
    unnamed = browser.execute_script(
        "return [...document.querySelectorAll('.capture-table__bar :is(select, input), .capture-table__sort')]"
        ".filter((e) => !(e.labels?.length || e.textContent.trim() || e.ariaLabel)"
        "  || e.getBoundingClientRect().height < 24)"
        ".map((e) => e.outerHTML)"
    )
    assert unnamed == []
    button = find(browser, "[data-table=matrix] thead th .capture-table__sort")
    browser.execute_script("arguments[0].focus({ focusVisible: true })", button)
    assert browser.execute_script("return getComputedStyle(arguments[0]).outlineStyle", button) == "solid"
    button.send_keys("\ue007")
    assert find(browser, "[data-table=matrix] thead th").get_attribute("aria-sort") == "ascending"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_telephone(browser, address, scheme):
    """No page scrolls sideways, and all text can be read in both schemes."""
    size(browser, 390)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    for page in ("/?matrix.gate=needs+cuda", "/hosts/h200/"):
        browser.get(f"{address}{page}")
        assert sideways(browser) == [0]
        assert browser.execute_script(CONTRAST) == {}


def test_without_scripts_the_whole_table_shows(browser, address):
    """Every row, its links, and no control that would do nothing."""
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(f"{address}/?matrix.gate=needs+cuda")
        assert len(find_all(browser, "[data-table=matrix] tbody tr")) == 7
        assert find_all(browser, ".capture-table__bar, .capture-table__sort") == []
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
