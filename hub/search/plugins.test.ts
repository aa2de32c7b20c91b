import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { QUERY_TYPES } from "#hub/search/parse/queries/all.ts";
import { AGGREGATION_TYPES } from "./aggregations/all.ts";
import { KINDS } from "./aggregations/kinds.ts";

/** Returns the names of the plugins that the files below a folder export; `without`: a subfolder of other plugins. */
async function exported(
  folder: string,
  isPlugin: (value: object) => boolean,
  without?: string,
): Promise<string[]> {
  const path = join(import.meta.dirname, folder);
  const files = readdirSync(path, { recursive: true, encoding: "utf8" }).filter(
    (name) =>
      name.endsWith(".ts") &&
      !name.endsWith(".test.ts") &&
      basename(name) !== "all.ts" &&
      dirname(name) !== without,
  );
  const modules = await Promise.all(
    files.map((name) => import(join(path, name)) as Promise<Record<string, unknown>>),
  );
  const values = modules.flatMap((module) => Object.values(module));
  return values
    .filter(
      (value): value is { name: string } => typeof value === "object" && value !== null && isPlugin(value),
    )
    .map(({ name }) => name)
    .sort();
}

const isPlugin = (value: object): boolean => "summary" in value && "parse" in value && "options" in value;

test("all.ts lists every query", async () => {
  assert.deepEqual(QUERY_TYPES.map(({ name }) => name).sort(), await exported("parse/queries", isPlugin));
});

test("all.ts lists every aggregation", async () => {
  assert.deepEqual(
    AGGREGATION_TYPES.map(({ name }) => name).sort(),
    await exported("aggregations", isPlugin, "pipeline"),
  );
});

test("kinds.ts lists every aggregation, and the types of fields of those that take one, as nodes show them", () => {
  assert.deepEqual(Object.keys(KINDS).sort(), AGGREGATION_TYPES.map(({ name }) => name).sort());
  // Reads the texts of documents, whatever type their field has.
  const without = new Set(["significant_text"]);
  for (const { name, options } of AGGREGATION_TYPES) {
    if ("field" in options && !without.has(name)) assert.notDeepEqual(KINDS[name], ["other"], name);
  }
  assert.deepEqual(KINDS["boxplot"], ["numeric"]);
  assert.deepEqual(KINDS["rate"], ["numeric"]);
  assert.deepEqual(KINDS["string_stats"], ["bytes"]);
});

test("every query and aggregation has a description, and so does each option", () => {
  for (const type of [...QUERY_TYPES, ...AGGREGATION_TYPES]) {
    assert.match(type.summary, /\.$/, type.name);
    for (const [name, option] of Object.entries(type.options))
      assert.notEqual(option.summary, "", `${type.name} ${name}`);
  }
});
