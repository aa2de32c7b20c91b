import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { ByteBuffer } from "#hub/engine/bytes/byte-buffer.ts";
import * as at from "#hub/engine/kernel/assembly/layout-columnar.ts";
import { accessBlock } from "#test/bench/access-corpus.ts";
import { corpusBlock } from "#test/bench/log-corpus.ts";
import { chooseSeed } from "#test/harness/random.ts";
import { ColumnarWriter } from "#test/oracles/engine/columnar/columnar-writer.ts";
import { testKernel } from "#test/support/engine/kernel.ts";
import { Random } from "#test/support/engine/random.ts";
import { roundTrip } from "#test/support/engine/round-trip.ts";
import { ColumnarBlock } from "./columnar/columnar-block.ts";
import { ColumnarPacking, isColumnar, KernelColumns, openColumnar } from "./columnar-packing.ts";
import { StoredReader, StoredWriter } from "./stored.ts";

const kernelOfTest = await testKernel();
const columns = new KernelColumns(kernelOfTest);
const packing = new ColumnarPacking(columns);
const twin = new ColumnarWriter();

function pack(documents: readonly Uint8Array[]): Uint8Array {
  const ends = new Uint32Array(documents.length);
  for (let doc = 0, end = 0; doc < ends.length; doc++) ends[doc] = end += documents[doc]!.length;
  const bytes = Buffer.concat(documents);
  const block = columns.write(bytes, ends);
  assert.ok(block !== null, "the kernel doesn't give the documents back");
  assert.ok(Buffer.from(block).equals(twin.write(bytes, ends)), "kernel and twin differ");
  const out = new ByteBuffer();
  assert.ok(packing.pack(bytes, ends, out));
  return out.view();
}

/** Packs documents and compares each with what is read, in order and out of it. */
function check(texts: readonly (string | Uint8Array)[]): Uint8Array {
  const documents = texts.map((text) => Buffer.from(text));
  const packed = pack(documents);
  assert.ok(isColumnar(packed));
  const block = openColumnar(packed);
  assert.equal(block.count, documents.length);
  for (let step = 0; step < documents.length; step++) {
    const doc = (step * 7919) % documents.length;
    assert.deepEqual(
      Buffer.from(block.document(doc)),
      documents[doc],
      `document ${doc}: ${String(documents[doc])}`,
    );
  }
  return packed;
}

/** Documents of one shape with these values, as JSON writes them, so often that columns get a form of their own. */
function ofValues(values: readonly string[]): string[] {
  return Array.from({ length: 40 }, (_, doc) => values.map((value) => `{"a":${value},"n":${doc}}`)).flat();
}

