"""The page, used as people use it: python page.py CHROMIUM CONSONANT PICTURES [docs].

The pictures in docs/serve hold the text that they show, and the page must show the same: letters are drawn otherwise on another machine. With
`docs` they are made anew.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from urllib.parse import quote

from PIL import Image, PngImagePlugin
from playwright.sync_api import Page, expect, sync_playwright

chromium, program, pictures = sys.argv[1:4]
pictures = pathlib.Path(pictures)
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1080, "height": 780}
ROOT = pathlib.Path(__file__).resolve().parents[4]
# What docs/serve.md shows, and the text of each view when its picture was taken.
SHOWN = ["text", "agreement", "proof", "summary"]
shown: dict[str, str] = {}


class Server:
    """`consonant serve` on a port of its own, with the log of a training."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.log = pathlib.Path(self.folder.name, "train.jsonl")
        self.log.write_text("".join(
            json.dumps({"event": "epoch", "stage": None, "epoch": epoch, "loss": 900 / epoch, "errors": 0, "metric": "accuracy",
                        "dev": 0.96 - 0.08 / epoch, "seconds": 1.5}) + "\n" for epoch in range(1, 8)))
        command = [program, "serve", "--port", "0", "--log", self.log]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        self.base = re.search(r"http://\S+/", line).group()

    def stop(self) -> None:
        self.process.terminate()
        assert self.process.wait(60) == 0, "the server did not end well"
        self.folder.cleanup()


def picture(page: Page, name: str) -> None:
    page.wait_for_timeout(150)
    page.screenshot(path=pictures / f"{name}.png")
    # How long something took is another time's.
    text = re.sub(r"[\d.,]+ m?s(?![a-z])", "… s", page.locator("main").text_content() or "")
    shown[name] = " ".join(text.split())


def text(page: Page) -> None:
    words = page.locator("svg.tree .word")
    expect(words.first).to_be_visible()
    assert words.count() > 15
    expect(page.locator("svg.tree .name").first).to_have_text("PER")
    kiel = words.filter(has_text="Kiel").first
    kiel.hover()
    why = page.locator("#why")
    expect(why).to_contain_text("Kiel → come → root")
    expect(why).to_contain_text("Why PROPN")
    # The same by keyboard.
    words.first.focus()
    expect(why.locator("h2")).to_contain_text("Ann")
    for name, beginning in [("CoNLL-U", "# "), ("JSON", "["), ("SVG", "<svg")]:
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.locator("#status")).to_have_text(f"{name} copied")
        assert page.evaluate("navigator.clipboard.readText()").startswith(beginning), name
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG", exact=True).click()
    drawn = pathlib.Path(download.value.path()).read_bytes()
    assert drawn.startswith(b"\x89PNG") and len(drawn) > 5000, "an empty picture"
    kiel.hover()
    picture(page, "text")
    page.get_by_label("Tree").uncheck()
    expect(page.locator("svg.tree .arc")).to_have_count(0)
    page.get_by_role("textbox", name="Text", exact=True).fill("Bob sleeps.")
    expect(words).to_have_count(3)
    assert "text=Bob" in page.url and "hide=" in page.url, page.url
    page.reload()
    expect(words).to_have_count(3)
    expect(page.locator("svg.tree .arc")).to_have_count(0)
    page.get_by_role("textbox", name="Text", exact=True).fill("")
    expect(page.locator("main")).to_contain_text("There are no words yet.")
    # What looks like markup is text.
    page.get_by_role("textbox", name="Text", exact=True).fill("<img src=x onerror=alert(1)> wins.")
    expect(page.locator("svg.tree .form").nth(1)).to_be_visible()
    assert page.locator("main img").count() == 0


