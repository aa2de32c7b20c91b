import assert from "node:assert/strict";
import { test } from "node:test";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { parseJsonObject } from "#proto/codec/json.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { parseFields } from "./document-json.ts";
import { IngestDocument, ProcessorFault } from "./ingest-document.ts";
import { IngestPipeline } from "./ingest-pipeline.ts";
import { IngestPipelines } from "./ingest-pipelines.ts";

const guard = new RegexpGuard({ careful: true });
const context = {
  clock: systemClock,
  guard,
  call: () => undefined,
  hasPipeline: () => false,
  findScript: () => undefined,
  version: 605,
};

function run(
  processors: unknown[],
  source: JsonObject,
  onFailure?: unknown[],
  guarded = guard,
): IngestDocument {
  const definition = { processors, ...(onFailure !== undefined && { on_failure: onFailure }) };
  const document = new IngestDocument(structuredClone(source), { _index: "logs", _id: "1" }, 0);
  new IngestPipeline(definition, { ...context, guard: guarded }).run(document);
  return document;
}

type Row = readonly [processor: JsonObject, source: JsonObject, expected: JsonObject];

const ROWS: readonly Row[] = [
  [{ set: { field: "a.b", value: "{{c}} of {{_index}}" } }, { c: 1 }, { c: 1, a: { b: "1 of logs" } }],
  [{ set: { field: "c", value: 2, override: false } }, { c: 1 }, { c: 1 }],
  [{ set: { field: "@timestamp", value: "now" } }, {}, { "@timestamp": "now" }],
  [{ remove: { field: ["a", "b.c"] } }, { a: 1, b: { c: 1, d: 2 } }, { b: { d: 2 } }],
  [
    { remove: { keep: ["_source.a", "b.c", "{{n}}", "g.h"] } },
    { a: { x: 1 }, b: { c: 1, d: 2 }, cc: 1, e: [1], f: 2, g: "text", n: "f" },
    { a: { x: 1 }, b: { c: 1 }, f: 2, g: "text" },
  ],
  [{ remove: { field: "{{none}}", ignore_missing: true } }, { a: 1 }, { a: 1 }],
  [{ rename: { field: "{{none}}", target_field: "b", ignore_missing: true } }, { a: 1 }, { a: 1 }],
  [{ rename: { field: "a", target_field: "b.c" } }, { a: 1 }, { b: { c: 1 } }],
  [
    { append: { field: "a", value: ["y", "x", "y"], allow_duplicates: false } },
    { a: ["x", "x"] },
    { a: ["x", "x", "y"] },
  ],
  [{ append: { field: "a", value: ["{{b}}"] } }, { a: "x", b: "y" }, { a: ["x", "y"], b: "y" }],
  [{ append: { field: "a", value: ["x", "y"], allow_duplicates: false } }, { a: ["x"] }, { a: ["x", "y"] }],
  [{ set: { field: "b", copy_from: "a" } }, { a: { c: [1] } }, { a: { c: [1] }, b: { c: [1] } }],
  [{ set: { field: "b", copy_from: "none.c", ignore_empty_value: true } }, { a: 1 }, { a: 1 }],
  [{ set: { field: "a", copy_from: "none", override: false } }, { a: 1 }, { a: 1 }],
  [{ set: { field: "b", value: "{{none}}", ignore_empty_value: true } }, { a: 1 }, { a: 1 }],
  [{ convert: { field: "a", type: "ip" } }, { a: "::1" }, { a: "::1" }],
  [{ convert: { field: "a", type: "integer" } }, { a: ["1", "-2"] }, { a: [1, -2] }],
  [{ convert: { field: "a", type: "boolean", target_field: "b" } }, { a: "True" }, { a: "True", b: true }],
  [{ convert: { field: "a", type: "auto" } }, { a: "1.5" }, { a: 1.5 }],
  [{ json: { field: "a", add_to_root: true } }, { a: '{"b":[1]}' }, { a: '{"b":[1]}', b: [1] }],
  [{ gsub: { field: "a", pattern: "(\\d)-", replacement: "$1." } }, { a: "1-2-x" }, { a: "1.2.x" }],
  [
    { gsub: { field: "a", pattern: "(\\d++)-(\\d++)", replacement: "$2/$1" } },
    { a: "12-34" },
    { a: "34/12" },
  ],
  [{ gsub: { field: "a", pattern: "(?<n>\\d++)x", replacement: "$" + "{n}" } }, { a: "12x" }, { a: "12" }],
  [{ split: { field: "a", separator: "", preserve_trailing: true } }, { a: "ab" }, { a: ["a", "b", ""] }],
  [
    { kv: { field: "m", field_split: " ", value_split: "=" } },
    { m: "a=1", a: null },
    { m: "a=1", a: [null, "1"] },
  ],
  [{ lowercase: { field: "a" } }, { a: "ÄB" }, { a: "äb" }],
  [{ uppercase: { field: "a", target_field: "b" } }, { a: "x" }, { a: "x", b: "X" }],
  [{ trim: { field: "a" } }, { a: " x " }, { a: "x" }],
  [{ split: { field: "a", separator: "\\s+" } }, { a: "x  y z " }, { a: ["x", "y", "z"] }],
  [{ join: { field: "a", separator: "-" } }, { a: [1, 2] }, { a: "1-2" }],
  [{ sort: { field: "a", order: "desc" } }, { a: [1, 3, 2] }, { a: [3, 2, 1] }],
  [{ bytes: { field: "a" } }, { a: "1.5kb" }, { a: 1536 }],
  [
    { foreach: { field: "a", processor: { uppercase: { field: "_ingest._value" } } } },
    { a: ["x", "y"] },
    { a: ["X", "Y"] },
  ],
  [
    { foreach: { field: "a", processor: { remove: { field: "_ingest._value.b" } } } },
    { a: [{ b: 1, c: 2 }] },
    { a: [{ c: 2 }] },
  ],
  [{ dot_expander: { field: "a.b" } }, { "a.b": 1 }, { a: { b: 1 } }],
  [
    {
      grok: {
        field: "m",
        patterns: ["%{NUMBER:n:int}!", "%{WORD:x.w} %{GREEDY:x.r}"],
        pattern_definitions: { GREEDY: ".*" },
      },
    },
    { m: "GET /a" },
    { m: "GET /a", x: { w: "GET", r: "/a" } },
  ],
  [{ grok: { field: "m", patterns: ["^%{NUMBER:n:int}"] } }, { m: "42 x" }, { m: "42 x", n: 42 }],
  [{ grok: { field: "m", patterns: ["^%{NUMBER:n:long}"] } }, { m: "42 x" }, { m: "42 x", n: "42" }],
  [
    { dissect: { field: "m", pattern: "%{+t} %{+t} [%{l}] %{r}", append_separator: "T" } },
    { m: "day time [info] rest of it" },
    { m: "day time [info] rest of it", t: "dayTtime", l: "info", r: "rest of it" },
  ],
  [
    { date: { field: "m", formats: ["dd/MMM/yyyy:HH:mm:ss Z"] } },
    { m: "17/May/2015:10:05:03 +0200" },
    { m: "17/May/2015:10:05:03 +0200", "@timestamp": "2015-05-17T08:05:03.000Z" },
  ],
  [
    { date: { field: "m", target_field: "d", formats: ["UNIX", "ISO8601"], timezone: "Europe/Berlin" } },
    { m: "2024-07-01T12:00:00" },
    { m: "2024-07-01T12:00:00", d: "2024-07-01T12:00:00.000+02:00" },
  ],
  [
    { kv: { field: "m", field_split: " ", value_split: "=", target_field: "k" } },
    { m: "a=1 b=x" },
    { m: "a=1 b=x", k: { a: "1", b: "x" } },
  ],
  [
    { csv: { field: "m", target_fields: ["a", "b", "c"], trim: true } },
    { m: 'x ,"y, z",' },
    { m: 'x ,"y, z",', a: "x", b: "y, z" },
  ],
];

