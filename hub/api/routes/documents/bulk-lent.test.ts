/** Large bodies of `_bulk` whose documents a thread has. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import { LINES, openBulkHub, watchedBodies } from "#test/support/api/bulk-hub.ts";

const LIMIT = { timeout: 120_000 };

/** A body with an id before each document. */
function keyedBody(count: number): string {
  return Array.from({ length: count }, (_, n) => `{"index":{"_id":"${n}"}}\n{"n":${n}}\n`).join("");
}

test(
  "where the thread of a body with ids is lost in the middle the documents that are left fail, each by its id",
  LIMIT,
  async (t) => {
    const bodies = watchedBodies(t);
    bodies.before = ({ kind }) => {
      if (kind === "encode" && bodies.encoded > 1) throw new AppError("unavailable", "lost");
    };
    const { send } = await openBulkHub(t, bodies);
    const { body } = await send("POST", "/plain/_doc/_bulk", keyedBody(26_000), LINES);
    const items = Array.from({ length: body["items"]!.length }, (_, n) => body["items"]![n]!["index"]!);
    assert.equal(items.length, 26_000);
    for (const [n, { _id: id, status }] of items.entries())
      assert.deepEqual([id, status], [`${n}`, n < 25_000 ? 201 : 503]);
  },
);
