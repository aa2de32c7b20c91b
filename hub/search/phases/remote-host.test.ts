import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_LIMITS } from "#hub/search/query/default-limits.ts";
import { decodeValue } from "#hub/search/wire/value-reader.ts";
import { encodeValue } from "#hub/search/wire/value-writer.ts";
import { AppError } from "#proto/kit/errors.ts";
import { RemoteSearchHost } from "./remote-host.ts";

test("a collection whose reply comes after the search was cancelled is closed", async () => {
  const closed: unknown[] = [];
  const host = new RemoteSearchHost((operation, payload, _signal, late) => {
    if (operation === "close") {
      closed.push(decodeValue(payload));
      return Promise.resolve(encodeValue({ value: undefined, warnings: [] }));
    }
    late?.(encodeValue({ value: { id: "c1" }, warnings: [] }));
    return Promise.reject(new AppError("cancelled", "the request was cancelled"));
  });
  const call = { body: {}, limits: DEFAULT_LIMITS, version: 605, nowMs: 0, shards: [] };
  await assert.rejects(host.collect(call, AbortSignal.abort()), { code: "cancelled" });
  assert.deepEqual(closed, [{ id: "c1", version: 605, places: [] }]);
});
