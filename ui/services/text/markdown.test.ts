import assert from "node:assert/strict";
import { test } from "node:test";
import { parseInline, parseMarkdown } from "./markdown.ts";

test("headings, lists, code and paragraphs are told apart", () => {
  const text =
    "# On call\nCall *first*,\nthen look.\n\n- one\n- two\n1. numbered\n```\na **b**\n```\n## Next";
  const kinds = parseMarkdown(text).map(({ kind }) => kind);
  assert.deepEqual(kinds, ["heading", "paragraph", "list", "code", "heading"]);
  assert.deepEqual(parseMarkdown("```\nx"), [{ kind: "code", text: "x" }]);
  assert.deepEqual(
    parseMarkdown("2. a\n3. b").map((block) => block.kind === "list" && block.isNumbered),
    [true],
  );
});

test("pieces of a line are marked", () => {
  assert.deepEqual(parseInline("see **this** and `code` at [Discover](#/discover?q=a)"), [
    { kind: "text", text: "see " },
    { kind: "strong", text: "this" },
    { kind: "text", text: " and " },
    { kind: "code", text: "code" },
    { kind: "text", text: " at " },
    { kind: "link", text: "Discover", address: "#/discover?q=a" },
  ]);
});

test("an address of a script, or markup, stays text", () => {
  const text = "[a](javascript:alert(1)) <b>x</b>";
  assert.deepEqual(parseInline(text), [{ kind: "text", text }]);
});
