import assert from "node:assert/strict";
import { test } from "node:test";
import { unpackFramedSnappy, unpackSnappy } from "./snappy.ts";

/** Blocks by the format's description: the packed bytes and their text. */
const BLOCKS: [name: string, packed: number[], text: string][] = [
  ["a literal", [3, 0x08, 0x61, 0x62, 0x63], "abc"],
  ["a copy with a distance of 11 bits, which overlaps itself", [8, 0x00, 0x61, 0x0d, 0x01], "aaaaaaaa"],
  ["a copy with a distance of 2 bytes", [6, 0x08, 0x61, 0x62, 0x63, 0x0a, 0x03, 0x00], "abcabc"],
  ["a copy with a distance of 4 bytes", [6, 0x08, 0x61, 0x62, 0x63, 0x0b, 0x03, 0, 0, 0], "abcabc"],
  [
    "a literal whose length stands behind the tag",
    [61, 0xf0, 60, ...Array<number>(61).fill(0x62)],
    "b".repeat(61),
  ],
  ["nothing", [0], ""],
];

for (const [name, packed, text] of BLOCKS)
  test(`snappy: ${name}`, () => assert.equal(unpackSnappy(Uint8Array.from(packed), 100).toString(), text));

test("snappy: what is damaged or too long is refused", () => {
  const damaged = [
    [],
    [3],
    [3, 0x08, 0x61],
    [4, 0x08, 0x61, 0x62, 0x63],
    [6, 0x00, 0x61, 0x0d, 0x05],
    [0xff, 0xff, 0xff, 0xff, 0xff],
    [50, 0x00, 0x61],
  ];
  for (const bytes of damaged)
    assert.throws(
      () => unpackSnappy(Uint8Array.from(bytes), 100),
      { code: "parsing" },
      JSON.stringify(bytes),
    );
  assert.throws(() => unpackSnappy(Uint8Array.from([101, 0, 0, 0, 0, 0]), 100), {
    code: "request_too_large",
  });
});

const FRAMED = Buffer.from(
  "\xff\x06\0\0sNaPpY" + "\0\x09\0\0CRC!\x03\x08abc" + "\xfe\x01\0\0." + "\x01\x06\0\0CRC!de",
  "latin1",
);

test("snappy: chunks of a stream, packed, plain and skipped", () => {
  assert.equal(unpackFramedSnappy(FRAMED, 5).toString(), "abcde");
  assert.throws(() => unpackFramedSnappy(FRAMED, 4), { code: "request_too_large" });
  const reachesBack = Buffer.from("\0\x09\0\0CRC!\x04\x0d\x01\0\0", "latin1");
  for (const bytes of [
    FRAMED.subarray(1),
    FRAMED.subarray(0, -1),
    Buffer.concat([FRAMED, Buffer.from("\x02\0\0\0")]),
    Buffer.concat([FRAMED, reachesBack]),
    Buffer.concat([FRAMED, Buffer.from("\xff\x03\0\0abc", "latin1")]),
  ])
    assert.throws(() => unpackFramedSnappy(bytes, 100), { code: "parsing" });
});

test("snappy: a stream in chunks of single bytes takes no more memory than its bytes", () => {
  const head = Buffer.from("\xff\x06\0\0sNaPpY", "latin1");
  const chunks = Buffer.alloc(9 * 1_000_000, Buffer.from("\x01\x05\0\0CRC!x", "latin1"));
  const stream = Buffer.concat([head, chunks]);
  const { heapUsed, external } = process.memoryUsage();
  assert.equal(unpackFramedSnappy(stream, 2_000_000).length, 1_000_000);
  const after = process.memoryUsage();
  const mib = (after.heapUsed - heapUsed + after.external - external) / 2 ** 20;
  assert.ok(mib < 10, `${mib} MiB`);
});
