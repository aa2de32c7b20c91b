import assert from "node:assert/strict";
import { test } from "node:test";
import { toAscii } from "./hub-bundle.ts";

test("characters beyond ASCII in regular expressions become escapes that match the same", () => {
  const text = toAscii("/^[äё]+(?=ß)/", "x.mjs");
  assert.equal(text, String.raw`/^[\u00e4\u0451]+(?=\u00df)/`);
  assert.equal(new RegExp(text.slice(1, -1)).exec("äёß")?.[0], "äё");
});

for (const [where, text] of [
  ["behind a backslash", String.raw`/\ä/`],
  ["in a raw template", "a=String.raw`x ä`"],
  ["in a raw template behind a backtick", `a=String.raw\`x \${"\`"} ä\``],
] as const)
  test(`a character beyond ASCII ${where} is refused`, () => {
    assert.throws(() => toAscii(text, "x.mjs"), /x\.mjs is to be ASCII/);
  });
