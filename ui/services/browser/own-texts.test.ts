import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { fakeStorage } from "#test/support/ui/fake-storage.ts";
import { forgetOwn, readOwn, writeOwn } from "./own-texts.ts";

let storage: ReturnType<typeof fakeStorage>;
beforeEach(() => {
  storage = fakeStorage();
});
afterEach(() => storage.remove());

test("a text is read by its own account only, and of no account nothing is kept", () => {
  assert.equal(writeOwn("ada", "console.text", "GET /"), true);
  assert.equal(writeOwn("eve", "console.text", "GET /a"), true);
  assert.deepEqual(
    [readOwn("ada", "console.text"), readOwn("eve", "console.text"), readOwn("bob", "console.text")],
    ["GET /", "GET /a", undefined],
  );
  writeOwn("eve", "console.text", undefined);
  assert.equal(readOwn("eve", "console.text"), undefined);
  assert.equal(writeOwn(undefined, "console.text", "GET /"), false);
  assert.equal(readOwn(undefined, "console.text"), undefined);
  storage.isFull = true;
  assert.equal(writeOwn("ada", "console.text", "GET /"), false);
});

test("the texts of every account are forgotten at once, also those of earlier versions, and preferences stay", () => {
  for (const account of ["ada", "eve"]) writeOwn(account, "drafts", "[]");
  for (const name of ["drafts", "pipeline-drafts", "console.text", "console.history", "theme"])
    storage.stored.set(`tailrace.${name}`, "x");
  storage.stored.set("another program's own.drafts", "x");
  forgetOwn();
  assert.deepEqual([...storage.stored.keys()], ["tailrace.theme", "another program's own.drafts"]);
});
