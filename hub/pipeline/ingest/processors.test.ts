import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { PROCESSORS } from "./all.ts";
import { IngestDocument } from "./ingest-document.ts";
import { IngestPipeline } from "./ingest-pipeline.ts";
import { IngestPipelines, PROCESSOR_TYPES } from "./ingest-pipelines.ts";

const context = {
  clock: systemClock,
  guard: new RegexpGuard({ careful: true }),
  call: () => undefined,
  hasPipeline: () => false,
  findScript: () => undefined,
  version: 717,
};

function run(processor: JsonObject, source: JsonObject): IngestDocument {
  const document = new IngestDocument(structuredClone(source), { _index: "logs" }, 0);
  new IngestPipeline({ processors: [processor] }, context).run(document);
  return document;
}

/** As it is stored. */
function stored(processor: JsonObject, source: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(run(processor, source).source)) as JsonObject;
}

const flow = (
  from: string,
  to: string,
  network: JsonObject,
  ports: readonly [number, number] = [0, 0],
): JsonObject => ({
  source: { ip: from, port: ports[0] },
  destination: { ip: to, port: ports[1] },
  network,
});

test("both directions of a flow have the same community id", () => {
  const rows: [JsonObject, string][] = [
    [
      flow("128.232.110.120", "66.35.250.204", { transport: "tcp" }, [34_855, 80]),
      "1:LQU9qZlK+B5F3KDmev6m5PMibrg=",
    ],
    [
      flow("66.35.250.204", "128.232.110.120", { iana_number: 6 }, [80, 34_855]),
      "1:LQU9qZlK+B5F3KDmev6m5PMibrg=",
    ],
    [
      { ...flow("192.168.0.89", "192.168.0.1", { transport: "icmp" }), icmp: { type: 8, code: 0 } },
      "1:X0snYXpgwiv9TZtqg64sgzUn6Dk=",
    ],
  ];
  for (const [source, id] of rows)
    assert.equal((run({ community_id: {} }, source).source["network"] as JsonObject)["community_id"], id);
  assert.equal(run({ community_id: {} }, { source: { ip: "1.2.3.4" } }).source["network"], undefined);
  assert.throws(() => run({ community_id: { ignore_missing: false } }, {}), /source\.ip/);
});

test("a flow whose protocol has ports has no community id without them", () => {
  for (const [ports, message] of [
    [[0, 53], /invalid source port \[0\]/],
    [[53, 65_536], /invalid destination port \[65536\]/],
  ] as const)
    assert.throws(
      () => run({ community_id: {} }, flow("1.1.1.1", "2.2.2.2", { transport: "udp" }, ports)),
      message,
    );
  const portless = { ...flow("1.1.1.1", "2.2.2.2", { transport: "tcp" }), source: { ip: "1.1.1.1" } };
  assert.throws(() => run({ community_id: {} }, portless), /invalid source port/);
  const seeded = flow("128.232.110.120", "66.35.250.204", { transport: "tcp" }, [34_855, 80]);
  assert.deepEqual(
    stored({ community_id: { seed: 123 } }, seeded),
    stored({ community_id: { seed: "123" } }, seeded),
  );
});

test("a flow's direction is told by the networks of the inside", () => {
  const rows: [from: string, to: string, networks: string[], direction: string][] = [
    ["10.0.0.1", "192.168.1.1", ["private"], "internal"],
    ["10.0.0.1", "8.8.8.8", ["private"], "outbound"],
    ["8.8.8.8", "10.0.0.1", ["private"], "inbound"],
    ["8.8.8.8", "1.1.1.1", ["private"], "external"],
    ["8.8.8.8", "10.0.0.1", ["public"], "outbound"],
    ["fe80::1", "2001:db8::1", ["link_local_unicast"], "outbound"],
    ["127.0.0.1", "224.0.0.1", ["unicast"], "external"],
    ["172.20.1.1", "172.21.1.1", ["172.20.0.0/16"], "outbound"],
  ];
  for (const [from, to, internal_networks, direction] of rows) {
    const { source } = run({ network_direction: { internal_networks } }, flow(from, to, {}));
    assert.deepEqual(source["network"], { direction }, `${from} ${to}`);
  }
  assert.throws(() => run({ network_direction: {} }, {}), /internal_networks_field\] must be specified/);
  assert.throws(
    () => run({ network_direction: { internal_networks: ["here"] } }, flow("1.1.1.1", "2.2.2.2", {})),
    /\[here\] isn't a network/,
  );
});

