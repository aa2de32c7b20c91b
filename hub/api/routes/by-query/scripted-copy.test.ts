import assert from "node:assert/strict";
import { test } from "node:test";
import { readChangeScript } from "#hub/api/context/scripted-change.ts";
import type { FoundDocument } from "./change-by-query.ts";
import { scriptedCopy } from "./scripted-copy.ts";

const FOUND: FoundDocument = {
  index: "lines",
  type: "_doc",
  id: "1",
  version: 3,
  seqNo: 0,
  primaryTerm: 1,
  routing: undefined,
  source: Buffer.from('{"user":"kimchy"}'),
};
const run = (source: string, movable: readonly ("_id" | "_index")[] = []) =>
  scriptedCopy(readChangeScript(source), FOUND, movable);

test("a script changes the fields of a copy", () => {
  const copy = run("ctx._source.user = 'not' + ctx._source.user");
  assert.deepEqual([copy?.operation, String(copy?.source)], ["index", '{"user":"notkimchy"}']);
});

test("noop leaves a document unchanged, delete removes it", () => {
  assert.equal(run("ctx.op = 'noop'"), undefined);
  assert.equal(run("ctx.op = 'delete'")?.operation, "delete");
});

test("a document moves only where the request lets it", () => {
  assert.deepEqual(run("ctx._id = 'x'; ctx._index = 'y'", ["_id", "_index"])?.moved, {
    _index: "y",
    _id: "x",
  });
  assert.throws(() => run("ctx._id = 'x'"), { message: "Modifying [_id] not allowed" });
});

test("changes that a script may not make are refused by name", () => {
  assert.throws(() => run("ctx.op = 'junk'"), {
    message: "Operation type [junk] not allowed, only [noop, index, delete] are allowed",
  });
  assert.throws(() => run("ctx.junk = 1"), { message: "Invalid fields added to context [junk]" });
});
