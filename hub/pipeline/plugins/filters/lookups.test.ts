import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { SourceText } from "#hub/pipeline/language/syntax-tree.ts";
import { compilePipeline, loadAllPlugins, runEvents } from "#hub/pipeline/program/compile.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { Event } from "#proto/event.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { placesDatabase } from "#test/fixtures/geoip-database.ts";

await loadAllPlugins();

const folder = mkdtempSync(join(tmpdir(), "tailrace-lookups-"));
after(() => rmSync(folder, { recursive: true }));
const database = join(folder, "places.mmdb");
writeFileSync(
  database,
  placesDatabase([
    [
      "81.2.69.0/24",
      {
        city: { names: { en: "London" } },
        country: { iso_code: "GB", names: { en: "United Kingdom" } },
        subdivisions: [{ iso_code: "ENG", names: { en: "England" } }],
        location: { latitude: 51, longitude: -0.1, time_zone: "Europe/London" },
      },
    ],
    ["9.9.9.9/32", { autonomous_system_organization: "Quad9" }],
  ]),
);
writeFileSync(join(folder, "hosts"), "192.0.2.7 db.example db # the database\n");

function compile(filter: string) {
  const source = new SourceText(join(folder, "test.conf"), `filter { ${filter} }`);
  return compilePipeline([source], {
    variables: {},
    clock: systemClock,
    random: Math.random,
    guard: new RegexpGuard(),
  });
}

function run(filter: string, fields: Record<string, unknown>): Record<string, unknown> {
  const { program, diagnostics } = compile(filter);
  assert.deepEqual(
    diagnostics.map(({ message }) => message),
    [],
  );
  const { finished } = runEvents(program, [new Event(structuredClone(fields), 0)]);
  const { "@timestamp": _, ...rest } = JSON.parse(finished[0]!.toJson()) as Record<string, unknown>;
  return rest;
}

test("geoip names the place of an address by both schemas, and tags unknown addresses", () => {
  const place = {
    ip: "81.2.69.160",
    city_name: "London",
    country_name: "United Kingdom",
    country_code2: "GB",
    country_code3: "GB",
    region_name: "England",
    region_code: "ENG",
    region_iso_code: "GB-ENG",
    timezone: "Europe/London",
    location: { lat: 51, lon: -0.1 },
    latitude: 51,
    longitude: -0.1,
  };
  assert.deepEqual(
    run('geoip { source => "a" database => "places.mmdb" }', { a: "81.2.69.160" })["geoip"],
    place,
  );
  const ecs = run(
    'geoip { source => "[source][ip]" database => "places.mmdb" ecs_compatibility => v8 fields => ["city_name", "location"] }',
    {
      source: { ip: "81.2.69.1" },
    },
  );
  assert.deepEqual(ecs["source"], {
    ip: "81.2.69.1",
    geo: { city_name: "London", location: { lat: 51, lon: -0.1 } },
  });
  const { text } = run(
    'geoip { source => "a" database => "places.mmdb" } mutate { add_field => { "text" => "%{[geoip][latitude]} %{[geoip][location]}" } }',
    { a: "81.2.69.160" },
  );
  assert.equal(text, '51.0 {"lat":51.0,"lon":-0.1}');
  for (const address of ["10.0.0.1", "no address", ""]) {
    const { a, tags, ...more } = run('geoip { source => "a" database => "places.mmdb" }', { a: address });
    assert.deepEqual([a, tags, more], [address, ["_geoip_lookup_failure"], {}]);
  }
});

