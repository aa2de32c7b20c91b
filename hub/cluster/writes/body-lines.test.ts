import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { scanLines } from "./body-lines.ts";

const FIRST = '{"index":{"_id":"1"}}\n';
const LINE = { lineBytes: FIRST.length, id: { from: FIRST.indexOf("1"), to: FIRST.indexOf("1") + 1 } };

test("documents whose lines differ in ids are found with these", () => {
  const lines = ['{"index":{"_id":"22"}}', '{"a":"é"}', `{"index":{"_id":"${"x".repeat(512)}"}}`, "{}"];
  const body = Buffer.from(`${FIRST}{"n":1}\n${lines.join("\n")}\n`);
  const whole = scanLines(body, LINE, 0)!;
  const { starts, ids, idEnds } = whole.keys!;
  const documents = Array.from(starts, (start, at) => body.toString("utf8", start, whole.ends[at]));
  assert.deepEqual(documents, ['{"n":1}', '{"a":"é"}', "{}"]);
  assert.deepEqual([...idEnds], [1, 3, 515]);
  assert.equal(Buffer.from(ids).toString(), `122${"x".repeat(512)}`);
  assert.equal(whole.next, body.length);
  const part = scanLines(body, LINE, 0, 1)!;
  assert.deepEqual([part.ends.length, Buffer.from(part.keys!.ids).toString()], [1, "1"]);
  const rest = scanLines(body, LINE, part.next)!;
  assert.deepEqual([...rest.keys!.idEnds], [2, 514]);
});

suite("a line doesn't qualify", () => {
  const lines = {
    "with an empty id": '{"index":{"_id":""}}',
    "with an id that is too long": `{"index":{"_id":"${"x".repeat(513)}"}}`,
    "with an escape": '{"index":{"_id":"\\u0061"}}',
    "with an id that isn't ASCII": '{"index":{"_id":"ü"}}',
    "with a control character": '{"index":{"_id":"a\tb"}}',
    "with an id that doesn't end": '{"index":{"_id":"a',
    "with another field": '{"index":{"_id":"a","routing":"b"}}',
    "with another action": '{"create":{"_id":"a"}}',
    "with a number": '{"index":{"_id":1}}',
  };
  for (const [name, line] of Object.entries(lines))
    test(name, () => {
      assert.equal(scanLines(Buffer.from(`${FIRST}{}\n${line}\n{}\n`), LINE, 0), null);
    });
});
