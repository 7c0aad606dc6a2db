// The studio as a curator uses it: by keys and clicks, beside what the command line says of the same spec.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import {
  answered, assertAccessible, charges, conveil, enter, makeFolder, openBrowser, openSpec, screenshot, slide, startStudio,
  watchedPage,
} from "./bench.mjs";

const PRIVATE = "PRIVATE: depends on the data, not to be published";

/** What `solve` prints, without the times that it took. */
const untimed = (text) => text.replace(/; seconds: .*/g, "").trim();

/** A text of the page that stands in a closed `details`. */
const hidden = (page, label) => page.locator(`pre[aria-label="${label}"]`).textContent();

/** Ends a dialog by its question's answer. */
const say = (page, words) => page.getByRole("dialog").getByRole("button", { name: words }).click();

async function lookAtPrivate(page) {
  await page.locator("#about-private").click();
  await say(page, "Look at the private data");
  await page.getByText("looking at the PRIVATE data", { exact: true }).waitFor();
  await answered(page);
}

/** Starts work by a button, and waits for its own end. */
async function worked(page, kind, button) {
  const newest = await page.locator("article").evaluateAll((all) => Math.max(0, ...all.map((job) => Number(job.dataset.id))));
  await page.getByRole("button", { name: button }).click();
  await page.waitForFunction((newest) => Number(document.querySelector("article")?.dataset.id) > newest, newest);
  const job = page.locator(`article[data-kind="${kind}"]`).first();
  await job.and(page.locator('[data-state="done"]')).waitFor({ timeout: 30000 });
  return job;
}

/** A spec with its own ledger, whose private number leaves no room for the noise: its release is charged and fails. */
function addFullSpec(folder) {
  const scalar = fs.readFileSync(path.join(folder, "scalar-lp.toml"), "utf8");
  const full = scalar.replace("value = 100.0", "value = 159.0").replace("epsilon = 1.0", "epsilon = 0.25");
  fs.writeFileSync(path.join(folder, "full.toml"), `${full}\n[ledger]\nfile = "full.db"\ndataset = "limits"\n`);
  conveil(folder, "ledger", "init", "full.db", "--dataset", "limits", "--epsilon", "3", "--spec", "full.toml");
}

