/** The worst searches of a viewer: the hub must be idle again soon after its client has left, and serve others meanwhile. */

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { cpuSeconds } from "#test/harness/processes.ts";
import { SecuredHub } from "./secured-hub.ts";
import { WORST_DOCUMENTS, WORST_SEARCHES, type WorstSearch, worstDocuments } from "./worst-searches.ts";

const BULK_DOCUMENTS = 5_000;
/** A client that waits no longer. */
const PATIENCE_MS = 700;
/** Time in which the hub must be idle again. */
const IDLE_WITHIN_MS = 2_000;
/** Share of one core that counts as idle: refreshes, commits, health checks. */
const IDLE_SHARE = 0.25;
const WINDOW_MS = 400;
const SERVED_WITHIN_MS = 1_000;

suite("the worst searches", () => {
  let target: SecuredHub;
  before(async () => {
    target = await SecuredHub.start();
    for (let first = 0; first < WORST_DOCUMENTS; first += BULK_DOCUMENTS) {
      const body = worstDocuments(first, first + BULK_DOCUMENTS);
      const written = await target.request("/worst/_doc/_bulk", { method: "POST", role: "admin", body });
      assert.equal(written.status, 200, written.text.slice(0, 300));
      assert.match(written.text, /"errors":false/);
    }
    // A merge of the new segments would count as work of a search that has ended.
    assert.equal((await target.request("/worst/_forcemerge", { method: "POST", role: "admin" })).status, 200);
  });
  after(() => target.close());

  /** Sends a search and leaves; returns how it ended. */
  async function leave({ path, body }: WorstSearch): Promise<string> {
    const sent = typeof body === "string" ? body : JSON.stringify(body);
    try {
      const answer = await fetch(target.hub.searchUrl + path, {
        method: "POST",
        headers: {
          authorization: target.keys.viewer,
          "content-type": path.startsWith("/_msearch") ? "application/x-ndjson" : "application/json",
        },
        body: sent,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const { status } = answer;
      const text = await answer.text();
      // The 6.5 interface answers what a script does wrong with 500.
      const isScripts = status === 500 && text.includes('"script_exception"');
      return isScripts ? "the script is refused" : String(status);
    } catch {
      return "left";
    }
  }

  /** Resolves to the ms after which the hub used less than the idle share of a core. */
  async function idleAfter(): Promise<number> {
    const started = performance.now();
    for (;;) {
      const cpu = cpuSeconds(target.hub.pid);
      const from = performance.now();
      await pause(WINDOW_MS); // the measured window itself
      const share = ((cpuSeconds(target.hub.pid) - cpu) * 1_000) / (performance.now() - from);
      if (share < IDLE_SHARE) return from - started;
      if (performance.now() - started > 10 * IDLE_WITHIN_MS) return Number.POSITIVE_INFINITY;
    }
  }

  /** Resolves to how long the front and any thread of shards were held at most since this was asked last, ms. */
  async function longestTurns(): Promise<readonly number[]> {
    const { text } = await target.request("/metrics", { role: "admin", dashboard: true });
    const found = [...text.matchAll(/^tailrace_(?:hub|host)_longest_turn_seconds (\S+)$/gm)];
    assert.equal(found.length, 2, text.slice(0, 300));
    return found.map(([, seconds]) => Math.round(Number(seconds) * 1_000));
  }

  for (const worst of WORST_SEARCHES) {
    test(`${worst.name}: ends with its client, others are served`, async (t) => {
      await longestTurns();
      const search = leave(worst);
      const started = performance.now();
      const root = await target.request("/", { role: "viewer" });
      const servedMs = performance.now() - started;
      assert.equal(root.status, 200);
      const ended = await search;
      assert.doesNotMatch(ended, /^5/, "no server error");
      const idleMs = await idleAfter();
      const [frontMs, hostMs] = await longestTurns();
      t.diagnostic(
        `${ended}; others served in ${servedMs.toFixed(0)} ms; idle after ${idleMs.toFixed(0)} ms; ` +
          `longest turn of the front ${frontMs} ms, of a host ${hostMs} ms`,
      );
      assert.ok(idleMs <= IDLE_WITHIN_MS, `idle ${idleMs.toFixed(0)} ms after the client left`);
      assert.ok(servedMs <= SERVED_WITHIN_MS, `others served in ${servedMs.toFixed(0)} ms`);
    });
  }
});
