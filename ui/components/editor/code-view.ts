/** CodeMirror set up for the pages' texts. Only `code-editor.ts` loads it: the library is a separate chunk. */

import {
  autocompletion,
  type CompletionSource,
  closeBracketsKeymap,
  closeCompletion,
  completionStatus,
  moveCompletionSelection,
  startCompletion,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentLess } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { setDiagnostics } from "@codemirror/lint";
import { search, searchKeymap } from "@codemirror/search";
import {
  EditorState,
  type Extension,
  Prec,
  type Range,
  RangeSet,
  StateEffect,
  StateField,
  type Transaction,
} from "@codemirror/state";
import {
  Decoration,
  type DecorationSet,
  EditorView,
  GutterMarker,
  gutterLineClass,
  type KeyBinding,
  keymap,
  lineNumbers,
  type ViewUpdate,
} from "@codemirror/view";
import { msg } from "@lit/localize";
import type { TextProblem } from "#ui/services/console/body-problems.ts";
import { bracketIndent, indentOrInsert, pairs } from "./code-indent.ts";
import { acceptBegunWith, acceptWith, type CompleteText, suggestionSource } from "./code-suggestions.ts";
import { type Syntax, syntaxOf } from "./code-syntax.ts";

/** How long after Escape a Tab leaves the editor: the library's own time. */
const TAB_LEAVES_MS = 2_000;

export type { Syntax } from "./code-syntax.ts";

/** Lines from 0, both inclusive. */
export interface LineRange {
  readonly firstLine: number;
  readonly lastLine: number;
}

export interface CodeViewOptions {
  /** Style sheets of the editor are adopted here, as the page's policy forbids style elements. */
  readonly root: ShadowRoot;
  readonly label: string;
  readonly syntax: Syntax;
  readonly complete: CompleteText;
  readonly convertPaste: (text: string) => string | undefined;
  readonly onEdit: (text: string) => void;
  readonly onCaret: (lines: LineRange) => void;
  readonly onRun: () => void;
  /** The text was scrolled, or lines changed their position. */
  readonly onMove: () => void;
}

/** An editor in the page. */
export interface CodeView {
  readonly text: string;
  /** Replaces the text and forgets what could be undone. */
  reset(text: string): void;
  /** Replaces a part of the text as typing does, and puts the cursor after it. */
  replace(from: number, to: number, text: string): void;
  focus(): void;
  markActive(lines: LineRange | undefined): void;
  showProblems(problems: readonly TextProblem[]): void;
  /** Suggests again if suggestions are open or there were none. */
  refreshSuggestions(): void;
  /** Returns where lines are drawn, px from the editor's top edge, and the editor's height. */
  extentOf(lines: LineRange): { readonly top: number; readonly bottom: number; readonly height: number };
  destroy(): void;
}

/** Shows an editor with `text` in `parent`. */
export function createCodeView(parent: HTMLElement, text: string, options: CodeViewOptions): CodeView {
  /** Offset at which there were no suggestions. */
  let unknownAt: number | undefined;
  const source = suggestionSource(options.complete, (at) => {
    unknownAt = at;
  });
  const extensions = extensionsOf(options, source);
  const stateOf = (doc: string): EditorState => EditorState.create({ doc, extensions });
  const view = new EditorView({ state: stateOf(text), parent, root: options.root });
  view.scrollDOM.addEventListener("scroll", options.onMove);
  return {
    get text() {
      return view.state.doc.toString();
    },
    reset: (next) => view.setState(stateOf(next)),
    replace: (from, to, insert) => replaceText(view, from, to, insert),
    focus: () => view.focus(),
    markActive: (lines) => view.dispatch({ effects: setActive.of(lines) }),
    showProblems: (problems) =>
      view.dispatch(
        setDiagnostics(
          view.state,
          problems.map((problem) => within(view.state, problem)),
        ),
      ),
    refreshSuggestions: () => {
      if (completionStatus(view.state) !== null || view.state.selection.main.head === unknownAt)
        startCompletion(view);
    },
    extentOf: (lines) => extentOf(view, lines),
    destroy: () => view.destroy(),
  };
}