test("the studio", async (t) => {
  const folder = makeFolder(t);
  addFullSpec(folder);
  const browser = await openBrowser(t);
  const studio = await startStudio(t, folder);
  const page = await watchedPage(browser);
  await enter(page, studio);

  await t.test("sliders move the numbers to what the command line prints for the same spec", async () => {
    await openSpec(page, "opf-24.toml");
    const before = await page.locator(".answer").innerText();
    const epsilon = await slide(page, "epsilon", "ArrowRight", 25);
    const eta = await slide(page, "eta", "ArrowRight", 40);
    assert.notEqual(epsilon, 1);
    assert.notEqual(eta, 0.01);
    assert.notEqual(await page.locator(".answer").innerText(), before);
    const spec = fs.readFileSync(path.join(folder, "opf-24.toml"), "utf8");
    const moved = spec.replace("epsilon = 1.0", `epsilon = ${epsilon}`).replace("eta = 0.01", `eta = ${eta}`);
    fs.writeFileSync(path.join(folder, "by-hand.toml"), moved);
    const solved = conveil(folder, "solve", "by-hand.toml", "--at", "nominal", "--details", "-q");
    assert.equal(untimed(await hidden(page, "The solve in full")), untimed(solved));
    const checked = conveil(folder, "check", "by-hand.toml", "--details", "-q");
    await page.getByText("The guarantee in full (public)").click();
    await page.getByRole("region", { name: "The guarantee in full" }).waitFor();
    assert.equal((await hidden(page, "The guarantee in full")).trim(), checked.trim());
    await page.getByText("The guarantee in full (public)").click();
    const loss = /cost of privacy +([\d.]+)/.exec(solved)[1];
    assert.ok((await page.locator(".answer").innerText()).includes(/released: .*?(± \S+ in 95%)/.exec(solved)[1]));
    const told = await page.locator("#told").textContent();
    assert.ok(told.includes(String(Math.trunc(Number(loss)))), `told “${told}” of a loss of ${loss}`);
  });

  await t.test("a saved spec says what the page shows, and a second of this name is refused", async () => {
    const shown = untimed(await hidden(page, "The solve in full"));
    await page.getByLabel("Save as a new spec").fill("saved.toml");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved as saved.toml.").waitFor();
    assert.equal(untimed(conveil(folder, "solve", "saved.toml", "--at", "nominal", "--details", "-q")), shown);
    const kept = fs.readFileSync(path.join(folder, "saved.toml"), "utf8");
    const refusals = await watchedPage(browser, { context: page.context(), expected: [/status of 4\d\d/] });
    await enter(refusals, studio);
    await refusals.getByLabel("Save as a new spec").fill("saved.toml");
    await refusals.getByRole("button", { name: "Save", exact: true }).click();
    await refusals.locator("form.keep .trouble").waitFor();
    assert.equal(fs.readFileSync(path.join(folder, "saved.toml"), "utf8"), kept);
    refusals.settled();
    await refusals.close();
  });

  await t.test("a refused value is explained and changes nothing", async () => {
    const other = await watchedPage(browser, { context: page.context(), expected: [/status of 4\d\d/] });
    await enter(other, studio);
    await answered(other);
    const before = await other.locator("#setting-epsilon").inputValue();
    await other.locator("#setting-epsilon").fill("-1");
    await other.locator("#setting-epsilon").press("Enter");
    await other.locator(".setting", { has: other.locator("#setting-epsilon") }).locator(".trouble").waitFor();
    assert.equal(await other.locator("#setting-epsilon").inputValue(), before);
    other.settled();
    await other.close();
  });

  await t.test("two tabs agree", async () => {
    const other = await watchedPage(browser, { context: page.context(), expected: [/409/] });
    await enter(other, studio);
    await answered(other);
    const epsilon = await slide(page, "epsilon", "ArrowLeft", 60);
    await other.waitForFunction((value) => document.querySelector("#setting-epsilon").value === value, String(epsilon));
    await answered(other);
    await answered(page);
    const solve = "The solve in full";
    assert.equal(untimed(await hidden(other, solve)), untimed(await hidden(page, solve)));
    other.settled();
    await other.close();
  });

  await t.test("the frontier, the comparison and the explanation come with their figures", async () => {
    const frontier = await worked(page, "frontier", "Trace");
    assert.ok((await frontier.locator("figure svg path").count()) > 0);
    assert.match(await (await worked(page, "compare", "Compare strategies")).innerText(), /output/);
    assert.match(await (await worked(page, "explain", "Explain feasibility")).innerText(), /epsilon|ε/);
    assert.equal(await page.getByText("Settings or data were changed since").count(), 0);
  });

  await t.test("an audit shows its progress and can be stopped", async () => {
    await page.getByRole("button", { name: "Audit" }).click();
    const audit = page.locator('article[data-kind="audit"]').first();
    await audit.locator("progress").waitFor();
    await audit.getByRole("button", { name: "Stop" }).click();
    await audit.and(page.locator('[data-state="cancelled"]')).waitFor();
  });

  await t.test("infeasibility is explained on the page", async () => {
    await openSpec(page, "scalar-lp.toml");
    assert.equal(await page.locator("article").count(), 0);
    await page.locator("#setting-epsilon").fill("0.1");
    await page.locator("#setting-epsilon").press("Enter");
    await answered(page);
    assert.match(await (await worked(page, "explain", "Explain why it is infeasible")).innerText(), /smallest feasible ε/);
    await page.getByRole("button", { name: "Back to the spec’s settings" }).click();
    await answered(page);
    assert.equal(await page.getByRole("button", { name: "Explain why it is infeasible" }).count(), 0);
  });

  await t.test("a new spec is created and opened", async () => {
    const files = page.locator("details.files");
    if (!(await files.evaluate((details) => details.open))) await files.locator("summary").click();
    await page.getByLabel("New, of model").selectOption("svm");
    await page.getByLabel("in the new folder").fill("first");
    await page.getByRole("button", { name: "Create" }).click();
    await page.locator(".where", { hasText: "first" }).waitFor();
    await answered(page);
  });

  await t.test("a release in the public view: a double click charges once, the card comes alone", async () => {
    await openSpec(page, "opf-24.toml");
    await page.getByRole("button", { name: "Release…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Budget left").waitFor();
    assert.match(await dialog.locator("dl").innerText(), /ε = [\d.]+/);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    assert.equal(charges(folder).length, 0);
    await page.getByRole("button", { name: "Release…" }).click();
    await page.locator("#confirm-release").dblclick();
    await page.getByText("Public cards of this session").waitFor();
    assert.equal(charges(folder).length, 1);
    const ledger = page.locator("section", { has: page.locator("#ledger-title") });
    await ledger.locator("tbody tr").waitFor();
    assert.match(await ledger.locator("figure svg").getAttribute("aria-label"), /sum of the charges.*budget/);
    assert.match(await ledger.locator("figcaption").innerText(), /budget is ε = 3/);
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: /as json$/ }).click();
    const file = path.join(folder, "downloaded.json");
    await (await download).saveAs(file);
    const card = JSON.parse(fs.readFileSync(file, "utf8"));
    assert.equal(card.differentially_private, true);
    assert.ok(!("mean_decision" in card) && !("private" in card));
    conveil(folder, "card", "downloaded.json", "-o", "downloaded.html");
  });

  await t.test("nothing private is on the page before the private data are looked at", async () => {
    assert.equal(await page.locator(".private").count(), 0);
    assert.equal(await page.getByRole("region", { name: PRIVATE }).count(), 0);
  });

  for (const [width, dark] of [[1280, false], [390, true]]) {
    await t.test(`no barrier and no overflow at ${width} pixels, ${dark ? "dark" : "light"}, public`, async () => {
      await assertLooks(browser, studio, width, dark, "studio-public");
    });
  }

  await t.test("what is private is framed, and settings moved after the look are not covered, on the card too", async () => {
    await page.locator("#about-private").click();
    await page.keyboard.press("Escape");
    await answered(page);
    assert.equal(await page.locator(".private").count(), 0);
    await lookAtPrivate(page);
    const frame = page.getByRole("region", { name: PRIVATE }).first();
    assert.ok((await frame.innerText()).includes(PRIVATE));
    assert.equal(await frame.locator(".answer").count(), 1);
    assert.equal(await page.locator("figure").count(), await page.locator(".private figure, section:has(#ledger-title) figure, article:has(.stamp) figure").count());
    assert.equal(await page.locator(".uncovered").count(), 0);
    await slide(page, "epsilon", "ArrowLeft", 30);
    assert.ok((await page.getByText("not covered by the guarantee").count()) > 0);
    await page.getByRole("button", { name: "Release…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.locator(".uncovered").first().waitFor();
    await page.locator("#confirm-release").click();
    await page.locator(".cards li").nth(1).waitFor();
    assert.equal(charges(folder).length, 2);
    const link = page.locator(".cards li", { has: page.locator(".uncovered") }).getByRole("link", { name: /as text$/ });
    const text = await (await page.context().request.get(new URL(await link.getAttribute("href"), studio.origin).href)).text();
    assert.match(text, /not covered|after looking|looked at/i);
  });

  for (const [width, dark] of [[1280, false], [390, true]]) {
    await t.test(`no barrier and no overflow at ${width} pixels, ${dark ? "dark" : "light"}, private`, async () => {
      await assertLooks(browser, studio, width, dark, "studio-private");
    });
  }

  await t.test("a charged failure is framed and counts as a look, and private numbers of a spec are shown after it alone", async () => {
    await openSpec(page, "full.toml");
    const spec = "The spec as it is now";
    assert.ok((await hidden(page, spec)).includes("(private)"));
    assert.ok(!(await hidden(page, spec)).includes("159"));
    await page.getByRole("button", { name: "Release…" }).click();
    const dialog = page.getByRole("dialog");
    assert.match(await dialog.locator("dl").innerText(), /1 charge of ε = 0.25/);
    assert.ok(!(await dialog.innerText()).includes("DRY RUN"));
    await page.locator("#confirm-release").click();
    const frame = dialog.getByRole("region", { name: PRIVATE });
    await frame.locator(".trouble").waitFor();
    assert.match(await frame.innerText(), /stays spent/);
    assert.deepEqual(await dialog.getByRole("button").allInnerTexts(), ["Close"]);
    assert.ok(!(await dialog.innerText()).includes("DRY RUN"));
    await assertAccessible(page);
    await say(page, "Close");
    const ledger = page.locator("section", { has: page.locator("#ledger-title") });
    await ledger.locator("tbody tr").waitFor();
    await page.locator(".private", { has: page.locator(`pre[aria-label="${spec}"]`) }).waitFor({ state: "attached" });
    assert.ok((await hidden(page, spec)).includes("159.0"));
    await slide(page, "epsilon", "ArrowRight", 80);
    await page.getByText("not covered by the guarantee").first().waitFor();
    assert.match(await page.locator(".uncovered").first().innerText(), /epsilon/);
  });

  await t.test("a decision is kept where it is asked for, and a marked spec is saved with its mark", async () => {
    await page.locator("#setting-epsilon").fill("2");
    await page.locator("#setting-epsilon").press("Enter");
    await answered(page);
    await page.getByLabel("Save as a new spec").fill("marked.toml");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("the command line does not know of them").waitFor();
    assert.match(fs.readFileSync(path.join(folder, "marked.toml"), "utf8"), /^# Settings moved after .*: epsilon\./);
    await openSpec(page, "opf-24.toml");
    await page.locator("#about-nominal").click();
    await answered(page);
    const cards = await page.locator(".cards li").count();
    assert.equal(cards, 2, "the cards of the session");
    await page.getByRole("button", { name: "Release…" }).click();
    await page.getByLabel("also write the private decision").check();
    await page.locator("#confirm-release").click();
    await page.locator(".cards li").nth(cards).waitFor();
    const told = await page.locator(".cards li").nth(cards).innerText();
    const file = /PRIVATE.* (\S+-decision-\d+\.json)/.exec(told)[1];
    assert.equal(fs.statSync(path.join(folder, file)).mode & 0o777, 0o600);
  });

  page.settled();
});

/** A page of its own on the same desk, with everything unfolded. */
async function assertLooks(browser, studio, width, dark, name) {
  const page = await watchedPage(browser, { width, dark });
  await enter(page, studio);
  await answered(page);
  await worked(page, "frontier", "Trace");
  await assertAccessible(page);
  await screenshot(page, `${name}-${width}`);
  await page.getByRole("button", { name: "Release…" }).click();
  await page.locator("#confirm-release").waitFor();
  await assertAccessible(page);
  await screenshot(page, `${name}-dialog-${width}`);
  page.settled();
  await page.context().close();
}
