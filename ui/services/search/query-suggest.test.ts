import assert from "node:assert/strict";
import { test } from "node:test";
import type { Field } from "./fields.ts";
import { suggestNames, suggestValues, wordAt, written } from "./query-suggest.ts";

const field = (name: string): [string, Field] => [name, { name, type: "keyword", aggregatableName: name }];
const FIELDS = new Map([
  field("host.name"),
  field("http.response.status_code"),
  field("log.level"),
  field("name"),
]);

/** `|` is the cursor. */
const WORDS: readonly (readonly [query: string, field: string | undefined, begun: string, from: number])[] = [
  ["|", undefined, "", 0],
  ["ho|", undefined, "ho", 0],
  ["error -ho|", undefined, "ho", 7],
  ["log.level:er|", "log.level", "er", 10],
  ['a AND (log.level:"err or|', "log.level", "err or", 17],
  ["status:>=50|", "status", "50", 9],
  ["-host.name:we|b", "host.name", "we", 11],
];

test("the word at the cursor is a name or a field's value", () => {
  for (const [marked, name, begun, from] of WORDS) {
    const caret = marked.indexOf("|");
    const word = wordAt(marked.replace("|", ""), caret);
    assert.deepEqual([word.field, word.begun], [name, begun], marked);
    if (!begun.includes(" ")) assert.equal(word.from, from, marked);
  }
});

test("fields that begin so come first; operators come behind a word", () => {
  const names = (query: string): string[] =>
    suggestNames(query, wordAt(query, query.length), FIELDS).map(({ text }) => text);
  assert.deepEqual(names("name"), ["name:", "host.name:"]);
  assert.deepEqual(names("error A")[0], "AND ");
  assert.ok(!names("a").includes("AND "));
  assert.ok(!names("error AND ").includes("AND "));
});

test("values are written as the query takes them", () => {
  const values = [
    { value: "web-1", count: 7 },
    { value: 'say "hi"', count: 3 },
  ];
  assert.deepEqual(
    suggestValues(wordAt("h:", 2), values).map(({ text }) => text),
    ["web-1 ", '"say \\"hi\\"" '],
  );
  assert.equal(written("a b"), '"a b"');
});
