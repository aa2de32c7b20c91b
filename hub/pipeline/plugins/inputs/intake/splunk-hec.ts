/**
 * Splunk's HTTP Event Collector (docs.splunk.com, "HTTP Event Collector REST API endpoints"): events (consecutive JSON
 * objects, with or without line ends or a surrounding list), raw text and acknowledgements.
 */

import { parseEventObject } from "#proto/codec/json.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event, isHash, valueText } from "#proto/event.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { HttpAnswer, HttpRefusal } from "../stream/http-server.ts";
import { checkEvents, type IntakeProtocol, type IntakeRequest, type TakeEvents } from "./http-intake.ts";

const PATHS = /^\/services\/collector(?:\/(?:event|raw)(?:\/1\.0)?|\/ack|\/health(?:\/1\.0)?)?$/;

const CHANNEL_HEADER = "x-splunk-request-channel";

/** Codes of answers. */
const SUCCESS = 0;
const INVALID_TOKEN = 4;
const NO_DATA = 5;
const INVALID_DATA = 6;
const SERVER_FAILED = 8;
const SERVER_BUSY = 9;
const NO_CHANNEL = 10;
const NO_EVENT = 12;
const BLANK_EVENT = 13;
const HEALTHY = 17;
const TOO_LARGE = 27;

/** Codes of refusals by their status. */
const CODES: Readonly<Record<number, number>> = {
  401: INVALID_TOKEN,
  413: TOO_LARGE,
  429: SERVER_BUSY,
  503: SERVER_BUSY,
};

/** What may be wrong with an event. */
const FAULTS = {
  [INVALID_DATA]: "Invalid data format",
  [NO_EVENT]: "Event field is required",
  [BLANK_EVENT]: "Event field cannot be blank",
} as const;

/** The first event that can't be taken. */
interface EventFault {
  readonly code: keyof typeof FAULTS;
  /** How many are before it. */
  readonly number: number;
}

/** Metadata of events, in a body or in the query. */
const METADATA = ["source", "sourcetype", "index"] as const;

export class SplunkHec implements IntakeProtocol {
  readonly title = "Splunk HTTP Event Collector";
  readonly example = "/services/collector/event";
  /**
   * Of the next acknowledgement. Ids grow over restarts, as they begin with the time: what has a smaller one is in the log,
   * and its sender needn't repeat it because it asks a hub that has restarted.
   */
  #nextId = 0;

  serves(path: string): boolean {
    return PATHS.test(path);
  }

  /** Docker's log driver asks without its token, and so do load balancers. */
  isOpen(method: string, path: string): boolean {
    return method === "OPTIONS" || path.includes("/health");
  }

  /** Splunk's libraries go by the code in the body: one without it is success to them. */
  refusal({ status, message, headers }: HttpRefusal): HttpAnswer {
    const code = CODES[status] ?? (status < 500 ? INVALID_DATA : SERVER_FAILED);
    const answer = reply(status, code, message);
    return { ...answer, headers: { ...answer.headers, ...headers } };
  }

