// How long a slider move takes beside the bare solve of the same specs, and what memory the server needs over many moves.
// A measurement, not a test; it fails where a move takes more than twice a bare solve, or memory grows.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import test from "node:test";
import { answered, enter, makeFolder, openBrowser, openSpec, startStudio, watchedPage } from "./bench.mjs";

/** Moves of each spec that are timed; bare solves too. */
const MOVES = 200;

/** Moves that memory is watched over. */
const MANY = 1000;

/** Slider moves by keys in the page. */
const KEYS = 30;

const SPECS = [["opf-24.toml", "nominal"], ["svm-machines.toml", "twin"]];

/** A move takes at most so many bare solves, at the 95th percentile. */
const RATIO = 2;

/** Memory after all moves is at most so many times that after the first tenth. */
const GROWTH = 1.1;

function percentile(times, share) {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

const shown = (times) => `median ${percentile(times, 0.5).toFixed(1)} ms, 95% ${percentile(times, 0.95).toFixed(1)} ms`;

/** Values of ε around 1, none of them twice: nothing kept from one move serves another. */
const epsilon = (i) => Number((2 ** (((i * 0.6180339887) % 1) - 0.5)).toPrecision(9));

function memory(pid) {
  const status = fs.readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)[1]) / 1024;
}

/** Asks the server as the page does, on one connection. */
async function client(studio) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (address, body, headers = {}) =>
    new Promise((done, failed) => {
      const options = { agent, method: body ? "POST" : "GET", headers };
      if (body) Object.assign(headers, { Origin: studio.origin, "Content-Type": "application/json" });
      const request = http.request(address, options, (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (part) => (text += part));
        answer.on("end", () => done({ answer, text }));
      });
      request.on("error", failed);
      request.end(body && JSON.stringify(body));
    });
  const { answer } = await ask(studio.address);
  const Cookie = answer.headers["set-cookie"][0].split(";")[0];
  return async (path, body) => {
    const { answer, text } = await ask(`${studio.origin}${path}`, body, { Cookie });
    assert.equal(answer.statusCode, 200, text);
    return JSON.parse(text);
  };
}

async function move(ask, value) {
  await ask("/api/move", { name: "epsilon", value });
  const view = await ask("/api/view");
  assert.equal(view.error, null);
}

test("slider moves beside bare solves", async (t) => {
  const folder = makeFolder(t);
  const browser = await openBrowser(t);
  const studio = await startStudio(t, folder);
  const ask = await client(studio);
  const page = await watchedPage(browser);
  await enter(page, studio);
  for (const [spec, about] of SPECS) {
    await openSpec(page, spec);
    const values = Array.from({ length: MOVES }, (_, i) => epsilon(i));
    // Without the page: it would ask for each view too, and share it.
    await page.goto("about:blank");
    const moves = [];
    // Turn and turn about, so that what else the machine does is in both.
    const bares = [];
    for (let start = 0; start < MOVES; start += MOVES / 4) {
      const part = values.slice(start, start + MOVES / 4);
      const run = spawnSync(process.env.CONVEIL_BARE_SOLVE, [folder, spec, about, ...part.map(String)], { encoding: "utf8" });
      assert.equal(run.status, 0, run.stderr);
      bares.push(...run.stdout.trim().split("\n").map(Number));
      for (const value of part) {
        const since = performance.now();
        await move(ask, value);
        moves.push(performance.now() - since);
      }
    }
    await enter(page, studio);
    await answered(page);
    const keys = [];
    const slider = page.locator('input[data-setting="epsilon"]');
    await slider.focus();
    for (let i = 0; i < KEYS; i += 1) {
      const before = await page.locator("section[data-revision]").getAttribute("data-revision");
      const since = performance.now();
      await slider.press("ArrowRight");
      await page.waitForFunction((before) => {
        const section = document.querySelector('section[aria-busy="false"][data-revision]');
        return section && section.dataset.revision !== before;
      }, before);
      keys.push(performance.now() - since);
    }
    const ratio = percentile(moves, 0.95) / percentile(bares, 0.95);
    console.log(`${spec}: bare solve ${shown(bares)}; move ${shown(moves)}; ratio at 95%: ${ratio.toFixed(2)}; in the page, with its rest of 120 ms: ${shown(keys)}`);
    await t.test(`${spec}: a move takes at most ${RATIO} bare solves`, () => assert.ok(ratio <= RATIO, `${ratio}`));
  }
  await t.test(`memory is flat over ${MANY} moves`, async () => {
    await page.goto("about:blank");
    await ask("/api/open", { path: "opf-24.toml" });
    const seen = [];
    for (let i = 1; i <= MANY; i += 1) {
      await move(ask, epsilon(i));
      if (i % (MANY / 10) === 0) seen.push(memory(studio.pid));
    }
    console.log(`memory, in MiB after each tenth of ${MANY} moves: ${seen.map((m) => m.toFixed(1)).join(", ")}`);
    assert.ok(seen.at(-1) <= GROWTH * seen[0], `${seen}`);
  });
});
