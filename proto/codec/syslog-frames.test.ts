import assert from "node:assert/strict";
import { test } from "node:test";
import { FrameEnds } from "./syslog-frames.ts";

for (const [what, text, expected] of [
  ["newlines", "<1>a\n<1>b\nrest", ["<1>a", "<1>b"]],
  ["zero bytes before the next message and behind the last", "<1>a\0<1>b\0", ["<1>a", "<1>b"]],
  ["zero bytes and newlines", "<1>a\0<1>b\n<1>c\0", ["<1>a", "<1>b", "<1>c"]],
  ["no zero bytes in a text", "<1>a\0b\n<1>c", ["<1>a\0b"]],
  ["nothing", "", []],
] as const) {
  test(`messages of syslog end at ${what}`, () => {
    const bytes = Buffer.from(text);
    const ends = new FrameEnds(bytes);
    const found: string[] = [];
    for (let at = 0, end = ends.next(at); end >= 0; at = end + 1, end = ends.next(at))
      found.push(bytes.toString("utf8", at, end));
    assert.deepEqual(found, expected);
  });
}

test("many messages that end with zero bytes are cut in linear time", () => {
  const bytes = Buffer.from("<1>\0".repeat(1_000_000));
  const ends = new FrameEnds(bytes);
  const before = process.cpuUsage();
  let count = 0;
  for (let end = ends.next(0); end >= 0; end = ends.next(end + 1)) count++;
  const { user, system } = process.cpuUsage(before);
  assert.equal(count, 1_000_000);
  // In quadratic time it takes minutes.
  assert.ok(user + system < 10_000_000, `${user + system} µs`);
});
