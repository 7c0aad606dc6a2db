// What every test here stands on: a folder of specs with a ledger, the binary, a browser that is watched.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";

const need = (name) => process.env[name] ?? assert.fail(`${name} is not set: run \`cargo xtask browser\``);

const BINARY = need("CONVEIL_BINARY");
const SPECS = path.join(need("CONVEIL_WORKSPACE"), "examples", "specs");
const SCREENSHOTS = need("CONVEIL_SCREENSHOTS");
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** How long a test waits for what must come, in milliseconds. */
const PATIENCE = 15000;

/** No sandbox, as in containers, where root has none; nothing that a browser does on its own account. */
const FLAGS = [
  "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

/** A name that breaks out of every quoting that is forgotten; a file can have it too. */
export const HOSTILE = `<img src=x onerror=window.hacked=1>"'&`;

/** The flag that a hostile name would set. */
export const isHacked = (page) => page.evaluate(() => "hacked" in window);

/** Runs the binary; a failure fails the test. */
export function conveil(folder, ...words) {
  const run = spawnSync(BINARY, words, { cwd: folder, encoding: "utf8" });
  assert.equal(run.status, 0, `conveil ${words.join(" ")}: ${run.stderr}`);
  return run.stdout;
}

/** Makes a folder with three examples, of which the grid has a ledger, and a spec with hostile names; gone after the test. */
export function makeFolder(test) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "conveil-browser-"));
  test.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const examples = fs.readdirSync(SPECS).filter((file) => /^(scalar-lp|opf-24|svm-machines)[.-]/.test(file));
  for (const file of examples) fs.copyFileSync(path.join(SPECS, file), path.join(folder, file));
  const ledger = `\n[ledger]\nfile = "ledger.db"\ndataset = "loads-2026"\n`;
  fs.appendFileSync(path.join(folder, "opf-24.toml"), ledger);
  conveil(folder, "ledger", "init", "ledger.db", "--dataset", "loads-2026", "--epsilon", "3", "--spec", "opf-24.toml");
  const scalar = fs.readFileSync(path.join(folder, "scalar-lp.toml"), "utf8");
  const quoted = JSON.stringify(HOSTILE);
  const hostile = scalar
    .replaceAll(`name = "x"`, `name = ${quoted}`)
    .replaceAll(`name = "l"`, `name = ${JSON.stringify(HOSTILE + "</svg></pre><script>window.hacked=1</script>")}`)
    .replaceAll(`name = "limits"`, `name = ${JSON.stringify("limits" + HOSTILE)}`)
    .replaceAll(`"lower"`, JSON.stringify("lower" + HOSTILE));
  fs.writeFileSync(path.join(folder, `${HOSTILE}.toml`), hostile);
  return folder;
}

/** The charges in the folder's ledger. */
export function charges(folder) {
  const lines = conveil(folder, "ledger", "export", "ledger.db").trim().split("\n");
  return lines.map((line) => JSON.parse(line)).filter((entry) => JSON.stringify(entry).includes("charge"));
}

/** Starts `conveil studio`; ended after the test. */
export async function startStudio(test, folder, ...words) {
  const server = spawn(BINARY, ["studio", ...words, "--folder", folder], { cwd: folder });
  test.after(() => server.kill());
  let said = "";
  const address = await new Promise((found, failed) => {
    const listen = (text) => {
      said += text;
      const line = /open (http:\/\/\S+)/.exec(said);
      if (line) found(line[1]);
    };
    server.stdout.on("data", listen);
    server.stderr.on("data", listen);
    server.on("exit", (code) => failed(new Error(`conveil studio ended with ${code}: ${said}`)));
  });
  return { address, origin: new URL(address).origin, pid: server.pid };
}

/** A browser for the tests of one file; a missing one fails them. */
export async function openBrowser(test) {
  const executablePath = need("CONVEIL_CHROMIUM");
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  test.after(() => browser.close());
  return browser;
}

/**
 * A page whose console and requests are watched. `expected` are patterns of console errors that the test provokes.
 * `page.settled()` asserts that nothing else was seen.
 */
export async function watchedPage(browser, { width = 1280, dark = false, expected = [], context } = {}) {
  const colorScheme = dark ? "dark" : "light";
  const place = context ?? (await browser.newContext({ viewport: { width, height: 900 }, colorScheme, acceptDownloads: true }));
  const page = await place.newPage();
  page.setDefaultTimeout(PATIENCE);
  const seen = [];
  page.on("console", (message) => {
    const text = message.text();
    if (["error", "warning"].includes(message.type()) && !expected.some((pattern) => pattern.test(text))) seen.push(`${text} (${message.location().url})`);
  });
  page.on("pageerror", (error) => seen.push(String(error)));
  await page.route("**/*", (route) => {
    const { protocol, hostname } = new URL(route.request().url());
    if (protocol === "data:" || protocol === "file:" || hostname === "127.0.0.1") return route.continue();
    seen.push(`a request off the machine: ${route.request().url()}`);
    return route.abort();
  });
  page.settled = () => assert.deepEqual(seen, []);
  return page;
}

/** Opens the studio in a page, and waits for the first answer if a spec is open. */
export async function enter(page, studio) {
  await page.goto(studio.address);
  await page.getByRole("heading", { name: "Conveil studio" }).waitFor();
}

/** Opens a spec by the page's own form. */
export async function openSpec(page, name) {
  const files = page.locator("details.files");
  if (!(await files.evaluate((details) => details.open))) await files.locator("summary").click();
  await page.locator("#open-path").selectOption(name);
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await page.locator(".where", { hasText: name }).waitFor();
  await answered(page);
}

/** Waits until the numbers shown are those of the settings shown. */
export async function answered(page) {
  await page.locator('section[aria-busy="false"][data-revision]').waitFor();
}

/** Moves a slider by keys, and waits for the answer; the new value. */
export async function slide(page, setting, key, times) {
  const slider = page.locator(`input[data-setting="${setting}"]`);
  await slider.focus();
  for (let i = 0; i < times; i += 1) await slider.press(key);
  await answered(page);
  return Number(await page.locator(`#setting-${setting}`).inputValue());
}

/** Asserts that axe finds nothing serious. */
export async function assertAccessible(page) {
  // A page's policy may forbid added scripts: the debugger's world is not under it.
  const source = fs.readFileSync(AXE, "utf8");
  await page.evaluate(source);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = found.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const told = serious.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map((n) => n.html.slice(0, 200)).join(" | ")}`);
  assert.deepEqual(told, []);
}

/** Keeps a picture of the whole page; nothing may stick out to the right. */
export async function screenshot(page, name) {
  fs.mkdirSync(SCREENSHOTS, { recursive: true });
  // What sticks to the window stands at its place.
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`), fullPage: true });
  const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.ok(inner <= outer, `${name}: the page is ${inner} pixels wide in a window of ${outer}`);
}