/** What the 6.5.4 server makes of them. */
const EDGES: readonly Row[] = [
  [{ set: { field: "a.", value: 1 } }, {}, { a: 1 }],
  [{ set: { field: "a..b", value: 1 } }, {}, { a: { "": { b: 1 } } }],
  [{ set: { field: "a", value: { "{{k}}": "{{k}}" } } }, { k: "x" }, { k: "x", a: { x: "x" } }],
  [
    { set: { field: "a", value: "{{l}} {{m}}" } },
    { l: ["p", 1], m: { k: [1] } },
    { l: ["p", 1], m: { k: [1] }, a: "{0=p, 1=1} {k=[1]}" },
  ],
  [{ append: { field: "a", value: "v" } }, { a: null }, { a: [null, "v"] }],
  [{ split: { field: "a", separator: "," } }, { a: "" }, { a: [""] }],
  [{ split: { field: "a", separator: "(l)" } }, { a: "Hello" }, { a: ["He", "", "o"] }],
  [{ gsub: { field: "a", pattern: "\\Qa.\\E", replacement: "1" } }, { a: "a.ab" }, { a: "1ab" }],
  [{ join: { field: "a", separator: "-" } }, { a: [{ n: 1 }, ["x", "y"]] }, { a: "{n=1}-[x, y]" }],
  [{ convert: { field: "a", type: "auto" } }, { a: "0.1" }, { a: 0.1 }],
  [{ convert: { field: "a", type: "string" } }, { a: [{ n: 1 }] }, { a: ["{n=1}"] }],
  [{ dot_expander: { field: "a.b" } }, {}, { a: { b: null } }],
  [
    { dissect: { field: "a", pattern: "%{x} %{y} %{z}" } },
    { a: "1  2 3" },
    { a: "1  2 3", x: "1", y: "", z: "2 3" },
  ],
  [{ dissect: { field: "a", pattern: "%{x} %{y}" } }, { a: "1  2" }, { a: "1  2", x: "1", y: "" }],
];

