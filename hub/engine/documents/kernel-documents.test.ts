import assert from "node:assert/strict";
import { before, suite, test } from "node:test";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import type { Kernel } from "#hub/engine/kernel/kernel.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import { plainIndexing } from "#test/oracles/engine/plain-indexing.ts";
import { assertSameSegment, randomDocuments, sealed, testKernel } from "#test/support/engine/kernel.ts";
import { Random } from "#test/support/engine/random.ts";
import { kernelIndexing } from "./kernel-documents.ts";

let kernel: Kernel;

before(async () => {
  kernel = await testKernel();
});

function mappingOf(properties: Readonly<Record<string, unknown>>, more: object = {}): Mapping {
  return Mapping.parse({ properties, ...more }, { index: "test", analysis: new Analysis() });
}

/** A field of every type that a document can hold. */
const MAPPING = mappingOf({
  message: { type: "text", fields: { keyword: { type: "keyword", ignore_above: 20 } } },
  english: { type: "text", analyzer: "english" },
  k: { type: "keyword", copy_to: "all" },
  all: { type: "text" },
  limited: { type: "keyword", ignore_above: 20 },
  lower: { type: "keyword", normalizer: "lowercase" },
  i: { type: "integer" },
  s: { type: "short" },
  b: { type: "byte" },
  n: { type: "long" },
  u: { type: "unsigned_long" },
  d: { type: "double" },
  f: { type: "float" },
  h: { type: "half_float" },
  t: { type: "date" },
  day: { type: "date", format: "yyyy/MM/dd" },
  yes: { type: "boolean" },
  ip: { type: "ip" },
  g: { type: "geo_point" },
  nil: { type: "keyword", null_value: "none" },
  raw: { type: "binary" },
  o: { properties: { x: { type: "long" }, deep: { properties: { y: { type: "keyword" } } } } },
  off: { type: "object", enabled: false },
  shut: { dynamic: "false", properties: { z: { type: "long" } } },
});

/** Indexes the documents by the kernel and by its oracle and compares what came of them. */
function compare(
  sources: readonly (string | Uint8Array)[],
  lenient = true,
  mapping = MAPPING,
  what = "",
): void {
  const bytes = sources.map((source) => (typeof source === "string" ? Buffer.from(source) : source));
  const actual = sealed(kernelIndexing(kernel), mapping, bytes, lenient);
  const expected = sealed(plainIndexing, mapping, bytes, lenient);
  assert.deepEqual(actual.outcomes, expected.outcomes, what);
  assertSameSegment(actual.segment, expected.segment, what);
}

