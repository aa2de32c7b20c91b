/** Runs a pipeline filter for a processor: it receives one value and returns the fields that it extracts. */

import type { Filter, FilterDefinition } from "#hub/pipeline/plugins/filter.ts";
import { Event, isHash } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { defaultsOf } from "#proto/kit/schema.ts";
import type { ProcessorContext, ProcessorSettings } from "./processor.ts";

/** Where a filter finds what it reads, and puts what it found. */
const VALUE = fieldReference("[value]");
export const FOUND = fieldReference("[found]");

/** Makes a filter whose faults are faults of a setting. Throws request_invalid. */
export function makeFilter(
  settings: ProcessorSettings,
  name: string,
  definition: FilterDefinition,
  { clock, guard }: ProcessorContext,
  given: JsonObject,
): Filter {
  const faults: string[] = [];
  const make = (): Filter =>
    definition.create({ ...defaultsOf(definition.options), ...given } as never, {
      clock,
      guard,
      random: Math.random,
      place: () => 0,
      shared: new Map(),
      ecs: false,
      isChecked: false,
      resolvePath: (path) => path,
      report: (severity, _option, message) => {
        if (severity === "error") faults.push(message);
      },
    });
  try {
    const filter = make();
    if (faults.length === 0) return filter;
  } catch (error) {
    if (error instanceof AppError) throw error;
    faults.push((error as Error).message);
  }
  throw settings.fault(name, faults.join("; "));
}

/** Returns the event once the filter did its work, else undefined. */
export function applied(filter: Filter, value: unknown, { clock }: ProcessorContext): Event | undefined {
  const event = new Event({}, clock.now());
  event.set(VALUE, value);
  return filter.apply(event, () => undefined) ? event : undefined;
}

/** Returns what the filter found in `value`; undefined if it did not do its work. */
export function runFilter(filter: Filter, value: unknown, context: ProcessorContext): JsonObject | undefined {
  const event = applied(filter, value, context);
  const found = event?.get(FOUND);
  return isHash(found) ? found : event === undefined ? undefined : {};
}
