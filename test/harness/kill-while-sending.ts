/** A sender that continues while its hub is killed and started again, and what of its lines has to be found then. */

import assert from "node:assert/strict";
import { ARRIVAL_MS, byNumber, type IntakeHub, lines } from "./foreign-senders.ts";
import { request } from "./http.ts";
import { count, LOGS } from "./search.ts";
import { until } from "./until.ts";

/** Batches at most before the kill, while the hub is away, and after it is back: some senders take any number at once. */
const BATCHES = { before: 40, away: 3, back: 2 };

/** How many lines there were at each point; they are numbered from 0. */
export interface SentOverKill {
  /** Found before the next was sent. */
  readonly settled: number;
  /** Sent with success when the hub was killed. */
  readonly succeeded: number;
  /** Begun to be sent when the sender noticed that the hub had ended. */
  readonly begun: number;
  readonly all: number;
  /** The lines that are in the index, ordered by number. */
  readonly found: readonly string[];
}

export interface ForeignSender {
  /** Lines that it gets at a time. */
  readonly batch: number;
  /** Resolves when the sender takes the lines for sent. `ended` is aborted when the hub has been killed. */
  readonly send: (texts: readonly string[], ended: AbortSignal) => Promise<void>;
  /** Resolves when what is sent from now on reaches the hub; without it that is so at once, as the sender waits for the hub. */
  readonly noticed?: (away: { sendMore: () => Promise<void>; back: Promise<void> }) => Promise<void>;
}

/** Sends batches one after another from before a kill of the hub until after its restart. */
export async function killWhileSending(
  { hub, messages }: IntakeHub,
  { batch, send, noticed }: ForeignSender,
): Promise<SentOverKill> {
  const kill = new AbortController();
  await send(lines(batch), kill.signal);
  const settled = (await messages(batch)).map(numbered).toSorted(byNumber);
  assert.deepEqual(settled, lines(batch));
  const [ended, back] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let phase: keyof typeof BATCHES = "before";
  let [succeeded, begun] = [batch, batch];
  const sendBatch = async (): Promise<void> => {
    begun += batch;
    await send(lines(batch, succeeded), kill.signal);
    succeeded = begun;
  };
  const sendWhile = async (own: typeof phase): Promise<void> => {
    for (let left = BATCHES[own]; left > 0 && phase === own; left--) await sendBatch();
  };
  const sending = (async () => {
    await sendWhile("before");
    await ended.promise;
    await noticed?.({ sendMore: sendBatch, back: back.promise });
    const begunThen = begun;
    await sendWhile("away");
    await back.promise;
    await sendWhile("back");
    return begunThen;
  })();
  const restarting = (async () => {
    await until("lines of the second batch", async () => (await countNow(hub.searchUrl)) > batch, {
      everyMs: 5,
    });
    const succeededThen = succeeded;
    await hub.kill9();
    phase = "away";
    kill.abort();
    ended.resolve();
    await hub.start();
    phase = "back";
    back.resolve();
    return succeededThen;
  })();
  const [begunThen, succeededThen] = await Promise.all([sending, restarting]);
  const last = { match_phrase: { message: lines(1, begun - 1)[0] } };
  await until("the last line", async () => (await count(hub.searchUrl, last)) > 0, {
    deadlineMs: ARRIVAL_MS,
  });
  const found = (await messages(batch)).map(numbered);
  return {
    settled: batch,
    succeeded: succeededThen,
    begun: begunThen,
    all: begun,
    found: found.toSorted(byNumber),
  };
}

/** Resolves with how many lines there are, also those that a search would find later. Throws while the hub is away. */
export async function countNow(searchUrl: string): Promise<number> {
  await request("POST", `${searchUrl}/${LOGS}/_refresh`);
  return count(searchUrl);
}

/**
 * Throws where a line is missing, or where one is there twice of which the sender knew before the kill that the log has it.
 * Returns how many are there again.
 */
export function assertNoneLost({ found, all }: SentOverKill, acknowledged: number): number {
  const known = new Set(found);
  assert.deepEqual(runsOf(lines(all).filter((text) => !known.has(text))), [], "missing lines");
  const ofAcknowledged = found.filter((text) => numberOf(text) < acknowledged);
  assert.deepEqual(ofAcknowledged, lines(acknowledged));
  return found.length - all;
}

/**
 * For protocols that acknowledge nothing. Throws unless each line is there once but those that were in flight: sent after the settled
 * ones, and before the sender noticed the end of the hub. Over one connection they are one run. Returns how many are missing.
 */
export function assertLostInFlight(
  { found, settled, begun, all }: SentOverKill,
  connections: "one" | "many" = "one",
): number {
  const known = new Set(found);
  const missing = lines(all).filter((text) => !known.has(text));
  assert.equal(found.length, all - missing.length, "repeated lines");
  const runs = runsOf(missing);
  if (connections === "one") assert.ok(runs.length <= 1, `lines ${runs.join(", ")} are missing`);
  for (const number of missing.map(numberOf))
    assert.ok(number >= settled && number < begun, `line ${number} wasn't in flight`);
  return missing.length;
}

/** Returns a message without what a sender puts behind it. */
function numbered(text: string): string {
  return /^line \d+/.exec(text)?.[0] ?? text;
}

function numberOf(text: string): number {
  return Number(text.slice("line ".length));
}

/** Returns lines as runs of numbers, so that a message of an assertion stays short. */
function runsOf(texts: readonly string[]): string[] {
  const runs: [first: number, last: number][] = [];
  for (const number of texts.map(numberOf)) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === number - 1) run[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([first, last]) => `${first} to ${last}`);
}
