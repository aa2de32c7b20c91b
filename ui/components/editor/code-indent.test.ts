import assert from "node:assert/strict";
import { test } from "node:test";
import { deleteBracketPair, insertBracket } from "@codemirror/autocomplete";
import { indentLess, insertNewlineAndIndent } from "@codemirror/commands";
import { indentUnit } from "@codemirror/language";
import { EditorState, type StateCommand } from "@codemirror/state";
import { bracketIndent, indentOrInsert, pairs, stepOver } from "./code-indent.ts";
import type { Syntax } from "./code-syntax.ts";

const COMMANDS: Readonly<Record<string, StateCommand>> = {
  Enter: insertNewlineAndIndent,
  Backspace: deleteBracketPair,
  Tab: indentOrInsert,
  "Shift+Tab": indentLess,
};

/** Presses a key; `|` and `<…>` are the cursor and the selection. Undefined: the key does what it always does. */
function press(key: string, marked: string, syntax: Syntax): string | undefined {
  const doc = marked.replaceAll(/[|<>]/g, "");
  const anchor = marked.search(/[|<]/);
  const head = marked.includes(">") ? marked.indexOf(">") - 1 : anchor;
  const extensions = [indentUnit.of("  "), bracketIndent, pairs(syntax)];
  let state = EditorState.create({ doc, selection: { anchor, head }, extensions });
  const command = COMMANDS[key];
  if (command === undefined) {
    const over = stepOver(state, syntax, key);
    const transaction = over === undefined ? insertBracket(state, key) : state.update(over);
    if (transaction === null) return undefined;
    state = transaction.state;
  } else if (!command({ state, dispatch: (transaction) => void (state = transaction.state) }))
    return undefined;
  const { from, to } = state.selection.main;
  const whole = state.doc.toString();
  const middle = from === to ? "|" : `<${whole.slice(from, to)}>`;
  return whole.slice(0, from) + middle + whole.slice(to);
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
  ["Shift+Tab", "    a|", "  a|"],
  ["{", "GET /|", undefined],
  ["x", "|", undefined],
];

test("keys write pairs, step over them, and indent", () => {
  for (const [key, before, after] of ROWS)
    assert.equal(press(key, before, "console"), after, `${key} in ${before}`);
  assert.equal(press("(", "grok|", "pipeline"), "grok(|)");
});