for (const [processor, source, expected] of [...ROWS, ...EDGES]) {
  const [type, settings] = Object.entries(processor)[0]!;
  test(`${type} ${JSON.stringify(settings)}`, () => {
    assert.deepEqual(JSON.parse(JSON.stringify(run([processor], source).source)), expected);
  });
}

test("a user agent is taken apart", () => {
  const agent = "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0";
  const { source } = run([{ user_agent: { field: "a", properties: ["name", "major"] } }], { a: agent });
  assert.deepEqual(source["user_agent"], { name: "Firefox", major: "120" });
  const chrome = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_9_2) Chrome/33.0.1750.149 Safari/537.36";
  const { device: _, ...whole } = run([{ user_agent: { field: "a" } }], { a: chrome }).source[
    "user_agent"
  ] as JsonObject;
  assert.deepEqual(whole, {
    name: "Chrome",
    major: "33",
    minor: "0",
    patch: "1750",
    os: "Mac OS X 10.9.2",
    os_name: "Mac OS X",
    os_major: "10",
    os_minor: "9",
  });
});

test("integers beyond 2^53 and times of the document stay as they are", () => {
  const { source } = run([{ convert: { field: "a", type: "long" } }], {
    a: "9007199254740993",
    "@timestamp": "x",
  });
  assert.equal(JSON.stringify(source), '{"a":9007199254740993,"@timestamp":"x"}');
});

test("a failure is ignored, taken care of, or ends the document's way", () => {
  const lower = { field: "missing" };
  assert.deepEqual(run([{ lowercase: { ...lower, ignore_failure: true } }], { a: 1 }).source, { a: 1 });
  assert.deepEqual(run([{ lowercase: { ...lower, ignore_missing: true } }], { a: 1 }).source, { a: 1 });
  const note = {
    set: { field: "error", value: "{{_ingest.on_failure_processor_type}}: {{_ingest.on_failure_message}}" },
  };
  const expected = "lowercase: field [missing] not present as part of path [missing]";
  assert.equal(run([{ lowercase: { ...lower, on_failure: [note] } }], {}).source["error"], expected);
  const redirected = run([{ lowercase: lower }, { set: { field: "b", value: 1 } }], {}, [
    { set: { field: "_index", value: "failed-{{_index}}" } },
  ]);
  assert.deepEqual([redirected.destination._index, redirected.source], ["failed-logs", {}]);
  assert.throws(() => run([{ lowercase: lower }], {}), { message: /field \[missing\] not present/ });
  assert.throws(() => run([{ fail: { message: "no {{a}}" } }], { a: 7 }), { message: "no 7" });
  assert.equal(run([{ drop: {} }, { fail: { message: "not reached" } }], {}).dropped, true);
});

