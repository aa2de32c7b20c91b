import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { beforeEach, test } from "node:test";
import { gzipSync } from "node:zlib";
import { AppError } from "#proto/kit/errors.ts";
import { recycleBytes, usedBytes } from "#proto/kit/large-bytes.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { gzipBomb } from "#test/support/api/http-client.ts";
import { BodyReader, GrowingBytes, MAX_BODIES_BYTES } from "./request-body.ts";
import { MAX_BODY_BYTES } from "./route.ts";

const MIB = 1024 * 1024;

// Memory that other tests of the process have left is charged whole where a body uses it again.
beforeEach(() => {
  for (let size = 32 * 1024; size <= 16 * MIB; size *= 2) while (usedBytes(size) !== undefined);
});

/** A request whose body has arrived. */
function messageOf(bytes: Uint8Array, encoding?: string): IncomingMessage {
  const headers = {
    "content-length": String(bytes.length),
    ...(encoding !== undefined && { "content-encoding": encoding }),
  };
  return Object.assign(Readable.from([bytes], { objectMode: false }), {
    headers,
  }) as unknown as IncomingMessage;
}

const isOverloaded = (error: unknown): boolean =>
  error instanceof AppError && error.status === 429 && error.data["retryAfterSeconds"] === 1;

test("bodies of one owner leave memory for those of others, and it is given back", async () => {
  const reader = new BodyReader(new Metrics());
  const read = (owner: string) => reader.read(messageOf(Buffer.alloc(60 * MIB)), 100 * MIB, owner);
  const held = [await read("user ann"), await read("user ann")];
  await assert.rejects(read("user ann"), isOverloaded);
  const other = await read("user bob");
  for (const body of held) body.release();
  const again = await read("user ann");
  assert.equal(again.bytes.length, 60 * MIB);
  for (const body of [other, again]) body.release();
});

test("the largest body of any route fits into the half of all bodies that one owner gets", async () => {
  assert.ok(2 * MAX_BODY_BYTES <= MAX_BODIES_BYTES);
  const reader = new BodyReader(new Metrics());
  const chunks = Array.from({ length: MAX_BODY_BYTES / MIB }, () => Buffer.alloc(MIB));
  const message = Object.assign(Readable.from(chunks, { objectMode: false }), {
    headers: { "content-length": String(MAX_BODY_BYTES) },
  });
  const body = await reader.read(message as unknown as IncomingMessage, MAX_BODY_BYTES, "user ann");
  assert.equal(body.bytes.length, MAX_BODY_BYTES);
  body.release();
});

test("a packed body that never fits with what it unpacks to is too large, not to be sent again", async () => {
  const reader = new BodyReader(new Metrics(), 8 * MIB);
  const noise = Buffer.concat([randomBytes(1.5 * MIB), Buffer.alloc(1.5 * MIB)]);
  await assert.rejects(reader.read(messageOf(gzipSync(noise), "gzip"), 4 * MIB, "user ann"), {
    code: "request_too_large",
    message: /4194304 bytes, packed and unpacked together; send it in several requests/,
  });
  const text = await reader.read(messageOf(gzipSync(noise.subarray(0, MIB)), "gzip"), 4 * MIB, "user ann");
  assert.equal(text.bytes.length, MIB);
  text.release();
});

test("what a packed body unpacks to is charged while it unpacks", async () => {
  const reader = new BodyReader(new Metrics(), 16 * MIB);
  const bomb = gzipBomb(5 * MIB, "\0");
  const read = () => reader.read(messageOf(Buffer.from(bomb), "gzip"), 100 * MIB, "user ann");
  const first = await read();
  await assert.rejects(read(), isOverloaded);
  first.release();
  const text = await reader.read(messageOf(gzipSync("text"), "gzip"), 100, "user ann");
  assert.equal(text.bytes.toString(), "text");
  text.release();
});

test("a transfer coding beside chunked is refused", async () => {
  const reader = new BodyReader(new Metrics());
  const coded = (coding: string) => {
    const message = Readable.from([gzipSync("text")], { objectMode: false });
    const headers = { "transfer-encoding": coding };
    return reader.read(Object.assign(message, { headers }) as unknown as IncomingMessage, 100, "user ann");
  };
  for (const coding of ["gzip, chunked", "chunked, chunked", "identity"])
    await assert.rejects(coded(coding), { code: "media_type", message: /Transfer-Encoding/ });
  (await coded("Chunked")).release();
});

const CHUNK = 64 * 1024;
const chunkOf = (byte: number, length = CHUNK): Buffer => Buffer.allocUnsafeSlow(length).fill(byte);

for (const announced of [0, 20 * CHUNK, 30 * CHUNK, 3 * CHUNK, 2 ** 40]) {
  test(`chunks become one piece where ${announced} bytes were announced`, () => {
    const bytes = new GrowingBytes(announced);
    const chunks = Array.from({ length: 20 }, (_, number) => chunkOf(number));
    for (const chunk of chunks) bytes.take(chunk);
    assert.equal(bytes.length, 20 * CHUNK);
    assert.equal(bytes.view.length, 20 * CHUNK);
    for (let number = 0; number < 20; number++)
      assert.ok(bytes.view.subarray(number * CHUNK, (number + 1) * CHUNK).equals(chunkOf(number)));
    assert.equal(chunks.at(-1)!.length, 0, "its memory is free");
    assert.ok(bytes.view.buffer.byteLength <= Math.max(40 * CHUNK, Math.min(announced, 30 * CHUNK)));
  });
}

test("a body grows in the memory that one before it grew in", (t) => {
  const chunks = (): Buffer[] => Array.from({ length: 20 }, (_, number) => chunkOf(number));
  const before = new GrowingBytes(0);
  for (const chunk of chunks()) before.take(chunk);
  recycleBytes(new Uint8Array(before.view.buffer));
  const next = chunks();
  const made = t.mock.method(Buffer, "allocUnsafeSlow");
  const bytes = new GrowingBytes(0);
  for (const chunk of next) bytes.take(chunk);
  assert.equal(made.mock.callCount(), 0);
});

test("a body of one chunk is that chunk", () => {
  const chunk = chunkOf(1, 100);
  const bytes = new GrowingBytes(100);
  bytes.take(chunk);
  assert.equal(bytes.view.buffer, chunk.buffer);
  assert.equal(new GrowingBytes(5).view.length, 0);
});

test("memory that was used before is charged whole, and given back", async () => {
  const metrics = new Metrics();
  const reader = new BodyReader(metrics, 16 * MIB);
  recycleBytes(Buffer.alloc(4 * MIB));
  const message = Readable.from([Buffer.alloc(MIB), Buffer.alloc(MIB / 4)], { objectMode: false });
  const request = Object.assign(message, { headers: { "transfer-encoding": "chunked" } });
  const body = await reader.read(request as unknown as IncomingMessage, 100 * MIB, "user ann");
  assert.equal(body.bytes.length, 1.25 * MIB);
  assert.match(
    await metrics.text(),
    new RegExp(`^tailrace_api_bodies_bytes ${body.bytes.buffer.byteLength}$`, "m"),
  );
  body.release();
  assert.match(await metrics.text(), /^tailrace_api_bodies_bytes 0$/m);
});
