#!/usr/bin/env python3
"""Makes docs/pictures/report.png, the README's picture: the top of a run's report, as a browser shows it.

    tools/make_report_picture.py RUN/report.html [docs/pictures/report.png]

Needs chromium, chromedriver and the development requirements. The picture stays below 150 kB, or this fails.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from pathlib import Path

WIDTH = 1000
SCALE = 0.85
LARGEST = 150_000


def picture(page: Path) -> bytes:
    """The page from its top to the end of the first table; the notes and the list of contents, whose
    length is the run's, are left out."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    browser, driver_path = shutil.which("chromium"), shutil.which("chromedriver")
    if not browser or not driver_path:
        raise SystemExit("chromium and chromedriver are not installed. Run: apt install chromium-driver")
    with tempfile.TemporaryDirectory() as profile:
        options = Options()
        options.binary_location = browser
        for flag in (
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-lcd-text",
            "--no-first-run",
            f"--user-data-dir={profile}",
        ):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=Service(driver_path))
        try:
            metrics = {"width": WIDTH, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
            driver.get(page.resolve().as_uri())
            driver.execute_script(
                "for (const part of document.querySelectorAll('.cautions, .contents')) part.hidden = true;"
            )
            end = driver.execute_script(
                "return document.querySelector('main table').getBoundingClientRect().bottom + 24"
            )
            clip = {"x": 0, "y": 0, "width": WIDTH, "height": end, "scale": SCALE}
            shot = driver.execute_cdp_cmd(
                "Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True, "clip": clip}
            )
            return base64.b64decode(shot["data"])
        finally:
            driver.quit()


def main() -> None:
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    out = Path(sys.argv[2]) if len(sys.argv) == 3 else Path("docs/pictures/report.png")
    png = picture(Path(sys.argv[1]))
    if len(png) > LARGEST:
        raise SystemExit(f"the picture has {len(png)} bytes, more than {LARGEST}: make SCALE smaller")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(png)
    print(f"{out}: {len(png)} bytes")


if __name__ == "__main__":
    main()
