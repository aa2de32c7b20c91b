import assert from "node:assert/strict";
import { test } from "node:test";
import { SourceText } from "#hub/pipeline/language/syntax-tree.ts";
import { compilePipeline } from "#hub/pipeline/program/compile.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { repeated, run } from "#test/support/pipeline/run-filter.ts";

type Fields = Record<string, unknown>;

/** What a filter makes of an event; undefined: it is dropped. */
type Row = [filter: string, fields: Fields, expected: Fields | undefined];

const BYTES = 'bytes { target => dest tag_on_failure => [ "boom", "_bytesparsefailure" ] }';
const bytesOf = (message: string, dest: number): Row => [BYTES, { message }, { message, dest }];
const noBytes = (message: string): Row => [
  BYTES,
  { message },
  { message, tags: ["boom", "_bytesparsefailure"] },
];

const ADDRESS = "123.123.123.123";
const hashed = (algorithm: string, clientip: unknown): Row => [
  `anonymize { fields => ["clientip"] key => "longencryptionkey" algorithm => "${algorithm}" }`,
  { clientip: ADDRESS },
  { clientip },
];
const masked = (key: number, clientip: unknown, expected: Fields): Row => [
  `anonymize { fields => ["clientip"] key => ${key} algorithm => "IPV4_NETWORK" }`,
  { clientip },
  expected,
];

const REWRITE = 'alter { condrewrite => ["m", "%{test}", "%{to}"] }';
const OTHER = 'alter { condrewriteother => ["m", "hello", "other", "goodbye"] }';
const RANGE = 'range { ranges => ["n", 10, 100, "tag:cool_%{d}", "n", 1, 1, "tag:boring"] }';
const FIELD = 'range { ranges => ["n", 10, 100, "field:cool_%{d}:foo_%{d}", "n", 1, 60, "field:x:3.14"] }';