test("a domain is cut at the suffix that names are registered under", () => {
  const rows: [string, JsonObject][] = [
    [
      "www.example.co.uk",
      { registered_domain: "example.co.uk", top_level_domain: "co.uk", subdomain: "www" },
    ],
    ["example.com", { registered_domain: "example.com", top_level_domain: "com" }],
    [
      "a.b.example.ac.jp",
      { registered_domain: "example.ac.jp", top_level_domain: "ac.jp", subdomain: "a.b" },
    ],
    ["ada.github.io", { registered_domain: "ada.github.io", top_level_domain: "github.io" }],
    ["co.uk", { top_level_domain: "co.uk" }],
  ];
  for (const [domain, parts] of rows)
    assert.deepEqual(
      run({ registered_domain: { field: "a", target_field: "url" } }, { a: domain }).source["url"],
      {
        domain,
        ...parts,
      },
    );
  assert.deepEqual(run({ registered_domain: { field: "a" } }, { a: "localhost" }).source, { a: "localhost" });
});

test("a fingerprint depends on names, values and salt, and not on the order of fields", () => {
  const print = (settings: JsonObject, source: JsonObject): unknown =>
    run({ fingerprint: { fields: ["a", "b"], ...settings } }, source).source["fingerprint"];
  const one = print({}, { a: "x", b: { d: 1, c: true } });
  assert.match(String(one), /^[\w+/]{27}=$/);
  assert.equal(print({ fields: ["b", "a"] }, { b: { c: true, d: 1 }, a: "x" }), one);
  assert.notEqual(print({ salt: "s" }, { a: "x", b: { d: 1, c: true } }), one);
  assert.notEqual(print({}, { a: "x", b: { d: 1.5, c: true } }), one);
  assert.equal(String(print({ method: "SHA-256" }, { a: 1, b: 2 })).length, 44);
  assert.throws(() => print({}, { a: 1 }), { message: "missing field [b] when calculating fingerprint" });
  assert.throws(() => print({ method: "CRC" }, {}), /must be one of the supported hash methods \[MD5,SHA-1/);
});

test("each processor makes of a text what the reference makes of it", () => {
  const csv = { csv: { field: "m", target_fields: ["a", "b", "c", "d"] } };
  const rows: [processor: JsonObject, m: unknown, expected: JsonObject][] = [
    [csv, 'a , "b" ,\t"c""d"', { a: "a ", b: "b", c: 'c"d' }],
    [{ csv: { ...csv.csv, trim: true } }, ' a , " b ",c ', { a: "a", b: " b ", c: "c" }],
    [{ csv: { ...csv.csv, empty_value: "-" } }, ',"",c', { a: "-", b: "-", c: "c" }],
    [{ csv: { ...csv.csv, separator: "\t" } }, 'a\t\t"c"', { a: "a", c: "c" }],
    [{ dissect: { field: "m", pattern: "%{*k}=%{&k} %{?x} %{+a} %{+a}" } }, "b=1 2 3 4", { b: "1", a: "34" }],
    [
      { html_strip: { field: "m", target_field: "t" } },
      "<p>a &lt;&#98;&gt; <b>c</b></p><br/>d &unknown; 1 < 2",
      { t: "\na <b> c\n\nd &unknown; 1 < 2" },
    ],
    [
      { gsub: { field: "m", pattern: "(?<k>\\w)=(\\w)", replacement: "$2\\\\$" + "{k}$10\\$1" } },
      ["a=b", "c"],
      { m: ["b\\aa0$1", "c"] },
    ],
    [{ bytes: { field: "m", target_field: "t" } }, "2g", { t: 2 ** 31 }],
    [
      { date: { field: "m", formats: ["8dd/MM/yyyy"], target_field: "t" } },
      "12/06/2024",
      { t: "2024-06-12T00:00:00.000Z" },
    ],
  ];
  for (const [processor, m, expected] of rows) {
    const { m: left, ...made } = stored(processor, { m });
    assert.deepEqual("m" in expected ? { m: left } : made, expected);
  }
});

test("texts are trimmed, decoded and converted as Java does", () => {
  const rows: [processor: JsonObject, text: string, result: unknown][] = [
    [{ trim: {} }, " \u0000x\t\u0001", "x"],
    [{ trim: {} }, "\u00a0x\ufeff", "\u00a0x\ufeff"],
    [{ urldecode: {} }, "caf%E9+%C3%A9", "caf\ufffd é"],
    [{ html_strip: {} }, "a &amp; b", "a &amp; b"],
    [{ html_strip: {} }, "<p>a &lt; b &eacute;</p>", "\na < b é\n"],
    [{ html_strip: {} }, "a<!-- <b> x > y -->b", "ab"],
    [{ html_strip: {} }, "<script>alert(1)</script>x", "\nx"],
    [{ html_strip: {} }, "1 < 2 > 1", "1 < 2 > 1"],
    [{ html_strip: {} }, "<b>&#xd800;&#xd83c;&#xdf00;</b>", "\ufffd🌀"],
    [{ convert: { type: "double" } }, " 1.5d ", 1.5],
    [{ convert: { type: "integer" } }, "-0x1f", -31],
  ];
  for (const [processor, m, result] of rows) {
    const [[type, settings]] = Object.entries(processor) as [[string, JsonObject]];
    assert.deepEqual(stored({ [type]: { field: "m", ...settings } }, { m })["m"], result, JSON.stringify(m));
  }
  for (const [type, m] of [
    ["integer", " 42 "],
    ["long", "0X1f"],
    ["double", "0x10"],
    ["float", ""],
  ])
    assert.throws(() => run({ convert: { field: "m", type } }, { m }), /unable to convert/, m);
  assert.throws(() => run({ urldecode: { field: "m" } }, { m: "a%4" }), /isn't a URL-encoded text/);
});

test("a long text of digits that isn't a number is refused in linear time", () => {
  const before = process.cpuUsage();
  for (const type of ["double", "float"])
    assert.throws(() => run({ convert: { field: "m", type } }, { m: `${"1".repeat(50_000)}x` }), /unable/);
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 2_000_000, `${user + system} µs`);
});

test("csv takes one character as separator and as quote", () => {
  for (const option of [{ separator: "" }, { separator: "||" }, { quote: "" }])
    assert.throws(
      () => run({ csv: { field: "m", target_fields: ["a"], ...option } }, { m: "x" }),
      /has to be single character/,
    );
});

test("bytes refuses a number with blanks behind it in linear time", () => {
  const before = process.cpuUsage();
  assert.throws(() => run({ bytes: { field: "m" } }, { m: `1${" ".repeat(50_000)}x` }), /size in bytes/);
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 2_000_000, `${user + system} µs`);
});