def agreement(page: Page) -> None:
    expect(page.locator("#verdict")).to_contain_text("optimal")
    assert page.locator(".passage .tied").count() > 5
    slider = page.get_by_label("Strength of agreement")
    slider.fill("0")
    expect(page.locator("#verdict")).to_contain_text("0 labels changed")
    expect(page.locator(".passage .differs")).to_have_count(0)
    slider.fill("5")
    # How many that are is the model's affair.
    expect(page.locator("#verdict")).not_to_have_text(re.compile("^0 labels"))
    changed = int(re.search(r"\d+", page.locator("#verdict").inner_text()).group())
    expect(page.locator(".passage .differs")).to_have_count(2 * changed)  # on both sides
    assert "strength=5" in page.url
    page.locator(".passage .tied").filter(has_text="Marlow").first.hover()
    assert page.locator(".passage .lit").count() > 1
    picture(page, "agreement")


def proof(page: Page) -> None:
    expect(page.locator("#runs tbody tr")).to_have_count(3)
    expect(page.locator("#runs tbody tr").nth(2)).to_contain_text("optimal")
    assert page.locator("svg.chart path.bound").count() >= 2
    picture(page, "proof")
    page.get_by_role("button", name="Play").click()
    page.wait_for_timeout(400)
    assert int(page.get_by_label("Moment").input_value()) < 1000
    page.get_by_role("combobox", name="Problem").select_option("names")
    expect(page.locator("#runs tbody tr")).to_have_count(5)
    expect(page.locator("#runs tbody tr").nth(2)).to_contain_text("optimal")
    page.get_by_role("combobox", name="Problem").select_option("own")
    expect(page.locator("#runs tbody tr").nth(0)).to_contain_text("bound 1.5")
    expect(page.locator("#runs tbody tr").nth(4)).to_contain_text("bound 1")
    expect(page.get_by_text(re.compile("what each branch fixed|proven without a branch"))).to_be_visible()
    picture(page, "proof-own")
    page.get_by_label("Text or problem").fill("{")
    expect(page.get_by_role("alert")).to_be_visible()


def summary(page: Page) -> None:
    shown = page.locator("#summary")
    expect(shown).to_contain_text("bound")
    slider = page.get_by_label("Words of the summary")
    before = shown.locator("p").all_inner_texts()
    picture(page, "summary")
    assert page.locator(".source .chosen").count() > 0 and page.locator(".source del").count() > 0
    for words in range(60, 100, 4):
        slider.fill(str(words))
    expect(page.locator("#summary")).not_to_have_text(" ".join(before))
    page.wait_for_timeout(300)
    count = int(re.search(r"(\d+) words", shown.inner_text()).group(1))
    assert 50 < count <= 96, count
    assert page.locator(".concepts .covered").count() > 3
    slider.fill("5")
    expect(shown).to_contain_text("words")


def threads(page: Page) -> None:
    expect(page.locator("#links")).to_contain_text("optimal")
    page.locator(".chat div").nth(2).hover()
    assert page.locator(".chat svg path.on").count() > 0
    assert page.locator(".chat div").count() == 12
    picture(page, "threads")


def solve(page: Page) -> None:
    cells = page.locator("table.sudoku td")
    expect(cells).to_have_count(81)
    rows = ["".join(cells.all_inner_texts()[9 * row:9 * row + 9]) for row in range(9)]
    assert all(sorted(row) == list("123456789") for row in rows), rows
    picture(page, "solve")
    example = page.get_by_label("Example")
    example.select_option("seating")
    expect(page.locator("#answer")).to_contain_text("window")
    page.get_by_role("button", name="Prove and verify").click()
    expect(page.locator("#answer")).to_contain_text("verified independently")
    example.select_option("timetable")
    expect(page.locator("#answer")).to_contain_text("Tue 1")
    page.get_by_role("textbox", name="Problem").fill('{"variables": [{"name": "a", "score": 1}], "factors": [{"kind": "no", "over": ["a"]}]}')
    page.get_by_role("textbox", name="Problem").press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("unknown kind")


def train(page: Page) -> None:
    expect(page.locator("#training")).to_contain_text("epoch 7")
    expect(page.locator("svg.chart")).to_have_count(2)
    picture(page, "train")
    with server.log.open("a") as log:
        log.write('{"event":"epoch","epoch":8,"loss":1,"metric":"accuracy","dev":0.99,"seconds":1}\n')
    expect(page.locator("#training")).to_contain_text("99.00 accuracy at epoch 8", timeout=8000)


