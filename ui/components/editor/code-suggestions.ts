/** Adapts the suggestions of the pages to CodeMirror's completion. */

import {
  acceptCompletion,
  type Completion as CodeCompletion,
  type CompletionContext,
  type CompletionResult,
  closeCompletion,
  completionStatus,
  currentCompletions,
  pickedCompletion,
  selectedCompletionIndex,
  startCompletion,
} from "@codemirror/autocomplete";
import type { EditorState } from "@codemirror/state";
import type { Command, EditorView } from "@codemirror/view";
import type { Completion, Suggestion } from "#ui/services/console/suggestions.ts";

export type CompleteText = (text: string, caret: number) => Completion | undefined;

interface Option extends CodeCompletion {
  readonly insert: string;
  /** Offset of the cursor from the start of `insert`. */
  readonly caret: number;
  /** Range that the suggestion replaces; `to` exclusive. */
  readonly from: number;
  readonly to: number;
}

/** Returns a completion source. `onAsked` gets the offset at which nothing could be suggested, undefined otherwise. */
export function suggestionSource(
  complete: CompleteText,
  onAsked: (unknownAt: number | undefined) => void,
): (context: CompletionContext) => CompletionResult | null {
  return ({ state, pos, explicit }) => {
    if (!state.selection.main.empty || !(explicit || isWanted(state, pos))) return null;
    const found = complete(state.doc.toString(), pos);
    onAsked(found === undefined ? pos : undefined);
    if (found === undefined) return null;
    const { from, to, items } = found;
    return { from, to, options: items.map((item) => optionOf(found, item)), filter: false };
  };
}

/** True if the user began a word, or wrote the method of a request. */
function isWanted(state: EditorState, pos: number): boolean {
  const { from, text } = state.doc.lineAt(pos);
  const before = text.slice(0, pos - from);
  return /\S$/.test(before) || /^\s*[A-Z]+ $/i.test(before);
}

/** Returns what Tab does: accepts the chosen suggestion, for a quick writer the first one that is about to be shown. */
export function acceptWith(complete: CompleteText): Command {
  return (view) => {
    if (completionStatus(view.state) === null) return false;
    if (acceptCompletion(view)) return true;
    const first = firstOption(view.state, complete);
    if (first === undefined) return false;
    apply(view, first);
    return true;
  };
}

/** Returns what Enter does: accepts a suggestion only where something was begun or chosen; else it begins a line. */
export function acceptBegunWith(complete: CompleteText): Command {
  const accept = acceptWith(complete);
  return (view) => {
    const { state } = view;
    if (completionStatus(state) === null) return false;
    const index = selectedCompletionIndex(state) ?? 0;
    const chosen = currentCompletions(state)[index] ?? firstOption(state, complete);
    if (chosen !== undefined && (index > 0 || isBegun(state, chosen as Option))) return accept(view);
    closeCompletion(view);
    return false;
  };
}

function firstOption(state: EditorState, complete: CompleteText): Option | undefined {
  const found = complete(state.doc.toString(), state.selection.main.head);
  return found === undefined ? undefined : optionOf(found, found.items[0]!);
}

/** True if a part of `chosen` is written. */
function isBegun({ doc, selection }: EditorState, { insert, from }: Option): boolean {
  const begun = doc.sliceString(from, selection.main.head);
  return begun.replace('"', "") !== "" && begun !== insert;
}

function optionOf({ from, to }: Completion, { label, insert, caret, detail }: Suggestion): Option {
  return { label, detail, insert, caret, from, to, apply: (view, option) => apply(view, option as Option) };
}

/** Writes a suggestion; the next one follows at once: `"query": ` is followed by the queries. */
function apply(view: EditorView, option: Option): void {
  const { from, to, insert, caret } = option;
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: from + caret },
    userEvent: "input.complete",
    annotations: pickedCompletion.of(option),
  });
  startCompletion(view);
}
