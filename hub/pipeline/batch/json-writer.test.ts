import assert from "node:assert/strict";
import { test } from "node:test";
import { RegexpGuard, RegexpTimeout } from "#hub/pipeline/regexp/regexp-guard.ts";
import { JsonWriter } from "./json-writer.ts";

const LARGEST_BYTES = 16 * 1024 ** 2;

test("a writer that was stopped while it grew writes the next text", () => {
  const guard = new RegexpGuard();
  let json = new JsonWriter(64 * 1024);
  const grow = (): void => {
    for (;;) {
      if (json.bytes.length >= LARGEST_BYTES) json = new JsonWriter(64 * 1024);
      json.at = json.bytes.length;
      json.reserve(1);
    }
  };
  for (let stops = 0; stops < 40; stops++) {
    assert.throws(() => guard.limited(grow, 2), RegexpTimeout);
    json.at = 0;
    json.string("text");
    assert.equal(json.bytes.toString("utf8", 0, json.at), '"text"');
  }
});
