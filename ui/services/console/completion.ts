/** Completions at the cursor of the console: methods, paths, indices, parameters, keys, fields, values. */

import { bodyRule, ruleAt } from "./body-rules.ts";
import { type Endpoint, matchesStart } from "./endpoints.ts";
import { lex, type Token } from "./loose-json.ts";
import type { Rule } from "./query-rules.ts";
import { type ConsoleRequest, indexOf, METHODS, parseRequests, requestLine } from "./requests.ts";
import { completeScript, isScript } from "./script-completion.ts";
import type { Completion, Suggestion } from "./suggestions.ts";

/** The known facts about the hub. */
export interface ConsoleFacts {
  readonly endpoints: readonly Endpoint[];
  /** Indices and aliases. */
  readonly indices: readonly string[];
  /** Returns the fields of an index expression, name and type; empty until they are known. */
  fieldsOf(index: string): readonly { readonly name: string; readonly type: string }[];
}

/** A longer list isn't readable. */
const MAX_ITEMS = 100;

/** Returns what may be written at `caret`, best first; undefined if nothing is known. */
export function complete(text: string, caret: number, facts: ConsoleFacts): Completion | undefined {
  const lineStart = text.lastIndexOf("\n", caret - 1) + 1;
  const lineEnd = text.indexOf("\n", caret);
  const line = text.slice(lineStart, lineEnd < 0 ? undefined : lineEnd);
  const before = text.slice(lineStart, caret);
  if (requestLine(line) !== undefined || /^\s*[A-Za-z]+\s+$/.test(before)) {
    const path = /^\s*([A-Za-z]+)\s+(\S*)$/.exec(before);
    if (path !== null) return completePath(path[1]!.toUpperCase(), path[2]!, caret, facts);
  }
  const request = requestAround(text, caret);
  if (/^\s*[A-Za-z]*$/.test(before) && isOutside(text, caret, request))
    return completeMethod(before.trim(), caret);
  return request === undefined ? undefined : completeBody(text, caret, request, facts);
}

function completeMethod(word: string, caret: number): Completion | undefined {
  const items = METHODS.map((method) => item(`${method} `, "", method));
  return ranked(word, caret - word.length, caret, items);
}

