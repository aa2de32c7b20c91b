/** Checks the product's promise on a running hub: each line is there once. */

import assert from "node:assert/strict";
import { count, type Hit, pagesOfAll, textsOf } from "./search.ts";
import { FoundMarks, flawless, type SequenceLog } from "./sequence-log.ts";
import { until, untilSteady } from "./until.ts";

/** Longest time in which everything written must have become searchable, ms. */
const ARRIVAL_MS = 120_000;

/**
 * Waits until the documents stand still and asserts that they are exactly the lines of `logs`. `hint` is part of
 * the message: what is needed to repeat the run. `see` gets each page of documents.
 */
export async function assertExactlyOnce(
  searchUrl: string,
  logs: readonly SequenceLog[],
  hint = "",
  see: (page: readonly Hit[]) => void = () => undefined,
): Promise<void> {
  const expected = logs.reduce((sum, log) => sum + log.count, 0);
  await until("the arrival of all lines", async () => (await count(searchUrl)) >= expected, {
    deadlineMs: ARRIVAL_MS,
    everyMs: 200,
  }).catch(() => undefined);
  const total = await untilSteady("the number of documents", () => count(searchUrl));
  const found = new FoundMarks();
  for await (const page of pagesOfAll(searchUrl)) {
    found.add(textsOf(page));
    see(page);
  }
  for (const log of logs) {
    assert.deepEqual(
      found.verdict(log.writer, log.count),
      flawless(log.count),
      `lines of ${log.writer} ${hint}`,
    );
  }
  assert.equal(total, expected, `documents in all ${hint}`);
}