test("kv gathers many values of one key in linear time", () => {
  const text = Array.from({ length: 50_000 }, (_, index) => `a=${index}`).join(" ");
  const before = process.cpuUsage();
  const { a } = run({ kv: { field: "m", field_split: " ", value_split: "=" } }, { m: text }).source;
  const { user, system } = process.cpuUsage(before);
  assert.equal((a as string[]).length, 50_000);
  // In quadratic time it takes more than ten seconds.
  assert.ok(user + system < 2_000_000, `${user + system} µs`);
});

test("a padded part of dissect takes all delimiters behind it, also an empty one", () => {
  const pattern = "%{a},%{->},%{b}";
  assert.deepEqual(stored({ dissect: { field: "m", pattern } }, { m: "x,,,,y" }), {
    m: "x,,,,y",
    a: "x",
    b: "y",
  });
  assert.throws(() => run({ dissect: { field: "m", pattern: "%{a}" } }, { m: "" }), /Unable to find match/);
});

test("a text that dissect can't cut is named with the pattern", () => {
  assert.throws(() => run({ dissect: { field: "m", pattern: "%{a},%{b}" } }, { m: "foo bar" }), {
    message: "Unable to find match for dissect pattern: %{a},%{b} against source: foo bar",
  });
  assert.throws(() => run({ dissect: { field: "m", pattern: "bad" } }, {}), /Unable to parse pattern: bad/);
});

