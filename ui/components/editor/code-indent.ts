/** Pairs of brackets and indentation, which requests and pipelines share. */

import { type CloseBracketConfig, closeBrackets } from "@codemirror/autocomplete";
import { indentMore } from "@codemirror/commands";
import { indentService, indentUnit } from "@codemirror/language";
import { EditorState, type Extension, type StateCommand, type TransactionSpec } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import type { Syntax } from "./code-syntax.ts";

const PAIRS: Readonly<Record<Syntax, CloseBracketConfig>> = {
  console: { brackets: ["{", "[", '"'] },
  pipeline: { brackets: ["{", "[", "(", '"'] },
};
/** The method and the path of a request: quotes and brackets come alone there. */
const IN_REQUEST_LINE = /^\s*[A-Z]+\s\S*$/;

/** Inserts the closing bracket or quote, and steps over one that is there already, whether typed or suggested. */
export function pairs(syntax: Syntax): Extension {
  return [
    closeBrackets(),
    EditorState.languageData.of((state, at) => [
      { closeBrackets: isInRequestLine(state, syntax, at) ? { brackets: [] } : PAIRS[syntax] },
    ]),
    EditorView.inputHandler.of((view, _from, _to, text) => {
      const over = stepOver(view.state, syntax, text);
      if (over !== undefined) view.dispatch(over);
      return over !== undefined;
    }),
  ];
}

/** Returns the step over a closing bracket after the cursor; undefined if another key was pressed. */
export function stepOver(state: EditorState, syntax: Syntax, key: string): TransactionSpec | undefined {
  const { main } = state.selection;
  const isClosing = /^["}\])]$/.test(key) && state.sliceDoc(main.to, main.to + 1) === key;
  if (!main.empty || !isClosing || isInRequestLine(state, syntax, main.head)) return undefined;
  return { selection: { anchor: main.head + 1 }, scrollIntoView: true, userEvent: "input.type" };
}

function isInRequestLine({ doc }: EditorState, syntax: Syntax, at: number): boolean {
  const { from, text } = doc.lineAt(at);
  return syntax === "console" && IN_REQUEST_LINE.test(text.slice(0, at - from));
}

/** Indents a line as the one above it, a step more after an opening bracket, a step less before a closing one. */
export const bracketIndent = indentService.of((context, pos) => {
  const { doc } = context.state;
  const line = doc.lineAt(pos);
  const isBroken = context.simulatedBreak === pos;
  if (!isBroken && line.number === 1) return 0;
  const above = isBroken ? line.text.slice(0, pos - line.from) : doc.line(line.number - 1).text;
  const steps = (/[{[(]\s*$/.test(above) ? 1 : 0) - (/^\s*[}\])]/.test(context.lineAt(pos, 1).text) ? 1 : 0);
  return Math.max(0, context.countColumn(/^\s*/.exec(above)![0]) + steps * context.unit);
});

/** Writes a step of indentation, or indents the selected lines. */
export function indentOrInsert({ state, dispatch }: Parameters<StateCommand>[0]): boolean {
  if (spansLines(state)) return indentMore({ state, dispatch });
  dispatch(
    state.update(state.replaceSelection(state.facet(indentUnit)), {
      scrollIntoView: true,
      userEvent: "input",
    }),
  );
  return true;
}

function spansLines({ doc, selection: { main } }: EditorState): boolean {
  return doc.lineAt(main.from).number !== doc.lineAt(main.to).number;
}