suite("documents of columnar blocks are those that went in", () => {
  for (const [name, values] of [
    ["whole numbers", ["0", "7", "-12", "123456789012345", "-123456789012345"]],
    ["numbers that String writes otherwise", ["-0", "1.0", "1e5", "1234567890123456", "0.10", "1E+2"]],
    ["digits with zeros before", ['"007"', '"070"', '"700"', '"000"']],
    ["times", ['"2024-02-29T23:59:59.999Z"', '"0001-01-01T00:00:00.000Z"', '"9999-12-31T23:59:59.999Z"']],
    [
      "what looks like times",
      ['"2023-02-29T00:00:00.000Z"', '"2024-13-01T00:00:00.000Z"', '"2024-01-01T24:00:00.000Z"'],
    ],
    ["words", ["true", "false", "null", '""', '" "', '"\\u0000"', '"\\"\\\\"', '"größer 東京"']],
    ["lists and objects", ["[]", "{}", "[1,[2,3]]", '[{"b":1},{"b":"c"}]', '{"b":{"c":[]}}']],
  ] as const)
    test(name, () => {
      check(ofValues(values));
      for (const value of values) check(ofValues([value]));
    });

  test("no JSON, broken JSON, white space, control characters, nothing", () => {
    check([
      "",
      "{",
      '{"a',
      '{"a":"\n"}',
      '{"a" : 1 }',
      '{\n  "a": "b"\n}\n',
      "[,:{}",
      '"a"',
      '{"a":"b\\',
      "\\",
      '{"a":1',
    ]);
    check([""]);
    check(['{"a":1}']);
    check([Uint8Array.from({ length: 256 }, (_, byte) => byte)]);
  });

  test("as many shapes as documents, and very many values", () => {
    check(Array.from({ length: 600 }, (_, doc) => `{"name-${doc}":"${doc}"}`));
    check([`[${"1,".repeat(3000)}1]`, '{"a":1}']);
  });

  test("texts that refer to other fields, in part and in full", () => {
    check(
      Array.from({ length: 200 }, (_, doc) => {
        const [user, path] = [`user-${doc % 7}`, `/a/${doc}/${"x".repeat(doc % 5)}`];
        const text = doc % 3 === 0 ? `${user} opened ${path} at ${doc}` : `no ${doc} ${user}${path} ${user}`;
        return JSON.stringify({ text, user, path, again: `${user} opened ${path} at ${doc}`, e: "" });
      }),
    );
  });

  test("words and values of any length at any place of a text", () => {
    const random = new Random(7);
    const word = (length: number): string =>
      Array.from({ length }, () => random.pick(Array.from("abcxyzABCXYZ____é"))).join("");
    for (let round = 0; round < 12; round++) {
      const statements = Array.from({ length: 6 }, () =>
        Array.from({ length: 1 + random.below(9) }, () => [random.below(5), word(random.below(90))] as const),
      );
      check(
        Array.from({ length: 120 }, () => {
          const id = random.below(1e6);
          const fields = { path: `/${word(2)}/${id % 9}/`, user: `u${id % 7}`, level: word(3) };
          const parts = random.pick(statements).map(([kind, text]) => {
            if (kind === 0) return `${text}${id}${text}`;
            if (kind === 1) return `${fields.path}${text}`;
            return kind === 2 ? ` ${fields.user} ${fields.level}` : `${text}${random.pick([" ", "/", "="])}`;
          });
          return JSON.stringify({ ...fields, text: parts.join(random.pick(["", " "])), more: id % 3 });
        }),
      );
    }
  });

  test("shapes by turns, some of which differ in their end only", () => {
    check(
      Array.from({ length: 400 }, (_, doc) => {
        const [first, ...names] = [["a"], ["a", "b"], ["a", "b", "c"], ["a", "c"], ["d"]][(doc * 7) % 5]!;
        const more = names.map((name) => `,"${name}":"${doc % 11}"`).join("");
        return `{"${first}":${doc}${more}${doc % 13 === 0 ? ' ,"e":{}' : ""}}`;
      }),
    );
  });

  test("texts that many templates begin alike with, and that many of these fit in part", () => {
    const random = new Random(23);
    const names = Array.from({ length: 12 }, (_, at) => `f${at}`);
    const letters = Array.from("abcdefghijklmnopqrstuvwxyz");
    const word = (): string => `${random.pick(letters)}${random.pick(letters)}${random.pick(letters)}`;
    check(
      Array.from({ length: 900 }, (_, doc) => {
        const isAlike = doc > 500 && doc % 3 === 0;
        const fields = Object.fromEntries(names.map((name) => [name, isAlike ? "same" : word()]));
        const texts = Array.from({ length: 6 }, () => fields[random.pick(names)]!);
        const last = doc % 2 === 0 ? [word()] : [];
        return JSON.stringify({ ...fields, text: [...texts, ...last, isAlike ? "differs" : doc].join(" ") });
      }),
    );
  });

  test("long texts, and texts of one byte", () => {
    check(
      Array.from({ length: 60 }, (_, doc) => JSON.stringify({ t: `${"long 1 ".repeat(700 + doc)}`, b: "x" })),
    );
    check(Array.from({ length: 60 }, (_, doc) => JSON.stringify({ t: "x", n: doc })));
  });
});

test("documents whose columns give others are packed whole", () => {
  const others = { write: () => columns.write(Buffer.from('{"a":1}'), Uint32Array.of(7)) };
  const writer = new StoredWriter(1000, others);
  const documents = Array.from({ length: 100 }, (_, doc) => Buffer.from(`{"b":${doc}}`));
  for (const document of documents) writer.add(document);
  const [file, entry] = roundTrip((out) => writer.finish(out));
  const reader = new StoredReader(file, entry);
  for (const [doc, document] of documents.entries()) assert.deepEqual(Buffer.from(reader.get(doc)), document);
  reader.close();
});

test("after a block that gives other documents no more are made", () => {
  const documents = [Buffer.from('{"a":1}'), Buffer.from('{"a":2}')] as const;
  const ends = Uint32Array.of(7);
  for (const wrong of [() => null, () => columns.write(documents[1], ends)]) {
    let made = 0;
    const others = new ColumnarPacking({
      write() {
        made++;
        return wrong();
      },
    });
    for (let block = 0; block < 3; block++)
      assert.equal(others.pack(documents[0], ends, new ByteBuffer()), false);
    assert.equal(made, 1);
  }
});

test("the kernel finds every sample that a block doesn't give back", () => {
  for (const texts of [
    corpusBlock(0, 500_000).map(({ json }) => json),
    ofValues(['"007"', '"2024-02-29T23:59:59.999Z"', "-12", "7", "[]", '"größer 東京"']),
    Array.from({ length: 130 }, (_, doc) => (doc % 3 === 0 ? `{"a":"b${doc}` : `{"a":"user ${doc} left"}`)),
    Array.from({ length: 40 }, () => '{"a":"2024-02-29T23:59:59.999Z","b":-5}'),
  ])
    checkDamaged(texts.slice(0, 300).map((text) => Buffer.from(text)));
});