test("dates are read and printed in the letters of java.time too", () => {
  const rows: [formats: string[], text: unknown, settings: JsonObject, expected: string][] = [
    [["uuuu-MM-dd'T'HH:mm:ss[.SSS]XXX"], "2021-03-04T05:06:07+02:00", {}, "2021-03-04T03:06:07.000Z"],
    [["uuuu-MM-dd'T'HH:mm:ss[.SSS]XXX"], "2021-03-04T05:06:07.089Z", {}, "2021-03-04T05:06:07.089Z"],
    [["M/d/yyyy h:mm:ss a XXX"], "3/4/2021 1:02:03 PM +01:00", {}, "2021-03-04T12:02:03.000Z"],
    [["strict_date_optional_time_nanos"], "2021-03-04T05:06:07.123456789Z", {}, "2021-03-04T05:06:07.123Z"],
    [["yyyy-MM-dd HH:mm z"], "2021-07-04 12:00 EST", {}, "2021-07-04T16:00:00.000Z"],
    [["UNIX"], 1_600_000_000.5, { timezone: "+01:00" }, "2020-09-13T13:26:40.500+01:00"],
    [["UNIX_MS"], "0", { output_format: "yyyy.MM.dd HH:mm XX" }, "1970.01.01 00:00 Z"],
  ];
  for (const [formats, a, settings, expected] of rows)
    assert.equal(run({ date: { field: "a", formats, ...settings } }, { a }).source["@timestamp"], expected);
  assert.throws(
    () => run({ date: { field: "a", formats: ["yyyy-QQ"] } }, {}),
    /\[formats\].*unknown letter "Q"/,
  );
  const named = run(
    {
      date_index_name: {
        field: "a",
        date_rounding: "M",
        index_name_prefix: "logs-",
        date_formats: ["ISO8601"],
      },
    },
    { a: "2021-03-04T05:06:07Z" },
  );
  assert.equal(named.destination._index, "<logs-{2021-03-04||/M{yyyy-MM-dd|UTC}}>");
});

test("a name that is captured twice keeps its first value, and is a list from 8.7 on", () => {
  const processor = { grok: { field: "a", patterns: ["%{WORD:w} %{WORD:w}"] } };
  for (const [version, expected] of [
    [806, "x"],
    [807, ["x", "y"]],
  ] as const) {
    const document = new IngestDocument({ a: "x y" }, {}, 0);
    new IngestPipeline({ processors: [processor] }, { ...context, version }).run(document);
    assert.deepEqual(document.source["w"], expected);
  }
});

test("uri_parts takes an extension from the path, and from 8.14 on from its last part", () => {
  const extensionOf = (path: string, version: number): unknown => {
    const document = new IngestDocument({ a: path }, {}, 0);
    new IngestPipeline({ processors: [{ uri_parts: { field: "a" } }] }, { ...context, version }).run(
      document,
    );
    return (document.source["url"] as JsonObject)["extension"];
  };
  assert.equal(extensionOf("/v1.2/items", 717), "2/items");
  assert.equal(extensionOf("12.2.1", 717), "1");
  assert.equal(extensionOf("/v1.2/items", 814), undefined);
  assert.equal(extensionOf("/v1.2/a.b.txt", 814), "txt");
});

test("uri_parts replaces encoded bytes that aren't UTF-8", () => {
  const { url } = stored({ uri_parts: { field: "u" } }, { u: "http://a/caf%E9?q=%C3%A9" }) as {
    url: JsonObject;
  };
  assert.deepEqual([url["path"], url["query"]], ["/caf\ufffd", "q=é"]);
});

