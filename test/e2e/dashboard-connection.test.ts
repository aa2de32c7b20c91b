/** The one connection of a tab, in a browser, over a real hub: what it carries, and what is shown when the hub is away. */

import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import { becomes } from "#test/harness/becomes.ts";
import { followCalls } from "#test/harness/browser.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { openWorkPages, putLines, SHOP_LINES, type WorkPages } from "./ui-work-pages.ts";

const workspace = new Workspace();
let pages: WorkPages;
const DAYS = 5;
const LINES_A_DAY = 30;

before(async () => {
  pages = await openWorkPages(workspace);
  for (let day = 1; day <= DAYS; day++) await putLines(pages.hub.searchUrl, `days-${day}`, linesOf(day));
});

after(() => workspace.close());

function linesOf(day: number): object[] {
  return Array.from({ length: LINES_A_DAY }, (_, number) => ({
    "@timestamp": new Date(Date.now() - (day * 1_000 + number) * 1_000).toISOString(),
    message: `day ${day} line ${number}`,
    log: { level: number % 3 === 0 ? "error" : "info" },
  }));
}

interface Traffic {
  readonly page: Page;
  /** Requests of the interfaces over HTTP. */
  readonly requests: string[];
  /** Messages that were sent over sockets. */
  readonly sent: string[];
  sockets: number;
  /** Resolves once a message with this text has been sent. */
  readonly hasSent: (text: string) => Promise<void>;
  /** Resolves once everything the page has asked for is there. */
  readonly isAnswered: () => Promise<void>;
}

async function openTraffic(path: string): Promise<Traffic> {
  const page = await pages.browser.newPage();
  const frames = new EventEmitter();
  const answered = followCalls(page);
  const traffic: Traffic = {
    page,
    requests: [],
    sent: [],
    sockets: 0,
    hasSent: async (text) => {
      while (!traffic.sent.some((message) => message.includes(text))) await once(frames, "sent");
    },
    isAnswered: async () => {
      await page.waitForLoadState("networkidle");
      await answered();
    },
  };
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (/^\/(es|api)\//.test(pathname)) traffic.requests.push(`${request.method()} ${pathname}`);
  });
  page.on("websocket", (socket) => {
    traffic.sockets++;
    socket.on("framesent", ({ payload }) => {
      traffic.sent.push(String(payload));
      frames.emit("sent");
    });
  });
  await page.goto(`${pages.hub.dashboardUrl}/${path}`);
  return traffic;
}

test("one connection carries searches, pushed states and live lines of a tab", async () => {
  const traffic = await openTraffic("#/agents");
  const { page } = traffic;
  const go = async (path: string, sign: RegExp): Promise<void> => {
    await page.goto(`${pages.hub.dashboardUrl}/#/${path}`);
    await page.getByText(sign).first().waitFor();
  };
  await page.getByText("No agent has reported yet").waitFor();
  await traffic.hasSent("watch.open");
  traffic.requests.length = 0;
  await go("status", /This hub/);
  await go("alerts", /New alert/);
  await go("discover?index=days-*&from=now-6h", new RegExp(`${DAYS * LINES_A_DAY} lines in`));
  await page.goto(`${pages.hub.dashboardUrl}/#/live?index=days-*`);
  await page.locator("tr-tail-window").getByText("day 1 line 0").first().waitFor();
  assert.equal(traffic.sockets, 1);
  assert.deepEqual(traffic.requests, []);
  for (const kind of ["search", "call", "watch.open", "watch.close", "tail.open"])
    assert.ok(
      traffic.sent.some((message) => message.startsWith(`{"t":"${kind}"`)),
      kind,
    );
  await page.close();
});

test("what changes at the hub is on the page without a request of the page", async () => {
  const traffic = await openTraffic("#/alerts");
  const { page } = traffic;
  await traffic.hasSent("watch.open");
  const rule = {
    title: "Pushed rule",
    enabled: true,
    index: "days-*",
    query: "x",
    condition: "above",
    threshold: 5,
    window: "5m",
    every: "1m",
    channels: [],
    muted_until: null,
  };
  const made = await fetch(`${pages.hub.dashboardUrl}/api/alerts`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(rule),
  });
  assert.ok(made.ok, await made.text());
  await page.getByRole("link", { name: "Pushed rule" }).waitFor();
  assert.ok(traffic.requests.filter((request) => request.includes("/api/alerts")).length <= 1);
  await page.close();
});

test("where no socket gets through, pages work over HTTP and say so", async () => {
  const page = await pages.browser.newPage();
  await page.routeWebSocket("**/api/live", (socket) => socket.close());
  await page.goto(`${pages.hub.dashboardUrl}/#/discover?index=logs-shop&from=now-2h`);
  await page.getByText(`${SHOP_LINES} lines in`).waitFor();
  await page.getByTitle("Connected by single requests").waitFor();
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await page.getByText(`${SHOP_LINES} lines in`).waitFor();
  await page.close();
});

test("a hub that hangs is shown as such, and so is its return", async () => {
  const { page, hasSent } = await openTraffic("#/discover?index=logs-shop&from=now-2h");
  await page.getByText(`${SHOP_LINES} lines in`).waitFor();
  await page.getByTitle("Connected", { exact: true }).waitFor();
  await hasSent("ping");
  process.kill(pages.hub.pid, "SIGSTOP");
  try {
    await page.getByTitle("The hub doesn't respond").waitFor();
  } finally {
    process.kill(pages.hub.pid, "SIGCONT");
  }
  await page.getByTitle("Connected", { exact: true }).waitFor();
  await page.close();
});

test("a hub that is gone leaves the numbers and says from when they are, once", async () => {
  await fetch(`${pages.hub.dashboardUrl}/api/samples`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  const { page, isAnswered } = await openTraffic("#/dashboards?id=access-logs&from=now-2h&to=now");
  const requests = page.getByRole("region", { name: "Requests", exact: true });
  await requests.getByText(String(SHOP_LINES)).waitFor();
  await isAnswered();
  await pages.hub.kill9();
  await page.getByTitle("The hub is away").waitFor();
  await page.getByRole("button", { name: "Refresh", exact: true }).first().click();
  await requests.getByText(/^As of/).waitFor();
  await requests.getByText(String(SHOP_LINES)).waitFor();
  await becomes(() => page.getByRole("alert").allTextContents(), []);
  await pages.hub.start();
  await page.getByTitle("Connected", { exact: true }).waitFor();
  await requests.getByText(/^As of/).waitFor({ state: "detached" });
  await page.close();
});
