import assert from "node:assert/strict";
import { test } from "node:test";
import { compileValueTemplate } from "./value-template.ts";

const TEXTS = {
  value: (text: string) => (name: string) => (text === "$" ? { name } : text),
  name: (text: string) => (name: string) => text.replace("$", name),
};

test("texts and names of members are compiled, in lists and objects too", () => {
  const compiled = compileValueTemplate({ a$: ["$", 1, { b: "c" }], d: null, e: true }, TEXTS);
  assert.deepEqual(compiled("x"), { ax: [{ name: "x" }, 1, { b: "c" }], d: null, e: true });
  assert.deepEqual(compiled("y"), { ay: [{ name: "y" }, 1, { b: "c" }], d: null, e: true });
});
