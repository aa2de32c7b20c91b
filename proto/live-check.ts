/** Validates messages from clients of the live socket. */

import { isObject } from "#proto/kit/json.ts";
import { HOUR_MS } from "#proto/kit/units.ts";
import {
  type Call,
  type ClientMessage,
  type Cursor,
  DEFAULT_LIMITS,
  type SearchCall,
  type TailOpen,
  type WatchOpen,
} from "./live.ts";

const MAX_SUB = 0xffff_ffff;
const MAX_FILTER_LENGTH = 8 * 1024;
const MAX_PATTERNS = 100;
const MAX_FIELDS = 50;
const MAX_NAME_LENGTH = 512;

type Fields = Readonly<Record<string, unknown>>;

/** Returns a client's message, or a sentence with its fault. */
export function parseClientMessage(text: string): ClientMessage | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "the message isn't JSON";
  }
  if (!isObject(value)) return "the message isn't an object";
  return checkClientMessage(value as Fields);
}

function checkClientMessage(message: Fields): ClientMessage | string {
  const sub = message["sub"];
  switch (message["t"]) {
    case "hello":
      return message["v"] === 1
        ? { t: "hello", v: 1 }
        : "hello: v must be 1, this hub speaks no other version";
    case "ping":
      return isCount(message["n"], MAX_SUB)
        ? { t: "ping", n: message["n"] }
        : "ping: n must be a whole number";
    case "tail.open":
      return checkOpen(message);
    case "call":
      return checkCall(message);
    case "search":
      return checkSearch(message);
    case "watch.open":
      return checkWatch(message);
    case "call.cancel": {
      const { id } = message;
      return isCount(id, MAX_SUB) ? { t: "call.cancel", id } : "call.cancel: id must be a whole number";
    }
    case "watch.close":
      return isCount(sub, MAX_SUB) ? { t: "watch.close", sub } : "watch.close: sub must be a whole number";
    case "tail.credit": {
      const add = message["add"];
      if (!isCount(sub, MAX_SUB)) return "tail.credit: sub must be a whole number";
      return isCount(add, 1_000_000)
        ? { t: "tail.credit", sub, add }
        : "tail.credit: add must be 0 to 1,000,000";
    }
    case "tail.pause":
    case "tail.resume":
    case "tail.close":
      return isCount(sub, MAX_SUB) ? { t: message["t"], sub } : `${message["t"]}: sub must be a whole number`;
    default:
      return "t must be hello, ping, call, call.cancel, search, watch.open, watch.close, tail.open, tail.credit, tail.pause, tail.resume or tail.close";
  }
}

const METHODS: ReadonlySet<unknown> = new Set(["GET", "POST", "PUT", "DELETE"]);
/** Everything but the sign-in and the connecting of accounts, which set cookies, and this socket itself. */
const CALL_PATH = /^\/(?:es|api(?!\/(?:auth|live|connections)(?:[/?]|$)))\/[\x21-\x7e]*$/;
const MAX_PATH_LENGTH = 4_096;
const MAX_WATCH_MS = HOUR_MS;

function isCallPath(path: unknown): path is string {
  return (
    typeof path === "string" &&
    path.length <= MAX_PATH_LENGTH &&
    CALL_PATH.test(path) &&
    !path.includes("/..")
  );
}

function checkCall({ id, method, path, body }: Fields): Call | string {
  if (!isCount(id, MAX_SUB)) return "call: id must be a whole number";
  if (!METHODS.has(method)) return "call: method must be GET, POST, PUT or DELETE";
  if (!isCallPath(path)) return "call: path must lead below /es/ or /api/, and not to the sign-in";
  if (body !== undefined && typeof body !== "string") return "call: body must be a text";
  return { t: "call", id, method: method as Call["method"], path, ...(body !== undefined && { body }) };
}

function checkSearch({ id, index, body }: Fields): SearchCall | string {
  if (!isCount(id, MAX_SUB)) return "search: id must be a whole number";
  if (typeof index !== "string" || index === "" || index.length > MAX_PATH_LENGTH)
    return `search: index must be an expression of up to ${MAX_PATH_LENGTH} characters`;
  return typeof body === "string" ? { t: "search", id, index, body } : "search: body must be a text";
}

function checkWatch({ sub, path, everyMs }: Fields): WatchOpen | string {
  if (!isCount(sub, MAX_SUB)) return "watch.open: sub must be a whole number";
  if (!isCallPath(path)) return "watch.open: path must lead below /es/ or /api/, and not to the sign-in";
  if (!isCount(everyMs, MAX_WATCH_MS)) return "watch.open: everyMs must be 0 to 3,600,000";
  return { t: "watch.open", sub, path, everyMs };
}

function checkOpen(message: Fields): TailOpen | string {
  const { sub, index, q, fields, from, maxRate, credit } = message;
  if (!isCount(sub, MAX_SUB)) return "tail.open: sub must be a whole number";
  if (!isNames(index, MAX_PATTERNS)) return `tail.open: index must be a list of up to ${MAX_PATTERNS} names`;
  if (typeof q !== "string" || q.length > MAX_FILTER_LENGTH)
    return `tail.open: q must be a text of up to ${MAX_FILTER_LENGTH} characters`;
  if (!isCount(credit, 1_000_000)) return "tail.open: credit must be 0 to 1,000,000";
  const open: TailOpen = { t: "tail.open", sub, index, q, credit };
  if (fields !== undefined) {
    if (!isNames(fields, MAX_FIELDS)) return `tail.open: fields must be a list of up to ${MAX_FIELDS} names`;
    open.fields = fields;
  }
  if (maxRate !== undefined) {
    if (!isCount(maxRate, 1_000_000) || maxRate < 1) return "tail.open: maxRate must be 1 to 1,000,000";
    open.maxRate = maxRate;
  }
  if (from !== undefined) {
    const start = checkFrom(from);
    if (start === undefined) return "tail.open: from must be a cursor or {last: 0 to 5,000}";
    open.from = start;
  }
  return open;
}

function checkFrom(from: unknown): Cursor | { last: number } | undefined {
  if (typeof from === "string") return from.length <= MAX_NAME_LENGTH ? from : undefined;
  if (typeof from !== "object" || from === null) return undefined;
  const last = (from as Fields)["last"];
  return isCount(last, DEFAULT_LIMITS.ringRows) ? { last } : undefined;
}

function isCount(value: unknown, max: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max;
}

function isNames(value: unknown, max: number): value is string[] {
  return (
    Array.isArray(value) &&
    value.length <= max &&
    value.every((name) => typeof name === "string" && name.length > 0 && name.length <= MAX_NAME_LENGTH)
  );
}
