/** Barriers of accessibility (axe) on every page, in each theme, language and width: more states are in test/e2e. */

import type { Page } from "playwright-core";
import { findBarriers } from "#test/harness/axe.ts";
import { addPlacesAndDashboards, openShop } from "#test/harness/shop.ts";
import type { Benchmark, Result } from "./benchmark.ts";

const LANGUAGES = ["en", "de"] as const;
const THEMES = ["light", "dark", "contrast"] as const;
const WIDTHS = [1440, 390] as const;
const HEIGHT = 900;
const REQUESTS = 400;
/** Addresses, each with what is there when it is loaded. */
const PATHS: readonly (readonly [path: string, sign: string])[] = [
  ["discover?from=now-3h&f=service:payment", "tr-event-table .row"],
  ["discover?from=now-3h&view=patterns", "tr-patterns-panel li.row"],
  ["compare?left=from=now-3h&right=from=now-3h", "tr-event-table .row"],
  ["live", "tr-tail-window"],
  ["visualise?from=now-3h&split=5:service&limits=10,50&scale=log", "tr-chart .plot path"],
  ["visualise?from=now-3h&chart=gauge&limits=10,50", "tr-chart .gauge path"],
  ["visualise?from=now-3h&chart=line&metric=formula:count()", "tr-visualisation-form textarea"],
  ["dashboards", "h1"],
  ["dashboards?id=access-logs&from=now-3h&to=now", "tr-chart .plot path"],
  ["console", "tr-code-editor"],
  ["alerts", "h1"],
  ["agents", "table a"],
  ["pipelines", "h1"],
  ["indices", "table a"],
  ["indices?view=retention", "form"],
  ["cluster", ".shard"],
  ["status", "table"],
  ["users", "h1"],
  ["enrolment", "h1"],
  ["oauth-clients", "h1"],
  ["connections", "h1"],
  ["appearance", "h1"],
  ["nowhere", "h1"],
];

export const barriers: Benchmark = {
  name: "barriers",
  about: "barriers of accessibility on every page, by theme, language and width",
  async run({ workspace, progress }) {
    const { hub, browser } = await openShop(workspace, REQUESTS);
    await addPlacesAndDashboards(hub);
    const results: Result[] = [];
    for (const locale of LANGUAGES)
      for (const width of WIDTHS) {
        progress(`${locale}, ${width} px`);
        const viewport = { width, height: HEIGHT };
        const page = await browser.newPage({ viewport, locale, reducedMotion: "reduce" });
        const found: string[] = [];
        for (const [path, sign] of PATHS)
          found.push(...(await barriersOf(page, hub.dashboardUrl, path, sign)));
        await page.close();
        for (const barrier of found) progress(`${locale}, ${width} px: ${barrier}`);
        const name = `${locale}, ${width} px: ${PATHS.length} pages × ${THEMES.length} themes`;
        results.push({
          case: name,
          value: found.length,
          unit: "barriers",
          reference: null,
          target: { atMost: 0 },
        });
      }
    return results;
  },
};

async function barriersOf(page: Page, url: string, path: string, sign: string): Promise<string[]> {
  await page.goto("about:blank");
  await page.goto(`${url}/#/${path}`);
  await page.locator(sign).first().waitFor();
  const found: string[] = [];
  for (const theme of THEMES) {
    await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
    const rules = theme === "light" ? "all" : "colours";
    for (const barrier of await findBarriers(page, rules)) found.push(`${path} (${theme}): ${barrier}`);
  }
  return found;
}
