import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { testFilter } from "#test/contract/filter.ts";
import { filters } from "./all.ts";

/** Options under which each filter works. */
const OPTIONS: Readonly<Record<string, string>> = {
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