function replaceText(view: EditorView, from: number, to: number, insert: string): void {
  view.focus();
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: from + insert.length },
    scrollIntoView: true,
    userEvent: "input.replace",
  });
}

function extentOf(view: EditorView, { firstLine, lastLine }: LineRange): ReturnType<CodeView["extentOf"]> {
  const offset = view.documentPadding.top - view.scrollDOM.scrollTop;
  return {
    top: blockOf(view, firstLine).top + offset,
    bottom: blockOf(view, lastLine).bottom + offset,
    height: view.scrollDOM.clientHeight,
  };
}

function extensionsOf(options: CodeViewOptions, source: CompletionSource): Extension {
  const { label, syntax, complete, convertPaste, onEdit, onCaret, onRun, onMove } = options;
  const run = (): boolean => {
    onRun();
    return true;
  };
  return [
    lineNumbers(),
    history(),
    activeLines,
    syntaxOf(syntax),
    pairs(syntax),
    indentUnit.of("  "),
    bracketIndent,
    bracketMatching(),
    search({ top: true }),
    suggestions(source),
    Prec.highest(keymap.of([{ key: "Mod-Enter", run }, ...completionKeys(complete)])),
    keymap.of([
      { key: "Tab", run: indentOrInsert, shift: indentLess },
      ...closeBracketsKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    EditorView.domEventHandlers({ beforeinput: replaceSelected }),
    EditorView.clipboardInputFilter.of((text) => convertPaste(text) ?? text),
    attributes(label),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) onEdit(update.state.doc.toString());
      if (update.docChanged || update.selectionSet) onCaret(selectedLines(update));
      if (update.geometryChanged) onMove();
    }),
    EditorState.phrases.of(phrases()),
  ];
}

function suggestions(source: CompletionSource): Extension {
  return autocompletion({
    override: [source],
    defaultKeymap: false,
    // Suggestions are computed at once, and people accept them at once.
    activateOnTypingDelay: 0,
    interactionDelay: 0,
    icons: false,
    maxRenderedOptions: 200,
  });
}

function attributes(label: string): Extension {
  return EditorView.contentAttributes.of({
    "aria-label": label,
    "aria-describedby": "hint",
    // An editable element takes the focus anyway; accessibility checkers want it stated.
    tabindex: "0",
    autocapitalize: "off",
    spellcheck: "false",
  });
}

/**
 * Writes over a selection without the browser: its own editing keeps the colours of what it replaces as inline styles,
 * which the page's policy forbids and reports.
 */
function replaceSelected(event: InputEvent, view: EditorView): boolean {
  const text = event.data;
  if (event.inputType !== "insertText" || text === null || view.composing) return false;
  const [from, to] = selectedOffsets(view);
  if (from === to) return false;
  const insert = (): Transaction =>
    view.state.update({
      changes: { from, to, insert: text },
      selection: { anchor: from + text.length },
      scrollIntoView: true,
      userEvent: "input.type",
    });
  const handlers = view.state.facet(EditorView.inputHandler);
  if (!handlers.some((handler) => handler(view, from, to, text, insert))) view.dispatch(insert());
  return true;
}

/** Returns the selection of the document: the view receives a selection made by a program only later. */
function selectedOffsets(view: EditorView): [from: number, to: number] {
  const { root, state, contentDOM } = view;
  // A shadow root has a selection of its own in some browsers.
  const selection = (root as Document).getSelection?.();
  const { anchorNode, anchorOffset, focusNode, focusOffset } = selection ?? {};
  if (!contentDOM.contains(anchorNode ?? null) || !contentDOM.contains(focusNode ?? null))
    return [state.selection.main.from, state.selection.main.to];
  const anchor = view.posAtDOM(anchorNode!, anchorOffset!);
  const head = view.posAtDOM(focusNode!, focusOffset!);
  return anchor < head ? [anchor, head] : [head, anchor];
}

