"""A report in Debian's chromium, driven by Playwright, where both are installed (`make test-browser`)."""

import shutil

import pytest
from typer.testing import CliRunner

from cli.main import app

pytestmark = pytest.mark.browser
CHROMIUM = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
SYSTEMS = ("logistic_r4", "henon", "standard_map", "circle_map_quasiperiodic")
VIEW = "document.querySelectorAll('figure.plot')[{}].plot.panels.map(panel => panel.view)"
ROWS = "[...document.querySelectorAll('#systems tbody tr')]"
SHOWN = f"{ROWS}.filter(row => !row.hidden).map(row => row.querySelector('small').textContent)"
EXPONENTS = f"{ROWS}.map(row => Number(row.cells[4].dataset.v))"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    result = CliRunner().invoke(app, ["report", str(folder), *SYSTEMS, "--jobs", "1"])
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is missing: pip install '.[browser]'")
    if CHROMIUM is None:
        pytest.skip("there is no chromium; on Debian: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM)
        yield running
        running.close()


@pytest.fixture
def opened(browser, report):
    """Opens a page of the report; afterwards nothing may have gone wrong, nor been asked of a network."""
    trouble, asked, pages = [], [], []

    def open_page(name, **settings):
        page = browser.new_page(**settings)
        pages.append(page)
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("requestfailed", lambda request: trouble.append(request.url))
        page.on("request", lambda request: asked.append(request.url))
        page.goto((report / name).as_uri())
        return page

    yield open_page
    for page in pages:
        page.close()
    assert trouble == []
    assert {url[:5] for url in asked} <= {"file:", "data:"}


@pytest.mark.parametrize("name", ["index.html", *(f"systems/{one}.html" for one in SYSTEMS)])
def test_every_page_loads(opened, name):
    page = opened(name)
    assert page.locator("h1").count() == 1
    assert page.locator("figure.plot canvas").count() >= (0 if name == "index.html" else 4)
    assert page.evaluate("[...document.querySelectorAll('canvas')].every(one => one.getAttribute('aria-label'))")


def test_the_search_finds(opened):
    page = opened("index.html")
    assert page.locator("#count").text_content() == "4 of 4 systems"
    page.fill("input[name=search]", "HENON")
    assert page.evaluate(SHOWN) == ["henon"]
    page.click("button[type=reset]")
    page.wait_for_function("document.getElementById('count').textContent === '4 of 4 systems'")
    page.select_option("select[name=predicate]", "Chaotic")
    page.select_option("select[name=value]", "FALSE")
    assert page.evaluate(SHOWN) == ["circle_map_quasiperiodic"]
    page.select_option("select[name=regime]", "chaotic")
    assert page.evaluate(SHOWN) == []
    page.click("button[type=reset]")
    page.fill("input[name=least]", "2")
    page.wait_for_function(f"({SHOWN}).length === 2")
    assert page.evaluate(SHOWN) == ["henon", "standard_map"]


def test_a_table_sorts(opened):
    page = opened("index.html")
    head = page.locator("#systems th").nth(4)
    head.locator("button").click()
    up = page.evaluate(EXPONENTS)
    assert up == sorted(up)
    assert head.get_attribute("aria-sort") == "ascending"
    head.locator("button").press("Enter")
    assert page.evaluate(EXPONENTS) == sorted(up, reverse=True)


def test_a_plot_zooms_by_button_wheel_and_keyboard(opened):
    page = opened("systems/logistic_r4.html")
    figure, canvas = page.locator("figure.plot").nth(1), page.locator("figure.plot").nth(1).locator("canvas").first
    picture = "document.querySelectorAll('figure.plot')[1].querySelector('canvas').toDataURL()"
    home, drawn = page.evaluate(VIEW.format(1)), page.evaluate(picture)
    figure.get_by_label("Zoom in").click()
    (x0, x1, *_), *_ = page.evaluate(VIEW.format(1))
    assert x1 - x0 == pytest.approx((home[0][1] - home[0][0]) / 2)
    assert page.evaluate(picture) != drawn
    figure.get_by_label("Show all again").click()
    assert page.evaluate(VIEW.format(1)) == home
    assert page.evaluate(picture) == drawn
    canvas.focus()
    canvas.press("+")
    (a, *_), (b, *_) = page.evaluate(VIEW.format(1))
    assert a == b > home[0][0]  # the panel below zooms along
    canvas.press("0")
    canvas.hover()
    page.mouse.wheel(0, -100)
    page.wait_for_function(f"({VIEW.format(1)})[0][0] > {home[0][0]}")


def test_both_colour_schemes(opened):
    background = "getComputedStyle(document.body).backgroundColor"
    light, dark = (opened("index.html", color_scheme=scheme) for scheme in ("light", "dark"))
    assert light.evaluate(background) != dark.evaluate(background)
    shown = dark.evaluate(background)
    light.click("button.theme")
    assert light.evaluate(background) == shown


@pytest.mark.parametrize("name", ["index.html", "systems/henon.html"])
def test_narrow_screens_scroll_in_one_direction(opened, name):
    page = opened(name, viewport={"width": 340, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 340


def test_evidence_unfolds_and_a_command_can_be_copied(opened):
    page = opened("systems/henon.html")
    evidence = page.locator("table details").first
    assert not evidence.locator("dl").is_visible()
    evidence.locator("summary").press("Enter")
    assert evidence.locator("dl").is_visible()
    assert page.get_by_role("button", name="Copy").count() == 2


def test_a_page_shows_within_a_second_of_work(opened):
    """In time of the processor, since a loaded machine has it later."""
    page = opened("index.html")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(page.url.replace("index.html", "systems/henon.html"))
    page.evaluate("new Promise(requestAnimationFrame)")
    found = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    assert 0.0 < found["TaskDuration"] < 1.0
