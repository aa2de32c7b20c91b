import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { run } from "#test/support/pipeline/run-filter.ts";

test("translate reads dictionaries of each kind, and grok reads pattern files", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-filters-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "d.yml"), 'a: "1"\nb: {c: 2}\n');
  writeFileSync(join(folder, "d.json"), '{"a":"1"}');
  writeFileSync(join(folder, "d.csv"), 'a,1\n"x,y",2\n');
  writeFileSync(join(folder, "patterns"), "# own\nTICKET [A-Z]+-\\d+\n");
  for (const kind of ["yml", "json", "csv"]) {
    const [result] = run(
      `translate { source => "m" target => "t" dictionary_path => "${folder}/d.${kind}" }`,
      { m: "a" },
    );
    assert.equal(result!["t"], "1");
  }
  const [result] = run(
    `grok { patterns_dir => "${folder}" patterns_files_glob => "pat*" match => { "m" => "%{TICKET:t}" } }`,
    { m: "see AB-12" },
  );
  assert.equal(result!["t"], "AB-12");
});