function completionKeys(complete: CompleteText): KeyBinding[] {
  return [
    { key: "Ctrl-Space", run: startCompletion },
    { key: "ArrowDown", run: moveCompletionSelection(true) },
    { key: "ArrowUp", run: moveCompletionSelection(false) },
    { key: "PageDown", run: moveCompletionSelection(true, "page") },
    { key: "PageUp", run: moveCompletionSelection(false, "page") },
    { key: "Escape", run: closeSuggestions },
    { key: "Tab", run: acceptWith(complete) },
    { key: "Enter", run: acceptBegunWith(complete) },
  ];
}

/** Closes the suggestions; the Tab that follows leaves the editor, as it does after an Escape without suggestions. */
function closeSuggestions(view: EditorView): boolean {
  const wereOpen = closeCompletion(view);
  if (wereOpen) view.setTabFocusMode(TAB_LEAVES_MS);
  return wereOpen;
}

const setActive = StateEffect.define<LineRange | undefined>();
const activeLine = Decoration.line({ class: "active" });
const activeGutter = new (class extends GutterMarker {
  override readonly elementClass = "active";
})();

/** The lines of the chosen requests, marked in the text and in the gutter. */
const activeLines = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marked, transaction) {
    const effect = transaction.effects.find((one) => one.is(setActive));
    if (effect === undefined) return marked.map(transaction.changes);
    return Decoration.set(
      linesOf(transaction.state, effect.value as LineRange | undefined).map((from) => activeLine.range(from)),
    );
  },
  provide: (field) => [
    EditorView.decorations.from(field),
    gutterLineClass.compute([field], (state) => {
      const markers: Range<GutterMarker>[] = [];
      state.field(field).between(0, state.doc.length, (from) => void markers.push(activeGutter.range(from)));
      return RangeSet.of(markers);
    }),
  ],
});

/** Returns the starts of the lines that are there. */
function linesOf({ doc }: EditorState, lines: LineRange | undefined): number[] {
  const starts: number[] = [];
  if (lines === undefined) return starts;
  for (let line = lines.firstLine; line <= Math.min(lines.lastLine, doc.lines - 1); line++)
    starts.push(doc.line(line + 1).from);
  return starts;
}

function selectedLines({ state }: ViewUpdate): LineRange {
  const { from, to } = state.selection.main;
  return { firstLine: state.doc.lineAt(from).number - 1, lastLine: state.doc.lineAt(to).number - 1 };
}

function blockOf(view: EditorView, line: number): { readonly top: number; readonly bottom: number } {
  const { doc } = view.state;
  return view.lineBlockAt(doc.line(Math.min(line + 1, doc.lines)).from);
}

/** A problem was found in a text that may have become shorter since. */
function within({ doc }: EditorState, { from, to, message }: TextProblem) {
  const start = Math.min(from, doc.length);
  return { from: start, to: Math.min(Math.max(to, start), doc.length), message, severity: "error" as const };
}

/** Texts of the library that people see or hear. */
function phrases(): Readonly<Record<string, string>> {
  return {
    Find: msg("Find"),
    Replace: msg("Replace"),
    next: msg("next"),
    previous: msg("previous"),
    all: msg("all"),
    "match case": msg("match case"),
    regexp: msg("regular expression"),
    "by word": msg("whole words"),
    replace: msg("replace"),
    "replace all": msg("replace all"),
    close: msg("close"),
    "current match": msg("current match"),
    "on line": msg("on line"),
    "replaced match on line $": msg("replaced the match on line $"),
    "replaced $ matches": msg("replaced $ matches"),
    "Go to line": msg("Go to line"),
    go: msg("go"),
    Completions: msg("Suggestions"),
    "Selection deleted": msg("Selection deleted"),
  };
}
