/** Pages whose hub answers late: what their reader does meanwhile counts, in a browser, over a real hub. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page, Route } from "playwright-core";
import { becomes, becomesTrue } from "#test/harness/becomes.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { openWorkPages, putLines, SHOP_INDEX, SHOP_LINES, type WorkPages } from "./ui-work-pages.ts";

const workspace = new Workspace();
let pages: WorkPages;

before(async () => {
  pages = await openWorkPages(workspace);
  await send("POST", "/api/samples", {});
});

after(() => workspace.close());

async function send(method: string, path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${pages.hub.dashboardUrl}${path}`, {
    method,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  assert.ok(answer.ok, await answer.clone().text());
  return (await answer.json()) as Record<string, unknown>;
}

/** Loads the page again without its socket; over HTTP its requests can be held. Keys reach the page from then on. */
async function overHttp(page: Page): Promise<void> {
  await page.routeWebSocket("**/api/live", (socket) => socket.close());
  await page.reload();
  // The shell comes after the event "load", which a reload waits for.
  await page.locator("tr-app").waitFor();
}

interface Held {
  /** Resolves when a request was held. */
  readonly came: Promise<void>;
  /** Lets them pass from now on. */
  readonly release: () => Promise<void>;
}

/** Holds the requests to an address that `isMeant`. */
async function hold(page: Page, address: string, isMeant: (route: Route) => boolean): Promise<Held> {
  const { promise: came, resolve: onCame } = Promise.withResolvers<void>();
  const { promise: released, resolve: onReleased } = Promise.withResolvers<void>();
  await page.route(address, async (route) => {
    if (!isMeant(route)) return route.fallback();
    onCame();
    await released;
    await route.continue();
  });
  const release = async (): Promise<void> => {
    onReleased();
    await page.unrouteAll({ behavior: "wait" });
  };
  return { came, release };
}

test("a line that is opened while the next search runs is the one that stays open", () =>
  pages.visit(`#/discover?index=${SHOP_INDEX}&from=now-2h`, async (page) => {
    await overHttp(page);
    await page.getByText(`${SHOP_LINES} lines in`).waitFor();
    const held = await hold(
      page,
      "**/_search*",
      (route) => route.request().postData()?.includes("404") === true,
    );
    await page.getByRole("combobox", { name: "Query" }).fill("status:404");
    await page.keyboard.press("Enter");
    await held.came;
    const row = page.locator("tr-event-table .row:visible").filter({ hasText: "/page/5 took 5 ms" });
    await row.click();
    const message = page.locator("tr-event-details .message");
    await becomes(() => message.textContent(), "GET /page/5 took 5 ms");
    await held.release();
    await page
      .getByText(/^\d+ lines in/)
      .filter({ hasNotText: `${SHOP_LINES}` })
      .first()
      .waitFor();
    await becomes(() => message.textContent(), "GET /page/5 took 5 ms");
  }));

test("a dashboard that is changed while it is saved keeps the change, and its tools", () =>
  pages.visit("#/dashboards?id=access-logs&edit=1", async (page) => {
    await overHttp(page);
    const panel = (name: string) => page.getByRole("region", { name, exact: true });
    await page.getByRole("button", { name: "Remove: Requests", exact: true }).click();
    const held = await hold(page, "**/api/saved/dashboard/*", (route) => route.request().method() === "PUT");
    await page.getByRole("button", { name: "Save dashboard" }).click();
    await held.came;
    await page.getByRole("button", { name: "Remove: Status codes", exact: true }).click();
    await panel("Status codes").waitFor({ state: "detached" });
    await held.release();
    await page.getByRole("button", { name: "Save dashboard", disabled: false }).waitFor();
    await page.getByText("aren't saved yet").waitFor();
    assert.equal(await panel("Status codes").count(), 0);
    await page.getByRole("button", { name: "Undo" }).click();
    await panel("Status codes").waitFor();
    await page.getByText("aren't saved yet").waitFor({ state: "detached" });
  }));

