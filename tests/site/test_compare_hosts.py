"""Two hosts of a card side by side, in a headless Chromium."""

import json

import pytest
from harness.browsers import CONTRAST, chosen, find, find_all, serve, sideways, size, tab
from harness.handbooks import GATES, host, make_handbook, record, script

pytestmark = pytest.mark.browser

CUDA = {"gates": GATES | {"cuda": True}}
HOSTS = [host("epyc", "EPYC"), host("a100", "A100", "cuda"), host("h200", "H200", "cuda"), host("arm", "Arm")]
SPEED = "cuda False, torch 2.13.0+cpu\nname  ms\nfloat32   0.50 ms\nbf16_v2  10.00 ms   4\ncount 0\nonly one\nend\n"
FAST = (
    "cuda True, torch 2.14.1+cu130\nname  ms\nfloat32   0.25 ms\nbf16_v2   1.25 ms   4\ncount 3\n"
    "<b>new</b>\nnewer\nend\n"
)
MANY = 700
IDS = ("x/speed", "x/same", "x/long", "x/fails", "x/alone")
PAGE = "# Page\n\n" + "\n".join(f"```capture\n{name}\n```\n" for name in IDS)
RECORDS = [
    record("x/speed", "epyc", SPEED),
    record("x/speed", "a100", SPEED, **CUDA),
    record("x/speed", "h200", FAST, **CUDA),
    record("x/same", "epyc", "same\n"),
    record("x/same", "h200", "same\n", **CUDA),
    record("x/long", "epyc", "".join(f"r{n} {n}\n" for n in range(MANY))),
    record("x/long", "h200", "first\n" + "".join(f"r{n} {n}.5\n" for n in range(MANY)) + "last\n", **CUDA),
    record("x/fails", "epyc", "", stderr="Traceback\nKeyError: 1\n", status="error", exit_code=1),
    record("x/fails", "h200", "fine\n", stderr="a warning\n", **CUDA),
    record("x/alone", "epyc", "alone\n"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Build one handbook and serve it."""
    folder = tmp_path_factory.mktemp("book")
    snippets = {name: script("print()\n", title=name) for name in IDS}
    done = make_handbook(folder, snippets, HOSTS, RECORDS, {"index.md": PAGE}).build()
    assert done.returncode == 0, done.stderr
    server = serve(folder / "site")
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def browser(driver, address):
    """Open the page as a reader who was never here."""
    size(driver, 1280)
    driver.get(address)
    driver.execute_script("localStorage.clear()")
    driver.get(address)
    return driver


def opened(browser, name):
    """Press a card's button and return the comparison."""
    button = find(browser, f"#capture-x-{name} [data-compare]")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'}); arguments[0].focus()", button)
    button.send_keys("\ue007")
    return find(browser, f"#capture-x-{name}-compare")


def lines(browser, box, side):
    """Return kind and text of each line of a side, without what is said of it."""
    return browser.execute_script(
        """const column = arguments[0].querySelectorAll('.capture__column')[arguments[1]].cloneNode(true);
        for (const extra of column.querySelectorAll('.capture__hidden, .capture__ratio')) extra.remove();
        return [...column.querySelectorAll('.capture__line')].map(line =>
          [line.className.split('--')[1] ?? 'same', line.textContent.replace(/\\n$/, '')]);""",
        box, side,
    )  # fmt: skip


def test_lines_that_differ_are_marked(browser):
    """Rows that belong together stand beside each other; a line that the other host lacks says so."""
    box = opened(browser, "speed")
    kinds = [["differs", "differs"], ["same", "same"], ["differs", "differs"], ["differs", "differs"],
             ["differs", "differs"], ["only", "only"], ["none", "only"], ["same", "same"]]  # fmt: skip
    left, right = lines(browser, box, 0), lines(browser, box, 1)
    assert [[a[0], b[0]] for a, b in zip(left, right, strict=True)] == kinds
    assert [text for kind, text in left if kind != "none"] == SPEED.splitlines()
    assert [text for kind, text in right if kind != "none"] == FAST.splitlines()
    assert find(browser, "#capture-x-speed-compare [role=status]").text == "6 of 8 lines differ."


def test_marks_are_signs_and_words_too(browser):
    """A sign for those who see no colour, a word for those who hear the page."""
    box = opened(browser, "speed")
    for kind, sign, word in (("differs", "≠", "differs: "), ("only", "+", "only here: ")):
        line = box.find_element("css selector", f".capture__line--{kind}")
        shown = browser.execute_script("return getComputedStyle(arguments[0], '::before').content", line)
        assert sign in shown
        assert line.get_attribute("textContent").startswith(word)


def test_figures_carry_their_ratio(browser):
    """A figure that differs names its ratio to the other host's; names and versions are no figures."""
    opened(browser, "speed")
    first, second = (
        [(item.text, item.get_attribute("title")) for item in find_all(browser, f"{column} .capture__figure")]
        for column in (".capture__column:first-child", ".capture__column:last-child")
    )
    assert first == [("0.50", "2 times the 0.25 of H200"), ("10.00", "8 times the 1.25 of H200"),
                     ("0", "3 on H200")]  # fmt: skip
    assert second == [("0.25", "0.5 times the 0.50 of EPYC"), ("1.25", "0.125 times the 10.00 of EPYC"),
                      ("3", "0 on EPYC")]  # fmt: skip
    assert [item.text.strip() for item in find_all(browser, ".capture__ratio")] == ["(0.5×)", "(0.125×)"]


def test_each_side_says_what_it_was_got_on(browser):
    """Both badges stand above, and no id or button of the panel comes twice."""
    box = opened(browser, "speed")
    sides = (("EPYC", "AMD EPYC"), ("H200", "H200 + AMD EPYC"))
    for column, (name, chip) in zip(box.find_elements("css selector", ".capture__column"), sides, strict=True):
        assert column.find_element("css selector", ".capture__side").text == name
        assert f"captured on {chip}" in column.find_element("css selector", ".capture__badge").text
        assert column.find_elements("css selector", "button, a") == []
    doubled = browser.execute_script(
        "const ids = [...document.querySelectorAll('[id]')].map(e => e.id); return ids.length - new Set(ids).size"
    )
    assert doubled == 0


def test_the_second_host_is_chosen(browser):
    """At first the one that printed something else; the first side follows the tabs; absent hosts are no choice."""
    box = opened(browser, "speed")
    select = box.find_element("css selector", "select")
    names = [item.text for item in select.find_elements("css selector", "option")]
    assert (select.get_attribute("value"), names) == ("h200", ["A100", "H200"])
    box.find_element("css selector", "option[value=a100]").click()
    assert find(browser, "#capture-x-speed-compare [role=status]").text == "The same output."
    tab(browser, "capture-x-speed", "a100").click()
    sides = [item.text for item in box.find_elements("css selector", ".capture__side")]
    assert sides == ["A100", "H200"]
    tab(browser, "capture-x-speed", "arm").click()
    assert not box.is_displayed()
    assert "Not captured on Arm yet" in find(browser, "#capture-x-speed--arm").text


def test_a_comparison_follows_the_header(browser):
    """An open comparison follows the choice in the header, as tabs do."""
    box = opened(browser, "speed")
    find(browser, ".capture-mine option[value=h200]").click()
    assert [item.text for item in box.find_elements("css selector", ".capture__side")] == ["H200", "EPYC"]
    assert chosen(browser)["capture-x-same"] == "h200"


def test_it_opens_and_closes_by_keyboard(browser):
    """The button says whether it is open; Escape and close give the focus back; the panel returns."""
    box = opened(browser, "speed")
    button = find(browser, "#capture-x-speed [data-compare]")
    panel = find(browser, "#capture-x-speed--epyc")
    for close in ("escape", "close", "toggle"):
        assert (button.get_attribute("aria-expanded"), box.is_displayed(), panel.is_displayed()) == (
            "true",
            True,
            False,
        )
        if close == "escape":
            box.find_element("css selector", "select").send_keys("\ue00c")
        elif close == "close":
            box.find_element("css selector", "[data-compare-close]").send_keys("\ue007")
        else:
            button.send_keys("\ue007")
        assert browser.switch_to.active_element == button
        assert (button.get_attribute("aria-expanded"), box.is_displayed(), panel.is_displayed()) == (
            "false",
            False,
            True,
        )
        button.send_keys("\ue007")


def test_a_failure_is_compared_by_its_stderr(browser):
    """Where stderr is the answer on one host, both are shown, with how the run ended."""
    box = opened(browser, "fails")
    assert [item.text for item in box.find_elements("css selector", ".capture__note")] == ["stdout", "stderr"] * 2
    left, right = lines(browser, box, 0), lines(browser, box, 1)
    assert [text for kind, text in left if kind != "none"] == ["Traceback", "KeyError: 1"]
    assert [text for kind, text in right if kind != "none"] == ["fine", "a warning"]
    assert len(box.find_elements("css selector", ".capture__failure")) == 1


def test_long_outputs_are_compared_in_time(browser):
    """Hundreds of lines on both sides take no second, and none is lost."""
    box = opened(browser, "long")
    spent = browser.execute_script(
        "const start = performance.now(); const b = document.querySelector('#capture-x-long [data-compare]');"
        "b.click(); b.click(); return performance.now() - start"
    )
    assert spent < 1000
    left, right = lines(browser, box, 0), lines(browser, box, 1)
    assert len(left) == len(right)
    assert [text for kind, text in left if kind != "none"][:2] == ["r0 0", "r1 1"]
    assert [text for kind, text in right if kind != "none"][-1] == "last"


def test_equal_outputs_say_so(browser):
    """Nothing is marked."""
    box = opened(browser, "same")
    assert box.find_element("css selector", "[role=status]").text == "The same output."
    assert {kind for kind, _ in lines(browser, box, 0)} == {"same"}


def test_one_result_offers_no_comparison(browser):
    """There is nothing to compare it with."""
    assert len(find_all(browser, "[data-compare]")) == len(find_all(browser, ".capture:not(#capture-x-alone)")) == 4


def test_a_long_line_scrolls_in_its_side(browser):
    """Both sides keep half of the card each, and the end of the line can be reached."""
    box = opened(browser, "speed")
    reach = browser.execute_script(
        """const line = arguments[0].querySelector('.capture__column:last-child .capture__line');
        line.prepend('x'.repeat(300));
        const scroll = line.closest('.capture__scroll');
        scroll.scrollLeft = scroll.scrollWidth;
        return [...arguments[0].querySelectorAll('.capture__column'), scroll, line].map((element) =>
          Math.round(element.getBoundingClientRect().right));""",
        box,
    )  # fmt: skip
    left, right, scroll, line = reach
    assert right - left < left - box.rect["x"] + 2
    assert line <= scroll <= right


@pytest.mark.parametrize("width", [390, 320])
def test_on_a_telephone_the_sides_stand_below_each_other(browser, width):
    """Nothing scrolls sideways but code in its box, and no gaps are left for lines that a side lacks."""
    size(browser, width)
    for name in ("speed", "long", "fails"):
        box = opened(browser, name)
        first, second = (item.rect for item in box.find_elements("css selector", ".capture__column"))
        assert second["y"] >= first["y"] + first["height"] - 1
        assert not any(item.is_displayed() for item in box.find_elements("css selector", ".capture__line--none"))
    assert sideways(browser) == [0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_in_both_schemes(browser, address, scheme):
    """4.5:1 for marks, figures and ratios too, and for what a card says of a host that stands in."""
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.execute_script("localStorage.setItem('capture.host', 'a100')")
    browser.get(address)
    assert find_all(browser, ".capture__instead")
    for name in ("speed", "same", "fails"):
        opened(browser, name)
    assert browser.execute_script(CONTRAST) == {}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_search_knows_nothing_of_it(browser, address):
    """What the comparison and the header say is made in the browser, so the index cannot hold it."""
    index = browser.execute_async_script(
        "fetch(arguments[0]).then(r => r.json()).then(arguments[1])", f"{address}/search/search_index.json"
    )
    assert "only one" in json.dumps(index)
    assert not [word for word in ("compare", "My host", "near", "against") if word in json.dumps(index["docs"])]