test("a faulty geoip database is reported when the pipeline is compiled", () => {
  for (const [options, message] of [
    ['database => "none.mmdb"', /none\.mmdb isn't there/],
    ['database => "hosts"', /hosts is invalid or damaged/],
    [`database => "${database}" fields => ["town"]`, /"town" isn't a field of a place/],
    [`database => "${database}" ecs_compatibility => v8`, /needs a target/],
  ] as const) {
    assert.match(compile(`geoip { source => "a" ${options} }`).diagnostics[0]?.message ?? "", message);
  }
});

test("dns queries files of names, then name servers, and waits no longer than its limit", () => {
  const options = 'hostsfile => ["hosts"] nameserver => ["127.0.0.1:1"] timeout => 0.05 max_retries => 0';
  assert.deepEqual(run(`dns { resolve => ["a"] action => "replace" ${options} }`, { a: "DB.example" }), {
    a: "192.0.2.7",
  });
  assert.deepEqual(run(`dns { reverse => ["a"] add_tag => ["ok"] ${options} }`, { a: "192.0.2.7" }), {
    a: ["192.0.2.7", "db.example"],
    tags: ["ok"],
  });
  assert.deepEqual(run(`dns { resolve => ["a"] ${options} }`, { a: "elsewhere.example" }), {
    a: "elsewhere.example",
    tags: ["_dnstimeout"],
  });
});

/** What redact makes of `m`. */
const REDACTED: readonly (readonly [options: string, value: unknown, expected: unknown])[] = [
  ["", "paid with 4111 1111 1111 1111 today", "paid with [card] today"],
  ["", "order 4111111111111112, 1700000000000", "order 4111111111111112, 1700000000000"],
  ["", "mail bob.o'neil@mail.example.org!", "mail [email]!"],
  ["", "Authorization: Bearer abcdef123456.x", "Authorization: Bearer [bearer]"],
  ["", "eyJhbGciOiJI.eyJzdWIiOiIx.abc-_", "[jwt]"],
  ["", "key AKIAABCDEFGHIJKLMNOP used", "key [token] used"],
  ["", 'login user=bob password="a b" ok', "login user=bob password=[secret] ok"],
  ["", '{"api_key": "x1"}', '{"api_key": [secret]}'],
  ["", "postgres://app:hunter2@db/x", "postgres://app:[url_password]@db/x"],
  [
    "",
    ["a@b.example", { c: ["4111111111111111"] }, 4111111111111111],
    ["[email]", { c: ["[card]"] }, "[card]"],
  ],
  ['kinds => ["ipv4"] replacement => "*"', "10.1.2.3 and a@b.example", "* and a@b.example"],
  [
    'kinds => ["iban"]',
    "DE89 3704 0044 0532 0130 00 and DE89370400440532013001",
    "[iban] and DE89370400440532013001",
  ],
  ["kinds => [] patterns => { ssn => '\\b\\d{3}-\\d{2}-\\d{4}\\b' }", "id 123-45-6789", "id [ssn]"],
  ['exclude => ["m"]', "a@b.example", "a@b.example"],
  ['fields => ["other"]', "a@b.example", "a@b.example"],
];

test("redact removes text in the form of a secret, wherever it is, and leaves the rest", () => {
  for (const [options, value, expected] of REDACTED)
    assert.deepEqual(
      run(`redact { ${options} }`, { m: value })["m"],
      expected,
      `${options} ${JSON.stringify(value)}`,
    );
});

test("a keyed hash identifies equal values without revealing them", () => {
  const filter = 'redact { kinds => ["email"] method => "hash" key => "k1" tag => "redacted" }';
  const [first, second, other] = ["a@b.example", "a@b.example", "c@b.example"].map((m) => run(filter, { m }));
  assert.match(String(first?.["m"]), /^\[email:[0-9a-f]{16}\]$/);
  assert.equal(first?.["m"], second?.["m"]);
  assert.notEqual(first?.["m"], other?.["m"]);
  assert.deepEqual(first?.["tags"], ["redacted"]);
});

const DOCUMENT =
  '<r xmlns:n="urn:n"><i k="1">a</i><i k="2">b<u>c</u></i><n:e/><t><![CDATA[<x>]]> &amp; y</t></r>';

test("XPath picks elements, texts, attributes, places and equalities", () => {
  for (const [path, expected] of [
    ["/r/i/text()", ["a", "b"]],
    ["//u/text()", ["c"]],
    ["/r/i[2]/@k", ["2"]],
    ["/r/i[@k='1']", ['<i k="1">a</i>']],
    ["/r/i[u]/u/text()", ["c"]],
    ["//i[last()]/@k", ["2"]],
    ["/r/*/@k", ["1", "2"]],
    ["/r/n:e", ["<n:e/>"]],
    ["/r/t/text() | //u/text()", ["<x>", " & y", "c"]],
    ["i/@k", ["1", "2"]],
    ["/none", undefined],
  ] as const) {
    const fields = run(`xml { source => "m" store_xml => false xpath => { "${path}" => "out" } }`, {
      m: DOCUMENT,
    });
    assert.deepEqual(fields["out"], expected, path);
  }
  assert.match(
    compile('xml { source => "m" store_xml => false xpath => { "/a/following::b" => "x" } }').diagnostics[0]
      ?.message ?? "",
    /isn't supported/,
  );
});

test("a document that would unfold without end is refused", () => {
  const entities = `<!DOCTYPE d [<!ENTITY a "${"x".repeat(1000)}">${Array.from({ length: 9 }, (_, n) => `<!ENTITY ${"bcdefghij"[n]} "${`&${"abcdefghi"[n]};`.repeat(10)}">`).join("")}]><d>&j;</d>`;
  const fields = run('xml { source => "m" target => "d" }', { m: entities });
  assert.ok(JSON.stringify(fields["d"] ?? "").length < 100_000);
});