  async answer(request: IntakeRequest, take: TakeEvents): Promise<HttpAnswer> {
    const { path, method } = request;
    if (path.includes("/health")) return reply(200, HEALTHY, "HEC is healthy");
    // Docker's log driver asks so at its start whether the address is one of a collector.
    if (method === "OPTIONS") return { status: 200, headers: { Allow: "POST, OPTIONS" } };
    if (method !== "POST") return reply(405, INVALID_DATA, "events are posted");
    if (path.endsWith("/ack")) return this.#acknowledgements(request);
    const events = path.includes("/raw") ? rawEvents(request) : jsonEvents(request);
    if (!Array.isArray(events))
      return reply(400, events.code, FAULTS[events.code], { "invalid-event-number": events.number });
    if (events.length === 0) return reply(400, NO_DATA, "No data");
    try {
      await take(events);
    } catch (error) {
      const { code, message } = toAppError(error);
      // What can't be written never will be.
      return code === "parsing" ? reply(400, INVALID_DATA, message) : reply(503, SERVER_BUSY, message);
    }
    const channel = channelOf(request);
    return reply(200, SUCCESS, "Success", channel === undefined ? {} : { ackId: this.#issue(request.nowMs) });
  }

  #issue(nowMs: number): number {
    const id = Math.max(this.#nextId, nowMs);
    this.#nextId = id + 1;
    return id;
  }

  /** What was answered is in the log: each id that was given out is acknowledged, any other isn't. */
  #acknowledgements(request: IntakeRequest): HttpAnswer {
    const channel = channelOf(request);
    if (channel === undefined) return reply(400, NO_CHANNEL, "Data channel is missing");
    const { acks } = parseEventObject(decodeText(request.body)) ?? {};
    if (!Array.isArray(acks)) return reply(400, INVALID_DATA, "Invalid data format");
    this.#nextId ||= request.nowMs;
    const states = acks.map((id: unknown) => [valueText(id), Number(valueText(id)) < this.#nextId]);
    return { status: 200, headers: JSON_TYPE, body: JSON.stringify({ acks: Object.fromEntries(states) }) };
  }
}

const JSON_TYPE = { "Content-Type": "application/json" };

function reply(status: number, code: number, text: string, more: JsonObject = {}): HttpAnswer {
  const retry = status === 503 ? { "Retry-After": "1" } : {};
  return { status, headers: { ...JSON_TYPE, ...retry }, body: JSON.stringify({ text, code, ...more }) };
}

function channelOf({ headers, query }: IntakeRequest): string | undefined {
  const channel = headers[CHANNEL_HEADER] ?? query.get("channel") ?? "";
  return channel === "" ? undefined : String(channel);
}

/** Returns the events of objects one after the other, or what is wrong with the first invalid one. */
function jsonEvents({ body, nowMs }: IntakeRequest): Event[] | EventFault {
  const events: Event[] = [];
  for (const text of splitJsonObjects(decodeText(body))) {
    const envelopes = envelopesOf(parseEventObject(text));
    if (!Array.isArray(envelopes)) return { code: envelopes, number: events.length };
    checkEvents(events.length + envelopes.length);
    for (const envelope of envelopes) events.push(eventOf(envelope, nowMs));
  }
  return events;
}

/** Returns an object itself, or the events of a search that Splunk exported as JSON; a code where it holds none. */
function envelopesOf(object: JsonObject | undefined): JsonObject[] | EventFault["code"] {
  if (object === undefined) return INVALID_DATA;
  const { event, preview, result, results, lastrow } = object;
  if (event !== undefined) return event === "" ? BLANK_EVENT : [object];
  if (typeof preview !== "boolean") return NO_EVENT;
  const rows = results ?? (result === undefined && lastrow === true ? [] : [result]);
  if (!Array.isArray(rows) || !rows.every(isHash)) return INVALID_DATA;
  // What a search shows before its end comes once more.
  return preview ? [] : rows.map(exportedEvent);
}

/** Returns the envelope of a search's row: an event, or a line of a table. */
function exportedEvent(row: JsonObject): JsonObject {
  const { _raw: raw, _time: time, host, source, sourcetype, index } = row;
  const timeMs = Date.parse(valueText(time));
  const columns = Object.entries(row).filter(([name]) => !name.startsWith("_"));
  return {
    event: raw === undefined ? Object.fromEntries(columns) : valueText(raw),
    ...(Number.isFinite(timeMs) && { time: timeMs / 1000 }),
    ...(raw !== undefined && { host, source, sourcetype, index }),
  };
}

function eventOf(envelope: JsonObject, nowMs: number): Event {
  const { event, fields, time, host } = envelope;
  const members: JsonObject = isHash(event) ? membersOf(event) : { message: valueText(event) };
  // Docker's log driver puts the line under `line`.
  if (members["message"] === undefined && typeof members["line"] === "string")
    members["message"] = members["line"];
  if (isHash(fields)) for (const [name, value] of Object.entries(fields)) members[name] ??= value;
  if (host !== undefined && members["host"] === undefined) members["host"] = { name: valueText(host) };
  setMetadata(members, (name) => envelope[name]);
  return new Event(members, timeOf(time) ?? nowMs);
}

/**
 * Returns the members of an event. Splunk's libraries put what a program logged under `message`, beside its `severity`: also an
 * object, which winston's transport gives the text `msg`.
 */
function membersOf(event: JsonObject): JsonObject {
  const { message, ...others } = event;
  const { severity } = event;
  const level = typeof severity === "string" && { log: { level: severity.toLowerCase() } };
  if (!isHash(message)) return { ...level, ...event };
  const { msg, ...logged } = message;
  const isText = typeof msg === "string" && logged["message"] === undefined;
  return { ...level, ...(isText ? { message: msg, ...logged } : message), ...others };
}

/** Returns an event for each line. */
function rawEvents({ body, query, nowMs }: IntakeRequest): Event[] {
  const timeMs = timeOf(query.get("time") ?? undefined) ?? nowMs;
  const host = query.get("host");
  const lines = decodeText(body).split(/\r?\n/);
  checkEvents(lines.length);
  return lines
    .filter((line) => line !== "")
    .map((message) => {
      const members: JsonObject = { message, ...(host !== null && { host: { name: host } }) };
      setMetadata(members, (name) => query.get(name) ?? undefined);
      return new Event(members, timeMs);
    });
}

function setMetadata(members: JsonObject, given: (name: string) => unknown): void {
  const known = METADATA.map((name) => [name, given(name)] as const).filter(
    ([, value]) => value !== undefined,
  );
  if (known.length > 0 && members["splunk"] === undefined) members["splunk"] = Object.fromEntries(known);
}

/** From here on a time isn't in seconds (the year 2400) but ms, and from there on (the year 10000) not in ms but ns. */
const FIRST_MS = 13_569_465_600;
const FIRST_NS = 253_402_300_800_000;

/** Returns ms since 1970 of a time in seconds, ms or ns, as number or text; undefined: none. */
function timeOf(time: unknown): number | undefined {
  const value = Number(valueText(time));
  if (time === undefined || time === null || time === "" || !Number.isFinite(value)) return undefined;
  if (value < FIRST_MS) return value * 1000;
  return value < FIRST_NS ? value : value / 1e6;
}

/** Yields the text of each object; what is left open at the end is yielded too, and isn't JSON. */
function* splitJsonObjects(text: string): Generator<string> {
  let depth = 0;
  let start = -1;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') at = stringEnd(text, at);
    else if (sign === "{" && depth++ === 0) start = at;
    else if (sign === "}" && --depth === 0) {
      yield text.slice(start, at + 1);
      start = -1;
    } else if (depth <= 0 && !/[\s,[\]]/.test(sign!)) {
      yield text.slice(at);
      return;
    }
    if (depth === 0 && sign === '"') {
      yield text.slice(at);
      return;
    }
  }
  if (start >= 0) yield text.slice(start);
}

/** Returns the offset of the quote that ends the string at `start`, or the text's end. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}
