/**
 * Input http_poller: polls HTTP services on a schedule. Makes events from an answer, and finds the address of its next
 * page.
 */

import { randomUUID } from "node:crypto";
import type { ConnectionOptions } from "node:tls";
import { httpsTls, TlsFetch } from "#hub/pipeline/connections/http-agents.ts";
import { parseSchedule, runScheduled, type Schedule } from "#hub/pipeline/formats/schedule.ts";
import { type Codec, decodeWhole } from "#hub/pipeline/plugins/codec.ts";
import { defineInput, type InputChannel, type InputContext } from "#hub/pipeline/plugins/input.ts";
import {
  type Answer,
  HTTP_POLLER_OPTIONS,
  type HttpPollerOptions,
  isPrivateWay,
  Requester,
  type Target,
  targetOf,
} from "#hub/pipeline/plugins/inputs/http-poller/requester.ts";
import { type Event, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Component } from "#proto/kit/lifecycle.ts";

/** Tag of events that report a failed request. */
const FAILURE_TAG = "_http_request_failure";

class AnswerReader {
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

  /** Returns the event that reports a failure, the `count`th of its kind in a row. */
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

/** Pages of one answer that are followed. */
const MAX_PAGES = 1_000;

export const httpPollerInput = defineInput({
  name: "http_poller",
  description: "polls HTTP services on a schedule",
  isShared: true,
  options: HTTP_POLLER_OPTIONS,
  create(values, { codec, report, resolvePath }) {
    const makeCodec = codec(values.codec);
    const targets = Object.entries(values.urls).map(([name, value]) => targetOf(name, value, values));
    for (const { name, url, connection } of targets) {
      if (!/^https?:\/\/[^/]/.test(url))
        report("error", "urls", `${name}: "${url}" is no address of HTTP`, "write https://host/path");
      else if (connection !== undefined && !isPrivateWay(url))
        report(
          "error",
          "urls",
          `${name}: an account's token doesn't go over http`,
          "write https://host/path",
        );
    }
    if (targets.length === 0)
      report("error", "urls", "there is nothing to ask", 'write: urls => { "name" => "https://host/path" }');
    const schedule = parseSchedule(values.schedule);
    const tls = httpsTls(values, resolvePath);
    return (context) => new Poller(context, values, targets, schedule, makeCodec, tls);
  },
});

/** The same failure of a service in a row. */
interface Failure {
  readonly reason: string;
  count: number;
}

class Poller implements Component {
  readonly #context: InputContext;
  readonly #values: HttpPollerOptions;
  readonly #targets: readonly Target[];
  readonly #schedule: Schedule;
  readonly #reader: AnswerReader;
  readonly #stopping = new AbortController();
  readonly #requester: Requester;
  readonly #client: TlsFetch;
  /** By the names of services. */
  readonly #failures = new Map<string, Failure>();
  #running: Promise<void> = Promise.resolve();

  constructor(
    context: InputContext,
    values: HttpPollerOptions,
    targets: readonly Target[],
    schedule: Schedule,
    makeCodec: () => Codec,
    tls: ConnectionOptions | undefined,
  ) {
    this.#context = context;
    this.#values = values;
    this.#targets = targets;
    this.#schedule = schedule;
    this.#reader = new AnswerReader(values, makeCodec, context.clock);
    this.#client = new TlsFetch(tls);
    this.#requester = new Requester(context, values, this.#stopping.signal, this.#client);
  }

  async start(): Promise<void> {
    const channel = this.#context.open({ key: randomUUID() });
    this.#running = runScheduled(this.#schedule, this.#context.clock, this.#stopping.signal, async () => {
      for (const target of this.#targets) await this.#ask(target, channel);
    }).finally(() => channel.close());
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    this.#client.close();
  }

  async #ask(target: Target, channel: InputChannel): Promise<void> {
    if (this.#requester.isPaused(target)) return;
    const { cursor_parameter } = this.#values;
    const remembered = await this.#context.state.get(`cursor ${target.name}`);
    let url: URL | undefined = new URL(target.url);
    if (cursor_parameter !== undefined && remembered !== undefined)
      url.searchParams.set(cursor_parameter, valueText(remembered));
    try {
      for (let page = 0; url !== undefined && page < MAX_PAGES; page++)
        url = await this.#page(target, url, channel);
      this.#failures.delete(target.name);
      this.#tellState();
    } catch (error) {
      if (!this.#stopping.signal.aborted) await this.#fail(target, (error as Error).message, channel);
    }
  }

  /** Takes one page; returns the address of the next. */
  async #page(target: Target, url: URL, channel: InputChannel): Promise<URL | undefined> {
    const { clock, state } = this.#context;
    const startedMs = clock.monotonic();
    const answer = await this.#requester.ask(target, url);
    const { events, next } = this.#reader.read(target, url, answer, clock.monotonic() - startedMs);
    if (events.length > 0) await channel.send(events.map((event) => ({ event })));
    const cursor = this.#reader.cursorOf(events);
    if (cursor !== undefined) await state.put(`cursor ${target.name}`, cursor);
    return next;
  }

  /** A failure that continues is told as an event at the first, tenth, hundredth … time, so that it doesn't fill the index. */
  async #fail(target: Target, reason: string, channel: InputChannel): Promise<void> {
    const before = this.#failures.get(target.name);
    const failure = before?.reason === reason ? before : { reason, count: 0 };
    failure.count++;
    this.#failures.set(target.name, failure);
    this.#tellState();
    if (!/^10*$/.test(String(failure.count))) return;
    const event = this.#reader.failure(target, reason, failure.count);
    if (event !== undefined) await channel.send([{ event }]).catch(() => undefined);
  }

  #tellState(): void {
    const told = [...this.#failures].map(
      ([name, { reason, count }]) => `${name}: ${reason}${count > 1 ? ` (${count} times in a row)` : ""}`,
    );
    this.#context.failing(told.length === 0 ? null : told.join("; "));
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