test("a handler is given the processor that failed in a called pipeline, from 7.6 on with the pipeline's name", () => {
  const value =
    "{{_ingest.on_failure_processor_type}} {{_ingest.on_failure_processor_tag}} {{_ingest.on_failure_pipeline}}";
  const noting = (version: number): unknown => {
    const used = { ...context, version };
    const fail = { fail: { message: "x", tag: "t" } };
    const inner = new IngestPipeline({ processors: [fail] }, used, "inner");
    const document = new IngestDocument({}, { _index: "logs", _id: "1" }, 0);
    const calling = { ...used, hasPipeline: () => true, call: () => inner.run(document) };
    const processors = [{ pipeline: { name: "inner" } }];
    const onFailure = [{ set: { field: "note", value } }];
    new IngestPipeline({ processors, on_failure: onFailure }, calling, "outer").run(document);
    return document.source["note"];
  };
  assert.deepEqual([noting(605), noting(710)], ["fail t ", "fail t inner"]);
});

test("terminate ends its pipeline, also from a handler, and not the one that called it", () => {
  const notReached = { fail: { message: "not reached" } };
  const ended = run([{ terminate: { if: "ctx.n == 1" } }, { set: { field: "n", value: 2 } }], { n: 1 });
  assert.deepEqual([ended.source, ended.dropped], [{ n: 1 }, false]);
  assert.deepEqual(
    run([{ terminate: { if: "ctx.n == 1" } }, { remove: { field: "n" } }], { n: 2 }).source,
    {},
  );
  run([{ fail: { message: "x", on_failure: [{ terminate: {} }, notReached] } }, notReached], {});
  const inner = new IngestPipeline({ processors: [{ terminate: {} }, notReached] }, context);
  const outer = [{ pipeline: { name: "inner" } }, { set: { field: "after", value: true } }];
  const document = new IngestDocument({}, { _index: "logs", _id: "1" }, 0);
  const calling = { ...context, hasPipeline: () => true, call: () => inner.run(document) };
  new IngestPipeline({ processors: outer }, calling).run(document);
  assert.deepEqual(document.source, { after: true });
});

test("reroute makes the name of a stream of texts and fields, and ends the pipelines that called it", () => {
  const index = "logs-app-default";
  const target = (reroute: JsonObject, source: JsonObject, _index = index): string | undefined => {
    const inner = new IngestPipeline(
      { processors: [{ reroute }, { fail: { message: "reached" } }] },
      context,
    );
    const outer = [{ pipeline: { name: "inner" } }, { fail: { message: "reached" } }];
    const document = new IngestDocument(source, { _index }, 0);
    const calling = { ...context, hasPipeline: () => true, call: () => inner.run(document) };
    new IngestPipeline({ processors: outer }, calling).run(document);
    return document.destination._index;
  };
  assert.equal(target({ destination: "other" }, {}, "plain"), "other");
  assert.equal(target({}, {}), index);
  assert.equal(target({}, { data_stream: { dataset: "a", namespace: "b" } }), "logs-a-b");
  assert.equal(target({}, { "data_stream.dataset": "a" }), "logs-a-default");
  assert.equal(
    target({ dataset: ["{{none}}", "{{{service.name}}}", "z"] }, { service: { name: "A-b" } }),
    "logs-a_b-default",
  );
  assert.equal(target({ dataset: ["{{none}}", "z"], namespace: "n-1" }, {}), "logs-z-n-1");
  assert.equal(target({ type: "metrics" }, {}, "logs-a-b-c"), "metrics-a-b-c");
  const flat = { "event.dataset": "x" };
  target({ dataset: "y" }, flat);
  assert.equal(flat["event.dataset"], "y");
  assert.throws(
    () => target({}, {}, "logs-app"),
    /invalid data stream name: \[logs-app\]; must follow naming/,
  );
  assert.throws(() => target({ dataset: "a b" }, {}), /'a b' contains disallowed characters/);
  assert.throws(() => target({ destination: "a", dataset: "b" }, {}), /can only be set if type, dataset/);
});

/** A guard for which a second is a fiftieth of one. */
class HastyGuard extends RegexpGuard {
  override run<T>(expression: object, subject: string, timeoutMs: number, work: () => T): T {
    return super.run(expression, subject, timeoutMs / 50, work);
  }
}

