import assert from "node:assert/strict";
import { test } from "node:test";
import { xmlText } from "./chart-image.ts";

test("what XML forbids is replaced: control characters and halves of a pair", () => {
  assert.equal(xmlText("\u001B[31merror\u0000\tΩ 🙂"), "\uFFFD[31merror\uFFFD\tΩ 🙂");
  const cut = xmlText(`a${"🙂".slice(0, 1)}…`);
  assert.equal(cut, "a\uFFFD…");
  assert.equal(decodeURIComponent(encodeURIComponent(cut)), cut);
});