const domain = (message: string, tld: Fields): Row => ["tld { }", { message }, { message, tld }];

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  alter: [
    [REWRITE, { m: "hello", test: "hello", to: "bye" }, { m: "bye", test: "hello", to: "bye" }],
    [REWRITE, { m: ["a", "hello"], test: "hello", to: "b" }, { m: ["a", "b"], test: "hello", to: "b" }],
    [REWRITE, { m: "hello" }, { m: "hello" }],
    [REWRITE, { m: "%{test}" }, { m: "%{to}" }],
    [OTHER, { m: "hello", other: "x" }, { m: "hello", other: "goodbye" }],
    [OTHER, { m: ["a", "hello"] }, { m: ["a", "hello"], other: "goodbye" }],
    [OTHER, { m: "greetings" }, { m: "greetings" }],
    ['alter { coalesce => ["m", "%{missing}", "fallback"] }', { m: "Hello" }, { m: "fallback" }],
    ['alter { coalesce => ["m", "%{a}", "fallback"] }', { a: "50%" }, { a: "50%", m: "50%" }],
  ],
  anonymize: [
    hashed("SHA1", "fdc60acc4773dc5ac569ffb78fcb93c9630797f4"),
    hashed("SHA256", "345bec3eff242d53b568916c2610b3e393d885d6b96d643f38494fd74bf4a9ca"),
    hashed(
      "SHA384",
      "22d4c0e8c4fbcdc4887d2038fca7650f0e2e0e2457ff41c06eb2a980dded6749561c814fe182aff93e2538d18593947a",
    ),
    hashed("MD5", "9336c879e305c9604a3843fc3e75948f"),
    [
      'anonymize { fields => ["m"] key => "longencryptionkey" algorithm => "MD5" }',
      { m: [ADDRESS, "223.223.223.223"] },
      { m: ["9336c879e305c9604a3843fc3e75948f", "7a6c66b8d3f42a7d650e3354af508df3"] },
    ],
    [
      'anonymize { fields => ["m"] key => "" algorithm => "MURMUR3" }',
      { m: "123.52.122.33" },
      { m: 1541804874 },
    ],
    masked(24, "233.255.13.44", { clientip: "233.255.13.0" }),
    masked(24, "2001:db8:1:2::3", { clientip: "2001:d00::" }),
    masked(24, "no address", { tags: ["_anonymizefailure"] }),
    masked(24, ["10.1.2.3", "x"], { clientip: ["10.1.2.0"], tags: ["_anonymizefailure"] }),
  ],
  bytes: [
    bytesOf("0", 0),
    bytesOf("12.3", 12),
    bytesOf("32.8B", 33),
    bytesOf("32kB", 32 * 1024),
    bytesOf("32\tmb", 32 * 1024 ** 2),
    bytesOf("32EB", 32 * 1024 ** 6),
    bytesOf("3,124.56 mb", Math.round(3124.56 * 1024 ** 2)),
    bytesOf(".3124 mb", Math.round(0.3124 * 1024 ** 2)),
    bytesOf("3. mb", 3 * 1024 ** 2),
    ...["", "abcdef", "mb", "1.000.000 mb"].map(noBytes),
    ["bytes { conversion_method => metric }", { message: "32 mb" }, { message: 32_000_000 }],
    [
      "bytes { decimal_separator => ',' }",
      { message: "3.124,56 mb" },
      { message: Math.round(3124.56 * 1024 ** 2) },
    ],
  ],
  environment: [
    [
      'environment { add_metadata_from_env => [ "new", "MY_VARIABLE" ] } mutate { add_field => { "f" => "%{[@metadata][new]}" } }',
      {},
      { f: "%{[@metadata][new]}" },
    ],
  ],
  extractnumbers: [
    [
      "extractnumbers { }",
      { message: "bla 1234 foo 5_678 geek 10.43 0x1f 010 -1e3 1e400 x1" },
      {
        message: "bla 1234 foo 5_678 geek 10.43 0x1f 010 -1e3 1e400 x1",
        int1: 1234,
        int2: 5678,
        int3: 31,
        int4: 8,
        float1: 10.43,
        float2: -1000,
      },
    ],
  ],
  i18n: [
    ['i18n { transliterate => ["m"] }', { m: ["Ærøskøbing"] }, { m: ["AEroskobing"] }],
    [
      'i18n { transliterate => ["m"] }',
      { m: "Čierný Łódź straße 日 — n\u0303" },
      { m: "Cierny Lodz strasse ? ? n" },
    ],
  ],
  json_encode: [
    ['json_encode { source => "m" }', { m: { a: [1, "x"] } }, { m: '{"a":[1,"x"]}' }],
    ['json_encode { source => "none" target => "t" }', {}, { tags: ["_jsongeneratorfailure"] }],
  ],
  age: [
    [
      "age { target => age }",
      { "@timestamp": "2024-01-04T23:59:58.500Z" },
      { "@timestamp": "2024-01-04T23:59:58.500Z", age: 1.5 },
    ],
    [
      'age { target => age } mutate { convert => { "age" => "string" } }',
      { "@timestamp": "2024-01-04T23:59:58.000Z" },
      { "@timestamp": "2024-01-04T23:59:58.000Z", age: "2.0" },
    ],
  ],
  range: [
    [RANGE, { n: 50, d: "x" }, { n: 50, d: "x", tags: ["cool_x"] }],
    [RANGE, { n: 10.5, d: "x" }, { n: 10.5, d: "x", tags: ["cool_x"] }],
    [RANGE, { n: "äöü" }, { n: "äöü" }],
    [RANGE, { n: "€" }, { n: "€", tags: ["boring"] }],
    ['range { ranges => ["n", 0, 1, "tag:out"] negate => true }', { n: 5 }, { n: 5, tags: ["out"] }],
    ['range { ranges => ["n", 0, 10, "drop"] }', { n: "123456789" }, undefined],
    [FIELD, { n: 50, d: "x" }, { n: 50, d: "x", cool_x: "foo_x", x: 3.14 }],
    [FIELD, { n: 5, x: "old" }, { n: 5, x: ["old", "3.14"] }],
  ],
  tld: [
    domain("google.com", {
      tld: "com",
      sld: "google",
      trd: null,
      domain: "google.com",
      subdomain: null,
      top_level_domain: "com",
    }),
    domain("foo.bar.google.co.uk", {
      tld: "co.uk",
      sld: "google",
      trd: "foo.bar",
      domain: "google.co.uk",
      subdomain: "foo.bar.google.co.uk",
      top_level_domain: "co.uk",
    }),
    ["tld { }", { message: "http://google.com/x" }, { message: "http://google.com/x" }],
    ["tld { }", { message: "co.uk" }, { message: "co.uk" }],
  ],
};

for (const [name, rows] of Object.entries(ROWS)) {
  for (const [filter, fields, expected] of rows) {
    test(`${name}: ${filter} with ${JSON.stringify(fields)}`, () => {
      assert.deepEqual(run(filter, fields)[0], expected);
    });
  }
}

test("bytes writes all digits of a size beyond 2^53", () => {
  const [{ dest }] = run("bytes { target => dest } mutate { convert => { dest => string } }", {
    message: "32EB",
  }) as [Fields];
  assert.equal(dest, "36893488147419103232");
});