test("an expression that never ends fails its document in time", () => {
  const processor = { gsub: { field: "a", pattern: "^(a+)+$", replacement: "" } };
  const hasty = new HastyGuard({ careful: true });
  const text = `${"a".repeat(40)}!`;
  assert.throws(() => run([processor], { a: text }, undefined, hasty), {
    message: /not finished after 20 ms/,
  });
});

test("a condition decides whether a processor runs, on fields and on where the document goes", () => {
  const set = (condition: string): object => ({ set: { field: "hit", value: true, if: condition } });
  const rows: [condition: string, source: JsonObject, hit: boolean][] = [
    ["ctx.a == 1", { a: 1 }, true],
    ["ctx.a == 1", { a: 2 }, false],
    ["ctx.user?.name != null", {}, false],
    ["ctx.user?.name != null && ctx.user.name.startsWith('a')", { user: { name: "ada" } }, true],
    ["ctx._index == 'logs'", {}, true],
    ["ctx.containsKey('a') && !ctx.containsKey('b')", { a: null }, true],
    ["ctx.tags instanceof List && ctx.tags.contains('x')", { tags: ["x"] }, true],
    ["ctx.n > 1.25", { n: 1.5 }, true],
  ];
  for (const [condition, source, hit] of rows)
    assert.equal(run([set(condition)], source).source["hit"] === true, hit, condition);
  assert.throws(() => run([set("ctx.a.b.c == 1")], {}), ProcessorFault);
});

test("an address is cut into its parts", () => {
  const rows: [string, JsonObject][] = [
    [
      "https://ada:secret@shop.example:8443/cart/list.php?id=1%202#top",
      {
        scheme: "https",
        domain: "shop.example",
        port: 8443,
        path: "/cart/list.php",
        extension: "php",
        query: "id=1 2",
        fragment: "top",
        user_info: "ada:secret",
        username: "ada",
        password: "secret",
      },
    ],
    ["/v1.2/items", { path: "/v1.2/items" }],
    ["http://[::1]:9200/", { scheme: "http", domain: "[::1]", port: 9200, path: "/" }],
    ["ftp://ada@files.example/a", { scheme: "ftp", domain: "files.example", path: "/a", user_info: "ada" }],
    // What breaks the rules of addresses is cut as it stands.
    [
      "HTTP://ada:x@y@shop.example:80/a b/c%20d.html?q=\\1#é |",
      {
        scheme: "http",
        domain: "shop.example",
        port: 80,
        path: "/a b/c%20d.html",
        extension: "html",
        query: "q=\\1",
        fragment: "é |",
        user_info: "ada:x@y",
        username: "ada",
        password: "x@y",
      },
    ],
    ["http:a|b", { scheme: "http", domain: "", path: "a|b" }],
  ];
  for (const [text, parts] of rows) {
    const { source } = run([{ uri_parts: { field: "a", remove_if_successful: true } }], { a: text });
    assert.deepEqual(source, { url: { original: text, ...parts } }, text);
  }
  for (const a of ["no address at all", "gopher://x/a b", "http://x:y/a b"])
    assert.throws(() => run([{ uri_parts: { field: "a" } }], { a }), /unable to parse URI/, a);
  assert.deepEqual(run([{ uri_parts: { field: "a", ignore_missing: true } }], {}).source, {});
});

test("a date is printed in the zone that it was read in", () => {
  const date = { field: "a", formats: ["dd/MM/yyyy HH:mm"] };
  const read = (timezone?: string): unknown =>
    run([{ date: { ...date, ...(timezone && { timezone }) } }], { a: "12/06/2010 11:05" }).source[
      "@timestamp"
    ];
  assert.equal(read(), "2010-06-12T11:05:00.000Z");
  assert.equal(read("Europe/Amsterdam"), "2010-06-12T11:05:00.000+02:00");
  assert.equal(read("-02:00"), "2010-06-12T11:05:00.000-02:00");
});

