/** What the sources of Logstash's filters say beyond their documentation. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { threadCpuMs } from "#proto/kit/process/thread-cpu.ts";
import { repeated, run } from "#test/support/pipeline/run-filter.ts";

type Fields = Record<string, unknown>;
type Row = [filter: string, fields: Fields, expected: Fields | undefined];

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  "gsub knows Ruby's references, of which those to nothing are empty": [
    ['mutate { gsub => ["m", "b", "\\1"] }', { m: "abc" }, { m: "ac" }],
    ['mutate { gsub => ["m", "(b)(x)?", "[\\1\\2\\3]"] }', { m: "abc" }, { m: "a[b]c" }],
    ['mutate { gsub => ["m", "b", "<\\&>"] }', { m: "abc" }, { m: "a<b>c" }],
    ['mutate { gsub => ["m", "b", "\\`\\\'"] }', { m: "abc" }, { m: "aacc" }],
    ['mutate { gsub => ["m", "(?<x>b)", "\\k<x>\\k<x>"] }', { m: "abc" }, { m: "abbc" }],
    ['mutate { gsub => ["m", "b", "\\\\1$1"] }', { m: "abc" }, { m: "a\\1$1c" }],
  ],
  "strip and split take ASCII's whitespace alone": [
    ['mutate { strip => ["m"] }', { m: "\t\u00a0x\u3000\0 " }, { m: "\u00a0x\u3000" }],
    ['mutate { split => { "m" => " " } }', { m: " a\u00a0b \t c " }, { m: ["a\u00a0b", "c"] }],
    ["split { terminator => ' ' field => 'm' }", { m: "\ta" }, { m: "\ta" }],
  ],
  "join joins the lists in a list": [
    ['mutate { join => { "m" => "-" } }', { m: ["a", ["b", ["c"]], 1] }, { m: "a-b-c-1" }],
  ],
  "merge makes a list of what isn't an object": [
    ['mutate { merge => { "m" => "n" } }', { m: "a" }, { m: ["a"] }],
    ['mutate { merge => { "m" => "n" } }', {}, { m: [] }],
    ['mutate { merge => { "m" => "n" } }', { n: { a: 1 } }, { n: { a: 1 } }],
    ['mutate { merge => { "m" => "n" } }', { m: ["a"], n: [["b"]] }, { m: ["a", ["b"]], n: [["b"]] }],
  ],
  "capitalize takes a whole character": [
    ['mutate { capitalize => ["m"] }', { m: "\u{10428}BC" }, { m: "\u{10400}bc" }],
  ],
  "a number may begin with its point": [
    ['mutate { convert => { "m" => "float" } }', { m: "-.5" }, { m: -0.5 }],
    ['grok { match => { "m" => "%{BASE10NUM:n:float}" } }', { m: ".5" }, { m: ".5", n: 0.5 }],
  ],
  "csv leaves texts that are none of their kind": [
    [
      "csv { source => 'm' columns => ['a'] convert => { 'a' => integer } }",
      { m: "x1" },
      { m: "x1", a: "x1" },
    ],
    [
      "csv { source => 'm' columns => ['a'] convert => { 'a' => integer } }",
      { m: " 0x1F" },
      { m: " 0x1F", a: 31 },
    ],
    [
      "csv { source => 'm' columns => ['a'] convert => { 'a' => integer } }",
      { m: "-017" },
      { m: "-017", a: -15 },
    ],
    [
      "csv { source => 'm' columns => ['a'] convert => { 'a' => integer } }",
      { m: "1.5" },
      { m: "1.5", a: "1.5" },
    ],
    ["csv { source => 'm' columns => ['a'] convert => { 'a' => float } }", { m: "x" }, { m: "x", a: "x" }],
    ["csv { source => 'm' columns => ['a'] convert => { 'a' => boolean } }", { m: "1" }, { m: "1", a: "1" }],
    [
      "csv { source => 'm' columns => ['a'] convert => { 'a' => boolean } }",
      { m: " TRUE" },
      { m: " TRUE", a: true },
    ],
    [
      "csv { source => 'm' columns => ['a'] convert => { 'a' => boolean } }",
      { m: "No " },
      { m: "No ", a: "no" },
    ],
  ],
  "csv takes a row for the header only if it names all columns": [
    ["csv { source => 'm' columns => ['a', 'b'] skip_header => true }", { m: "a" }, { m: "a", a: "a" }],
    ["csv { source => 'm' columns => ['a', 'b'] skip_header => true }", { m: "a,b" }, undefined],
  ],
  "csv tags an event without a row": [
    ["csv { source => 'm' }", { m: "" }, { m: "", tags: ["_csvparsefailure"] }],
    ["csv { source => 'm' skip_empty_rows => true }", { m: "" }, { m: "", tags: ["_csvskippedemptyfield"] }],
  ],
  "split tags an event without its field": [
    ["split { field => 'm' }", {}, { tags: ["_split_type_failure"] }],
  ],
  "date tags an empty text": [
    ['date { match => ["m", "ISO8601"] }', { m: "" }, { m: "", tags: ["_dateparsefailure"] }],
    ['date { match => ["m", "ISO8601"] }', { m: null }, { m: null }],
  ],
  "date keeps the milliseconds of UNIX times": [
    [
      'date { match => ["m", "UNIX"] target => "t" }',
      { m: "68442253.299" },
      { m: "68442253.299", t: "1972-03-03T03:44:13.299Z" },
    ],
    [
      'date { match => ["m", "UNIX"] target => "t" }',
      { m: "1.5e3" },
      { m: "1.5e3", t: "1970-01-01T00:25:00.000Z" },
    ],
  ],
  "prune has no expression for false": [
    ['prune { whitelist_values => { "a" => "x" } }', { a: false }, { a: false }],
  ],
  "grok adds captures to texts and lists, not to numbers": [
    ['grok { match => { "m" => "%{INT:n:int} %{INT:n:int}" } }', { m: "1 2" }, { m: "1 2", n: 1 }],
    ['grok { match => { "m" => "%{INT:n} %{INT:n}" } }', { m: "1 2" }, { m: "1 2", n: ["1", "2"] }],
  ],
  "grok takes a missing field for an empty text": [
    ['grok { match => { "m" => "^%{DATA:n}$" } add_tag => ["empty"] }', {}, { tags: ["empty"] }],
    ['grok { match => { "m" => "%{WORD:n}" } }', {}, { tags: ["_grokparsefailure"] }],
  ],
  "dissect appends to what fields had": [
    ["dissect { mapping => { 'm' => '%{x} %{+a}' } }", { m: "1 2", a: "0" }, { m: "1 2", x: "1", a: "0 2" }],
    ["dissect { mapping => { 'm' => '<%{+a}>%{x}' } }", { m: "<1>2", a: 0 }, { m: "<1>2", x: "2", a: "0<1" }],
  ],
  "dissect puts a blank before an appended part without a delimiter in front of it": [
    ["dissect { mapping => { 'm' => '%{+a/2},%{+a/1}' } }", { m: "1,2" }, { m: "1,2", a: "2 1" }],
  ],
  "dissect appends parts without an order first": [
    ["dissect { mapping => { 'm' => '%{+a/1},%{+a}' } }", { m: "1,2" }, { m: "1,2", a: "2 1" }],
  ],
  "dissect names a field by one that the event has": [
    ["dissect { mapping => { 'm' => '%{?k}=%{&k}' } }", { m: "a=1", k: "b" }, { m: "a=1", k: "b", b: "1" }],
  ],
  "dissect converts texts that are numbers as a whole": [
    [
      "dissect { convert_datatype => { 'm' => int } }",
      { m: " 1" },
      { m: " 1", tags: ["_dataconversionuncoercible_m_int"] },
    ],
    [
      "dissect { convert_datatype => { 'm' => int } }",
      { m: [1] },
      { m: [1], tags: ["_dataconversionuncoercible_m_int"] },
    ],
  ],
  "translate in place counts as done without a result": [
    [
      'translate { source => "m" target => "m" dictionary => { "a" => "b" } add_tag => ["x"] }',
      { m: "c" },
      { m: "c", tags: ["x"] },
    ],
    ['translate { source => "m" target => "m" dictionary => { "a" => "b" } add_tag => ["x"] }', {}, {}],
  ],
  "translate takes null for an empty text": [
    [
      'translate { source => "m" target => "t" dictionary => { "a" => "b" } fallback => "c" }',
      { m: null },
      { m: null, t: "c" },
    ],
  ],
  "translate leaves an event in which the result has no place": [
    ['translate { source => "m" target => "[m][t]" dictionary => { "a" => "b" } }', { m: "a" }, { m: "a" }],
  ],
  "json reads nothing from false": [["json { source => 'm' }", { m: false }, { m: false }]],
  "a field that is null becomes a list by what is added": [
    ['mutate { add_field => { "m" => "x" } }', { m: null }, { m: ["x"] }],
  ],
  "tags become a list where one is to be removed": [
    ['mutate { remove_tag => ["x"] }', { tags: "a" }, { tags: ["a"] }],
  ],
  "an event that ends isn't decorated": [
    ['drop { add_field => { "[m][x]" => "y" } }', { m: "a" }, undefined],
    ['drop { percentage => 50 add_tag => ["x"] }', { m: "a" }, { m: "a" }],
  ],
  "de_dot tags an event in which a field has no place": [
    ['de_dot { add_field => { "[m][x]" => "y" } }', { m: "a" }, { m: "a", tags: ["_de_dot_error"] }],
  ],
  "kv trims the lines of a value": [
    ['kv { source => "m" trim_value => "-" }', { m: "a=-v-\n" }, { m: "a=-v-\n", a: "v\n" }],
  ],
};

for (const [name, rows] of Object.entries(ROWS))
  test(name, () => {
    for (const [filter, fields, expected] of rows)
      assert.deepEqual(run(filter, fields), expected === undefined ? [] : [expected], filter);
  });

test("clone with names by the Elastic Common Schema adds a tag that there was", () => {
  const [, copy] = run("clone { clones => ['x'] ecs_compatibility => v8 }", { tags: ["x"] });
  assert.deepEqual(copy, { tags: ["x", "x"] });
});

test("blanks inside a text cost no more than others where its ends are stripped", () => {
  const m = `a=x${" ".repeat(50_000)}y`;
  const startedMs = threadCpuMs();
  assert.deepEqual(run('mutate { strip => ["m"] }', { m }), [{ m }]);
  const pairs = run('kv { source => "m" field_split => "&" trim_value => " " }', { m });
  assert.deepEqual(pairs, [{ m, a: m.slice(2) }]);
  assert.ok(threadCpuMs() - startedMs < 500);
});

test("members that every object has aren't kinds of values", () => {
  for (const filter of [
    'csv { columns => ["m"] convert => { "m" => "constructor" } }',
    'mutate { convert => { "m" => "constructor" } }',
  ])
    assert.throws(() => run(filter, { message: "1", m: "1" }), /constructor/, filter);
});

test("the numbers that json and convert make tell decimals from integers", () => {
  const [fields] = run('json { source => "m" target => "t" } mutate { update => { "m" => "%{t}" } }', {
    m: "1.0",
  });
  assert.equal(fields!["m"], "1.0");
});

test("throttle counts by periods from a key's first event on", () => {
  const clock = { now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() };
  const apply = repeated('throttle { key => "x" after_count => 1 period => "60s" add_tag => [many] }', clock);
  const isMany = (second: number): boolean =>
    "tags" in apply({ "@timestamp": new Date(Date.UTC(2024, 0, 1, 0, 0, second)).toISOString() });
  // The periods begin at 0, 60 and 120 s, and at -60 s for the event that comes late.
  assert.deepEqual([0, 59, 70, 119, 125, 130, -1, -60].map(isMany), [
    false,
    true,
    false,
    true,
    false,
    true,
    false,
    true,
  ]);
});
