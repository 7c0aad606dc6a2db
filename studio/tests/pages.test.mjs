// The report and the card: self-contained files that a browser shows without a complaint.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { assertAccessible, conveil, HOSTILE, isHacked, makeFolder, openBrowser, screenshot, watchedPage } from "./bench.mjs";

/** A page is at most so large, in bytes. */
const LARGEST = 3e6;

async function assertGoodPage(browser, file, name) {
  assert.ok(fs.statSync(file).size < LARGEST, `${name} is too large`);
  for (const [width, dark] of [[1280, false], [390, true]]) {
    const page = await watchedPage(browser, { width, dark });
    await page.goto(pathToFileURL(file).href);
    assert.equal(await isHacked(page), false);
    await assertAccessible(page);
    await screenshot(page, `${name}-${width}`);
    page.settled();
    await page.context().close();
  }
}

test("reports and cards are shown without an error, a request or a barrier", async (t) => {
  const folder = makeFolder(t);
  const browser = await openBrowser(t);
  const page = (file) => path.join(folder, file);

  for (const [spec, name, ...words] of [
    ["opf-24.toml", "report-grid"],
    ["svm-machines.toml", "report-svm", "--at", "twin"],
    [`${HOSTILE}.toml`, "report-hostile"],
  ]) {
    await t.test(name, async () => {
      conveil(folder, "report", spec, "-q", "-o", `${name}.html`, ...words);
      const written = fs.readFileSync(page(`${name}.html`), "utf8");
      assert.ok(!written.includes("is the private file itself"), "what stands in a section is an error");
      await assertGoodPage(browser, page(`${name}.html`), name);
    });
  }
  for (const [spec, name] of [["opf-24.toml", "card-grid"], [`${HOSTILE}.toml`, "card-hostile"]]) {
    await t.test(name, async () => {
      const ledger = name === "card-grid" ? [] : ["--no-ledger"];
      fs.writeFileSync(page(`${name}.json`), conveil(folder, "release", spec, "-q", "--json", ...ledger));
      conveil(folder, "card", `${name}.json`, "-o", `${name}.html`);
      await assertGoodPage(browser, page(`${name}.html`), name);
    });
  }
});
