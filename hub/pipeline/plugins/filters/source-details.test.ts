/** What the sources of Logstash's filters say beyond their documentation. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "#test/support/pipeline/run-filter.ts";

type Fields = Record<string, unknown>;
type Row = [filter: string, fields: Fields, expected: Fields | undefined];

const ROWS: Readonly<Record<string, readonly Row[]>> = {
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
};

for (const [name, rows] of Object.entries(ROWS))
  test(name, () => {
    for (const [filter, fields, expected] of rows)
      assert.deepEqual(run(filter, fields), expected === undefined ? [] : [expected], filter);
  });
