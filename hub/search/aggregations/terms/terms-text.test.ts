import assert from "node:assert/strict";
import { test } from "node:test";
import { DuplicateWords } from "./terms-text.ts";

test("words of a passage of six that a document before it has are left out, others stay", () => {
  const words = (text: string): string[] => text.split(" ");
  const copies = new DuplicateWords();
  assert.deepEqual(copies.fresh(words("one a b c d e f")), words("one a b c d e f"));
  assert.deepEqual(copies.fresh(words("two a b c d e f g")), words("two g"));
  assert.deepEqual(copies.fresh(words("a b c d e")), words("a b c d e"));
});
