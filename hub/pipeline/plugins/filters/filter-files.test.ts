import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { repeated, run } from "#test/support/pipeline/run-filter.ts";

test("translate reads dictionaries of each kind, and grok reads pattern files", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-filters-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "d.yml"), 'a: "0"\nb: {c: 2}\na: "1"\n');
  writeFileSync(join(folder, "d.json"), '{"a":"0","a":"1"}');
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
  for (const path of [`${folder}/patterns`, `${folder}/pat*`]) {
    const [found] = run(`grok { patterns_dir => "${path}" match => { "m" => "%{TICKET:t}" } }`, {
      m: "AB-12",
    });
    assert.equal(found!["t"], "AB-12", path);
  }
});

test("translate keeps decimals without a fraction in dictionaries of each kind", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tailrace-filters-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, "d.yml"),
    "a: 30.0\nb: {x: 1e3, y: [&one 2.0, 2, *one, 0x1e]}\nc: '30.0'\n1.0: one\n",
  );
  writeFileSync(join(folder, "d.json"), '{"a":30.0,"b":{"x":1e3,"y":[2.0,2,2.0,30]},"c":"30.0","1":"one"}');
  const inline =
    '{ "a" => 30.0 "b" => { "x" => 1000.0 "y" => [2.0, 2, 2.0, 30] } "c" => "30.0" "1" => "one" }';
  const expected = { a: "30.0", b: '{"x":1000.0,"y":[2.0,2,2.0,30]}', c: '"30.0"', 1: '"one"' };
  for (const dictionary of [
    `dictionary_path => "${folder}/d.yml"`,
    `dictionary_path => "${folder}/d.json"`,
    `dictionary => ${inline}`,
  ])
    for (const [m, written] of Object.entries(expected)) {
      const [result] = run(
        `translate { source => "m" target => "t" ${dictionary} } json_encode { source => "t" target => "json" }`,
        { m },
      );
      assert.equal(result!["json"], written, `${dictionary} ${m}`);
    }
});

for (const [filter, file, content] of [
  ["cidr", "networks", "10.0.0.0/8"],
  ["translate", "names.json", '{"10.1.2.3":"db-1"}'],
] as const) {
  test(`${filter} goes on with what it read while its file is away, and reads the next one`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), "tailrace-filters-"));
    t.after(() => rmSync(folder, { recursive: true }));
    const path = join(folder, file);
    writeFileSync(path, content);
    const options = {
      cidr: `address_field => "m" network_path => "${path}" add_field => { "t" => "in" }`,
      translate: `source => "m" target => "t" dictionary_path => "${path}"`,
    }[filter];
    let nowMs = 0;
    const clock = { now: () => nowMs, monotonic: () => nowMs, sleep: () => Promise.resolve() };
    const apply = repeated(`${filter} { ${options} refresh_interval => 60 }`, clock);
    assert.equal(apply({ m: "10.1.2.3" })["t"] !== undefined, true);
    rmSync(path);
    nowMs += 61_000;
    assert.equal(apply({ m: "10.1.2.3" })["t"] !== undefined, true, "the file is away");
    writeFileSync(path, content.replace("10.", "11."));
    nowMs += 61_000;
    assert.equal(apply({ m: "11.1.2.3" })["t"] !== undefined, true, "the file is back");
  });
}
