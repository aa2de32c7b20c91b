/** Actions that every filter supports after a success: adding and removing fields and tags. */

import { type Event, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { compileFormat, type Format } from "#proto/format.ts";
import { list, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** Options of every filter. */
export const decorationOptions = options({
  add_field: Type.Record(Type.String(), Type.Unknown(), {
    description: "fields to add, names and values as formats; an existing field becomes a list",
    default: {},
  }),
  add_tag: list("tags to add, as formats"),
  remove_field: list("fields to remove, as formats"),
  remove_tag: list("tags to remove, as formats"),
  id: optional(text("name of this filter in metrics and messages")),
  enable_metric: withoutEffect("filters are always measured", Type.Boolean({ default: true })),
  periodic_flush: withoutEffect(
    "filters that keep events flush by themselves",
    Type.Boolean({ default: false }),
  ),
  ecs_compatibility: Type.Enum(["disabled", "v1", "v8"], {
    description: "v1 and v8 name fields by the Elastic Common Schema",
    default: "disabled",
  }),
});

export interface DecorationOptions {
  readonly add_field: Readonly<Record<string, unknown>>;
  readonly add_tag: readonly string[];
  readonly remove_field: readonly string[];
  readonly remove_tag: readonly string[];
}

/** Returns what does it, in the order add_field, remove_field, add_tag, remove_tag; undefined for nothing to do. */
export function compileDecorations(decorations: DecorationOptions): ((event: Event) => void) | undefined {
  const steps: ((event: Event) => void)[] = [];
  for (const [name, value] of Object.entries(decorations.add_field)) {
    const values = (Array.isArray(value) ? value : [value]).map((item) => compileFormat(valueText(item)));
    steps.push(addField(compileFormat(name), values));
  }
  for (const name of decorations.remove_field) {
    const format = compileFormat(name);
    steps.push((event) => event.remove(fieldReference(format(event))));
  }
  const added = decorations.add_tag.map(compileFormat);
  if (added.length > 0) steps.push((event) => event.addTags(added.map((format) => format(event))));
  const removed = decorations.remove_tag.map(compileFormat);
  if (removed.length > 0)
    steps.push((event) =>
      removeTags(
        event,
        removed.map((format) => format(event)),
      ),
    );
  if (steps.length === 0) return undefined;
  return (event) => {
    for (const step of steps) step(event);
  };
}

function addField(name: Format, values: readonly Format[]): (event: Event) => void {
  return (event) => {
    const reference = fieldReference(name(event));
    for (const format of values) {
      const value = format(event);
      const before = event.get(reference);
      if (before === undefined) event.set(reference, value);
      else
        event.set(reference, [...(Array.isArray(before) ? before : before === null ? [] : [before]), value]);
    }
  };
}

function removeTags(event: Event, names: readonly string[]): void {
  const tags = event.fields["tags"];
  if (typeof tags === "string") {
    event.fields["tags"] = names.includes(tags) ? [] : [tags];
  } else if (Array.isArray(tags)) {
    event.fields["tags"] = tags.filter((tag) => !names.includes(tag as string));
  }
}
