import assert from "node:assert/strict";
import { test } from "node:test";
import { unquoteGo } from "./go-string.ts";

test("escapes are those of Go", () => {
  for (const [inner, text] of [
    ["plain", "plain"],
    [String.raw`\a\b\f\n\r\t\v\\\"\'`, "\x07\b\f\n\r\t\v\\\"'"],
    [String.raw`\\x41 C:\\new`, String.raw`\x41 C:\new`],
    [String.raw`\x41\101\u00e4\U0001f600`, "AAä😀"],
    [String.raw`\xe4\xb8\xad\344\270\255 \xff`, "中中 \ufffd"],
    [String.raw`\q`, undefined],
    [String.raw`a\x4`, undefined],
    [String.raw`\400`, undefined],
    [String.raw`\ud800`, undefined],
    [String.raw`\U00110000`, undefined],
    ["end\\", undefined],
  ] as const)
    assert.equal(unquoteGo(inner), text, inner);
});
