/** Live lines: how smoothly a page shows them, and how soon a hub brings them to a thousand viewers. */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { WebSocket } from "ws";
import { type HubMessage, LIVE_PATH, LIVE_PROTOCOL } from "#proto/live.ts";
import { launchBrowser } from "#test/harness/browser.ts";
import type { Workspace } from "#test/harness/workspace.ts";
import { buildDashboard } from "#ui/build.ts";
import { type Benchmark, percentile, type Result } from "./benchmark.ts";
import { countFrames } from "./frames.ts";
import type { TailHubRequest } from "./tail-hub.ts";

const PAGE_RATES = [10_000, 50_000];
const PAGE_MS = 10_000;
/** Lines come for so long before frames are counted. */
const WARM_MS = 2_000;
const VIEWERS = 1_000;
const VIEWED_RATE = 5_000;
const VIEWED_MS = 10_000;
const SLOW_VIEWERS = 50;
const MIB = 1024 ** 2;

export const tail: Benchmark = {
  name: "tail",
  about: "live lines: frames per second of a page at 10,000 and 50,000 lines/s; 1,000 viewers of one hub",
  async run({ workspace, scale, progress }) {
    await buildDashboard();
    const results: Result[] = [];
    const browser = await launchBrowser();
    workspace.defer(() => browser.close());
    for (const rate of PAGE_RATES) {
      progress(`a page at ${rate} lines/s`);
      results.push(...(await measurePage(workspace, browser, rate, PAGE_MS * scale)));
    }
    await browser.close();
    progress(`${VIEWERS} viewers at ${VIEWED_RATE} lines/s`);
    results.push(...(await measureViewers(workspace, Math.round(VIEWERS * scale), VIEWED_MS * scale)));
    progress(`${SLOW_VIEWERS} viewers that don't read`);
    results.push(await measureSlowViewers(workspace, VIEWED_MS * scale));
    return results;
  },
};

/** The live side of a hub as a process. */
class TailHub {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(workspace: Workspace): Promise<TailHub> {
    const child = fork(join(import.meta.dirname, "tail-hub.ts"), { execArgv: ["--expose-gc"] });
    workspace.defer(() => child.kill());
    const [{ url }] = (await once(child, "message")) as [{ url: string }];
    return new TailHub(child, url);
  }

