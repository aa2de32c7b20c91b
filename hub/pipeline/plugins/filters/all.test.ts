import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { testFilter } from "#test/contract/filter.ts";
import { placesDatabase } from "#test/fixtures/geoip-database.ts";
import { filters } from "./all.ts";

const folder = mkdtempSync(join(tmpdir(), "tailrace-filters-"));
after(() => rmSync(folder, { recursive: true }));
const database = join(folder, "places.mmdb");
writeFileSync(database, placesDatabase([["1.2.3.0/24", { city: { names: { en: "Bern" } } }]]));

/** Filters that only say what to write instead. */
const REFUSED = new Set(["ruby"]);

/** Options under which each filter works. */
const OPTIONS: Readonly<Record<string, string>> = {
  age: "",
  json_encode: 'source => "message" target => "json"',
  alter: 'condrewrite => ["message", "a", "b"] coalesce => ["a", "%{message}", "c"]',
  anonymize: 'fields => ["message", "a"] key => "k"',
  bytes: "",
  environment: 'add_metadata_from_env => { "a" => "B" }',
  extractnumbers: "",
  i18n: 'transliterate => ["message"]',
  range: 'ranges => ["message", 1, 5, "tag:short", "a", 1, 2, "field:b:%{a}"]',
  sleep: "time => 0.001",
  tld: "",
  aggregate: 'task_id => "%{message}" code => "map.n = (map.n || 0) + 1; event.set(\'n\', map.n)"',
  dns: 'resolve => ["message"] hostsfile => [] nameserver => ["127.0.0.1:1"] timeout => 0.01 max_retries => 0',
  elapsed: 'start_tag => "a" end_tag => "b" unique_id_field => "message"',
  geoip: `source => "message" database => "${database}"`,
  js: "code => \"event.set('copy', event.get('message'))\"",
  metrics: 'meter => ["%{message}"] timer => { "t" => "%{message}" }',
  redact: "method => hash key => key1 patterns => { digits => '[0-9]+' }",
  xml: 'source => "message" target => "doc" xpath => { "/a/b" => "b" }',
  cidr: 'address_field => "message" network => ["10.0.0.0/8"]',
  clone: 'clones => ["copy"]',
  csv: "",
  date: 'match => ["message", "ISO8601", "UNIX"]',
  de_dot: "recursive => true",
  dissect: 'mapping => { "message" => "%{first} %{rest}" }',
  drop: "percentage => 10",
  fingerprint: "concatenate_all_fields => true",
  grok: 'match => { "message" => "%{NUMBER:n:int} %{WORD:w}" }',
  json: 'source => "message"',
  kv: "recursive => true",
  mutate:
    'convert => { "message" => "integer" } gsub => ["a", "b", "c"] split => { "a" => "," } merge => { "tags" => "a" } strip => ["message"]',
  prune: 'whitelist_names => ["message"]',
  split: "",
  syslog_pri: 'syslog_pri_field_name => "message"',
  throttle: 'key => "%{message}" after_count => 1',
  translate: 'source => "message" dictionary => { "a" => "b" }',
  truncate: "length_bytes => 5",
  urldecode: "all_fields => true",
  useragent: 'source => "message"',
  uuid: 'target => "id"',
};

for (const definition of filters.all) {
  if (REFUSED.has(definition.name)) continue;
  const options = OPTIONS[definition.name];
  assert.ok(options !== undefined, `no options to test ${definition.name} with`);
  testFilter({ definition, options });
}

test("the list of filters is complete", () => {
  const files = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" }).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  );
  const defined = files.flatMap((file) =>
    [
      ...readFileSync(`${import.meta.dirname}/${file}`, "utf8").matchAll(
        /= defineFilter\(\{\s*name: "(\w+)"/g,
      ),
    ].map(([, name]) => name),
  );
  assert.deepEqual(new Set(defined), new Set(filters.all.map(({ name }) => name)));
});
