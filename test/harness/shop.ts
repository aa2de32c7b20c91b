/** A hub that holds an hour of the shop's logs, sent by an agent, and a browser: where the pages' tests begin. */

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
