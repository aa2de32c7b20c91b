/** A hub that holds an hour of the shop's logs, sent by an agent, and a browser: where the pages' tests begin. */

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { buildDashboard } from "#ui/build.ts";
import { launchBrowser } from "./browser.ts";
import type { TestHub } from "./hub.ts";
import { count } from "./search.ts";
import { shopLogs } from "./shop-logs.ts";
import { startStack } from "./stack.ts";
import { until } from "./until.ts";
import type { Workspace } from "./workspace.ts";

export interface Shop {
  readonly hub: TestHub;
  readonly browser: Browser;
  /** Lines that were searchable at the start. */
  readonly lines: number;
  /** File the agent reads: a line added to it becomes searchable, and is seen live. */
  readonly servicesFile: string;
}

/** Builds the dashboard, starts all and waits until the hour is searchable; all ends with the workspace. */
export async function openShop(workspace: Workspace, requests = 1_200): Promise<Shop> {
  await buildDashboard();
  const { access, services, lines } = shopLogs({ endMs: Date.now(), requests });
  const paths = [workspace.path("shop", "access.log"), workspace.path("shop", "services.json")];
  appendFileSync(paths[0]!, access);
  appendFileSync(paths[1]!, services);
  const { hub } = await startStack(workspace, { input: { paths } });
  await until("all lines searchable", async () => (await count(hub.searchUrl)) >= lines);
  const browser = await launchBrowser();
  workspace.defer(() => browser.close());
  return { hub, browser, lines, servicesFile: paths[1]! };
}

/** Adds an index with a place for a map, and the dashboards to begin with. */
export async function addPlacesAndDashboards({ searchUrl, dashboardUrl }: TestHub): Promise<void> {
  const send = async (url: string, method: string, body: unknown): Promise<void> => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method, headers, body: JSON.stringify(body) });
    assert.ok(response.ok, `${url} answered with ${response.status}`);
  };
  const properties = { place: { type: "geo_point" } };
  await send(`${searchUrl}/visits`, "PUT", { mappings: { _doc: { properties } } });
  const visit = { "@timestamp": new Date().toISOString(), place: { lat: 52.5, lon: 13.4 } };
  await send(`${searchUrl}/visits/_doc?refresh=true`, "POST", visit);
  await send(`${dashboardUrl}/api/samples`, "POST", {});
}

/** Adds lines of a program whose format the default pipeline doesn't know, as `logs-plain`. */
export async function addPlainLines({ searchUrl }: TestHub): Promise<void> {
  const lines = Array.from({ length: 12 }, (_, number) => {
    const time = new Date(Date.now() - number * 60_000).toISOString();
    const message = `${time.replace("T", " ").replace(".", ",").slice(0, 23)} INFO [worker-${number}] shop.Cart - opened`;
    return { "@timestamp": time, message, log: { file: { path: "/var/log/shop/cart.log" } } };
  });
  const body = lines.map((line) => `{"index":{}}\n${JSON.stringify(line)}\n`).join("");
  const url = `${searchUrl}/logs-plain/_doc/_bulk?refresh=true`;
  const headers = { "content-type": "application/x-ndjson" };
  const response = await fetch(url, { method: "POST", headers, body });
  assert.match(await response.text(), /"errors":false/);
}