test("an authority that names no host leaves the domain null", () => {
  const url = "http://www.example.com:80-";
  const scheme = "http";
  const parts = (a: string): unknown => run({ uri_parts: { field: "a" } }, { a }).source["url"];
  assert.deepEqual(parts(url), { original: url, scheme, domain: null, path: "" });
  assert.deepEqual(parts(`${url}/x?y`), {
    original: `${url}/x?y`,
    scheme,
    domain: null,
    path: "/x",
    query: "y",
  });
});

test("kv strips brackets and quotes at either end", () => {
  const kv = { field: "a", field_split: "; ", value_split: "=", strip_brackets: true };
  assert.deepEqual(run({ kv }, { a: 'b=[x]; c="y; d=z"; e="(v)"' }).source, {
    a: 'b=[x]; c="y; d=z"; e="(v)"',
    b: "x",
    c: "y",
    d: "z",
    e: "(v)",
  });
});

test("grok names fields as ecs_compatibility says", () => {
  const patterns = ["%{COMMONAPACHELOG}"];
  const a = '10.0.0.1 - bob [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 23';
  const legacy = stored({ grok: { field: "a", patterns } }, { a });
  assert.equal(legacy["clientip"], "10.0.0.1");
  const ecs = stored({ grok: { field: "a", patterns, ecs_compatibility: "v1" } }, { a });
  assert.deepEqual(ecs["source"], { address: "10.0.0.1" });
  assert.deepEqual((ecs["http"] as JsonObject)["response"], { status_code: 200, body: { bytes: 23 } });
  assert.throws(
    () => stored({ grok: { field: "a", patterns, ecs_compatibility: "v2" } }, { a }),
    /illegal value 'v2'/,
  );
});

test("expressions are alternatives: the one that matches first in the text counts", () => {
  const grok = (patterns: string[], source: JsonObject): JsonObject =>
    stored({ grok: { field: "a", patterns } }, source);
  assert.deepEqual(grok(["%{INT:n:int}", "%{WORD:w}"], { a: "abc 12" }), { a: "abc 12", w: "abc" });
  assert.deepEqual(grok(["(?<q>['\"])(?<text>(?~\\k<q>))\\k<q>"], { a: "x 'it is' \"y\"" }), {
    a: "x 'it is' \"y\"",
    q: "'",
    text: "it is",
  });
  assert.deepEqual(grok(["%{GREEDYDATA:line}"], { a: "one\ntwo" }), { a: "one\ntwo", line: "one" });
  assert.deepEqual(grok(["%{NUMBER:d:float}"], { a: "153.883481" }), { a: "153.883481", d: 153.88348 });
});

