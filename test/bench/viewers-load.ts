/** What the benchmark of viewers sends: the worst searches of eight of them, and the requests of everybody else. */

import { appendFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { WebSocket } from "ws";
import { MIB } from "#proto/kit/units.ts";
import { type HubMessage, LIVE_PATH, LIVE_PROTOCOL, START_CREDIT_ROWS, UsedCredit } from "#proto/live.ts";
import { Browser } from "#test/conformance/oauth/browser.ts";
import type { TestHub } from "#test/harness/hub.ts";
import { residentBytes } from "#test/harness/processes.ts";
import { WORST_SEARCHES, worstDocuments } from "#test/hostile/worst-searches.ts";

export const VIEWERS = 8;
/** A viewer waits no longer. */
const PATIENCE_MS = 2_000;
/** Longest wait of the others. */
const ANSWER_MS = 60_000;
/** Lines of the small requests that others send. */
export const SMALL_BULK = 100;
/** Pauses between requests for `GET /`, sign-ins, lines for live tail and looks at the memory. */
const LOOK_MS = 50;
/**
 * Fewer than the 300 sign-ins that one network may begin in a minute. The p99 of fewer than 100 samples, or of 30 s at this
 * pause, is their longest (nearest rank); in a slow run that is true of longer ones, too.
 */
const SIGN_IN_MS = 300;
const LINE_MS = 100;
const MEMORY_MS = 250;
/** Wait for the last lines at the end. */
const LAST_LINES_MS = 2_000;

/** Who signs in, and the key that requests carry. */
export interface Credentials {
  readonly name: string;
  readonly password: string;
  /** Authorization header. */
  readonly key: string;
}

/** Where requests go and what they carry. */
export interface Site {
  readonly hub: TestHub;
  readonly credentials: Credentials;
  /** Signs a browser in that the hub remembers. */
  readonly signIn: () => Promise<void>;
  /** A file that an agent follows. */
  readonly file: string;
}

export interface Measured {
  /** Times of the answers, ms. */
  readonly root: readonly number[];
  readonly bulk: readonly number[];
  readonly signIn: readonly number[];
  /** From the writing of a line to a file until a live tail shows it, ms. */
  readonly live: readonly number[];
  /** Lines that didn't arrive. */
  readonly linesMissing: number;
  readonly documentsPerSecond: number;
  readonly peakMiB: number;
}

/** Made before: it isn't the sender's time that is measured. */
const HOSTILE = WORST_SEARCHES.map(({ path, body }) => ({
  path,
  bytes: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
}));

/** Sends the searches of the list in turn until `signal` is aborted; counts how they ended. */
export async function sendWorst(
  site: Site,
  viewer: number,
  signal: AbortSignal,
  outcomes: Map<string, number>,
): Promise<void> {
  const first = Math.floor((viewer * HOSTILE.length) / VIEWERS);
  for (let number = first; !signal.aborted; number++) {
    const { path, bytes } = HOSTILE[number % HOSTILE.length]!;
    const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    const ended = await post(site, path, bytes, patience).catch(() => "left");
    outcomes.set(ended, (outcomes.get(ended) ?? 0) + 1);
  }
}

/** Sends what others send for so long. */
export async function sendOrdinary(site: Site, forMs: number): Promise<Measured> {
  const endMs = performance.now() + forMs;
  const [root, bulk, signIn]: [number[], number[], number[]] = [[], [], []];
  let peakBytes = 0;
  let documents = 0;
  const until = async (step: () => Promise<void>): Promise<void> => {
    while (performance.now() < endMs) await step();
  };
  const [live] = await Promise.all([
    followLines(site, endMs),
    until(async () => {
      root.push(await timed(() => get(site, "/")));
      await pause(LOOK_MS);
    }),
    until(async () => {
      signIn.push(await timed(site.signIn));
      await pause(SIGN_IN_MS);
    }),
    until(async () => {
      const body = Buffer.from(worstDocuments(documents, documents + SMALL_BULK));
      bulk.push(await timed(() => post(site, "/lines/_doc/_bulk", body, AbortSignal.timeout(ANSWER_MS))));
      documents += SMALL_BULK;
    }),
    until(async () => {
      peakBytes = Math.max(peakBytes, residentBytes(site.hub.pid));
      await pause(MEMORY_MS);
    }),
  ]);
  const documentsPerSecond = (documents * 1_000) / forMs;
  return { root, bulk, signIn, ...live, documentsPerSecond, peakMiB: peakBytes / MIB };
}

/** Returns the status of the answer. */
export async function post(
  { hub, credentials }: Site,
  path: string,
  body: Uint8Array<ArrayBuffer>,
  signal: AbortSignal,
): Promise<string> {
  const type = /_(?:bulk|msearch)$/.test(path) ? "application/x-ndjson" : "application/json";
  const headers = { "content-type": type, authorization: credentials.key };
  const answer = await fetch(hub.searchUrl + path, { method: "POST", headers, body, signal });
  await answer.arrayBuffer();
  return String(answer.status);
}

async function get({ hub, credentials }: Site, path: string): Promise<void> {
  const answer = await fetch(hub.searchUrl + path, {
    headers: { authorization: credentials.key },
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`GET ${path} answered ${answer.status}`);
}

/**
 * Signs a browser in with the password and returns what signs it in once more, which the hub then remembers: to check a
 * password takes 0.4 s and 128 MiB by design.
 */
export async function openBrowser(
  { dashboardUrl: origin }: TestHub,
  { name, password }: Credentials,
): Promise<() => Promise<void>> {
  const browser = new Browser();
  const check = ({ url, status }: { readonly url: string; readonly status: number }): void => {
    if (url !== `${origin}/` || status !== 200) throw new Error(`a sign-in ended at ${url} with ${status}`);
  };
  const form = await browser.follow(await browser.get(`${origin}/`), origin);
  check(await browser.follow(await browser.submit(form, "/sign-in", { name, password }), origin));
  return async () => check(await browser.follow(await browser.get(`${origin}/api/auth/login`), origin));
}

/** Writes lines to the file and follows them live until `endMs`. */
async function followLines(
  { hub, credentials, file }: Site,
  endMs: number,
): Promise<Pick<Measured, "live" | "linesMissing">> {
  const live: number[] = [];
  let written = 0;
  const socket = await openTail(hub.dashboardUrl, credentials.key, (line) => {
    const { at } = JSON.parse(line) as { readonly at: number };
    live.push(Date.now() - at);
  });
  while (performance.now() < endMs) {
    appendFileSync(file, `${JSON.stringify({ at: Date.now(), tail: "viewers" })}\n`);
    written++;
    await pause(LINE_MS);
  }
  for (let waitedMs = 0; live.length < written && waitedMs < LAST_LINES_MS; waitedMs += LINE_MS)
    await pause(LINE_MS);
  socket.terminate();
  return { live, linesMissing: written - live.length };
}

/** Opens a live tail of the lines of this benchmark. */
async function openTail(url: string, key: string, onLine: (line: string) => void): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace("http", "ws")}${LIVE_PATH}`, LIVE_PROTOCOL, {
    headers: { authorization: key },
  });
  const send = (message: unknown): void => socket.send(JSON.stringify(message));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const credit = new UsedCredit();
  socket.on("open", () =>
    send({ t: "tail.open", sub: 1, index: [], q: "viewers", credit: START_CREDIT_ROWS, maxRate: 20_000 }),
  );
  socket.on("error", reject);
  socket.on("message", (data: Buffer) => {
    const message = JSON.parse(data.toString()) as HubMessage;
    if (message.t === "tail.opened") resolve();
    if (message.t !== "tail.rows") return;
    for (const row of message.rows) onLine(row[4]);
    const add = credit.take(message.rows.length);
    if (add > 0) send({ t: "tail.credit", sub: 1, add });
  });
  await promise;
  return socket;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await run();
  return performance.now() - startMs;
}
