/** Filter elapsed: measures the time between two events that belong together. */

import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { Event, Timestamp, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
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

export const elapsedFilter = defineFilter({
  name: "elapsed",
  description: "measures the time between a start and an end event of the same id",
  options: options({
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
  }),
  stateful: true,
  create(values, context) {
    const names = context.ecs ? ECS : LEGACY;
    const idField = fieldReference(values.unique_id_field);
    const waiting = new Map<string, Waiting>();
    const starts = (id: string, event: Event): boolean => {
      if (waiting.has(id) && values.keep_start_event === "first") return false;
      waiting.delete(id);
      const { place, clock } = context;
      if (waiting.size >= MAX_WAITING) waiting.delete(waiting.keys().next().value!);
      const host = event.get(HOST);
      waiting.set(id, { id, place: place(), timeMs: event.timeMs, seenMs: clock.now(), host });
      return true;
    };
    const ends = (id: string, event: Event, emit: (event: Event, matched: boolean) => void): boolean => {
      const start = waiting.get(id);
      waiting.delete(id);
      if (start === undefined) {
        event.tag(names.noStart);
        return false;
      }
      const told = values.new_event_on_match ? freshEvent(start, values.unique_id_field, context) : event;
      tell(told, names, start, event.timeMs - start.timeMs, context.ecs);
      told.tag(names.matched);
      if (told !== event) emit(told, true);
      return told === event;
    };
    return {
      apply(event, emit) {
        const tags = event.get(TAGS);
        const id = event.get(idField);
        if (id === undefined || id === null) return false;
        if (hasTag(tags, values.start_tag)) return starts(valueText(id), event);
        return hasTag(tags, values.end_tag) && ends(valueText(id), event, emit);
      },
      flush(emit) {
        const nowMs = context.clock.now();
        for (const start of waiting.values()) {
          if (nowMs - start.seenMs < values.timeout * 1000) continue;
          waiting.delete(start.id);
          const event = freshEvent(start, values.unique_id_field, context);
          tell(event, names, start, nowMs - start.seenMs, context.ecs);
          event.tag(names.expired);
          emit(event, `${start.id} ${start.place}`);
        }
      },
      heldFrom() {
        let smallest: number | undefined;
        for (const { place } of waiting.values())
          if (smallest === undefined || place < smallest) smallest = place;
        return smallest;
      },
    };
  },
});

function hasTag(tags: unknown, tag: string): boolean {
  return Array.isArray(tags) ? tags.includes(tag) : tags === tag;
}

/** ECS counts durations in ns, the older field in s. */
function tell(event: Event, names: Names, start: Waiting, elapsedMs: number, ecs: boolean): void {
  event.set(fieldReference(names.time), ecs ? elapsedMs * 1_000_000 : elapsedMs / 1000);
  event.set(fieldReference(names.start), new Timestamp(start.timeMs));
  event.tag("elapsed");
}

function freshEvent(start: Waiting, idField: string, { clock }: FilterContext): Event {
  const event = new Event({}, clock.now());
  event.set(fieldReference(idField), start.id);
  if (start.host !== undefined) event.set(HOST, start.host);
  return event;
}