/** Values that are tried in every field. */
const VALUES = [
  ["0", "-0", "1", "-1", "127", "128", "-128", "-129", "32767", "32768", "2147483647", "2147483648"],
  [
    "999999999999999",
    "9007199254740993",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551615",
  ],
  [
    "0.5",
    "-0.0",
    "1.0",
    "0.1",
    "3.14159",
    "1e3",
    "1E-3",
    "1.5e22",
    "1e23",
    "123456789012345.6",
    "1e400",
    "5e-324",
  ],
  // Ties, and more digits than a double holds.
  [
    "9007199254740993.0",
    "9007199254740994.9",
    "-9007199254740992.5",
    "4503599627370497.5",
    "0.30000000000000004",
  ],
  [
    "-12.345600000000005",
    "1234567890.123456789",
    "0.9999999999999999999",
    "9999999999999999999e-19",
    "0.0000000000000000001",
  ],
  ["18446744073709551.615", "1844674407370955161.6", "0.0000000000000000000", "12345678901234567890.5"],
  [
    "00",
    "01",
    "-",
    "1.",
    ".5",
    "1e",
    "+1",
    "0x10",
    "1e+",
    "NaN",
    "Infinity",
    "true",
    "false",
    "null",
    "tru",
    "nul",
  ],
  [
    '""',
    '"a"',
    '"A b.c"',
    '"12"',
    '"-1.5"',
    '"true"',
    '" "',
    '"é"',
    '"日本"',
    '"\\u0041\\u00e9"',
    '"\\u0041b"',
  ],
  [
    '"\\"q\\\\\\/\\b\\f\\n\\r\\t"',
    '"\\x"',
    '"\\u12"',
    '"\\u00zz"',
    '"a\tb"',
    '"open',
    `"${"x".repeat(19)}\\n"`,
  ],
  [`"${"x".repeat(20)}"`, `"${"x".repeat(21)}"`, `"${"é".repeat(11)}"`, `"${"k".repeat(32_767)}"`],
  ['"2024-01-31T23:59:59.999Z"', '"2024-02-29T00:00:00Z"', '"2023-02-29T00:00:00Z"', '"2024-01-31T23:59:59"'],
  ['"2024-01-31T23:59:59.1+01:00"', '"2024-01-31T23:59:59.123456-0330"', '"2024-01-31T23:59:59.999999999Z"'],
  ['"0000-01-01T00:00:00Z"', '"2024-13-01T00:00:00Z"', '"2024-01-31T24:00:00Z"', '"2024-01-31T23:59:59+1"'],
  [
    '"2024-01-31"',
    '"2024"',
    "1706745599999",
    '"2024/01/31"',
    '"2024-04-31T00:00:00Z"',
    '"2024-01-31T23:59:59,5Z"',
  ],
  [
    '"10.0.0.1"',
    '"::1"',
    '{"lat": 1, "lon": 2}',
    '"1,2"',
    "[1, 2]",
    "[]",
    "[[1], [2, [3]]]",
    '["a", "a", "b"]',
  ],
  [
    "{}",
    '{"x": 1}',
    '[{"x": 1}, {"x": 2}]',
    '[1, "a", null, {"x": 1}]',
    "[1 2]",
    "[1,]",
    "[",
    '{"x" 1}',
    '{"x":1,}',
  ],
].flat();