/** Compiles a pipeline where MY_VARIABLE is set and returns its faults. */
function faults(filter: string, isManaged: boolean): string[] {
  const { diagnostics } = compilePipeline([new SourceText("p.conf", `filter { ${filter} }`)], {
    variables: { MY_VARIABLE: "hello" },
    clock: systemClock,
    random: () => 0.5,
    guard: new RegexpGuard(),
    isManaged,
  });
  return diagnostics.map(({ message }) => message);
}

test("a pipeline of the page reads no variable by the filter environment", () => {
  const filter = 'environment { add_metadata_from_env => { "a" => "MY_VARIABLE" } }';
  assert.deepEqual(faults(filter, false), []);
  assert.match(faults(filter, true)[0] ?? "", /MY_VARIABLE can't be read by pipelines of the page/);
});

test("options that can't work are refused", () => {
  for (const [filter, message] of [
    ['alter { condrewrite => ["a", "b"] }', /in threes/],
    ['alter { coalesce => ["a"] }', /at least one value/],
    ['anonymize { fields => ["a"] key => "x" algorithm => IPV4_NETWORK }', /length of the prefix/],
    ['range { ranges => ["a", 1, 2] }', /in fours/],
    ['range { ranges => ["a", 1, 2, "tag:a:b"] }', /isn't an action/],
    ['range { ranges => ["a", "b", 2, "drop"] }', /two numbers/],
    ["sleep { }", /needs a time/],
    ['cidr { address => ["a"] network => ["10.0.0.0/8"] network_path => "/x" }', /exclude each other/],
    ['cidr { address => ["a"] address_field => "a" network => ["10.0.0.0/8"] }', /exclude each other/],
    ['metrics { meter => ["a"] rates => [1, 2] }', /computed over 1, 5, 15/],
    [
      'xml { source => "a" target => "b" parse_options => "strict|invalid0" }',
      /"INVALID0" isn't a parse option/,
    ],
  ] as const) {
    assert.match(faults(filter, false).join("\n"), message, filter);
  }
});

test("a number that no float holds stays text", () => {
  const fields = { a: "1e400", b: ["-1e999", "1"], c: "1e400" };
  const convert = 'mutate { convert => { "a" => "float" "b" => "float" "c" => "integer" } }';
  assert.deepEqual(run(convert, fields), [{ a: "1e400", b: ["-1e999", 1], c: "1e400" }]);
  const grok = 'grok { match => { "a" => "%{NOTSPACE:f:float}" } remove_field => ["a"] }';
  assert.deepEqual(run(grok, { a: "1e400" }), [{ f: "1e400" }]);
});

test("useragent with ECS names a system without a version, and keeps parts of versions in metadata", () => {
  const parts = 'add_field => { "p" => "%{[@metadata][filter][user_agent][version][patch]}" }';
  const filter = `useragent { source => "m" target => "ua" ecs_compatibility => v1 ${parts} }`;
  const m =
    "Mozilla/5.0 (X11; Linux i686) AppleWebKit/537.31 (KHTML, like Gecko) Chrome/26.0.1410.63 Safari/537.31";
  const [made] = run(filter, { m }) as { p: string; ua: { os: unknown } }[];
  assert.deepEqual(made?.ua.os, { name: "Linux", full: "Linux" });
  assert.equal(made?.p, "1410");
});

test("sleep waits before each n-th event", () => {
  const start = performance.now();
  assert.equal(run("sleep { time => 0.02 } sleep { time => 5 every => 2 }", { n: 1 }).length, 1);
  assert.ok(performance.now() - start >= 20);
});

test("sleep holds a thread for a second however many events come at once", () => {
  const apply = repeated("sleep { time => 0.7 } sleep { time => 0.7 }", systemClock);
  const start = performance.now();
  for (let n = 0; n < 20; n++) apply({ n });
  const tookMs = performance.now() - start;
  assert.ok(tookMs >= 900 && tookMs < 14_000, `${tookMs} ms`);
});

test("hostile texts take filters no longer than others of their length", () => {
  const list = Array.from({ length: 20_000 }, (_, n) => `${n}`);
  const rows: readonly Row[] = [
    ['alter { condrewrite => ["m", "%{l}", "x"] }', { m: list, l: list }, undefined],
    noBytes(`1${" ".repeat(200_000)}x`),
    ['alter { coalesce => ["m", "%{a}"] }', { a: "%{".repeat(200_000) }, undefined],
  ];
  for (const [filter, fields] of rows) {
    const before = process.cpuUsage();
    run(filter, fields);
    assert.ok(process.cpuUsage(before).user < 2_000_000, filter); // μs
  }
});
