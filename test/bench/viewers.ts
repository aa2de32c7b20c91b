/**
 * Eight viewers who send the worst searches there are, one after the other, and wait for none longer than two seconds: how
 * soon everybody else is answered meanwhile, what is left of indexing, and the hub's memory.
 */

import { setTimeout as pause } from "node:timers/promises";
import { MIB } from "#proto/kit/units.ts";
import { ask } from "#test/harness/http.ts";
import { startHub, type TestHub } from "#test/harness/hub.ts";
import { residentBytes } from "#test/harness/processes.ts";
import { WORST_DOCUMENTS, WORST_SEARCHES, worstDocuments } from "#test/hostile/worst-searches.ts";
import { type Benchmark, percentile, type Result, type Target } from "./benchmark.ts";

const VIEWERS = 8;
/** A viewer waits no longer. */
const PATIENCE_MS = 2_000;
const HOSTILE_MS = 60_000;
const QUIET_MS = 10_000;
const BULK_DOCUMENTS = 5_000;
/** Lines of the small requests that others send. */
const SMALL_BULK = 100;
/** Interval of requests for `GET /`. */
const LOOK_MS = 50;
const MEMORY_MS = 250;

const P99_MS: Target = { atMost: 150 };
const INGEST_SHARE: Target = { atLeast: 0.5 };
/** Beside 1.5 times the idle memory. */
const MORE_MIB = 512;

export const viewers: Benchmark = {
  name: "viewers",
  about: "eight viewers with the worst searches: answers to others, indexing and memory meanwhile",
  async run(context) {
    const hub = await startHub({ dataDir: context.workspace.path("hub-data") });
    context.workspace.defer(() => hub.destroy());
    await fill(hub, Math.round(WORST_DOCUMENTS * context.scale));
    const idleMiB = residentBytes(hub.pid) / MIB;
    const quiet = await others(hub, QUIET_MS * context.scale);
    context.progress(
      `nobody else: GET / ${at(quiet.root)}, _bulk ${at(quiet.bulk)}; ${idleMiB.toFixed(0)} MiB`,
    );
    const hostile = new AbortController();
    const outcomes = new Map<string, number>();
    const running = Array.from({ length: VIEWERS }, (_, viewer) =>
      view(hub, viewer, hostile.signal, outcomes),
    );
    const loud = await others(hub, HOSTILE_MS * context.scale);
    hostile.abort();
    await Promise.all(running);
    context.progress(`with viewers: GET / ${at(loud.root)}, _bulk ${at(loud.bulk)}; ${describe(outcomes)}`);
    return resultsOf({ quiet, loud, idleMiB });
  },
};

interface Measured {
  /** Times of the answers, ms. */
  readonly root: readonly number[];
  readonly bulk: readonly number[];
  readonly documentsPerSecond: number;
  readonly peakMiB: number;
}

function resultsOf({
  quiet,
  loud,
  idleMiB,
}: {
  readonly quiet: Measured;
  readonly loud: Measured;
  readonly idleMiB: number;
}): Result[] {
  const row = (name: string, value: number, unit: string, before: number, target?: Target): Result => ({
    case: name,
    value,
    unit,
    reference: { name: "the same without viewers", value: before },
    ...(target !== undefined && { target }),
  });
  const share = loud.documentsPerSecond / quiet.documentsPerSecond;
  const p99 = (all: readonly number[]): number => percentile([...all], 0.99);
  return [
    row("GET /, p99", p99(loud.root), "ms", p99(quiet.root), P99_MS),
    row(`_bulk of ${SMALL_BULK} documents, p99`, p99(loud.bulk), "ms", p99(quiet.bulk), P99_MS),
    row("documents of small _bulk requests, share of the speed", share, "times", 1, INGEST_SHARE),
    row("memory", loud.peakMiB, "MiB at most", idleMiB, { atMost: 1.5 * idleMiB + MORE_MIB }),
  ];
}

async function fill(hub: TestHub, documents: number): Promise<void> {
  for (let first = 0; first < documents; first += BULK_DOCUMENTS) {
    const body = worstDocuments(first, Math.min(documents, first + BULK_DOCUMENTS));
    await post(`${hub.searchUrl}/worst/_doc/_bulk`, body, AbortSignal.timeout(HOSTILE_MS));
  }
  await ask("POST", `${hub.searchUrl}/worst/_refresh`);
}

/** Sends the searches of the list in turn until `signal` is aborted; counts how they ended. */
async function view(
  hub: TestHub,
  viewer: number,
  signal: AbortSignal,
  outcomes: Map<string, number>,
): Promise<void> {
  const first = Math.floor((viewer * WORST_SEARCHES.length) / VIEWERS);
  for (let number = first; !signal.aborted; number++) {
    const { path, body } = WORST_SEARCHES[number % WORST_SEARCHES.length]!;
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const patience = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    const ended = await post(hub.searchUrl + path, text, patience).catch(() => "left");
    outcomes.set(ended, (outcomes.get(ended) ?? 0) + 1);
  }
}

/** Sends what others send for so long. */
async function others(hub: TestHub, forMs: number): Promise<Measured> {
  const endMs = performance.now() + forMs;
  const [root, bulk]: [number[], number[]] = [[], []];
  let peakBytes = 0;
  const until = async (step: () => Promise<void>): Promise<void> => {
    while (performance.now() < endMs) await step();
  };
  let documents = 0;
  await Promise.all([
    until(async () => {
      root.push(await timed(() => ask("GET", `${hub.searchUrl}/`)));
      await pause(LOOK_MS);
    }),
    until(async () => {
      const body = worstDocuments(documents, documents + SMALL_BULK);
      const signal = AbortSignal.timeout(HOSTILE_MS);
      bulk.push(await timed(() => post(`${hub.searchUrl}/lines/_doc/_bulk`, body, signal)));
      documents += SMALL_BULK;
    }),
    until(async () => {
      peakBytes = Math.max(peakBytes, residentBytes(hub.pid));
      await pause(MEMORY_MS);
    }),
  ]);
  return { root, bulk, documentsPerSecond: (documents * 1_000) / forMs, peakMiB: peakBytes / MIB };
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await run();
  return performance.now() - startMs;
}

/** Returns the status of the answer. */
async function post(url: string, body: string, signal: AbortSignal): Promise<string> {
  const type =
    url.endsWith("_bulk") || url.endsWith("_msearch") ? "application/x-ndjson" : "application/json";
  const answer = await fetch(url, { method: "POST", headers: { "content-type": type }, body, signal });
  await answer.arrayBuffer();
  return String(answer.status);
}

function at(times: readonly number[]): string {
  return `p50 ${percentile([...times], 0.5).toFixed(0)} ms, p99 ${percentile([...times], 0.99).toFixed(0)} ms`;
}

function describe(outcomes: ReadonlyMap<string, number>): string {
  return [...outcomes].map(([ended, count]) => `${count} × ${ended}`).join(", ");
}