test("a saved visualisation offers its form when it is known what was saved", async () => {
  const attributes = { parameters: `index=${SHOP_INDEX}&chart=table&by=terms:10:page` };
  const { id } = await send("POST", "/api/saved/visualisation", { title: "Kept", attributes });
  await pages.visit("#/appearance", async (page) => {
    await overHttp(page);
    const held = await hold(page, "**/api/saved/visualisation/*", () => true);
    await page.goto(`${pages.hub.dashboardUrl}/#/visualise?id=${String(id)}&from=now-2h`);
    await held.came;
    await page.locator("tr-page-visualise").waitFor({ state: "attached" });
    assert.equal(await page.locator("tr-visualisation-form").count(), 0);
    await held.release();
    await page.getByRole("button", { name: "Donut" }).click();
    await page.waitForURL(/chart=pie&by=terms:10:page/);
  });
});

test("a pipeline can be written when its text is there, not before", async () => {
  const text = "input { shipper {} }\nfilter { mutate { add_tag => [kept] } }\noutput { elasticsearch {} }\n";
  await send("PUT", "/api/pipelines/kept", { text });
  await pages.visit("#/appearance", async (page) => {
    await overHttp(page);
    const held = await hold(page, "**/api/pipelines/kept", (route) => route.request().method() === "GET");
    await page.goto(`${pages.hub.dashboardUrl}/#/pipelines?id=kept`);
    await held.came;
    await page.locator("tr-code-editor .cm-content").waitFor();
    const editor = page.getByRole("textbox", { name: "Pipeline", exact: true });
    const isInert = (): Promise<number> => page.locator(".halves[inert] tr-code-editor").count();
    assert.equal(await isInert(), 1);
    await held.release();
    await becomes(() => editor.textContent(), /add_tag/);
    await becomes(isInert, 0);
    await editor.fill(text.replace("kept", "changed"));
    await page.getByText("The pipeline is valid.").waitFor();
    await page.getByRole("button", { name: "Save and run" }).click();
    await page.getByText("“kept” is saved and runs.").waitFor();
  });
});

test("what is typed while a pipeline is saved is there again later, and not in a new pipeline", async () => {
  const text = "input { shipper {} }\n# first";
  await send("PUT", "/api/pipelines/typed", { text });
  await pages.visit(
    "#/pipelines?id=typed",
    async (page) => {
      const editor = page.getByRole("textbox", { name: "Pipeline", exact: true });
      await becomes(() => editor.textContent(), /first/);
      await overHttp(page);
      await becomes(() => editor.textContent(), /first/);
      await editor.fill(text.replace("first", "second"));
      await page.getByText("The pipeline is valid.").waitFor();
      const held = await hold(page, "**/api/pipelines/typed*", (route) => route.request().method() === "PUT");
      await page.getByRole("button", { name: "Save and run" }).click();
      await held.came;
      await editor.fill(text.replace("first", "third"));
      await held.release();
      await page.getByText("“typed” is saved and runs.").waitFor();
      await page.getByText("This browser keeps them.").waitFor();
      await page.evaluate("location.hash = '#/pipelines?new=1'");
      await becomes(() => editor.textContent(), /COMBINEDAPACHELOG/);
      assert.equal(await page.getByText("This browser keeps them.").count(), 0);
      await page.evaluate("location.hash = '#/pipelines?id=typed'");
      await becomes(() => editor.textContent(), /third/);
      await page.getByText("This browser keeps them.").waitFor();
      // The hub tries two texts at a time, of which each change makes one.
    },
    /429/,
  );
});

test("two rules that are added one right after the other are both kept, and so is what is typed meanwhile", () =>
  pages.visit("#/indices?view=retention", async (page) => {
    await overHttp(page);
    const held = await hold(page, "**/api/retention*", (route) => route.request().method() === "PUT");
    const pattern = page.getByLabel("Indices", { exact: true });
    const add = async (name: string): Promise<void> => {
      await pattern.fill(name);
      await page.getByLabel(/^Keep for/).fill("4000d");
      await page.getByRole("button", { name: "Add" }).click();
    };
    await add("first-*");
    await held.came;
    await add("second-*");
    await pattern.fill("third-*");
    await held.release();
    for (const name of ["first-*", "second-*"]) await page.getByRole("cell", { name, exact: true }).waitFor();
    assert.equal(await pattern.inputValue(), "third-*");
    for (const name of ["first-*", "second-*"])
      await page.getByRole("button", { name: `Remove the rule of ${name}` }).click();
    await page.getByText("Everything is kept").waitFor();
  }));

