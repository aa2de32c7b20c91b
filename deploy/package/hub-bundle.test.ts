import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { toAscii, writeBundle } from "./hub-bundle.ts";

test("characters beyond ASCII in regular expressions become escapes that match the same", () => {
  const text = toAscii("/^[äё]+(?=ß)/", "x.mjs");
  assert.equal(text, String.raw`/^[\u00e4\u0451]+(?=\u00df)/`);
  assert.equal(new RegExp(text.slice(1, -1)).exec("äёß")?.[0], "äё");
});

test("what isn't raw is escaped: behind two backslashes, in strings and plain templates, beside raw templates", () => {
  for (const [from, to] of [
    [String.raw`/\\ä/`, String.raw`/\\\u00e4/`],
    ["a='ä'+`ä`", "a='\\u00e4'+`\\u00e4`"],
    [`a=tag\`a\${\`ä\`}b\``, `a=tag\`a\${\`\\u00e4\`}b\``],
  ] as const)
    assert.equal(toAscii(from, "x.mjs"), to);
});

for (const [where, text] of [
  ["behind a backslash", String.raw`/\ä/`],
  ["behind three backslashes", String.raw`/\\\ä/`],
  ["in a raw template", "a=String.raw`x ä`"],
  ["in a raw template behind a backtick", `a=String.raw\`x \${"\`"} ä\``],
  ["in a raw template behind a blank", "a=String.raw `ä`"],
  ["in a raw template behind another template", `a=String.raw\`\${\`b\`}ä\``],
  ["in a template of another tag", "r=String.raw;a=r`ä`"],
] as const)
  test(`a character beyond ASCII ${where} is refused`, () => {
    assert.throws(() => toAscii(text, "x.mjs"), /x\.mjs must be ASCII/);
  });

test("the program is written last: a bundle that isn't complete has none", (t) => {
  const folder = join(mkdtempSync(join(tmpdir(), "tailrace-bundle-")), "dist");
  t.after(() => rmSync(join(folder, ".."), { recursive: true }));
  const files = ["main.mjs", "a.mjs", "thread.mjs"].map((name) => ({ path: join(folder, name), text: name }));
  writeBundle(files);
  assert.deepEqual(readdirSync(folder).sort(), ["a.mjs", "main.mjs", "thread.mjs"]);
  rmSync(folder, { recursive: true });
  mkdirSync(join(folder, "thread.mjs"), { recursive: true });
  assert.throws(() => writeBundle(files), { code: "EISDIR" });
  assert.equal(existsSync(join(folder, "main.mjs")), false);
});
