import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { idInLine } from "./bulk-line.ts";

suite("the id of an action line is found", () => {
  const cases: readonly [name: string, line: string, id: string | undefined][] = [
    ["alone", '{"index":{"_id":"a"}}\n', "a"],
    ["among other fields", '{"create":{"_index":"_id","_id" : "b 1","_type":"_doc"}}\r\n', "b 1"],
    ["empty", '{"index":{"_id":""}}\n', ""],
    ["unless it is escaped", '{"index":{"_id":"a\\"b"}}\n', undefined],
    ["unless its name is escaped", '{"index":{"\\u005fid":"a"}}\n', undefined],
    ["unless it is a number", '{"index":{"_id":1}}\n', undefined],
    ["unless it is twice in the line", '{"index":{"_id":"a","_id":"b"}}\n', undefined],
    ["unless another one counts", '{"index":{"_id":"a","\\u005fid":"b"}}\n', undefined],
    ["unless it is another field's", '{"index":{"_source":{"_id":"a"}}}\n', undefined],
    ["unless the line has bare words", '{index: {"_id":"a"}}\n', undefined],
  ];
  for (const [name, line, id] of cases)
    test(name, () => {
      const found = idInLine(line);
      assert.equal(found && line.slice(found.from, found.to), id);
    });
});