  async offer(rate: number, forMs: number): Promise<number> {
    return (await this.#ask({ rate, forMs }))["offered"]!;
  }

  async rssBytes(): Promise<number> {
    return (await this.#ask({ rss: true }))["rss"]!;
  }

  stop(): void {
    this.#child.kill();
  }

  async #ask(request: TailHubRequest): Promise<Readonly<Record<string, number>>> {
    const answered = once(this.#child, "message");
    this.#child.send(request);
    return ((await answered) as [Record<string, number>])[0];
  }
}

async function measurePage(
  workspace: Workspace,
  browser: Browser,
  rate: number,
  forMs: number,
): Promise<Result[]> {
  const hub = await TailHub.start(workspace);
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`${hub.url}/#/live?rate=20000`);
  await page.getByText("Following").waitFor();
  const offering = hub.offer(rate, WARM_MS + forMs);
  await page.waitForTimeout(WARM_MS);
  const frames = await countFrames(page, forMs);
  const offered = await offering;
  const { seen, skipped } = await settledCounts(page);
  await page.close();
  hub.stop();
  const result = (name: string, value: number, unit: string): Result => ({
    case: `${rate} lines/s: ${name}`,
    value,
    unit,
    reference: null,
  });
  return [
    result("frames", frames.perSecond, "per second"),
    result("longest frame", frames.longestMs, "ms"),
    result("frozen", frames.frozenSeconds, "seconds"),
    result("lines shown", seen, "lines"),
    result("lines skipped and counted", skipped, "lines"),
    result("lines neither shown nor counted", offered - seen - skipped, "lines"),
  ];
}

/** Returns what the page has taken and what it says was skipped, once neither changes any more. */
async function settledCounts(page: Page): Promise<{ seen: number; skipped: number }> {
  const read = (): Promise<{ seen: number; skipped: number }> =>
    page.evaluate(`(() => {
      const live = document.querySelector("tr-app").shadowRoot.querySelector("tr-page-live").shadowRoot;
      const { log } = live.querySelector("tr-tail-window");
      return { seen: log.taken, skipped: log.skipped };
    })()`);
  let before = await read();
  for (;;) {
    await page.waitForTimeout(1_500);
    const now = await read();
    if (now.seen === before.seen && now.skipped === before.skipped) return now;
    before = now;
  }
}

async function measureViewers(workspace: Workspace, count: number, forMs: number): Promise<Result[]> {
  const hub = await TailHub.start(workspace);
  const delaysMs: number[] = [];
  let skipped = 0;
  const sockets: WebSocket[] = [];
  for (let number = 0; number < count; number++) {
    const socket = await view(hub.url, `f${Math.floor(number / 100)}:g${number % 100}x`, (message, send) => {
      if (message.t === "tail.gap") skipped += message.n;
      if (message.t !== "tail.rows") return;
      const nowMs = Date.now();
      for (const row of message.rows) delaysMs.push(nowMs - row[1]);
      send({ t: "tail.credit", sub: 1, add: message.rows.length });
    });
    sockets.push(socket);
  }
  const offered = await hub.offer(VIEWED_RATE, forMs);
  const expected = (offered / 100) * count;
  const deadlineMs = performance.now() + 5_000;
  while (delaysMs.length + skipped < expected * 0.99 && performance.now() < deadlineMs)
    await new Promise((resolve) => setTimeout(resolve, 100));
  for (const socket of sockets) socket.terminate();
  hub.stop();
  const result = (name: string, value: number, unit: string): Result => ({
    case: `${count} viewers: ${name}`,
    value,
    unit,
    reference: null,
  });
  return [
    result("event → socket, p50", percentile(delaysMs, 0.5), "ms"),
    result("event → socket, p99", percentile(delaysMs, 0.99), "ms"),
    result("rows brought", delaysMs.length, "rows"),
    result("rows skipped and counted", skipped, "rows"),
  ];
}

/** Viewers of everything who read nothing: what each costs the hub. */
async function measureSlowViewers(workspace: Workspace, forMs: number): Promise<Result> {
  const hub = await TailHub.start(workspace);
  await hub.offer(VIEWED_RATE, 1_000);
  const reader = await view(hub.url, "", () => undefined);
  await hub.offer(VIEWED_RATE, 2_000);
  const beforeBytes = await hub.rssBytes();
  const sockets: WebSocket[] = [];
  for (let number = 0; number < SLOW_VIEWERS; number++) {
    const socket = await view(hub.url, `NOT viewer${number}`, () => undefined);
    socket.pause();
    sockets.push(socket);
  }
  await hub.offer(VIEWED_RATE, forMs);
  const grownBytes = (await hub.rssBytes()) - beforeBytes;
  for (const socket of [reader, ...sockets]) socket.terminate();
  hub.stop();
  return {
    case: "memory per slow viewer",
    value: grownBytes / SLOW_VIEWERS / MIB,
    unit: "MiB",
    reference: null,
  };
}

/** Opens a tail and resolves when the hub has opened it. */
async function view(
  url: string,
  query: string,
  onMessage: (message: HubMessage, send: (message: unknown) => void) => void,
): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace("http", "ws")}${LIVE_PATH}`, LIVE_PROTOCOL, { origin: url });
  const send = (message: unknown): void => socket.send(JSON.stringify(message));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.on("open", () =>
    send({ t: "tail.open", sub: 1, index: [], q: query, credit: 5_000, maxRate: 20_000 }),
  );
  socket.on("error", reject);
  socket.on("message", (data: Buffer) => {
    const message = JSON.parse(data.toString()) as HubMessage;
    if (message.t === "tail.opened") resolve();
    onMessage(message, send);
  });
  await promise;
  return socket;
}
