import assert from "node:assert/strict";
import { test } from "node:test";
import { editForKey } from "./editor-keys.ts";

/** `|` is the cursor, `<` and `>` a selection; a key that has no effect of its own gives undefined. */
function press(key: string, marked: string, isShifted = false): string | undefined {
  const plain = marked.replaceAll(/[|<>]/g, "");
  const from = marked.search(/[|<]/);
  const to = marked.includes(">") ? marked.indexOf(">") - 1 : from;
  const edit = editForKey(key, isShifted, plain, from, to);
  if (edit === undefined) return undefined;
  const whole = plain.slice(0, edit.from) + edit.text + plain.slice(edit.to);
  const { caretFrom, caretTo } = edit;
  const middle = caretFrom === caretTo ? "|" : `<${whole.slice(caretFrom, caretTo)}>`;
  return whole.slice(0, caretFrom) + middle + whole.slice(caretTo);
}

const ROWS: readonly (readonly [string, string, string | undefined])[] = [
  ["{", "|", "{|}"],
  ["{", "|abc", undefined],
  ['"', "{|}", '{"|"}'],
  ['"', '{"a|"}', '{"a"|}'],
  ['"', "{ab|}", undefined],
  ['"', "{<ab>}", '{"<ab>"}'],
  ["}", "{|}", "{}|"],
  ["Enter", "{|}", "{\n  |\n}"],
  ["Enter", "  a,|", "  a,\n  |"],
  ["Enter", "  {|", "  {\n    |"],
  ["Backspace", "{|}", "|"],
  ["Backspace", "a|}", undefined],
  ["Tab", "a|", "a  |"],
  ["Tab", "<a\nb>", "  <a\n  b>"],
  ["{", "GET /|", undefined],
  ["x", "|", undefined],
];

test("keys write pairs, step over them, and indent", () => {
  for (const [key, before, after] of ROWS) assert.equal(press(key, before), after, `${key} in ${before}`);
  assert.equal(press("Tab", "    a|", true), "  a|");
});