test("a script changes fields and where the document goes", () => {
  const script = (source: string, params = {}): object => ({ script: { source, params } });
  const changed = run(
    [
      script(
        "for (f in params.fields) { def v = ctx.log.get(f); if (v != null) { ctx.log.put(f, params.map.get(v)) } }",
        {
          fields: ["full", "none"],
          map: { Yes: true },
        },
      ),
      script("ctx.event = ['duration': Math.round(ctx.seconds * 1000000) * 1000]; ctx.remove('seconds')"),
      script("ctx._index = ctx._index + '-x'; ctx.ratio = 1 / 4.0; ctx.list.add('b')"),
    ],
    { log: { full: "Yes" }, seconds: 1.5, list: ["a"] },
  );
  assert.deepEqual(changed.source, {
    log: { full: true },
    event: { duration: 1_500_000_000 },
    ratio: 0.25,
    list: ["a", "b"],
  });
  assert.equal(changed.destination._index, "logs-x");
  assert.throws(() => run([script("throw new IllegalArgumentException('no ' + ctx.a)")], { a: 1 }), {
    message: "no 1",
  });
  assert.throws(() => run([script("def x = [:]; x.x = x; ctx.x = x")], {}), /self-referencing/);
});

test("a document that a processor can't work on fails with the words of the 6.5 server", () => {
  const rows: [processor: JsonObject, source: JsonObject, message: string][] = [
    [
      { set: { field: "f.a", value: 1 } },
      { f: null },
      "cannot set [a] with null parent as part of path [f.a]",
    ],
    [
      { set: { field: "f.a.z", value: 1 } },
      { f: null },
      "cannot resolve [a] from null as part of path [f.a.z]",
    ],
    [
      { set: { field: "f.7", value: 1 } },
      { f: ["a"] },
      "[7] is out of bounds for array with length [1] as part of path [f.7]",
    ],
    [{ remove: { field: "_routing" } }, {}, "field [_routing] not present as part of path [_routing]"],
    [{ trim: { field: "x.y" } }, {}, "field [x] not present as part of path [x.y]"],
    [{ set: { field: "a", copy_from: "x.y" } }, {}, "field [x] not present as part of path [x.y]"],
    [
      { lowercase: { field: "f" } },
      { f: ["A"] },
      "field [f] of type [java.util.ArrayList] cannot be cast to [java.lang.String]",
    ],
    [
      { bytes: { field: "f" } },
      { f: "12" },
      "failed to parse setting [Ingest Field] with value [12] as a size in bytes: unit is missing or unrecognized",
    ],
    [{ gsub: { field: "f", pattern: "l", replacement: "$3" } }, { f: "l" }, "No group 3"],
    [
      { gsub: { field: "f", pattern: "l", replacement: "$" } },
      { f: "l" },
      "Illegal group reference: group index is missing",
    ],
    [
      { kv: { field: "f", field_split: "&", value_split: "=" } },
      { f: "" },
      "field [f] does not contain value_split [=]",
    ],
    [
      { dot_expander: { field: "f.x" } },
      { f: 1 },
      "cannot expend [f.x], because [f] is not an object field, but a value field",
    ],
    [{ date: { field: "f", formats: ["UNIX_MS"] } }, { f: "1.5" }, "unable to parse date [1.5]"],
  ];
  for (const [processor, source, message] of rows) assert.throws(() => run([processor], source), { message });
  assert.throws(() => run([{ sort: { field: "f" } }], { f: [1, "b"] }), /java\.lang\.Integer cannot be cast/);
});

test("a script leaves whole numbers beyond 2^53 as they are, and calculates with them", () => {
  const source = parseJsonObject('{"l":9007199254740993,"n":[9007199254740993]}')!;
  const document = new IngestDocument(source, {}, 0);
  const script =
    "ctx.x = ctx.l + 1; ctx.y = ctx.n[0]; for (def e : ctx.n) ctx.z = e + 2; ctx.t = ctx.l.toString()";
  new IngestPipeline({ processors: [{ script: { source: script } }] }, context).run(document);
  assert.equal(
    JSON.stringify(document.source),
    '{"l":9007199254740993,"n":[9007199254740993],"x":9007199254740994,"y":9007199254740993,"z":9007199254740995,"t":"9007199254740993"}',
  );
});

