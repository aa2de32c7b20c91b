import assert from "node:assert/strict";
import { test } from "node:test";
import { answeringClient } from "#test/harness/answering-client.ts";
import { readPosition } from "./import-positions.ts";

const INDEX = { name: "s", uuid: "of-source", shards: 1, dataStream: "s", definition: {} };

test("a position is that of a data stream while one of its indices is left", async (t) => {
  let uuids: readonly string[] = [];
  let saved: object | undefined;
  const hub = await answeringClient(t, (path, body, method) => {
    if (path === "/s/_settings") {
      const entries = uuids.map((uuid, at) => [`.ds-s-00000${at}`, { settings: { index: { uuid } } }]);
      return { status: 200, body: Object.fromEntries(entries) as object };
    }
    if (method === "PUT") saved = JSON.parse(body) as object;
    return saved === undefined ? { status: 404, body: {} } : { status: 200, body: { _source: saved } };
  });
  const nextAfter = async (...now: readonly string[]): Promise<[boolean, number]> => {
    uuids = now;
    const position = await readPosition(hub, INDEX, "s");
    return [position.wasBegun, position.nextOf(0)];
  };
  assert.deepEqual(await nextAfter("m"), [false, 0]);
  await (await readPosition(hub, INDEX, "s")).save(0, 500);
  assert.deepEqual(await nextAfter("m"), [true, 500]);
  // A rollover: the new index's uuid sorts first.
  assert.deepEqual(await nextAfter("m", "a"), [true, 500]);
  await (await readPosition(hub, INDEX, "s")).save(0, 600);
  // Retention deleted the first index.
  assert.deepEqual(await nextAfter("a"), [true, 600]);
  // Another stream of the name.
  assert.deepEqual(await nextAfter("b"), [false, 0]);
});
