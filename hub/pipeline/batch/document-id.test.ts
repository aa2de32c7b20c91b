import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { suite, test } from "node:test";
import { DocumentIds } from "./document-id.ts";

const SOURCE = "0198c0de-agent/2049-1234-99/7";

/** What the id is made of, as bytes. */
function expected(offset: number, child: number): string {
  const bytes = Buffer.alloc(child < 255 ? 15 : 18);
  createHash("sha256").update(`${SOURCE}/default`).digest().copy(bytes, 0, 0, 8);
  bytes.writeUIntBE(offset, 8, 6);
  bytes[14] = Math.min(child, 255);
  if (child >= 255) bytes.writeUIntBE(child, 15, 3);
  return bytes.toString("base64url");
}

suite("an id has the hash of its source, the offset and the number of the result", () => {
  const ids = new DocumentIds(SOURCE, "default");
  const offsets = [
    0,
    1,
    255,
    256,
    65_535,
    65_536,
    2 ** 24 + 3,
    2 ** 31,
    2 ** 32 - 1,
    2 ** 32,
    2 ** 40 + 5,
    2 ** 48 - 1,
  ];
  for (const offset of offsets)
    test(`at ${offset}`, () => {
      for (const child of [70_000, 0, 1, 254, 255, 256])
        assert.equal(ids.of(offset, child).toString("latin1"), expected(offset, child));
    });
});

test("results of one event have ids of their own", () => {
  const ids = new DocumentIds("agent/file/1", "default");
  const some = [0, 1, 254, 255, 256, 70_000].map((child) => ids.of(12, child).toString("latin1"));
  assert.equal(new Set(some).size, 6);
});
