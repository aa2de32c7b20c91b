import assert from "node:assert/strict";
import { test } from "node:test";
import { Incarnations } from "#hub/journal/streams/log-history.ts";
import type { Bounds } from "#hub/journal/streams/stream-store.ts";
import { AppError } from "#proto/kit/errors.ts";
import { Reader, type ReaderSource } from "./reader.ts";

/** Any use of the connection: the reader would read now. */
function opens(): never {
  throw new AppError("internal", "the connection is used");
}

for (const [last, code] of [
  [120, "internal"],
  [90, "journal_gap"],
] as const)
  test(`a reader asks once more before messages count as lost; the stream then ends at ${last}`, async () => {
    const answers = [90, last];
    const bounds: ReaderSource["bounds"] = async (_, isLost) => {
      const answer = (): Bounds => ({ firstSequence: 1, lastSequence: answers.shift()! });
      const first = answer();
      return isLost?.(first) === true ? answer() : first;
    };
    const source = {
      bounds,
      clock: { monotonic: () => 0 },
      metrics: { readerRestarted: () => undefined },
      connection: new Proxy({}, { get: opens }),
      begun: () => undefined,
      ended: () => undefined,
      ready: () => Promise.resolve(),
      incarnations: () => new Incarnations(),
    } as unknown as ReaderSource;
    const { signal } = new AbortController();
    const reader = new Reader("RAW", source, { after: { incarnation: 1, sequence: 100 }, signal });
    await assert.rejects(reader[Symbol.asyncIterator]().next(), { code });
    assert.deepEqual(answers, []);
  });