test("lists of whole numbers beyond 2^53 are those of a script in all methods, and in conditions", () => {
  const source = parseJsonObject('{"n":[9007199254740993,3],"m":{"n":[9007199254740993]}}')!;
  const document = new IngestDocument(source, {}, 0);
  const script =
    "ctx.a = ctx.n.get(0) + 1; ctx.b = ctx.n.indexOf(9007199254740993L); ctx.c = '' + ctx.m; ctx.d = ctx.n.remove(0)";
  const isThere = "ctx.m.n.contains(9007199254740993L)";
  new IngestPipeline({ processors: [{ script: { source: script, if: isThere } }] }, context).run(document);
  assert.equal(
    JSON.stringify(document.source),
    '{"n":[3],"m":{"n":[9007199254740993]},"a":9007199254740994,"b":0,"c":"{n=[9007199254740993]}","d":9007199254740993}',
  );
});

test("templates print whole numbers beyond 2^53 in lists and objects", () => {
  const source = parseJsonObject('{"l":9007199254740993,"n":[9007199254740993],"m":{"a":9007199254740993}}')!;
  const document = new IngestDocument(source, {}, 0);
  const processors = [{ set: { field: "t", value: "{{l}} {{n}} {{{m}}}" } }];
  new IngestPipeline({ processors }, context).run(document);
  assert.equal(document.source["t"], "9007199254740993 {0=9007199254740993} {a=9007199254740993}");
});

test("whole numbers beyond 2^53 that a script made before it failed can be stored", () => {
  const document = new IngestDocument({}, {}, 0);
  const script = { source: "ctx.l = [9007199254740993L]; ctx.x.y = 1", ignore_failure: true };
  new IngestPipeline({ processors: [{ script }] }, context).run(document);
  assert.equal(JSON.stringify(document.source), '{"l":[9007199254740993]}');
});

test("settings of another type are refused with the type that they have", () => {
  const rows: [JsonObject, string][] = [
    [{ trim: { field: 5 } }, "[field] property isn't a string, but of type [java.lang.Integer]"],
    [
      { rename: { field: "a", target_field: "b", ignore_missing: "no" } },
      "[ignore_missing] property isn't a boolean, but of type [java.lang.String]",
    ],
    [
      { date: { field: "a", formats: "UNIX" } },
      "[formats] property isn't a list, but of type [java.lang.String]",
    ],
  ];
  for (const [processor, message] of rows) assert.throws(() => run([processor], {}), { message });
  assert.throws(
    () => run([{ dissect: { field: "a", pattern: "%{*k} %{b}" } }], {}),
    /invalid key\/reference/,
  );
});

test("of several formats date_index_name takes the last that fits", () => {
  const date_index_name = { field: "a", date_rounding: "d", date_formats: ["UNIX_MS", "UNIX"] };
  const { destination } = run([{ date_index_name }], { a: "1545646272" });
  assert.equal(destination._index, "<{2018-12-24||/d{yyyy-MM-dd|UTC}}>");
});

