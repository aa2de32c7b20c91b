import assert from "node:assert/strict";
import { test } from "node:test";
import { LogDocument } from "#ui/services/search/log-document.ts";
import { completeRows, inReadingOrder } from "./trace-order.ts";

/** Lines as they were written, `file: message`; returned the newest first. */
function newestFirst(...written: string[]): LogDocument[] {
  return written
    .map((line, at) => {
      const [, path, message] = /^(\w+): ([\s\S]*)$/.exec(line)!;
      return new LogDocument({
        _index: "i",
        _id: String(at),
        _source: { message, "log.file.path": path, "host.name": "h" },
      });
    })
    .toReversed();
}

const texts = (rows: readonly LogDocument[]): string[] => rows.map(({ message }) => message);

test("a trace is read from its first line down, while events stay the newest first", () => {
  const rows = newestFirst(
    "a: one",
    "a: Error: x",
    "a:   at f",
    "a:   at g",
    "a: Caused by: y",
    "a:   at h",
    "a: two",
  );
  assert.deepEqual(texts(inReadingOrder(rows)), [
    "two",
    "Error: x",
    "  at f",
    "  at g",
    "Caused by: y",
    "  at h",
    "one",
  ]);
});

test("a trace of Python keeps the exception at its end", () => {
  const rows = newestFirst(
    "a: one",
    "a: Traceback (most recent call last):",
    "a:   File x",
    "a: ValueError: z",
    "a: two",
  );
  assert.deepEqual(texts(inReadingOrder(rows)), [
    "two",
    "Traceback (most recent call last):",
    "  File x",
    "ValueError: z",
    "one",
  ]);
});

test("lines of other files make no trace", () => {
  const rows = newestFirst("a: Error", "b:   at f", "a: two");
  assert.deepEqual(texts(inReadingOrder(rows)), ["two", "  at f", "Error"]);
});

test("the rows of a page end before a trace that may go on", () => {
  assert.equal(completeRows(newestFirst("a:   at f", "a:   at g", "a: two", "a: three")), 1);
  assert.equal(completeRows(newestFirst("a: one", "a: two")), 2);
  assert.equal(completeRows(newestFirst("a:   at f", "a:   at g")), 2, "nothing else could be shown");
});
