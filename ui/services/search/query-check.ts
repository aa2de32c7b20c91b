/** Finds errors in a query before it is sent: missing quotes, parentheses, operators and values. */

import { msg, str } from "@lit/localize";
import type { FieldCatalogue } from "./fields.ts";

/** A fault and the range of characters that has it. */
export interface QueryFault {
  readonly message: string;
  /** What to do; "" if it is plain. */
  readonly hint: string;
  readonly from: number;
  readonly to: number;
}

interface Token {
  readonly kind: "open" | "close" | "operator" | "not" | "word";
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

const OPERATORS = /^(?:AND|OR|&&|\|\|)$/;
const NOT = /^(?:NOT|!)$/;
/** Letters that may be changed, left out or added for a name to be meant. */
const MAX_DISTANCE = 2;

/** Returns the first fault of a query; undefined if there is none to be seen. */
export function checkQuery(query: string): QueryFault | undefined {
  const tokens: Token[] = [];
  for (let at = 0; at < query.length; ) {
    if (/\s/.test(query[at]!)) {
      at += 1;
      continue;
    }
    const token = readToken(query, at);
    if ("message" in token) return token;
    tokens.push(token);
    at = token.to;
  }
  return checkOrder(tokens);
}

/** A field of a query that no index has. */
export interface MissingField {
  readonly name: string;
  /** The field that was likely meant. */
  readonly nearest: string | undefined;
  /** Offset of the name in the query. */
  readonly from: number;
}

/** Returns the first field of a query that no index has. */
export function missingField(query: string, fields: FieldCatalogue): MissingField | undefined {
  for (const match of query.matchAll(/(?<![^\s(!+-])([\w@][\w.@-]*):(?!\/\/)/g)) {
    const name = match[1]!;
    if (name.startsWith("_") || fields.has(name) || isKnownBranch(name, fields)) continue;
    return { name, nearest: nearestName(name, fields), from: match.index };
  }
  return undefined;
}

/**
 * Returns what a query of KQL means in Lucene: `and`, `or`, `not` in capitals, `field > 5` as `field:>5`. Undefined if that
 * is the query itself.
 */
export function luceneOfKql(query: string, fields: FieldCatalogue): string | undefined {
  // A quote that isn't closed goes to the end.
  const parts = query.split(/("(?:\\[\s\S]|[^"\\])*(?:"|\\?$))/);
  const meant = parts.map((part, at) => (at % 2 === 1 ? part : unquotedOfKql(part, fields))).join("");
  return meant === query ? undefined : meant;
}

function unquotedOfKql(text: string, fields: FieldCatalogue): string {
  return text
    .replaceAll(/(?<=[\s)]|^)(?:and|or)(?=[\s(])/g, (word) => word.toUpperCase())
    .replaceAll(/(?<=[\s(]|^)not(?=[\s(])/g, "NOT")
    .replaceAll(/(?<![\w.@:-])([\w@][\w.@-]*)\s*([<>]=?)\s*/g, (whole, name: string, sign: string) =>
      fields.has(name) ? `${name}:${sign}` : whole,
    );
}

/** Messages of the search interface for a value or field that a query can't have; the first group is its name. */
const REFUSED: readonly RegExp[] = [
  /For input string: "(.+)"/,
  /failed to parse date field \[(.+?)\]/,
  /not on \[(.+?)\]/,
  /'(.+)' is not an IP string literal/,
];

/** Returns the position of what the search interface refused in a query; undefined if its reason names none. */
export function refusedIn(query: string, reason: string, hint: string): QueryFault | undefined {
  const parsed = /^Failed to parse query \[.*\]: (.*) at character (\d+)/s.exec(reason);
  if (parsed !== null) {
    const from = Math.min(query.length, Number(parsed[2]) - 1);
    return { message: sentence(parsed[1]!), hint, from, to: from + 1 };
  }
  for (const pattern of REFUSED) {
    const named = pattern.exec(reason)?.[1];
    const from = named === undefined ? -1 : query.lastIndexOf(named);
    if (from >= 0) return { message: sentence(reason), hint, from, to: from + named!.length };
  }
  return undefined;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Returns a fault for the first field of a query that no index has, with the name that was likely meant. */
export function checkFields(query: string, fields: FieldCatalogue): QueryFault | undefined {
  const missing = missingField(query, fields);
  if (missing === undefined) return undefined;
  const { name, nearest, from } = missing;
  const hint =
    nearest === undefined ? msg("Choose one of the fields at the left.") : msg(str`Did you mean ${nearest}?`);
  return { message: msg(str`No line has a field ${name}.`), hint, from, to: from + name.length };
}

function readToken(query: string, from: number): Token | QueryFault {
  const sign = query[from]!;
  if (sign === "(") return { kind: "open", text: sign, from, to: from + 1 };
  if (sign === ")") return { kind: "close", text: sign, from, to: from + 1 };
  let at = from;
  while (at < query.length && !/[\s()]/.test(query[at]!)) {
    const end = endOfPart(query, at);
    if (typeof end !== "number") return end;
    at = end;
    if (query[at - 1] === ":" && query[at] === "(") break;
  }
  const text = query.slice(from, at);
  // A value may follow a blank.
  if (/^[^"\\:]+:$/.test(text) && /^\s*(?:\)|$)/.test(query.slice(at)))
    return {
      message: msg(str`The value of ${text.slice(0, -1)} is missing.`),
      hint: msg(str`Write ${text}value, or ${text}* for any.`),
      from,
      to: at,
    };
  const doubled = /^[+!-]*([\w@.-]+):(?=:)/.exec(text);
  if (doubled !== null)
    return {
      message: msg(str`There are two colons behind ${doubled[1]!}.`),
      hint: msg(str`Write ${doubled[1]!}:value, or put the whole word in quotes.`),
      from: from + doubled[0].length,
      to: from + doubled[0].length + 1,
    };
  const kind = OPERATORS.test(text) ? "operator" : NOT.test(text) ? "not" : "word";
  return { kind, text, from, to: at };
}

/** Returns where a character, quotes, a range or an expression in slashes ends. */
function endOfPart(query: string, at: number): number | QueryFault {
  const sign = query[at]!;
  if (sign === "\\") return Math.min(query.length, at + 2);
  const startsValue = at === 0 || /[\s(:+!-]/.test(query[at - 1]!);
  if (sign === '"') return endOfQuotes(query, at);
  if ((sign === "[" || sign === "{") && query[at - 1] === ":") return endOfRange(query, at);
  if (sign === "/" && startsValue) return endOfExpression(query, at);
  return at + 1;
}

function endOfQuotes(query: string, from: number): number | QueryFault {
  for (let at = from + 1; at < query.length; at++) {
    if (query[at] === "\\") at += 1;
    else if (query[at] === '"') return at + 1;
  }
  return {
    message: msg("These quotes are never closed."),
    hint: msg("Close them, or put a backslash before them."),
    from,
    to: query.length,
  };
}

function endOfRange(query: string, from: number): number | QueryFault {
  const match = /[[{]\s*(?:"[^"]*"|[^\s\]}]+)\s+TO\s+(?:"[^"]*"|[^\s\]}]+)\s*[\]}]/y;
  match.lastIndex = from;
  if (match.test(query)) return match.lastIndex;
  return {
    message: msg("This range isn't complete."),
    hint: msg("Write [1 TO 9]; * leaves an end open."),
    from,
    to: query.length,
  };
}

function endOfExpression(query: string, from: number): number | QueryFault {
  for (let at = from + 1; at < query.length && !/\s/.test(query[at]!); at++) {
    if (query[at] === "\\") at += 1;
    else if (query[at] === "/") return at + 1;
  }
  return {
    message: msg("A slash begins a regular expression, which is never closed."),
    hint: msg("Put a path in quotes, or write \\/ for a slash."),
    from,
    to: from + 1,
  };
}

function checkOrder(tokens: readonly Token[]): QueryFault | undefined {
  const open: Token[] = [];
  for (const [at, token] of tokens.entries()) {
    const before = tokens[at - 1];
    const next = tokens[at + 1];
    if (token.kind === "open") open.push(token);
    if (token.kind === "close") {
      if (open.pop() === undefined)
        return faultAt(token, msg("This ) closes nothing."), msg("Remove it, or put it in quotes."));
      if (before?.kind === "open")
        return faultAt(token, msg("There is nothing between the parentheses."), "");
    }
    const isFirst = before === undefined || before.kind === "open" || before.kind === "operator";
    if (token.kind === "operator" && isFirst)
      return faultAt(
        token,
        msg(str`A term is missing before ${token.text}.`),
        msg("Put the word in quotes to search for it."),
      );
    const isLast = next === undefined || next.kind === "close";
    if ((token.kind === "operator" || token.kind === "not") && isLast)
      return faultAt(
        token,
        msg(str`A term is missing behind ${token.text}.`),
        msg("Put the word in quotes to search for it."),
      );
  }
  const last = open.pop();
  return last === undefined
    ? undefined
    : faultAt(last, msg("This ( is never closed."), msg("Add a ), or put it in quotes."));
}

function faultAt({ from, to }: Token, message: string, hint: string): QueryFault {
  return { message, hint, from, to };
}

/** `log` where there is `log.level`, and sub-fields such as `message.keyword`. */
function isKnownBranch(name: string, fields: FieldCatalogue): boolean {
  if (fields.has(name.replace(/\.[^.]+$/, ""))) return true;
  for (const known of fields.keys()) if (known.startsWith(`${name}.`)) return true;
  return false;
}

function nearestName(name: string, fields: FieldCatalogue): string | undefined {
  const wanted = name.toLowerCase();
  let nearest: string | undefined;
  let best = MAX_DISTANCE + 1;
  for (const known of fields.keys()) {
    const whole = known.toLowerCase();
    const last = whole.slice(whole.lastIndexOf(".") + 1);
    const distance = Math.min(distanceOf(wanted, whole), Math.max(1, distanceOf(wanted, last)));
    if (distance >= best) continue;
    best = distance;
    nearest = known;
  }
  return nearest;
}

/** Letters to change, leave out or add; only as far as it matters. */
function distanceOf(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > MAX_DISTANCE) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}