test("what can't be a definition is refused with its place", () => {
  const rows: [unknown, RegExp, string | undefined][] = [
    [{ set: { field: "a", value: 1, if: "ctx.a ==" } }, /compile error/, undefined],
    [{ sett: {} }, /No processor type exists with name \[sett\]; did you mean \[set\]/, undefined],
    [{ script: { source: "x = 1" } }, /compile error/, undefined],
    [{ script: {} }, /must specify either \[source\] for an inline script or \[id\]/, undefined],
    [{ script: { lang: "expression", source: "1" } }, /script_lang not supported \[expression\]/, undefined],
    [{ set: { value: 1 } }, /\[field\] required property is missing/, "field"],
    [
      { set: { field: "a", value: 1, colour: 2 } },
      /processor \[set\] doesn't support one or more .* parameters \[colour\]/,
      undefined,
    ],
    [{ grok: { field: "a", patterns: ["%{NOPE:x}"] } }, /\[patterns\].*NOPE/, "patterns"],
    [{ convert: { field: "a", type: "colour" } }, /type \[colour\] not supported/, "type"],
    [{ gsub: { field: "a", pattern: "(", replacement: "" } }, /Invalid regex pattern/, "pattern"],
    ["set", /a processor is an object/, undefined],
    [{ drop: { on_failure: [] } }, /^\[on_failure\] processors list cannot be empty$/, "on_failure"],
    [{ drop: { on_failure: {} } }, /^\[on_failure\] property isn't a list/, "on_failure"],
  ];
  for (const [processor, message, property] of rows) {
    assert.throws(
      () => run([processor], {}),
      (error) =>
        error instanceof AppError &&
        message.test(error.message) &&
        (error.data["header"] as JsonObject | undefined)?.["property_name"] === property,
      String(message),
    );
  }
});

test("a pipeline without processors for failures is refused with its name", () => {
  const made = (id?: string) => new IngestPipeline({ processors: [], on_failure: [] }, context, id);
  assert.throws(() => made("mine"), {
    message: "pipeline [mine] cannot have an empty on_failure option defined",
  });
  assert.throws(() => made(), { message: /pipeline \[_simulate_pipeline\]/ });
});

test("pipelines are stored, run in a thread, call one another and are seen by other hubs", async (t) => {
  const bucket = new MemoryBucket();
  const [one, other] = [
    new IngestPipelines(bucket, silentLogger()),
    new IngestPipelines(bucket, silentLogger()),
  ];
  for (const each of [one, other]) {
    await each.start();
    t.after(() => each.stop());
  }
  await one.put("inner", { processors: [{ set: { field: "inner", value: true } }] });
  await one.put("outer", {
    processors: [{ pipeline: { name: "inner" } }, { set: { field: "_id", value: "x" } }],
  });
  await one.put("loop", { processors: [{ pipeline: { name: "loop" } }] });
  await assert.rejects(one.put("bad", { processors: [{ sett: {} }] }), { code: "request_invalid" });
  const items = ["outer", "loop", "none"].map((pipeline) => ({
    pipeline,
    destination: {},
    source: Buffer.from('{"big":12345678901234567890}'),
  }));
  assert.deepEqual(await one.run(items), [
    { kind: "done", source: '{"big":12345678901234567890,"inner":true}', destination: { _id: "x" } },
    {
      kind: "failed",
      message: "Cycle detected for pipeline: loop",
      fault: { processorType: "pipeline", javaClass: "java.lang.IllegalStateException" },
    },
    { kind: "failed", message: "pipeline with id [none] does not exist" },
  ]);
  while (!other.all().has("loop")) await new Promise(setImmediate);
  assert.deepEqual([...other.all().keys()], ["inner", "loop", "outer"]);
  assert.equal((await other.run(items))[0]!.kind, "done");
  await one.delete(["inner"]);
  assert.equal((await one.run(items))[0]!.kind, "failed");
  assert.match(String((await one.patterns(false))["WORD"]), /\\w/);
  assert.match(String((await one.patterns(true))["BIND9"]), /client\.ip|BIND9_QUERYLOGBASE/);
});

test("a document whose names nest it too deep fails alone, and soon", async (t) => {
  const pipelines = new IngestPipelines(new MemoryBucket(), silentLogger());
  await pipelines.start();
  t.after(() => pipelines.stop());
  await pipelines.put("expand", { processors: [{ dot_expander: { field: "*" } }] });
  const name = "a.".repeat(200_000);
  const sources = [{ "a.b": 1 }, { [`${name}b`]: 1, [`${name}c`]: 1 }].map((source) =>
    JSON.stringify(source),
  );
  const outcomes = await pipelines.run(
    sources.map((source) => ({ pipeline: "expand", destination: {}, source: Buffer.from(source) })),
  );
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ["done", "failed"],
  );
});

test("numbers with a fraction stay such: 5.0 isn't 5 to processors, scripts and the stored document", () => {
  const source = parseFields('{"d":5.0,"e":1e3,"i":5,"list":[2.0,2.5]}')!;
  const document = new IngestDocument(source, {}, 0);
  const processors = [
    { script: { source: "ctx.half = ctx.d / 2; ctx.whole = ctx.i / 2; ctx.first = ctx.list[0]" } },
    { set: { field: "text", value: "{{d}}" } },
    { convert: { field: "i", target_field: "double", type: "double" } },
  ];
  new IngestPipeline({ processors }, context).run(document);
  assert.equal(
    JSON.stringify(document.source),
    '{"d":5.0,"e":1000.0,"i":5,"list":[2.0,2.5],"half":2.5,"whole":2,"first":2.0,"text":"5.0","double":5.0}',
  );
  const upper = new IngestPipeline({ processors: [{ uppercase: { field: "d" } }] }, context);
  assert.throws(() => upper.run(document), {
    message: "field [d] of type [java.lang.Double] cannot be cast to [java.lang.String]",
  });
});
