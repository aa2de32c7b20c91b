/** Colours of requests and of pipelines, read line by line so that a key press costs one line. */

import { StreamLanguage, type StringStream, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { type Tag, tagHighlighter, tags } from "@lezer/highlight";
import { requestLine } from "#ui/services/console/requests.ts";

export type Syntax = "console" | "pipeline";

/** Tokens; their names are the classes of `codeColours`. */
export const TOKENS = {
  key: tags.propertyName,
  string: tags.string,
  number: tags.number,
  literal: tags.atom,
  punctuation: tags.punctuation,
  comment: tags.comment,
  method: tags.keyword,
  danger: tags.invalid,
  path: tags.url,
} satisfies Record<string, Tag>;

type Token = keyof typeof TOKENS;

interface Rule {
  readonly token: Token | undefined;
  readonly match: RegExp;
  /** For a comment or text that may continue over lines: reads up to its end, or all of the line where it has none. */
  readonly until?: RegExp;
}

interface LineState {
  /** The comment or text that a line begins in. */
  open: Rule | undefined;
  /** The rest of a request's line is its path. */
  isPath: boolean;
}

const NUMBER: Rule = { token: "number", match: /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![^\s"{}[\]:,)])/ };
const QUOTED = /(?:[^"\\]|\\.)*"/;

const CONSOLE_RULES: readonly Rule[] = [
  { token: "string", match: /"""/, until: /.*?"""/ },
  { token: "comment", match: /\/\*/, until: /.*?\*\// },
  { token: "comment", match: /(?:#|\/\/).*/ },
  { token: "key", match: /"(?:[^"\\]|\\.)*"(?=\s*:)/ },
  { token: "string", match: /"(?:[^"\\]|\\.)*"?/ },
  NUMBER,
  { token: "punctuation", match: /[{}[\]:,]/ },
  { token: "literal", match: /(?:true|false|null)(?![^\s"{}[\]:,#])/ },
  { token: "key", match: /[^\s"{}[\]:,#]+(?=\s*:)/ },
  { token: undefined, match: /[^\s"{}[\]:,#]+/ },
];

const PIPELINE_RULES: readonly Rule[] = [
  { token: "comment", match: /#.*/ },
  { token: "string", match: /"/, until: QUOTED },
  { token: "string", match: /'/, until: /(?:[^'\\]|\\.)*'/ },
  { token: "string", match: /\/(?:[^/\\]|\\.)+\// },
  { token: "key", match: /[\w-]+(?=\s*=>)/ },
  { token: "method", match: /(?:input|filter|output|if|else|and|or|not|in|nand|xor)\b/ },
  { token: "literal", match: /(?:true|false)\b/ },
  { token: "path", match: /(?:\[[\w@.-]+\])+/ },
  NUMBER,
  { token: undefined, match: /[\w@.-]+/ },
  { token: "punctuation", match: /[=!]~|=>|[=!<>]=?|[{}[\](),]/ },
];

function read(stream: StringStream, state: LineState, rules: readonly Rule[]): Token | null {
  if (state.open !== undefined) return readOpen(stream, state, state.open);
  if (stream.eatSpace()) return null;
  for (const rule of rules) {
    if (stream.match(rule.match) === null) continue;
    return rule.until === undefined ? (rule.token ?? null) : readOpen(stream, state, rule);
  }
  stream.next();
  return null;
}

function readOpen(stream: StringStream, state: LineState, rule: Rule): Token | null {
  const isClosed = stream.match(rule.until!) !== null;
  if (!isClosed) stream.skipToEnd();
  state.open = isClosed ? undefined : rule;
  return rule.token ?? null;
}

/** Reads a line that begins a request: its method, then its path. */
function readRequest(stream: StringStream, state: LineState): Token | undefined {
  if (stream.sol()) {
    const request = state.open === undefined ? requestLine(stream.string) : undefined;
    state.isPath = request !== undefined;
    if (request === undefined) return undefined;
    stream.eatSpace();
    stream.match(request.method);
    return request.method === "DELETE" ? "danger" : "method";
  }
  if (!state.isPath) return undefined;
  stream.skipToEnd();
  return "path";
}

const common = {
  startState: (): LineState => ({ open: undefined, isPath: false }),
  tokenTable: TOKENS,
};

/** Requests and their bodies: JSON with comments, bare keys and texts in triple quotes. */
export const consoleLanguage = StreamLanguage.define<LineState>({
  ...common,
  name: "console",
  token: (stream, state) => readRequest(stream, state) ?? read(stream, state, CONSOLE_RULES),
  languageData: { commentTokens: { line: "#" }, indentOnInput: /^\s*[}\]]$/ },
});

/** The language of pipelines. */
export const pipelineLanguage = StreamLanguage.define<LineState>({
  ...common,
  name: "pipeline",
  token: (stream, state) => read(stream, state, PIPELINE_RULES),
  languageData: { commentTokens: { line: "#" }, indentOnInput: /^\s*[}\])]$/ },
});

const LANGUAGES: Readonly<Record<Syntax, StreamLanguage<LineState>>> = {
  console: consoleLanguage,
  pipeline: pipelineLanguage,
};

/** Returns the language of a text with its colours, which are classes: the page's themes set them. */
export function syntaxOf(syntax: Syntax): Extension {
  const styles = Object.entries(TOKENS).map(([name, tag]) => ({ tag, class: name }));
  return [LANGUAGES[syntax], syntaxHighlighting(tagHighlighter(styles))];
}