function completePath(
  method: string,
  typed: string,
  caret: number,
  facts: ConsoleFacts,
): Completion | undefined {
  const query = typed.indexOf("?");
  if (query >= 0) return completeParameter(method, typed, query, caret, facts);
  const segments = typed.replace(/^\//, "").split("/");
  const word = segments.pop() ?? "";
  const found = new Map<string, Suggestion>();
  for (const endpoint of facts.endpoints) {
    if (!endpoint.methods.includes(method) || !matchesStart(endpoint, segments)) continue;
    for (const suggestion of segmentSuggestions(endpoint, segments.length, word, facts))
      if (!found.has(suggestion.insert)) found.set(suggestion.insert, suggestion);
  }
  return ranked(wordOfList(word), caret - wordOfList(word).length, caret, [...found.values()]);
}

/** After a comma a list of indices continues. */
function wordOfList(word: string): string {
  return word.slice(word.lastIndexOf(",") + 1);
}

function segmentSuggestions(
  { segments, summary }: Endpoint,
  depth: number,
  word: string,
  { indices }: ConsoleFacts,
): Suggestion[] {
  const next = segments[depth];
  if (next === undefined) return [];
  if (next === "{index}") return indices.map((name) => item(name, "index"));
  if (next === "{type}") return [item("_doc", "documents")];
  if (next.startsWith("{") || word.includes(",")) return [];
  let end = depth;
  while (end < segments.length && !segments[end]!.startsWith("{")) end++;
  const rest = segments.slice(depth, end).join("/");
  return [item(rest, end === segments.length ? summary : "…", rest)];
}

function completeParameter(
  method: string,
  typed: string,
  query: number,
  caret: number,
  { endpoints }: ConsoleFacts,
): Completion | undefined {
  const segments = typed.slice(0, query).replace(/^\//, "").replace(/\/$/, "").split("/");
  const word = typed.slice(Math.max(query, typed.lastIndexOf("&")) + 1);
  if (word.includes("=")) return undefined;
  const names = endpoints
    .filter((one) => one.methods.includes(method) && one.segments.length === segments.length)
    .filter((one) => matchesStart(one, segments))
    .flatMap(({ parameters }) => parameters);
  const given = new Set(
    typed
      .slice(query + 1)
      .split("&")
      .map((one) => one.split("=")[0]),
  );
  const items = [...new Set(names)].filter((name) => name === word || !given.has(name));
  return ranked(
    word,
    caret - word.length,
    caret,
    items.map((name) => item(name, "parameter")),
  );
}

/** Position of the cursor in a body. */
interface Place {
  /** Keys from the outermost on. */
  readonly keys: readonly string[];
  readonly isKey: boolean;
  /** True within a text. */
  readonly isText: boolean;
  /** Keys that the object at the cursor has. */
  readonly taken: ReadonlySet<string>;
  /** The word at the cursor, quotes left out, up to the cursor. */
  readonly word: string;
  /** The word's token, quotes included, relative to the body. */
  readonly from: number;
  readonly to: number;
  /** True where a colon follows. */
  readonly hasValue: boolean;
}

function completeBody(
  text: string,
  caret: number,
  request: ConsoleRequest,
  facts: ConsoleFacts,
): Completion | undefined {
  const start = text.split("\n", request.firstLine + 1).join("\n").length + 1;
  const place = placeAt(request.body, caret - start);
  if (place === undefined) return undefined;
  const { path } = request;
  if (!place.isKey && place.isText && isScript(place.keys, path))
    return completeScript(
      { before: place.word, after: request.body.slice(caret - start), keys: place.keys, path, caret },
      facts.fieldsOf(indexOf(path) ?? "_all"),
    );
  const segments = request.path
    .replace(/\?.*$/, "")
    .split("/")
    .filter((segment) => segment !== "");
  const rule = ruleAt(bodyRule(segments), place.keys);
  if (rule === undefined) return undefined;
  const fields = facts.fieldsOf(indexOf(request.path) ?? "_all");
  const items = place.isKey ? keyItems(rule, place, fields) : valueItems(rule, fields);
  return ranked(place.word, start + place.from, start + place.to, items);
}

function keyItems(rule: Rule, place: Place, fields: ReturnType<ConsoleFacts["fieldsOf"]>): Suggestion[] {
  const member = (name: string, own: Rule, detail: string): Suggestion => {
    if (place.hasValue) return item(JSON.stringify(name), detail, name);
    const value = own.start ?? '"|"';
    const insert = `${JSON.stringify(name)}: ${value.replace("|", "")}`;
    const caret = value.includes("|") ? insert.length - value.length + value.indexOf("|") + 1 : insert.length;
    return { label: name, insert, caret, detail };
  };
  const known = Object.entries(rule.keys ?? {}).map(([name, own]) => member(name, own, ""));
  const ofFields =
    rule.fields === undefined ? [] : fields.map(({ name, type }) => member(name, rule.fields!, type));
  return [...known, ...ofFields].filter(({ label }) => !place.taken.has(label));
}

function valueItems({ values }: Rule, fields: ReturnType<ConsoleFacts["fieldsOf"]>): Suggestion[] {
  if (values === undefined) return [];
  if (values === "fields") return fields.map(({ name, type }) => item(JSON.stringify(name), type, name));
  return values.map((value) => item(/^(true|false)$/.test(value) ? value : JSON.stringify(value), "", value));
}

interface Frame {
  readonly isObject: boolean;
  /** The key whose value follows. */
  key: string | undefined;
  readonly taken: Set<string>;
}

/** Returns where in a body `at` is; undefined inside of a comment and outside of all objects. */
function placeAt(body: string, at: number): Place | undefined {
  const frames: Frame[] = [];
  let word: Token | undefined;
  const tokens = lex(body);
  for (const token of tokens) {
    if (token.start >= at) break;
    if (token.kind === "comment" && token.end >= at) return undefined;
    if (isWord(token) && token.end >= at && !(token.end === at && isClosed(body, token))) {
      word = token;
      break;
    }
    advance(frames, body, token);
  }
  const frame = frames.at(-1);
  if (frame === undefined) return undefined;
  const isKey = frame.isObject && frame.key === undefined;
  const keys = frames.flatMap(({ key }) => (key === undefined ? [] : [key]));
  const text = word === undefined ? "" : body.slice(word.start, at).replace(/^"(?:"")?/, "");
  const isText = word !== undefined && body[word.start] === '"';
  const to = word === undefined ? at : Math.max(at, endOfWord(body, word));
  const hasValue = /^\s*:/.test(body.slice(to));
  return { keys, isKey, isText, taken: frame.taken, word: text, from: word?.start ?? at, to, hasValue };
}

function advance(frames: Frame[], body: string, token: Token): void {
  const text = body.slice(token.start, token.end);
  const frame = frames.at(-1);
  if (token.kind === "key" && frame !== undefined) {
    frame.key = text.replaceAll('"', "");
    frame.taken.add(frame.key);
  } else if (token.kind === "punctuation" && /[{[]/.test(text))
    frames.push({ isObject: text === "{", key: undefined, taken: new Set() });
  else if (token.kind === "punctuation" && /[}\]]/.test(text)) frames.pop();
  else if (text === "," && frame !== undefined) frame.key = undefined;
}

function isWord({ kind }: Token): boolean {
  return kind !== "space" && kind !== "punctuation" && kind !== "comment";
}

function isClosed(body: string, { kind, start, end }: Token): boolean {
  return (kind === "string" || kind === "key") && end - start > 1 && body[end - 1] === '"';
}

/** An unclosed text extends to the end of its line: what follows the word isn't part of it. */
function endOfWord(body: string, token: Token): number {
  const text = body.slice(token.start, token.end);
  if (isClosed(body, token) || !text.startsWith('"')) return token.end;
  return token.start + /^"[^\s,}\]]*/.exec(text)![0].length;
}

function requestAround(text: string, caret: number): ConsoleRequest | undefined {
  const line = text.slice(0, caret).split("\n").length - 1;
  return parseRequests(text).findLast(({ firstLine }) => firstLine < line);
}

/** True where no object is open at the cursor. */
function isOutside(text: string, caret: number, request: ConsoleRequest | undefined): boolean {
  if (request === undefined) return true;
  const start = text.split("\n", request.firstLine + 1).join("\n").length + 1;
  let depth = 0;
  for (const token of lex(text.slice(start, caret))) {
    if (token.kind !== "punctuation") continue;
    const sign = text[start + token.start]!;
    if ("{[".includes(sign)) depth++;
    if ("}]".includes(sign)) depth--;
  }
  return depth <= 0;
}

function item(insert: string, detail: string, label = insert): Suggestion {
  return { label, insert, caret: insert.length, detail };
}

/** Suggestions that begin with the word, then those that contain it; none if the word is complete. */
function ranked(
  word: string,
  from: number,
  to: number,
  items: readonly Suggestion[],
): Completion | undefined {
  const wanted = word.toLowerCase();
  const begin = items.filter(({ label }) => label.toLowerCase().startsWith(wanted));
  const hold = items.filter(({ label }) => label.toLowerCase().indexOf(wanted) > 0);
  const found = [...begin, ...hold].slice(0, MAX_ITEMS);
  if (found.length === 0 || (found.length === 1 && found[0]!.label === word)) return undefined;
  return { from, to, items: found };
}