/** Changes bytes of a block one by one; where a sample is another then, or none, the kernel must find that. */
function checkDamaged(documents: readonly Buffer[]): void {
  const kernel = kernelOfTest;
  const stateAt = kernel.allocateZeroed(at.COLUMNAR_BYTES);
  const ends = new Uint32Array(documents.length);
  for (let doc = 0, end = 0; doc < ends.length; doc++) ends[doc] = end += documents[doc]!.length;
  kernel.place(stateAt + at.COLUMNAR_INPUT, Buffer.concat(documents));
  kernel.place(stateAt + at.COLUMNAR_ENDS, new Uint8Array(ends.buffer));
  kernel.functions.writeColumnar(stateAt, ends.length);
  assert.equal(kernel.functions.checkColumnar(stateAt, ends.length), 1);
  const bytes = kernel.view(stateAt + at.COLUMNAR_OUT);
  const step = Math.max(1, Math.floor(bytes.length / 1500));
  let found = 0;
  for (let place = 0; place < bytes.length; place += step) {
    for (const change of [0x01, 0x40]) {
      bytes[place]! ^= change;
      const isFound = kernel.functions.checkColumnar(stateAt, ends.length) === 0;
      if (isFound) found++;
      else assert.ok(givesSamples(bytes.slice(), documents), `byte ${place} of ${bytes.length}`);
      bytes[place]! ^= change;
    }
  }
  assert.ok(found > 0);
}

/** Whether every 64th document is that of a block, as searches read it. */
function givesSamples(bytes: Uint8Array, documents: readonly Buffer[]): boolean {
  const block = new ColumnarBlock(bytes);
  for (let doc = 0; doc < documents.length; doc += 64)
    if (!documents[doc]!.equals(block.document(doc))) return false;
  return true;
}

test("random documents come back byte for byte", () => {
  const first = chooseSeed();
  for (let seed = first; seed < first + 30; seed++) {
    const random = new Random(seed);
    const value = (depth: number): unknown => {
      if (depth < 3 && random.oneIn(6))
        return Array.from({ length: random.below(4) }, () => value(depth + 1));
      if (depth < 3 && random.oneIn(6)) return object(depth + 1);
      return random.pick([
        null,
        true,
        random.below(10),
        -random.below(1e9) / 8,
        random.below(2 ** 31) * 2 ** 20,
        `user ${random.below(5)} from 10.0.0.${random.below(256)} took ${random.below(90)} ms`,
        new Date(random.below(2 ** 31) * 1000 + random.below(1000)).toISOString(),
        String(random.below(1000)).padStart(6, "0"),
        'ä\u2028\u0001\\"',
      ]);
    };
    const object = (depth: number): object =>
      Object.fromEntries(Array.from({ length: random.below(6) }, (_, at) => [`f${at}`, value(depth)]));
    const documents = Array.from({ length: 1 + random.below(300) }, () =>
      JSON.stringify(object(0), null, random.oneIn(9) ? 2 : 0),
    );
    try {
      check(documents);
    } catch (error) {
      throw new Error(`TAILRACE_SEED=${seed}`, { cause: error });
    }
  }
});

test("access logs take a third of what zstd makes of them", () => {
  const documents = accessBlock(0, 500_000).map(({ json }) => json);
  const packed = check(documents);
  const plain = zstdCompressSync(documents.join("")).length;
  assert.ok(packed.length < 0.42 * plain, `${packed.length} of ${plain} bytes`);
});

test("mixed logs take two thirds of what zstd makes of them", () => {
  const documents = corpusBlock(0, 500_000).map(({ json }) => json);
  const packed = check(documents);
  const plain = zstdCompressSync(documents.join("")).length;
  assert.ok(packed.length < 0.7 * plain, `${packed.length} of ${plain} bytes`);
});

test("damage is an error, never another document", () => {
  const documents = accessBlock(0, 500_000)
    .slice(0, 50)
    .map(({ json }) => Buffer.from(json));
  const packed = pack(documents).slice();
  for (let at = 8; at < packed.length; at += 7) {
    const damagedBlock = packed.slice();
    damagedBlock[at]! ^= 0x40;
    try {
      const block = openColumnar(damagedBlock);
      for (let doc = 0; doc < block.count; doc++) block.document(doc);
    } catch (error) {
      assert.ok(error instanceof Error && !(error instanceof TypeError), String(error));
    }
  }
});
