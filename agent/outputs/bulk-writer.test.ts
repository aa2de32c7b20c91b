import assert from "node:assert/strict";
import { test } from "node:test";
import { BlockMemory } from "#agent/contract/block-memory.ts";
import { appendEvent } from "#proto/raw-encoder.ts";
import { BulkWriter, documentsIn } from "./bulk-writer.ts";
import { documentsOf } from "./documents.ts";

const TIME_MS = Date.UTC(2026, 10, 21, 3);
const OPTIONS = {
  idPrefix: Buffer.from("fedcba9876543210", "hex"),
  common: { host: { name: 'w"1' }, log: { file: { path: "/l/ä.log" } }, tags: ["offset"] },
  index: "logs-%{+yyyy.MM.dd}",
};
/** Pieces of lines: plain, escaped, of several bytes, cut and never valid. */
const PIECES = 'plain text of some length|a|\r|\r\r|"|\\|\t|\0|\b\f|\x1f|\x7f|ä|€|𝄞|\u2028|日本語の行'.split(
  "|",
);
const BROKEN = "80|c080|c2|e080|e282|eda080|f0808080|f09f98|f4908080|f888|ff".split("|");

function random(below: number): number {
  return Math.floor(Math.random() * below);
}

function text(pieces: number): Buffer {
  const known = [
    ...PIECES.map((piece) => Buffer.from(piece)),
    ...BROKEN.map((hex) => Buffer.from(hex, "hex")),
  ];
  return Buffer.concat(Array.from({ length: pieces }, () => known[random(known.length)]!));
}

/** Writes all bodies of `bytes`, which lie in the kernel's memory, and returns them. */
function bodiesOf(
  bytes: Buffer,
  events: boolean,
  spaceBytes: number,
  options = OPTIONS,
): [Buffer[], string[]] {
  const memory = new BlockMemory(1_048_576);
  const buffer = memory.allocate(bytes.length + 200);
  const start = random(100);
  bytes.copy(buffer, start);
  const batch = {
    body: { buffer, start, end: start + bytes.length, events },
    block: {
      from: 2 ** 45 + random(2 ** 40),
      to: 0,
      readTimeMs: TIME_MS,
      lastLineOpen: false,
      firstLineContinued: false,
      compression: 0,
      dataBytes: bytes.length,
    },
  };
  const writer = new BulkWriter(batch, options, memory);
  const space = memory.allocate(spaceBytes);
  const bodies: Buffer[] = [];
  for (let body = writer.next(space); body !== null; body = writer.next(space))
    bodies.push(Buffer.from(body));
  return [bodies, documentsOf(batch, options)];
}

test("lines become the documents that are made one by one, whatever their bytes and wherever bodies end", () => {
  for (let run = 0; run < 300; run++) {
    const ends = ["\n", "\n", "\r\n", "\n\n", "\r\r\n"];
    const lines = Array.from({ length: random(30) }, () =>
      Buffer.concat([text(random(8)), Buffer.from(ends[random(ends.length)]!)]),
    );
    const bytes = Buffer.concat([...lines, text(random(3))]);
    const [bodies, expected] = bodiesOf(bytes, false, 2_000 + random(3_000));
    assert.equal(Buffer.concat(bodies).toString(), expected.join(""), bytes.toString("hex"));
  }
});

test("events become the documents that are made one by one, with and without times and fields", () => {
  for (let run = 0; run < 200; run++) {
    const buffer = Buffer.alloc(65_536);
    let end = 0;
    for (let event = 0; event < random(30); event++) {
      const odd = random(3) === 0;
      end = appendEvent(buffer, end, {
        offset: random(2) === 0 ? event : 2 ** 40 + event,
        timeMs: odd && random(2) === 0 ? TIME_MS - 86_400_000 : 0,
        message: Buffer.concat([text(random(8)), Buffer.from(random(2) === 0 ? "\nnext" : "")]),
        fieldsJson: Buffer.from(odd ? '{"stream":"stdout","log":{"flags":["partial"]}}' : ""),
        length: random(200),
      });
    }
    const [bodies, expected] = bodiesOf(buffer.subarray(0, end), true, 2_000 + random(3_000));
    assert.equal(Buffer.concat(bodies).toString(), expected.join(""));
  }
});

test("a body has at most the bytes of its space, but for a document that is larger, which comes alone", () => {
  const long = Buffer.alloc(9_000, "\x01");
  const bytes = Buffer.concat([Buffer.from("one\ntwo\n"), long, Buffer.from("\nthree\n")]);
  const [bodies, expected] = bodiesOf(bytes, false, 4_096);
  assert.deepEqual(
    bodies.map((body) => [...documentsIn(body)].length),
    [2, 1, 1],
  );
  assert.ok(bodies[1]!.length > 6 * 9_000);
  assert.equal(Buffer.concat(bodies).toString(), expected.join(""));
});

test("fields of the input that stand in the place of a line's own are kept", () => {
  const common = { ...OPTIONS.common, message: "always", "@timestamp": "2026-01-02T00:00:00.000Z" };
  const [bodies, expected] = bodiesOf(Buffer.from("one\n\ntwo\n"), false, 4_096, { ...OPTIONS, common });
  assert.equal(Buffer.concat(bodies).toString(), expected.join(""));
  assert.equal(expected.length, 2);
});

test("an event's own fields don't say which agent and container it came from", () => {
  const common = { ...OPTIONS.common, shipper: { id: "a" }, kubernetes: { pod: { name: "mine" } } };
  const own = { shipper: { id: "b" }, "kubernetes.pod.name": "other", container: { id: "c" } };
  const buffer = Buffer.alloc(1_024);
  const fieldsJson = Buffer.from(JSON.stringify(own));
  const end = appendEvent(buffer, 0, {
    offset: 1,
    timeMs: 0,
    message: Buffer.from("x"),
    fieldsJson,
    length: 1,
  });
  const [bodies, expected] = bodiesOf(buffer.subarray(0, end), true, 4_096, { ...OPTIONS, common });
  assert.equal(Buffer.concat(bodies).toString(), expected.join(""));
  const document = JSON.parse(expected[0]!.split("\n")[1]!) as Record<string, unknown>;
  assert.deepEqual([document["shipper"], document["kubernetes"]], [common.shipper, common.kubernetes]);
  const { container, ...displaced } = own;
  assert.deepEqual([document["container"], document["json"]], [container, displaced]);
});

test("without text nothing is written", () => {
  assert.deepEqual(bodiesOf(Buffer.from("\n\r\n\n"), false, 4_096), [[], []]);
});
