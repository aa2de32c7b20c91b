import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { completePipeline } from "./pipeline-completion.ts";
import { readPluginReference } from "./plugin-reference.ts";

const DOCS = join(import.meta.dirname, "../../../docs/plugins.md");
const REFERENCE = readPluginReference(readFileSync(DOCS, "utf8"));

/** Completes at `|`; returns the labels. */
function labels(text: string): readonly string[] {
  const caret = text.indexOf("|");
  const found = completePipeline(text.replace("|", ""), caret, REFERENCE);
  return found?.items.map(({ label }) => label) ?? [];
}

test("the reference holds every kind with plugins and options", () => {
  for (const kind of ["input", "filter", "output", "codec"] as const)
    assert.ok(Object.keys(REFERENCE[kind].plugins).length > 3, kind);
  const { options, about } = REFERENCE.filter.plugins["grok"]!;
  assert.ok(options.some(({ name }) => name === "match"));
  assert.notEqual(about, "");
  assert.ok(REFERENCE.filter.common.some(({ name }) => name === "add_field"));
});

/** Texts with the cursor, a label that comes first, and one that doesn't come. */
const PLACES: readonly (readonly [string, string, string])[] = [
  ["fil|", "filter", "input"],
  ["filter { gr| }", "grok", "stdin"],
  ["filter {\n  if [a] == 1 {\n    mu|", "mutate", "match"],
  ["filter { grok { ma|", "match", "grok"],
  ['filter { grok { match => { message => "x" } add_f|', "add_field", "grok"],
  ["filter { grok { keep_empty_captures => t|", "true", "match"],
  ['output { elasticsearch { index => "a" } st|', "stdout", "index"],
  ["input { stdin { codec => js|", "json", "stdin"],
  ["filter { # comment {\n  dr|", "drop", "input"],
];

test("sections, plugins, options and values are suggested where they may stand", () => {
  for (const [text, first, none] of PLACES) {
    const found = labels(text);
    assert.equal(found[0], first, `${text}: ${found.slice(0, 5).join()}`);
    assert.ok(!found.includes(none), `${text} suggests ${none}`);
  }
});

test("nothing is suggested in strings, comments and tables", () => {
  for (const text of [
    'filter { grok { match => { message => "gr|',
    "filter { # gr|",
    "filter { grok { match => { me|",
    "filter { nosuchfilter|",
  ])
    assert.deepEqual(labels(text), [], text);
});
