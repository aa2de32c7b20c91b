/** Makes events from an answer, and finds the address of its next page. */

import { type Codec, decodeWhole } from "#hub/pipeline/plugins/codec.ts";
import { type Event, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Answer, HttpPollerOptions, Target } from "./requester.ts";

/** Tag of events that tell a request that failed. */
const FAILURE_TAG = "_http_request_failure";

export class AnswerReader {
  readonly #values: HttpPollerOptions;
  readonly #makeCodec: () => Codec;
  readonly #clock: Clock;

  constructor(values: HttpPollerOptions, makeCodec: () => Codec, clock: Clock) {
    this.#values = values;
    this.#makeCodec = makeCodec;
    this.#clock = clock;
  }

  /** Returns the events of an answer to a request that took `tookMs`, and the address of the next page. */
  read(
    target: Target,
    url: URL,
    { status, headers, body }: Answer,
    tookMs: number,
  ): { readonly events: Event[]; readonly next: URL | undefined } {
    const { items, next_page } = this.#values;
    const [whole] = items === undefined && next_page === undefined ? [] : this.#decode(body);
    const events = items === undefined ? this.#decode(body) : this.#items(whole);
    for (const event of events) {
      this.#decorate(event, {
        name: target.name,
        code: status,
        response_headers: headers,
        runtime_seconds: tookMs / 1000,
        request: { method: target.method, url: `${url.origin}${url.pathname}` },
      });
    }
    return { events, next: nextPage(url, whole, this.#values) };
  }

  /** Returns the event that tells of a failure, the `count`th of its kind in a row. */
  failure(target: Target, reason: string, count: number): Event | undefined {
    const [event] = this.#makeCodec().decode(Buffer.from("{}"), this.#clock.now());
    if (event === undefined) return undefined;
    event.fields["http_request_failure"] = {
      name: target.name,
      request: { method: target.method, url: new URL(target.url).origin },
      error: reason,
      count,
    };
    event.tag(FAILURE_TAG);
    return event;
  }

  /** Returns the value that is remembered of a page, where the options name one. */
  cursorOf(events: readonly Event[]): string | undefined {
    const { cursor, target: field } = this.#values;
    if (cursor === undefined) return undefined;
    const bracketed = cursor.startsWith("[") ? cursor : `[${cursor}]`;
    const root = field === undefined ? "" : field.startsWith("[") ? field : `[${field}]`;
    const value = events.at(-1)?.get(fieldReference(`${root}${bracketed}`));
    return value === undefined ? undefined : valueText(value);
  }

  #decode(body: Buffer): Event[] {
    return body.length === 0 ? [] : decodeWhole(this.#makeCodec(), body, this.#clock.now());
  }

  #items(whole: Event | undefined): Event[] {
    const listed = whole?.get(fieldReference(this.#values.items ?? ""));
    if (!Array.isArray(listed)) return [];
    return listed.flatMap((item) => this.#decode(Buffer.from(JSON.stringify(item))));
  }

  #decorate(event: Event, metadata: Record<string, unknown>): void {
    const { target, metadata_target } = this.#values;
    if (target !== undefined) {
      const fields = { ...event.fields };
      delete fields["@timestamp"];
      for (const name of Object.keys(fields)) delete event.fields[name];
      event.set(fieldReference(target), fields);
    }
    const into = fieldReference(metadata_target === "@metadata" ? "[@metadata]" : metadata_target);
    event.set(into, metadata_target === "@metadata" ? { ...event.metadata, ...metadata } : metadata);
  }
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
