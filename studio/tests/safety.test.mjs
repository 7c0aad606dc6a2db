// Who is let in, and what hostile names can do: nobody else, and nothing.

import assert from "node:assert/strict";
import http from "node:http";
import test from "node:test";
import { answered, enter, HOSTILE, isHacked, makeFolder, openBrowser, openSpec, screenshot, startStudio, watchedPage } from "./bench.mjs";

/** A bare request, with headers that no browser would send; its status, headers and body. */
function ask(address, { method = "GET", headers = {}, body } = {}) {
  return new Promise((done, failed) => {
    const request = http.request(address, { method, headers }, (answer) => {
      let text = "";
      answer.on("data", (part) => (text += part));
      answer.on("end", () => done({ status: answer.statusCode, headers: answer.headers, text }));
    });
    request.on("error", failed);
    request.end(body);
  });
}

const refused = (status) => assert.ok(status >= 400 && status < 500, `answered ${status}`);

test("who is let in", async (t) => {
  const studio = await startStudio(t, makeFolder(t), "scalar-lp.toml");
  const { origin, address } = studio;
  const entered = await ask(address);
  const cookie = entered.headers["set-cookie"][0];
  const ours = { Cookie: cookie.split(";")[0] };
  const reset = (headers) => ask(`${origin}/api/reset`, { method: "POST", headers, body: "{}" });
  const json = { "Content-Type": "application/json" };

  await t.test("the token buys a cookie that no script and no other site can use", async () => {
    assert.match(cookie, /HttpOnly/i);
    assert.match(cookie, /SameSite=Strict/i);
    assert.ok(!cookie.includes("Domain="));
    assert.equal((await ask(`${origin}/api/state`, { headers: ours })).status, 200);
  });
  await t.test("a missing or wrong token or cookie is refused, and told nothing", async () => {
    for (const path of ["/", "/?token=", `/?token=${"0".repeat(32)}`, `${new URL(address).search.slice(0, -1)}`]) {
      const answer = await ask(`${origin}${path.startsWith("/") ? path : `/${path}`}`);
      assert.equal(answer.status, 403, path);
      assert.equal(answer.headers["set-cookie"], undefined);
    }
    for (const path of ["/api/state", "/api/view", "/api/ledger", "/api/changes", "/api/cards/1/json", "/api/jobs/1"]) {
      for (const headers of [{}, { Cookie: `${ours.Cookie.slice(0, -2)}zz` }]) {
        const answer = await ask(`${origin}${path}`, { headers });
        assert.equal(answer.status, 403, path);
        assert.ok(!answer.text.includes("scalar-lp"));
      }
    }
  });
  await t.test("a foreign or missing Origin, another host and another type are refused", async () => {
    refused((await reset({ ...ours, ...json, Origin: "https://example.org" })).status);
    refused((await reset({ ...ours, ...json, Origin: "null" })).status);
    refused((await reset({ ...ours, ...json })).status);
    refused((await reset({ ...ours, Origin: origin, "Content-Type": "text/plain" })).status);
    refused((await ask(`${origin}/api/state`, { headers: { ...ours, Host: "example.org" } })).status);
    assert.equal((await reset({ ...ours, ...json, Origin: origin })).status, 200);
  });
  await t.test("a path out of the folder is refused", async () => {
    const open = (path) =>
      ask(`${origin}/api/open`, { method: "POST", headers: { ...ours, ...json, Origin: origin }, body: JSON.stringify({ path }) });
    refused((await open("../scalar-lp.toml")).status);
    refused((await open("/etc/passwd")).status);
  });
  await t.test("the page may load nothing from elsewhere, and run nothing but its own script", async () => {
    const page = await ask(`${origin}/`, { headers: ours });
    const policy = page.headers["content-security-policy"];
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /script-src 'self'(;|$)/);
    assert.match(policy, /connect-src 'self'(;|$)/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.ok(!policy.includes("http:") && !policy.includes("https:") && !policy.includes("*"));
  });
});

/** What a figure would look like whose names were not escaped at all. */
const SMUGGLED = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="10" height="10"
  viewBox="0 0 10 10" onload="window.hacked=1">
  <script>window.hacked=1</script>
  <foreignObject width="10" height="10"><img xmlns="http://www.w3.org/1999/xhtml" src="x" onerror="window.hacked=1"/></foreignObject>
  <a href="javascript:window.hacked=1"><path d="M0 0" id="linked"/></a>
  <image href="http://example.org/x.png"/><use xlink:href="http://example.org/x.svg#a"/>
  <style>@import "http://example.org/x.css";</style>
  <animate attributeName="href" values="javascript:window.hacked=1"/>
  <path d="M0 0L5 5" fill="url(http://example.org/x.svg#a)" style="background:url(http://example.org/y)" onclick="window.hacked=1" stroke="#0072b2"/>
</svg>`;

test("hostile names are text, and hostile figures are taken apart", async (t) => {
  const folder = makeFolder(t);
  const browser = await openBrowser(t);
  const studio = await startStudio(t, folder);
  const page = await watchedPage(browser);
  await enter(page, studio);

  await t.test("names of files, variables and constraints", async () => {
    await openSpec(page, `${HOSTILE}.toml`);
    assert.equal(await page.locator(".where").textContent(), `${HOSTILE}.toml`);
    const job = page.locator("article").first();
    await page.getByRole("button", { name: "Explain feasibility" }).click();
    await job.and(page.locator('[data-state="done"]')).waitFor();
    assert.ok((await job.innerText()).includes("<img src=x"));
    await page.locator("#about-private").click();
    await page.getByRole("dialog").getByRole("button", { name: "Look at the private data" }).click();
    await page.locator(".private").first().waitFor();
    await answered(page);
    assert.ok((await page.locator("#studio").textContent()).includes("<script>"));
    assert.equal(await page.locator("#studio img, #studio script").count(), 0);
    await screenshot(page, "studio-hostile-1280");
    page.settled();
  });
  await t.test("a figure that smuggles", async () => {
    // Taken apart or not, the policy speaks of what it forbids.
    const page = await watchedPage(browser, { expected: [/Content Security Policy/] });
    await enter(page, studio);
    await page.route("**/api/view", async (route) => {
      const answer = await route.fetch();
      const view = await answer.json();
      await route.fulfill({ response: answer, json: { ...view, figures: [{ title: HOSTILE, svg: SMUGGLED, private: true }] } });
    });
    await page.reload();
    await page.locator("figure svg").waitFor();
    const kept = await page.locator("figure svg, figure svg *").evaluateAll((parts) =>
      parts.map((part) => [part.localName, ...part.getAttributeNames().sort()].join(" ")));
    assert.deepEqual(kept, ["svg aria-label focusable height role viewBox width", "path d stroke"]);
    assert.equal(await isHacked(page), false);
    page.settled();
  });
  assert.equal(await isHacked(page), false);
});
