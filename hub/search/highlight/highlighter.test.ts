import assert from "node:assert/strict";
import { test } from "node:test";
import { bestPassages } from "./highlighter.ts";

test("passages end between words and outside marks, in looks at few of the marks", () => {
  const words = 4000;
  const text = "words ".repeat(words).trimEnd();
  let looks = 0;
  const marks = Array.from({ length: words / 2 }, (_, at) => ({
    // Two words each.
    get start(): number {
      looks++;
      return 12 * at;
    },
    end: 12 * at + 11,
    term: "words words",
  }));
  const passages = bestPassages(text, marks, 50, words);
  assert.equal(passages.map(({ start, end }) => text.slice(start, end)).join(""), text);
  for (const { start, marks: inside } of passages)
    assert.ok(start % 12 === 0 && inside.length > 0, `a mark is cut at ${start}`);
  assert.ok(looks < 20 * marks.length, `${looks} looks`);
});

test("no passage ends in a mark that another one lies in", () => {
  const marks = [
    { start: 0, end: 19, term: "long" },
    { start: 4, end: 6, term: "b" },
  ];
  const [first] = bestPassages("aaa bb ccc dddd eee ffff", marks, 7, 5);
  assert.deepEqual([first!.start, first!.end], [0, 20]);
});
