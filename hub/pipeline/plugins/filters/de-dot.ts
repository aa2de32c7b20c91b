/** Filter de_dot: replaces dots in field names. */

import { defineFilter } from "#hub/pipeline/plugins/filter.ts";
import { type Event, isHash } from "#proto/event.ts";
import { type FieldReference, fieldReference } from "#proto/field-reference.ts";
import { flag, list, options, text } from "#proto/kit/options.ts";

export const deDotFilter = defineFilter({
  name: "de_dot",
  description: "replaces the dots in field names, or makes objects of them",
  options: options({
    separator: text("replacement of dots", "_"),
    nested: flag("true: a.b becomes b in an object a", false),
    recursive: flag("true: also names within objects", false),
    fields: list("fields to process, also [a][b.c]; none: all top-level ones"),
    tag_on_failure: text("tag of events for which a name can't be changed", "_de_dot_error"),
  }),
  create({ separator, nested, recursive, fields, tag_on_failure }, { report }) {
    if (separator.includes(".")) report("error", "separator", "the separator can't have a dot");
    const undotted = (part: string): string[] => {
      if (!nested) return [part.replaceAll(".", separator)];
      const parts = part.split(".");
      return parts.includes("") ? [part] : parts;
    };
    const rename = (event: Event, from: FieldReference): void => {
      const to = { ...from, path: from.path.flatMap(undotted) };
      if (to.path.join("\0") !== from.path.join("\0")) move(event, from, to);
      if (!recursive) return;
      const content = event.get(to);
      const names = Array.isArray(content) || isHash(content) ? Object.keys(content) : [];
      for (const name of names) rename(event, { ...to, path: [...to.path, name] });
    };
    const chosen = fields.map(fieldReference);
    return {
      apply(event) {
        try {
          const every = (): FieldReference[] =>
            Object.keys(event.fields).map((name) => ({ text: name, path: [name], inMetadata: false }));
          for (const each of chosen.length > 0 ? chosen : every()) if (event.has(each)) rename(event, each);
          return true;
        } catch {
          event.tag(tag_on_failure);
          return false;
        }
      },
      conflicted: (event) => event.tag(tag_on_failure),
    };
  },
});

/** Moves a value; an object that gets empty by it goes as well. */
function move(event: Event, from: FieldReference, to: FieldReference): void {
  // Removed only after it was set: a plain value may be in the way.
  event.set(to, event.get(from));
  event.remove(from);
  for (let { path } = from; path.length > 1; ) {
    path = path.slice(0, -1);
    const outer = event.get({ ...from, path });
    if (!isHash(outer) || Object.keys(outer).length > 0) return;
    event.remove({ ...from, path });
  }
}
