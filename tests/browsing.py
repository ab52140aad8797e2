"""What tests of a page do in a real browser: visit, resize, point at, drag, read."""

import base64
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from lacks import lack

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver") or shutil.which("chromium.chromedriver")
NEEDS_BROWSER = pytest.mark.skipif(
    not (BROWSER and DRIVER),
    reason=lack(
        "chromium or chromedriver", "apt-get install chromium-driver (Ubuntu: snap install chromium)"
    ),
)


@contextmanager
def started(profile: Path) -> Iterator[Any]:
    """The browser, with a profile of its own in a folder."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = BROWSER or ""
    for flag in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        f"--user-data-dir={profile}",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_script_timeout(300)
    try:
        yield driver
    finally:
        driver.quit()


def axe(browser: Any) -> list[str]:
    """What axe finds against the page: rule and element."""
    script = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    browser.execute_script(script)
    found = browser.execute_async_script("axe.run().then(arguments[0])")["violations"]
    return [f"{each['id']}: {node['html'][:120]}" for each in found for node in each["nodes"]]


def words(browser: Any) -> int:
    """So many can be read without opening anything."""
    return int(
        browser.execute_script(
            "const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); let text = '';"
            "while (walker.nextNode()) if (walker.currentNode.parentElement.checkVisibility())"
            " text += ' ' + walker.currentNode.textContent;"
            "return text.split(/\\s+/).filter(word => /[\\p{L}\\p{N}]/u.test(word)).length"
        )
    )


def printed_pages(browser: Any) -> int:
    """On A4."""
    paper = {"paperWidth": 8.27, "paperHeight": 11.69}
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", paper)["data"])
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


def size(browser: Any, width: int, dark: bool = False) -> None:
    feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def visit(browser: Any, page: Path) -> None:
    """Go to a page, and wait until it is there: on a busy machine the browser has returned before."""
    from selenium.webdriver.support.wait import WebDriverWait

    browser.get(page.as_uri())
    is_there = "return document.readyState === 'complete' && location.pathname === arguments[0]"
    WebDriverWait(browser, 60).until(lambda at: at.execute_script(is_there, page.as_posix()))


def mouse(browser: Any, ident: str, kind: str, x: float, y: float = 0.5, clicks: int = 0) -> None:
    """A real mouse event at a place (shares) of a plot."""
    box = browser.execute_script(
        "const e = document.querySelector(arguments[0] + ' .lens'); e.scrollIntoView({block: 'center'});"
        "const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]",
        f"#{ident}",
    )
    event = {"type": kind, "x": box[0] + x * box[2], "y": box[1] + y * box[3], "clickCount": clicks}
    if clicks:
        event |= {"button": "left"}
    if kind == "mouseMoved":
        event |= {"buttons": 1 if clicks else 0}
    browser.execute_cdp_cmd("Input.dispatchMouseEvent", event)


def drag(browser: Any, ident: str, begin: float, end: float) -> None:
    mouse(browser, ident, "mouseMoved", begin)
    mouse(browser, ident, "mousePressed", begin, clicks=1)
    mouse(browser, ident, "mouseMoved", (begin + end) / 2, clicks=1)
    mouse(browser, ident, "mouseMoved", end, clicks=1)
    mouse(browser, ident, "mouseReleased", end, clicks=1)


def tip(browser: Any) -> str | None:
    """What the tooltip says, if it is there."""
    said = browser.execute_script(
        "const t = document.getElementById('tip'); return t.hidden ? null : t.innerText"
    )
    return None if said is None else " ".join(str(said).replace("\u202f", " ").split())


def ticks(browser: Any, ident: str) -> list[str]:
    found = browser.execute_script(
        "return Array.from(document.querySelectorAll(arguments[0] + ' .x text'), t => t.textContent)",
        f"#{ident}",
    )
    return [str(text).replace("\u202f", " ") for text in found]


def shown(browser: Any, ident: str) -> tuple[float, float]:
    """The range of the x axis that a plot shows."""
    low, high = browser.execute_script(
        "const d = document.querySelector(arguments[0]).dataset; return [d.low, d.high]", f"#{ident}"
    )
    return float(low), float(high)