test("scripts read JSON as the processor json does", () => {
  const script = (source: string): JsonObject => ({ script: { source } });
  const given = { t: '{"a":{"b":[1,2.5]}}', odd: "{a", list: "[1]" };
  assert.deepEqual(stored(script("ctx.m = Processors.json(ctx.t).a.b[1] * 2"), given)["m"], 5);
  assert.deepEqual(stored(script("Processors.json(ctx, 't')"), given), { ...given, a: { b: [1, 2.5] } });
  assert.deepEqual(stored(script("Map m = ['t': ctx.list]; ctx.m = Processors.json(m.t)"), given)["m"], [1]);
  for (const [source, message] of [
    ["Processors.json(ctx.odd)", /isn't JSON/],
    ["Processors.json(ctx, 'list')", /cannot add non-map fields/],
    ["Processors.json('x', 't')", /a map was expected/],
  ] as const)
    assert.throws(() => run(script(source), given), { message });
});

test("scripts calculate with floats of 32 bits", () => {
  const pipeline = new IngestPipeline(
    {
      processors: [
        { grok: { field: "a", patterns: ["%{NUMBER:t.d:float}"] } },
        { script: { source: "ctx.x = 1" } },
        { script: { source: "ctx.ns = Math.round(ctx.t.d * 1000000) * 1000" } },
      ],
    },
    context,
  );
  const document = new IngestDocument({ a: "153.883481" }, {}, 0);
  pipeline.run(document);
  assert.equal(document.source["ns"], 153_883_488_000);
});

test("what a map shows as a collection takes members out of it", () => {
  const script = (source: string): JsonObject => ({ script: { source } });
  const given = { m: { a: null, b: "", c: 1 } };
  const rows: [string, JsonObject][] = [
    ["ctx.m.entrySet().removeIf(e -> e.getValue() == null)", { b: "", c: 1 }],
    ["ctx.m.values().removeIf(v -> v == null || v == '')", { c: 1 }],
    ["ctx.m.keySet().retainAll(['a'])", { a: null }],
    ["ctx.m.keySet().remove('a')", { b: "", c: 1 }],
  ];
  for (const [source, m] of rows) assert.deepEqual(stored(script(source), given), { m }, source);
});

test("templates escape for JSON in two braces, and have sections", () => {
  const set = (value: string, settings = {}): unknown =>
    run({ set: { field: "x", value, ...settings } }, { a: 'say "hi"', l: [1, 2] }).source["x"];
  assert.equal(set("{{a}}"), 'say \\"hi\\"');
  assert.equal(set("{{{a}}} {{&a}}"), 'say "hi" say "hi"');
  assert.equal(set("{{a}}", { media_type: "text/plain" }), 'say "hi"');
  assert.equal(set("{{#l}}<{{.}}>{{/l}}"), "<1><2>");
  assert.throws(() => set("x", { media_type: "text/html" }), /supported media type \[text\/html\]/);
});

test("a member named __proto__ is data like any other, whatever processor sets it", () => {
  const text = '{"__proto__":{"polluted":"yes"},"m":{"__proto__":{"deep":1}}}';
  const json = (more: JsonObject): JsonObject => ({ json: { field: "t", add_to_root: true, ...more } });
  const kept = JSON.parse(text.replace("{", `{"t":${JSON.stringify(text)},`)) as JsonObject;
  const rows: [JsonObject, JsonObject, JsonObject][] = [
    [json({ add_to_root_conflict_strategy: "merge" }), { t: text, m: {} }, kept],
    [json({ add_to_root_conflict_strategy: "replace" }), { t: text }, kept],
    [{ set: { field: "a[.__proto__", value: 1 } }, {}, JSON.parse('{"a[":{"__proto__":1}}') as JsonObject],
    [
      { set: { field: "a[.__proto__.x", value: 1 } },
      {},
      JSON.parse('{"a[":{"__proto__":{"x":1}}}') as JsonObject,
    ],
    [{ set: { field: "__proto__.x", value: 1 } }, {}, JSON.parse('{"__proto__":{"x":1}}') as JsonObject],
    [
      { rename: { field: "a", target_field: "__proto__" } },
      { a: { x: 1 } },
      JSON.parse('{"__proto__":{"x":1}}') as JsonObject,
    ],
    [{ append: { field: "__proto__.x", value: 1 } }, {}, JSON.parse('{"__proto__":{"x":[1]}}') as JsonObject],
    [
      { kv: { field: "t", field_split: " ", value_split: "=" } },
      { t: "__proto__=1" },
      JSON.parse('{"t":"__proto__=1","__proto__":"1"}') as JsonObject,
    ],
    [
      { kv: { field: "t", field_split: " ", value_split: "=", target_field: "k" } },
      { t: "__proto__.x=1" },
      JSON.parse('{"t":"__proto__.x=1","k":{"__proto__":{"x":"1"}}}') as JsonObject,
    ],
    [
      { dissect: { field: "t", pattern: "%{*k}=%{&k}" } },
      { t: "__proto__=1" },
      JSON.parse('{"t":"__proto__=1","__proto__":"1"}') as JsonObject,
    ],
    [
      { grok: { field: "t", patterns: ["%{WORD:__proto__.x}"] } },
      { t: "a" },
      JSON.parse('{"t":"a","__proto__":{"x":"a"}}') as JsonObject,
    ],
    [
      { script: { source: "ctx['__proto__'] = ['x': 1]; ctx.m = ['__proto__': ['y': 2]]" } },
      {},
      JSON.parse('{"__proto__":{"x":1},"m":{"__proto__":{"y":2}}}') as JsonObject,
    ],
    [
      { foreach: { field: "m", processor: { set: { field: "_ingest._key", value: "__proto__" } } } },
      { m: { a: { x: 1 } } },
      JSON.parse('{"m":{"__proto__":{"x":1}}}') as JsonObject,
    ],
    [
      { dot_expander: { field: "__proto__.x" } },
      { "__proto__.x": 1 },
      JSON.parse('{"__proto__":{"x":1}}') as JsonObject,
    ],
  ];
  for (const [processor, source, made] of rows) {
    const result = run(processor, source).source;
    const name = JSON.stringify(processor);
    assert.equal(Object.getPrototypeOf(result), Object.prototype, name);
    assert.equal(JSON.stringify(sorted(result)), JSON.stringify(sorted(made)), name);
    assert.deepEqual(
      Reflect.ownKeys(Object.prototype).filter((key) => /polluted|deep|^[xy]$/.test(String(key))),
      [],
    );
  }
});

/** Members of all objects, by name: equal for equal values. */
function sorted(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  return Object.entries(value)
    .map(([name, item]) => [name, sorted(item)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

test("text that isn't JSON is given up in time that grows with its length", () => {
  const spent = (count: number): number => {
    const before = process.cpuUsage();
    assert.throws(() => run({ json: { field: "a" } }, { a: `{"${'\\"'.repeat(count)}` }), /holds no JSON/);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  spent(20_000);
  const short = Math.max(spent(20_000), 5_000);
  // 10 times as long; quadratic, it would take 100 times as long.
  assert.ok(spent(200_000) < short * 40);
});

test("json takes the value that a text begins with, and merges it where told", () => {
  const deep = `${"[".repeat(8_000)}${"]".repeat(8_000)}`;
  assert.throws(() => run({ json: { field: "a" } }, { a: deep }), /holds no JSON/);
  for (const blank of ["", " \n"])
    assert.deepEqual(run({ json: { field: "a", target_field: "b" } }, { a: blank }).source["b"], null);
  assert.deepEqual(run({ json: { field: "a" } }, { a: '{"b":"]"} trailing' }).source, { a: { b: "]" } });
  assert.throws(
    () => run({ json: { field: "a", strict_json_parsing: true } }, { a: "{} x" }),
    /holds no JSON/,
  );
  const merged = { field: "a", add_to_root: true, add_to_root_conflict_strategy: "merge" };
  assert.deepEqual(run({ json: merged }, { a: '{"m":{"y":2}}', m: { x: 1 } }).source["m"], { x: 1, y: 2 });
});

test("foreach walks through the members of an object, whose names may change", () => {
  const processor = { foreach: { field: "m", processor: { uppercase: { field: "_ingest._key" } } } };
  assert.deepEqual(run(processor, { m: { a: 1, b: 2 } }).source, { m: { A: 1, B: 2 } });
});

test("an object may have several processors, and a script may be its text alone", () => {
  const processor = { script: "ctx.a = 1", set: { field: "b", value: "{{a}}" }, remove: { field: "a" } };
  assert.deepEqual(stored(processor, {}), { b: "1" });
  assert.throws(() => run({ set: "a" }, {}), /property isn't a map, but of type \[java\.lang\.String\]/);
  assert.throws(
    () =>
      run(
        { foreach: { field: "a", processor: { trim: { field: "b" }, set: { field: "b", value: 1 } } } },
        {},
      ),
    /exactly one processor type/,
  );
});

test("the names that nodes list are those of the processors", () => {
  assert.deepEqual(PROCESSOR_TYPES, [...PROCESSORS.keys()].sort());
});

test("processors that are left out are refused by name with what to do", () => {
  assert.throws(
    () => run({ inference: { model_id: "m" } }, {}),
    /\[inference\] is not supported: there are no trained/,
  );
});

test("a verbose simulation prints each processor, those of called pipelines too", async (t) => {
  const ingest = new IngestPipelines(new MemoryBucket(), silentLogger(), { version: 717 });
  await ingest.start();
  t.after(() => ingest.stop());
  await ingest.put("inner", { processors: [{ set: { field: "b", value: 1, tag: "inner" } }] });
  const [result] = await ingest.simulate(
    {
      processors: [
        { set: { field: "a", value: 1, if: "ctx.none == 1" } },
        { pipeline: { name: "inner" } },
        { lowercase: { field: "none", ignore_failure: true } },
        { fail: { message: "no", on_failure: [{ set: { field: "c", value: 2 } }] } },
        { drop: {} },
      ],
    },
    [{ source: "{}", destination: {} }],
    true,
  );
  const steps = (result as { processor_results: JsonObject[] }).processor_results;
  assert.deepEqual(
    steps.map((step) => `${String(step["processor_type"])} ${String(step["status"])}`),
    [
      "set skipped",
      "pipeline success",
      "set success",
      "lowercase error_ignored",
      "fail error",
      "set success",
      "drop dropped",
    ],
  );
  assert.deepEqual(steps[0]!["if"], { condition: "ctx.none == 1", result: false });
  assert.equal(steps[2]!["tag"], "inner");
});

/** Pipelines of servers of a version: `a` and `b` call each other, `outer` calls `inner`. */
async function callingPipelines(t: TestContext, version: number): Promise<IngestPipelines> {
  const ingest = new IngestPipelines(new MemoryBucket(), silentLogger(), { version });
  await ingest.start();
  t.after(() => ingest.stop());
  const names = { append: { field: "names", value: "{{_ingest.pipeline}}" } };
  const call = (name: string): JsonObject => ({ processors: [names, { pipeline: { name } }, names] });
  for (const [id, called] of [
    ["a", "b"],
    ["b", "a"],
    ["outer", "inner"],
  ] as const)
    await ingest.put(id, call(called));
  await ingest.put("inner", { processors: [names] });
  return ingest;
}

test("documents know the name of the pipeline that they are in from 7.6 on", async (t) => {
  for (const [version, names] of [
    [717, ["outer", "inner", "outer"]],
    [705, ["", "", ""]],
  ] as const) {
    const ingest = await callingPipelines(t, version);
    const source = Buffer.from("{}");
    const [outcome] = await ingest.run([{ pipeline: "outer", destination: {}, source }]);
    assert.deepEqual(outcome, { kind: "done", source: JSON.stringify({ names }), destination: {} });
  }
});

test("pipelines that call each other are one failed step of a verbose simulation", async (t) => {
  const documents = [{ source: "{}", destination: {} }];
  const trial = { processors: [{ set: { field: "x", value: 1 } }, { pipeline: { name: "a", tag: "t" } }] };
  const later = await (await callingPipelines(t, 717)).simulate(trial, documents, true);
  const steps = (result: unknown): JsonObject[] =>
    (result as { processor_results: JsonObject[] }).processor_results;
  const cause = { type: "illegal_state_exception", reason: "Cycle detected for pipeline: a" };
  assert.deepEqual(steps(later[0])[1], {
    processor_type: "pipeline",
    status: "error",
    tag: "t",
    error: { root_cause: [cause], ...cause },
  });
  assert.equal(steps(later[0]).length, 2);
  const [older] = await (await callingPipelines(t, 605)).simulate(trial, documents, true);
  const javaClass = "java.lang.IllegalStateException";
  const fault = { processorType: "pipeline", javaClass };
  assert.deepEqual(steps(older)[1], { tag: "t", failed: { message: cause.reason, fault } });
});

test("a cycle of pipelines is named by the pipeline of the request from 7.6 on", async (t) => {
  for (const [version, id] of [
    [717, "a"],
    [605, "b"],
  ] as const) {
    const ingest = await callingPipelines(t, version);
    const [outcome] = await ingest.run([{ pipeline: "a", destination: {}, source: Buffer.from("{}") }]);
    assert.equal((outcome as { message?: string }).message, `Cycle detected for pipeline: ${id}`);
  }
});