VIEWS = [text, agreement, proof, summary, threads, solve, train]

server = Server()
try:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        context = browser.new_context(viewport=DESK, permissions=["clipboard-read", "clipboard-write"])
        wrong: list[str] = []
        weight: dict[str, int] = {}

        def watch(page: Page) -> Page:
            # A request that the server refuses is told in the console, too; views tell it to people.
            page.on("console", lambda message: message.type == "error" and "status of 4" not in message.text and "status of 501" not in message.text and wrong.append(message.text))
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.on("requestfailed", lambda request: "net::ERR_ABORTED" not in request.failure and wrong.append(f"{request.url} {request.failure}"))
            page.on("request", lambda request: request.url.startswith((server.base, "data:", "blob:")) or wrong.append(f"outside: {request.url}"))
            return page

        page = watch(context.new_page())
        page.set_default_timeout(20000)
        expect.set_options(timeout=20000)
        page.goto(server.base)
        page.wait_for_selector("svg.tree")
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        page.reload()
        page.wait_for_selector("svg.tree")
        again = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        print(f"first paint {paint:.0f} ms, again {again:.0f} ms")
        for view in VIEWS:
            start = time.time()
            tab = page.get_by_role("tab", name=view.__name__.capitalize(), exact=True)
            tab.click()
            expect(tab).to_have_attribute("aria-selected", "true")
            view(page)
            assert not wrong, f"{view.__name__}: {wrong}"
            print(f"{view.__name__:10} {time.time() - start:5.1f} s")
        # Tabs by keyboard, and back to where one was.
        page.get_by_role("tab", name="Train").press("Home")
        expect(page.get_by_role("tab", name="Text")).to_be_focused()
        expect(page.get_by_role("tab", name="Text")).to_have_attribute("aria-selected", "true")
        # An address that was sent.
        page.goto(server.base + "#/agreement?text=" + quote("Kiel won. Kiel lost.") + "&strength=2")
        page.reload()
        expect(page.locator("#verdict")).to_contain_text("optimal")
        # Everything has a name that screen readers say, on every view.
        for view in VIEWS:
            page.goto(f"{server.base}#/{view.__name__}")
            page.wait_for_timeout(300)
            nameless = page.evaluate("""[...document.querySelectorAll('button, input, select, textarea, a')].filter((element) =>
                !(element.getAttribute('aria-label') || element.textContent.trim() || element.closest('label')?.textContent.trim())).map((element) => element.outerHTML)""")
            assert not nameless, f"{view.__name__}: {nameless}"
        # Dark, and as wide as a phone: nothing sticks out.
        phone = browser.new_context(viewport=PHONE, color_scheme="dark")
        small = watch(phone.new_page())
        for view in VIEWS:
            small.goto(f"{server.base}#/{view.__name__}")
            small.reload()
            small.wait_for_timeout(900)
            wide = small.evaluate("document.documentElement.scrollWidth")
            assert wide <= PHONE["width"], f"{view.__name__} is {wide} wide on a phone"
            picture(small, f"{view.__name__}-phone")
        assert not wrong, wrong
        browser.close()
        for name in SHOWN:
            kept = ROOT / f"docs/serve/{name}.png"
            if "docs" in sys.argv[4:]:
                kept.parent.mkdir(exist_ok=True)
                told = PngImagePlugin.PngInfo()
                told.add_itxt("shown", shown[name], zip=True)
                few = Image.open(pictures / f"{name}.png").convert("RGB").quantize(144, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
                few.save(kept, optimize=True, pnginfo=told)
            old = Image.open(kept)
            old.load()
            assert old.text.get("shown") == shown[name], (
                f"{kept} shows\n{old.text.get('shown')}\nand the page\n{shown[name]}\nPICTURES=overwrite crates/serve/test makes the pictures anew")
        print("every view does its job, in the light, in the dark and on a phone; no errors in the console")
finally:
    server.stop()
