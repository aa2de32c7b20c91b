/** Filter elapsed: measures the time between two events that belong together. */

import type { Static } from "typebox";
import { defineFilter, type Filter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { decimal } from "#proto/codec/json.ts";
import { Event, Timestamp, valueText } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { setNewest } from "#proto/kit/newest-entries.ts";
import { flag, oneOf, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** Maximum number of starts that wait for their end; beyond, the oldest expires. */
const MAX_WAITING = 100_000;

interface Names {
  readonly time: string;
  readonly start: string;
  readonly matched: string;
  readonly expired: string;
  readonly noStart: string;
}

const LEGACY: Names = {
  time: "elapsed_time",
  start: "elapsed_timestamp_start",
  matched: "elapsed_match",
  expired: "elapsed_expired_error",
  noStart: "elapsed_end_without_start",
};

const ECS: Names = { ...LEGACY, time: "[event][duration]", start: "[event][start]" };

interface Waiting {
  readonly id: string;
  readonly place: number;
  readonly timeMs: number;
  /** When it was seen, by the clock, which decides when it expires. */
  readonly seenMs: number;
  readonly host: unknown;
}

const HOST = fieldReference("host");
const TAGS = fieldReference("tags");

const OPTIONS = options({
  start_tag: text("tag of start events"),
  end_tag: text("tag of end events"),
  unique_id_field: text("field with the same value in both events"),
  timeout: Type.Number({
    default: 1800,
    exclusiveMinimum: 0,
    description: "how long to wait for an end event, s",
  }),
  new_event_on_match: flag(
    "the elapsed time becomes a separate event instead of a field of the end event",
    false,
  ),
  keep_start_event: oneOf(["first", "last"], "which start event counts if there are several", "first"),
});

export const elapsedFilter = defineFilter({
  name: "elapsed",
  description: "measures the time between a start and an end event of the same id",
  options: OPTIONS,
  stateful: true,
  create: (values, context) => new Elapsed(values, context),
});

class Elapsed implements Filter {
  readonly #values: Static<typeof OPTIONS>;
  readonly #context: FilterContext;
  readonly #names: Names;
  readonly #id: FieldReference;
  /** Start events by their ids, the oldest first. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(values: Static<typeof OPTIONS>, context: FilterContext) {
    this.#values = values;
    this.#context = context;
    this.#names = context.ecs ? ECS : LEGACY;
    this.#id = fieldReference(values.unique_id_field);
  }

  apply(event: Event, emit: (event: Event, matched: boolean) => void): boolean {
    const tags = event.get(TAGS);
    const id = event.get(this.#id);
    if (id === undefined || id === null) return false;
    if (hasTag(tags, this.#values.start_tag)) return this.#start(valueText(id), event);
    return hasTag(tags, this.#values.end_tag) && this.#end(valueText(id), event, emit);
  }

  flush(emit: (event: Event, key: string) => void): void {
    const nowMs = this.#context.clock.now();
    for (const start of this.#waiting.values()) {
      if (nowMs - start.seenMs < this.#values.timeout * 1000) continue;
      this.#waiting.delete(start.id);
      const event = this.#freshEvent(start);
      this.#tell(event, start, nowMs - start.seenMs);
      event.tag(this.#names.expired);
      emit(event, `${start.id} ${start.place}`);
    }
  }

  heldFrom(): number | undefined {
    let smallest: number | undefined;
    for (const { place } of this.#waiting.values())
      if (smallest === undefined || place < smallest) smallest = place;
    return smallest;
  }

  #start(id: string, event: Event): boolean {
    const waiting = this.#waiting;
    if (waiting.has(id) && this.#values.keep_start_event === "first") return false;
    const { place, clock } = this.#context;
    const host = event.get(HOST);
    const started = { id, place: place(), timeMs: event.timeMs, seenMs: clock.now(), host };
    setNewest(waiting, id, started, MAX_WAITING);
    return true;
  }

  #end(id: string, event: Event, emit: (event: Event, matched: boolean) => void): boolean {
    const start = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (start === undefined) {
      event.tag(this.#names.noStart);
      return false;
    }
    const told = this.#values.new_event_on_match ? this.#freshEvent(start) : event;
    this.#tell(told, start, event.timeMs - start.timeMs);
    told.tag(this.#names.matched);
    if (told !== event) emit(told, true);
    return told === event;
  }

  /** ECS counts durations in ns, the older field in s. */
  #tell(event: Event, start: Waiting, elapsedMs: number): void {
    const duration = this.#context.ecs ? elapsedMs * 1_000_000 : decimal(elapsedMs / 1000);
    event.set(fieldReference(this.#names.time), duration);
    event.set(fieldReference(this.#names.start), new Timestamp(start.timeMs));
    event.tag("elapsed");
  }

  #freshEvent(start: Waiting): Event {
    const event = new Event({}, this.#context.clock.now());
    event.set(this.#id, start.id);
    if (start.host !== undefined) event.set(HOST, start.host);
    return event;
  }
}

function hasTag(tags: unknown, tag: string): boolean {
  return Array.isArray(tags) ? tags.includes(tag) : tags === tag;
}