suite("documents are indexed by the kernel as by its oracle", () => {
  for (const lenient of [true, false]) {
    test(`every kind of value in every kind of field, ${lenient ? "leniently" : "strictly"}`, () => {
      const names = [...Object.keys(MAPPING.toJSON().properties ?? {}), "o.x", "nobody"];
      for (const name of names) {
        compare(
          VALUES.map((value) => `{"${name}":${value}}`),
          lenient,
          MAPPING,
          name,
        );
      }
    });
  }

  test("documents that end as the one before did", () => {
    const endings = [
      '"k":"same","limited":"short","n":7,"t":"2024-01-31T23:59:59.999Z","yes":true}',
      '"message":"Words of a text","english":"running dogs","o":{"x":3,"deep":{"y":"z"}}}',
      '"limited":"much longer than its limit","g":{"lat":1.5,"lon":-2},"k":["a","b","a"]} ',
      '"k":"größer","message":"größer als 東京","limited":"é"}\n',
      '"k":"with \\"quotes\\"","message":"a\\tb","n":1}',
      '"lower":"Other","u":18446744073709551615,"ip":"::1","nil":null,"off":{"a":[1,{}]}}',
      '"n":"no number","k":"x"}',
      '"k":"x"',
      "}",
    ];
    const random = new Random(17);
    const members = [
      '"n":1',
      '"n":22',
      '"k":"first"',
      '"k":"a\\nb"',
      '"message":"one"',
      '"d":1.5',
      '"i":[1,2]',
    ];
    for (let round = 0; round < 40; round++) {
      const sources = Array.from({ length: 30 }, () => {
        const some = members.filter(() => random.below(3) === 0).map((member) => `${member},`);
        return `{${some.join("")}${endings[random.below(1 + random.below(endings.length))]!}`;
      });
      compare(sources);
    }
  });

  test("an ending whose escapes were resolved in place is no other document's", () => {
    // What is left of the first value when its escapes are resolved is the second one, which has no end.
    compare(['{"n":1,"k":"a\\"b"}', '{"n":2,"k":"a"bb"}', '{"n":3,"k":"a\\"b"}'], false);
    compare(['{"n":1,"k":"x\\u0041\\u0042"}', '{"n":2,"k":"xAB0041\\u0042"}']);
  });

  test("documents with more members than are remembered", () => {
    const many = (from: number) => Array.from({ length: 60 }, (_, nth) => `"k":"${from + nth}"`).join(",");
    compare([0, 0, 1, 60, 59, 0].map((from) => `{"n":${from},${many(from)}}`));
  });

  test("documents that are no documents", () => {
    const broken = [
      "",
      " ",
      "{",
      "}",
      "[]",
      "1",
      '"a"',
      "null",
      "{}",
      " { } ",
      "{}x",
      '{"n":1}}',
      '{"n":1,"n":2}',
    ];
    const names = [
      "{n:1}",
      '{"n"}',
      '{"n":}',
      '{"n":1 "d":2}',
      '{"\\u006e":1}',
      '{"_id":1}',
      '{"o.x":1}',
      '{"shut.z":1}',
    ];
    const closed = [
      '{"shut":{"new":{"a":[1,"x"]},"z":1}}',
      '{"shut":{"a.b":1}}',
      '{"shut":{"_id":1}}',
      '{"shut":{"x":tru}}',
    ];
    const skipped = ['{"off":{"a":[1,{"b":"c"}]}}', '{"off":1}', '{"off":[}'];
    compare(
      [...broken, ...names, ...closed, ...skipped, '{"n":1,\u00a0"d":2}', '{"n":1}\u0000', '{"n"\t:\r\n 1 }'],
      false,
    );
  });

  test("a mapping that passes over unknown names", () => {
    const closed = mappingOf(
      { a: { type: "keyword" }, o: { properties: { x: { type: "long" } } } },
      { dynamic: "false" },
    );
    const sources = [
      '{"a":"x","b":{"c":[1]}}',
      '{"_id":"x","a":"y"}',
      '{"a.b":1,"o.x":2}',
      '{"\\u0061":"z"}',
      '{"b":}',
    ];
    for (const lenient of [true, false]) compare(sources, lenient, closed);
  });

  test("objects and arrays within each other, up to too many of them", () => {
    for (const depth of [10, 62, 63, 64, 65, 200, 255, 256, 300]) {
      compare([
        `{"k":${"[".repeat(depth)}"a"${"]".repeat(depth)}}`,
        `{"off":${'{"a":'.repeat(depth)}1${"}".repeat(depth)}}`,
      ]);
    }
  });

  test("ill-formed UTF-8", () => {
    const bytes = Buffer.from('{"k":"ab","message":"cd","english":"e"}');
    compare(
      [0x80, 0xc3, 0xff].flatMap((byte) =>
        [7, 20, 36].map((at) => Buffer.from(bytes).fill(byte, at, at + 1)),
      ),
    );
  });

  test("a mapping that changes amid the documents", async () => {
    const { DocumentWriter } = await import("./document-writer.ts");
    const { SegmentBuffer } = await import("#hub/engine/buffer/segment-buffer.ts");
    const indexing = kernelIndexing(kernel);
    const buffer = new SegmentBuffer(indexing.newFields());
    const writer = new DocumentWriter(buffer, mappingOf({ a: { type: "keyword" } }), indexing);
    const source = Buffer.from('{"a":"x","b":7}');
    const used = kernel.memory.usedBytes;
    writer.write(buffer.addDocument(Buffer.from("1"), source, 1, 1, ""), source, "", true);
    writer.setMapping(mappingOf({ a: { type: "keyword" }, b: { type: "long" } }));
    writer.write(buffer.addDocument(Buffer.from("2"), source, 1, 2, ""), source, "", true);
    assert.ok(buffer.fields.sizeBytes > 0);
    writer.release();
    buffer.release();
    assert.ok(kernel.memory.usedBytes < used, "the plans and the fields are given back");
  });

  test("random documents, whole and damaged", () => {
    for (let seed = 1; seed <= 12; seed++) {
      const random = new Random(seed);
      const sources = randomDocuments(random, 150);
      compare(sources, seed % 2 === 0, MAPPING, `seed ${seed}`);
    }
  });
});
