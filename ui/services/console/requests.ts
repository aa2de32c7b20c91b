/**
 * The console's text as requests: a line `METHOD path`, then the body up to the next such line. Bodies are JSON, lines
 * of JSON, or both written over many lines.
 */

import { compactJson, indentJson, splitValues, toPlainJson } from "./loose-json.ts";

export const METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD"] as const;

export interface ConsoleRequest {
  readonly method: string;
  /** As it was typed. */
  readonly path: string;
  /** As it was typed; "" if there is none. */
  readonly body: string;
  /** Lines from 0, both inclusive; blank lines and comments after the body don't belong to it. */
  readonly firstLine: number;
  readonly lastLine: number;
}

/** The form in which a request is sent. */
export interface ConsoleCall {
  readonly method: string;
  /** With leading slash, encoded. */
  readonly path: string;
  readonly body: string | undefined;
  readonly contentType: string | undefined;
}

const REQUEST_LINE = /^\s*(GET|POST|PUT|DELETE|HEAD)\s+([^\s#].*?)\s*$/i;
const LINES_OF_JSON = /\/(_bulk|_msearch|_msearch\/template)$/;

/** Returns the method and path of a line that begins a request. */
export function requestLine(line: string): { readonly method: string; readonly path: string } | undefined {
  const match = REQUEST_LINE.exec(line);
  if (match === null) return undefined;
  return { method: match[1]!.toUpperCase(), path: match[2]!.replace(/\s+(#|\/\/).*$/, "") };
}

/** Returns all requests of a text, in order. */
export function parseRequests(text: string): ConsoleRequest[] {
  const lines = text.split("\n");
  const found: ConsoleRequest[] = [];
  let first = -1;
  let isInText = false;
  const close = (end: number): void => {
    if (first >= 0) found.push(requestOf(lines, first, end));
  };
  for (const [index, line] of lines.entries()) {
    if (!isInText && requestLine(line) !== undefined) {
      close(index);
      first = index;
    }
    if ((line.split('"""').length - 1) % 2 === 1) isInText = !isInText;
  }
  close(lines.length);
  return found;
}

function requestOf(lines: readonly string[], first: number, end: number): ConsoleRequest {
  let last = end - 1;
  while (last > first && /^\s*($|#|\/\/)/.test(lines[last]!)) last--;
  const { method, path } = requestLine(lines[first]!)!;
  return {
    method,
    path,
    body: lines.slice(first + 1, last + 1).join("\n"),
    firstLine: first,
    lastLine: last,
  };
}

/** Returns the requests that lines `from` to `to` touch; on a line between requests the one above. */
export function requestsAt(
  requests: readonly ConsoleRequest[],
  from: number,
  to: number,
): readonly ConsoleRequest[] {
  const touched = requests.filter(({ firstLine, lastLine }) => firstLine <= to && lastLine >= from);
  if (touched.length > 0) return touched;
  const above = requests.findLast(({ lastLine }) => lastLine < from);
  return above === undefined ? [] : [above];
}

/** Returns what a request sends. */
export function toCall({ method, path, body }: ConsoleRequest): ConsoleCall {
  const encoded = encodePath(path);
  const values = splitValues(body);
  if (values.length === 0) return { method, path: encoded, body: undefined, contentType: undefined };
  if (values.length === 1 && !isLines(path))
    return { method, path: encoded, body: toPlainJson(body).trim(), contentType: "application/json" };
  const lines = values.map(({ start, end }) => `${compactJson(body.slice(start, end))}\n`);
  return { method, path: encoded, body: lines.join(""), contentType: "application/x-ndjson" };
}

/** Returns a request's text with its body formatted: indented, or one line per value if the interface expects lines. */
export function formatRequest({ method, path, body }: ConsoleRequest): string {
  const values = splitValues(body);
  const head = `${method} ${path}`;
  if (values.length === 0) return head;
  if (values.length > 1 || isLines(path))
    return [head, ...values.map(({ start, end }) => compactJson(body.slice(start, end)))].join("\n");
  return `${head}\n${indentJson(body)}`;
}

/** Returns true if a request changes so much that it needs confirmation. */
export function isDestructive({ method, path }: Pick<ConsoleRequest, "method" | "path">): boolean {
  const place = path.replace(/\?.*$/, "").replace(/\/+$/, "");
  if (/\/(_delete_by_query|_update_by_query|_close)$/.test(`/${place}`)) return true;
  return method === "DELETE" && !/(^|\/)_search\/scroll(\/|$)/.test(place);
}

/** Returns the index expression of a path, or undefined if it names none. */
export function indexOf(path: string): string | undefined {
  const first = withoutHost(path)
    .replace(/\?.*$/, "")
    .split("/")
    .find((segment) => segment !== "");
  if (first === undefined || (first.startsWith("_") && first !== "_all")) return undefined;
  return first;
}

function isLines(path: string): boolean {
  return LINES_OF_JSON.test(`/${withoutHost(path).replace(/\?.*$/, "")}`);
}

function withoutHost(path: string): string {
  return path.replace(/^https?:\/\/[^/]+/i, "");
}

/** Date maths (`<logs-{now/d}>`) is one segment, its slashes included. */
function encodePath(typed: string): string {
  const path = withoutHost(typed).replace(/^\/*/, "/");
  return path
    .replaceAll(/<[^>]*>/g, (maths) => encodeURIComponent(maths))
    .replaceAll("#", "%23")
    .replaceAll(/\s/g, "%20");
}

/** Returns a command for a shell; `base` is the interface's address without a slash at its end. */
export function toCurl({ method, path, body, contentType }: ConsoleCall, base: string): string {
  const parts = [method === "HEAD" ? "curl -I" : `curl -X ${method}`, quote(`${base}${path}`)];
  if (contentType !== undefined) parts.push(`-H ${quote(`content-type: ${contentType}`)}`);
  if (body !== undefined) parts.push(`--data-binary ${quote(body)}`);
  return parts.join(" ");
}

/** Returns the request of a curl command as the console writes it, or undefined if the text is none. */
export function fromCurl(text: string): string | undefined {
  const words = shellWords(text.trim().replace(/^\$\s+/, ""));
  if (words[0] !== "curl") return undefined;
  let method: string | undefined;
  let address: string | undefined;
  const data: string[] = [];
  for (let index = 1; index < words.length; index++) {
    const word = words[index]!;
    const joined = /^-X(.+)$/.exec(word);
    if (joined !== null) method = joined[1]!;
    else if (word === "-X" || word === "--request") method = words[++index];
    else if (/^(-d|--data|--data-raw|--data-binary|--json)$/.test(word)) data.push(words[++index] ?? "");
    else if (/^(-H|--header|-u|--user|-o|--output|--cacert|-A)$/.test(word)) index++;
    else if (word === "-I" || word === "--head") method = "HEAD";
    else if (!word.startsWith("-")) address ??= word;
  }
  if (address === undefined) return undefined;
  const path = address.replace(/^(https?:\/\/)?[^/]*:?\d*(?=\/|$)/, "") || "/";
  const head = `${(method ?? (data.length > 0 ? "POST" : "GET")).toUpperCase()} ${path}`;
  return data.length === 0 ? head : `${head}\n${data.join("\n").trim()}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Words as a shell cuts them; quotes may be inside of a word. */
function shellWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  const pieces = text.matchAll(/'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\\r?\n|\\([\s\S])|(\s+)|([^\s'"\\]+)/g);
  for (const [whole, single, double, escaped, space, bare] of pieces) {
    if (space !== undefined || /^\\\r?\n$/.test(whole)) {
      if (word !== undefined) words.push(word);
      word = undefined;
      continue;
    }
    word = (word ?? "") + (single ?? double?.replaceAll(/\\(["\\$`])/g, "$1") ?? escaped ?? bare ?? "");
  }
  if (word !== undefined) words.push(word);
  return words;
}
