/** Makes events of the answers of services, and of requests that failed. */

import { STATUS_CODES } from "node:http";
import { hostname } from "node:os";
import { type Codec, decodeWhole } from "#hub/pipeline/plugins/codec.ts";
import { Event, valueText } from "#proto/event.ts";
import { bracketed, fieldReference } from "#proto/field-reference.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { Answer, HttpPollerOptions, Target } from "./requester.ts";

/** Tag of events that report a failed request. */
const FAILURE_TAG = "_http_request_failure";

/** A request that was sent, and how long it took, ms. */
export interface SentRequest {
  readonly target: Target;
  /** Of the page that was asked for. */
  readonly url: URL;
  readonly tookMs: number;
}

/** Why a request failed, and how often it has in a row. */
export interface RequestFailure {
  readonly reason: string;
  readonly count: number;
}

export class AnswerReader {
  readonly #values: HttpPollerOptions;
  readonly #makeCodec: () => Codec;
  readonly #clock: Clock;

  constructor(values: HttpPollerOptions, makeCodec: () => Codec, clock: Clock) {
    this.#values = values;
    this.#makeCodec = makeCodec;
    this.#clock = clock;
  }

  /** Returns the events of an answer, and the address of the next page. An answer without a body is an event without fields. */
  read(request: SentRequest, answer: Answer): { readonly events: Event[]; readonly next: URL | undefined } {
    const { items, next_page } = this.#values;
    const [whole] = items === undefined && next_page === undefined ? [] : this.#decode(answer.body);
    const events = items === undefined ? this.#decode(answer.body) : this.#items(whole);
    if (answer.body.length === 0 && items === undefined) events.push(new Event({}, this.#clock.now()));
    for (const event of events) {
      this.#moveToTarget(event);
      this.#setMetadata(event, request, answer);
    }
    return { events, next: nextPage(request.url, whole, this.#values) };
  }

  /** Returns the event that reports a failure. */
  failure(request: SentRequest, { reason, count }: RequestFailure): Event {
    const { target, url, tookMs } = request;
    const event = new Event({}, this.#clock.now());
    const { method } = target;
    if (this.#isLegacy)
      event.fields["http_request_failure"] = {
        name: target.name,
        request: { method, url: new URL(target.url).origin },
        error: reason,
        runtime_seconds: tookMs / 1000,
        count,
      };
    else
      Object.assign(event.fields, {
        error: { message: reason },
        event: { duration: nanoseconds(tookMs) },
        url: { full: shownUrl(url, target) },
        http: { request: { method } },
        host: { hostname: hostname() },
      });
    event.tag(FAILURE_TAG);
    this.#setMetadata(event, request);
    return event;
  }

  /** Returns the value that is remembered of a page, where the options name one. */
  cursorOf(events: readonly Event[]): string | undefined {
    const { cursor, target: field } = this.#values;
    if (cursor === undefined) return undefined;
    const root = field === undefined ? "" : bracketed(field);
    const value = events.at(-1)?.get(fieldReference(`${root}${bracketed(cursor)}`));
    return value === undefined ? undefined : valueText(value);
  }

  get #isLegacy(): boolean {
    return this.#values.ecs_compatibility === "disabled";
  }

  #decode(body: Buffer): Event[] {
    return body.length === 0 ? [] : decodeWhole(this.#makeCodec(), body, this.#clock.now());
  }

  #items(whole: Event | undefined): Event[] {
    const listed = whole?.get(fieldReference(this.#values.items ?? ""));
    if (!Array.isArray(listed)) return [];
    return listed.flatMap((item) => this.#decode(Buffer.from(JSON.stringify(item))));
  }

  #moveToTarget(event: Event): void {
    const { target } = this.#values;
    if (target === undefined) return;
    const fields = { ...event.fields };
    delete fields["@timestamp"];
    if (Object.keys(fields).length === 0) return;
    for (const name of Object.keys(fields)) delete event.fields[name];
    event.set(fieldReference(target), fields);
  }

  #setMetadata(event: Event, request: SentRequest, answer?: Answer): void {
    const { metadata_target } = this.#values;
    const metadata = this.#isLegacy ? legacyMetadata(request, answer) : ecsMetadata(request, answer);
    if (metadata_target === "@metadata") event.metadata = { ...event.metadata, ...metadata };
    else event.trySet(fieldReference(metadata_target), metadata);
  }
}

function legacyMetadata({ target, url, tookMs }: SentRequest, answer: Answer | undefined): JsonObject {
  return {
    host: hostname(),
    name: target.name,
    request: { method: target.method, url: shownUrl(url, target) },
    runtime_seconds: tookMs / 1000,
    ...(answer !== undefined && {
      code: answer.status,
      response_headers: answer.headers,
      response_message: STATUS_CODES[answer.status] ?? "",
      times_retried: 0,
    }),
  };
}

function ecsMetadata({ target, url, tookMs }: SentRequest, answer: Answer | undefined): JsonObject {
  const request = {
    host: { hostname: hostname() },
    name: target.name,
    original: { method: target.method, url: shownUrl(url, target) },
    retry_count: 0,
  };
  const response = {
    elapsed_time_ns: nanoseconds(tookMs),
    ...(answer !== undefined && {
      status_code: answer.status,
      status_message: STATUS_CODES[answer.status] ?? "",
      headers: answer.headers,
    }),
  };
  return { input: { http_poller: { request, response } } };
}

function nanoseconds(ms: number): number {
  return Math.round(ms * 1_000_000);
}

/** Returns an address as it is written, without what may be secret in it: a password, a query. */
function shownUrl(url: URL, target: Target): string {
  const [shown, written] = [url.href, target.url].map((text) =>
    text.replace(/[?#].*$/s, "").replace(/\/\/[^/@]*@/, "//"),
  );
  return shown === `${written}/` ? written! : shown!;
}

function nextPage(
  url: URL,
  whole: Event | undefined,
  { next_page, page_parameter }: HttpPollerOptions,
): URL | undefined {
  const value = next_page === undefined ? undefined : whole?.get(fieldReference(next_page));
  if (value === undefined || value === null || value === "" || value === false) return undefined;
  if (page_parameter === undefined) return new URL(valueText(value), url);
  const next = new URL(url);
  next.searchParams.set(page_parameter, valueText(value));
  return next;
}
