import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyProblems } from "./body-problems.ts";

/** Bodies; `«…»` marks what is wrong, with the message after. */
const ROWS: readonly (readonly [body: string, message: string | undefined])[] = [
  ['{"query": {"match_all": {}}}', undefined],
  ['{query: {terms: {a: [1, 2.5, true, null, "x"]}}} # done', undefined],
  ['{"index": {}}\n{"a": 1}', undefined],
  ['{"a": """one\n"two" three"""}', undefined],
  ['«{»"a": 1', "This bracket is never closed."],
  ['{"a": [1, 2«}»}', "Another bracket is open here."],
  ['{"a": 1 «"b"»: 2}', "A comma is missing before this."],
  ['{"a": 1, "b": 2}', undefined],
  ['{"a": 1,«}»', "A value is missing before this."],
  ['{"a": «,» "b": 2}', "A value is missing before this."],
  ['{«"a"»}', "A colon and a value are missing behind this."],
  ['{"a": «yes»}', "Put this text in quotes."],
  ['{"a": «"b}»\n', "This text is never closed."],
  ['{"a": 1}«}»', "This belongs to no object and no list."],
];

test("what keeps a body from being JSON is found at its position", () => {
  for (const [marked, message] of ROWS) {
    const head = "GET one/_search\n\nPOST two/_search\n";
    const body = marked.replaceAll(/[«»]/g, "");
    const from = head.length + marked.indexOf("«");
    const to = head.length + marked.indexOf("»") - 1;
    const expected = message === undefined ? [] : [{ from, to, message }];
    assert.deepEqual(bodyProblems(head + body), expected, marked);
  }
});

test("each request has its own problem", () => {
  const text = "GET a/_search\n{\n\nGET b/_search\n{}\n\nGET c/_search\n[1 2]";
  assert.deepEqual(
    bodyProblems(text).map(({ from }) => text[from]),
    ["{", "2"],
  );
});
