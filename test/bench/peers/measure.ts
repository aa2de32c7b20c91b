/** What a store takes for the access logs and for each question. */

import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { systemClock } from "#proto/kit/clock.ts";
import { cpuSeconds, peakResidentBytes } from "#test/harness/processes.ts";
import { ACCESS_CASES, type AccessCase } from "../access-cases.ts";
import { percentile } from "../benchmark.ts";
import type { Store } from "./store.ts";

/** Senders at a time. */
const SENDERS = 2;
/** At rest: so little CPU of all processes for so long. */
const QUIET_SECONDS = 0.3;
const QUIET_MS = 7_000;
const MOST_WAITS = 40;
/** A question is repeated until it is warm, then until there is enough of its CPU to be read from the system's ticks. */
const WARM_MS = 1_000;
const MEASURED_MS = 3_000;
const LEAST_ASKED = 20;
const MOST_ASKED = 2_000;
/** A number of values is estimated this well. */
const ESTIMATE_SHARE = 0.06;

/** undefined: the store's processes or files aren't seen. */
export interface IngestFigures {
  readonly perCpuSecond: number | undefined;
  readonly wallSeconds: number;
  readonly memoryBytes: number | undefined;
  readonly diskBytes: number | undefined;
}

export interface QuestionFigures {
  readonly name: string;
  readonly firstMs: number;
  readonly medianMs: number;
  readonly cpuMs: number | undefined;
  /** What it answered where that isn't what the generator counted. */
  readonly differs: string | undefined;
}

/** Everything that was measured of a store. */
export interface StoreFigures {
  readonly name: string;
  readonly ingest: IngestFigures;
  readonly questions: readonly QuestionFigures[];
}

/** Sends `documents` from files in the store's format, waits until it is at rest, and asks each question. */
export async function measureStore(
  store: Store,
  documents: number,
  files: readonly string[],
  expected: readonly unknown[],
): Promise<StoreFigures> {
  await store.create();
  const ingest = await measureIngest(store, documents, files);
  const questions: QuestionFigures[] = [];
  for (const [number, about] of ACCESS_CASES.entries()) {
    questions.push(await measureQuestion(store, about, expected[number]));
  }
  return { name: store.name, ingest, questions };
}

async function measureIngest(
  store: Store,
  documents: number,
  files: readonly string[],
): Promise<IngestFigures> {
  await untilQuiet(store);
  const before = cpuOf(store);
  const start = performance.now();
  await sendAll(store, files);
  await store.refresh();
  const wallSeconds = (performance.now() - start) / 1000;
  await untilQuiet(store);
  const seen = store.pids().length > 0;
  return {
    perCpuSecond: seen ? documents / (cpuOf(store) - before) : undefined,
    wallSeconds,
    memoryBytes: seen ? store.pids().reduce((sum, pid) => sum + peakResidentBytes(pid), 0) : undefined,
    diskBytes: await store.diskBytes(),
  };
}

async function sendAll(store: Store, files: readonly string[]): Promise<void> {
  const left = files.values();
  const sender = async (): Promise<void> => {
    for (const file of left) await store.send(readFileSync(file, "utf8"));
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
}

async function measureQuestion(store: Store, about: AccessCase, expected: unknown): Promise<QuestionFigures> {
  const { ask, read } = store.question(about);
  const start = performance.now();
  const answer = await ask();
  const firstMs = performance.now() - start;
  const found = await read(answer);
  await repeat(ask, WARM_MS);
  const before = cpuOf(store);
  const times = await repeat(ask, MEASURED_MS);
  const cpuMs = ((cpuOf(store) - before) * 1000) / times.length;
  return {
    name: about.name,
    firstMs,
    medianMs: percentile(times, 0.5),
    cpuMs: store.pids().length > 0 ? cpuMs : undefined,
    differs: isRight(about, found, expected) ? undefined : JSON.stringify(found).slice(0, 100),
  };
}

/** Asks one after the other; returns ms each. */
async function repeat(ask: () => Promise<string>, ms: number): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + ms;
  while (times.length < LEAST_ASKED || (performance.now() < end && times.length < MOST_ASKED)) {
    const from = performance.now();
    await ask();
    times.push(performance.now() - from);
  }
  return times;
}

function isRight({ isEstimate }: AccessCase, found: unknown, expected: unknown): boolean {
  if (isEstimate === true) return Math.abs(Number(found) / Number(expected) - 1) < ESTIMATE_SHARE;
  return isDeepStrictEqual(found, expected);
}

function cpuOf(store: Store): number {
  return store.pids().reduce((sum, pid) => sum + cpuSeconds(pid), 0);
}

/** Waits until the processes have nothing to do. */
async function untilQuiet(store: Store): Promise<void> {
  for (let wait = 0; wait < MOST_WAITS; wait++) {
    const before = cpuOf(store);
    await systemClock.sleep(QUIET_MS);
    if (cpuOf(store) - before < QUIET_SECONDS) return;
  }
}
