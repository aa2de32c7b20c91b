import assert from "node:assert/strict";
import { test } from "node:test";
import { channelPair } from "#test/support/host/channel-pair.ts";
import { Peer } from "./peer.ts";

/** A value that takes longer to encode than a slice of time. */
const LARGE = Array.from({ length: 200_000 }, (_, at) => ({ from: at, to: at + 5, key: `k${at}` }));

/** Two peers of this thread; the second one answers each call with what it was sent. */
function peers(): { readonly asking: Peer; readonly operations: string[] } {
  const [askingEnd, answeringEnd] = channelPair();
  const operations: string[] = [];
  new Peer(answeringEnd, {
    answer: ({ operation, value }) => {
      operations.push(operation);
      return Promise.resolve({ value });
    },
    event: () => undefined,
  });
  const handlers = { answer: () => Promise.reject(new Error("not asked")), event: () => undefined };
  return { asking: new Peer(askingEnd, handlers), operations };
}

test("a call in slices lets calls after it go first, and arrives whole", async () => {
  const { asking, operations } = peers();
  const large = asking.call("large", LARGE, { inSlices: true });
  await asking.call("small", 1);
  assert.deepEqual(operations, ["small"]);
  assert.deepEqual((await large).value, LARGE);
});

test("a call in slices that is cancelled meanwhile isn't sent", async () => {
  const { asking, operations } = peers();
  const control = new AbortController();
  const large = asking.call("large", LARGE, { inSlices: true, signal: control.signal });
  control.abort();
  await assert.rejects(large, { code: "cancelled" });
  assert.deepEqual(operations, []);
  assert.equal(asking.pending, 0);
});
