/** What users do with a hub during a long run: searches, scrolls, live tails that come and go, changed pipelines. */

import { writeFileSync } from "node:fs";
import { WebSocket } from "ws";
import { systemClock } from "#proto/kit/clock.ts";
import { type HubMessage, LIVE_PATH, LIVE_PROTOCOL, START_CREDIT_ROWS, UsedCredit } from "#proto/live.ts";
import { ask } from "#test/harness/http.ts";
import type { TestHub } from "#test/harness/hub.ts";

/** Pauses between two of each kind, ms. */
const SEARCH_EVERY_MS = 1_000;
const SCROLL_EVERY_MS = 10_000;
const TAIL_EVERY_MS = 5_000;
const RELOAD_EVERY_MS = 20_000;
const SCROLL_PAGES = 3;
const SCROLL_KEPT = "30s";

export class SoakLoad {
  readonly #hub: TestHub;
  readonly #config: string;
  /** How often each was done. */
  readonly done = { searches: 0, scrolls: 0, tails: 0, rows: 0, reloads: 0 };

  /** `config`: file of the main pipeline, which is changed. */
  constructor(hub: TestHub, config: string) {
    this.#hub = hub;
    this.#config = config;
    this.#writeConfig();
  }

  /** Runs until `signal` is aborted; throws when a request fails. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([
      repeat(SEARCH_EVERY_MS, signal, () => this.#search()),
      repeat(SCROLL_EVERY_MS, signal, () => this.#scroll()),
      repeat(TAIL_EVERY_MS, signal, () => this.#tail(signal)),
      repeat(RELOAD_EVERY_MS, signal, () => this.#reload()),
    ]);
  }

  async #search(): Promise<void> {
    const body = {
      size: 20,
      query: { match: { message: "refused" } },
      sort: [{ "@timestamp": "desc" }],
      aggs: { time: { date_histogram: { field: "@timestamp", interval: "1m" } } },
    };
    await ask("POST", `${this.#hub.searchUrl}/logs-*/_search`, body);
    this.done.searches++;
  }

  /** Every second scroll is left open, as by a client that went away. */
  async #scroll(): Promise<void> {
    const { searchUrl } = this.#hub;
    let page = await ask<{ _scroll_id: string }>(
      "POST",
      `${searchUrl}/logs-*/_search?scroll=${SCROLL_KEPT}`,
      {
        size: 100,
      },
    );
    for (let read = 1; read < SCROLL_PAGES; read++)
      page = await ask("POST", `${searchUrl}/_search/scroll`, {
        scroll: SCROLL_KEPT,
        scroll_id: page._scroll_id,
      });
    if (this.done.scrolls++ % 2 === 0)
      await ask("DELETE", `${searchUrl}/_search/scroll`, { scroll_id: page._scroll_id });
  }

  /** Follows all lines until the next tail is due. */
  async #tail(signal: AbortSignal): Promise<void> {
    const origin = this.#hub.dashboardUrl;
    const socket = new WebSocket(`${origin.replace("http", "ws")}${LIVE_PATH}`, LIVE_PROTOCOL, { origin });
    const credit = new UsedCredit();
    const send = (message: unknown): void => socket.send(JSON.stringify(message));
    const failed = new Promise<never>((_, reject) => socket.on("error", reject));
    socket.on("open", () =>
      send({ t: "tail.open", sub: 1, index: [], q: "", credit: START_CREDIT_ROWS, maxRate: 20_000 }),
    );
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as HubMessage;
      if (message.t !== "tail.rows") return;
      this.done.rows += message.rows.length;
      const add = credit.take(message.rows.length);
      if (add > 0) send({ t: "tail.credit", sub: 1, add });
    });
    await Promise.race([systemClock.sleep(TAIL_EVERY_MS, signal), failed]);
    socket.terminate();
    this.done.tails++;
  }

  #reload(): Promise<void> {
    this.done.reloads++;
    this.#writeConfig();
    this.#hub.signal("SIGHUP");
    return Promise.resolve();
  }

  #writeConfig(): void {
    const text = `filter { mutate { add_field => { "version" => "${this.done.reloads}" } } }\n`;
    writeFileSync(this.#config, text);
  }
}

async function repeat(everyMs: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await work();
    await systemClock.sleep(everyMs, signal);
  }
}