test("a choice that is taken back by the browser's way back is shown as it was", () =>
  pages.visit(`#/visualise?index=${SHOP_INDEX}&from=now-2h&chart=number`, async (page) => {
    const unit = page.getByLabel("Unit");
    await unit.selectOption("percent");
    await unit.selectOption("bytes");
    await page.goBack();
    await page.waitForURL(/unit=percent/);
    await becomes(() => unit.inputValue(), "percent");
  }));

test("a command that was chosen stays so when further ones come", () =>
  pages.visit("#/appearance", async (page) => {
    await overHttp(page);
    const held = await hold(page, "**/api/saved/dashboard*", () => true);
    await page.keyboard.press("Control+k");
    const palette = page.getByRole("dialog", { name: "Go to" });
    await palette.waitFor();
    await page.keyboard.type("a");
    for (let step = 0; step < 6; step++) await page.keyboard.press("ArrowDown");
    await held.came;
    const chosen = (): Promise<string | null> =>
      palette.getByRole("option", { selected: true }).textContent();
    const before = await chosen();
    await held.release();
    await palette.getByRole("option", { name: /^Access logs/ }).waitFor();
    await becomes(chosen, before);
  }));

test("a map that is moved on before its places come stays where it was moved", async () => {
  const mapping = { mappings: { _doc: { properties: { place: { type: "geo_point" } } } } };
  await send("PUT", "/es/visits", mapping);
  const places = [52.5, 48.1, 40.4].map((lat) => ({ "@timestamp": new Date(), place: { lat, lon: 10 } }));
  await putLines(pages.hub.searchUrl, "visits", places);
  await pages.visit("#/visualise?index=visits&from=now-2h&chart=map&by=places:place", async (page) => {
    await page.clock.install();
    await overHttp(page);
    const map = page.locator("tr-world-map");
    const circle = map.locator("circle.place").first();
    await circle.waitFor();
    await map.locator(".plot").focus();
    const held = await hold(page, "**/_search*", () => true);
    await page.keyboard.press("+");
    await page.waitForURL(/view=/);
    await held.came;
    // The next move isn't fired while the page's timers stand still.
    await page.clock.pauseAt(Date.now() + 60_000);
    const at = (): Promise<string | null> => circle.getAttribute("cx");
    const before = await at();
    await page.keyboard.press("Shift+ArrowRight");
    await becomesTrue("the circle elsewhere", at, (cx) => cx !== before);
    const moved = await at();
    await held.release();
    await page.locator('tr-world-map[aria-busy="false"]').waitFor();
    assert.equal(await at(), moved);
  });
});

test("an older answer doesn't bring back an index that was deleted since", async () => {
  await send("PUT", "/es/doomed", {});
  await pages.visit("#/indices", async (page) => {
    await overHttp(page);
    const doomed = page.getByRole("link", { name: "doomed", exact: true });
    await doomed.waitFor();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let held: "nothing" | "request" | "answer" = "nothing";
    await page.route("**/_cat/indices*", async (route) => {
      if (held !== "nothing") return route.fallback();
      held = "request";
      const response = await route.fetch().catch(() => undefined); // one that the page gave up
      held = response === undefined ? "nothing" : "answer";
      if (response === undefined) return;
      await released;
      await route.fulfill({ response });
    });
    await until("an answer that is held", async () => {
      if (held === "nothing") await page.keyboard.press("r");
      return held === "answer";
    });
    await send("DELETE", "/es/doomed", {});
    await page.keyboard.press("r");
    await doomed.waitFor({ state: "detached" });
    const late = page.waitForEvent("requestfinished", (request) => request.url().includes("/_cat/indices"));
    release();
    await late;
    await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
    assert.equal(await doomed.count(), 0);
  });
});
