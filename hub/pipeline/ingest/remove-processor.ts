/** Processor `remove`: of the fields that it names, or of all but those that it keeps. */

import { isHash } from "#proto/event.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { ProcessorKind } from "./processor.ts";
import { compileTemplate } from "./template.ts";

export const remove: ProcessorKind = (settings) => {
  const kept = settings.texts("keep", []).map((field) => compileTemplate(field));
  if (kept.length > 0) {
    if (settings.take("field") !== undefined)
      throw settings.fault("keep", "cannot set both `keep` and `field` in the same processor");
    settings.flag("ignore_missing");
    return (document) =>
      keepOnly(
        document.source,
        kept.map((field) => field(document).replace(/^_source\./, "")),
      );
  }
  const fields = settings.texts("field").map((field) => compileTemplate(field));
  const ignoreMissing = settings.flag("ignore_missing");
  return (document) => {
    for (const field of fields) {
      const path = field(document);
      // A template may render to nothing.
      if (!ignoreMissing || (path !== "" && document.has(path))) document.remove(path);
    }
  };
};

/** Removes the members of an object, of its objects too, that are neither at nor below one of the paths. */
function keepOnly(object: JsonObject, paths: readonly string[], prefix = ""): void {
  for (const [name, value] of Object.entries(object)) {
    const path = `${prefix}${name}`;
    if (paths.some((each) => each === path || path.startsWith(`${each}.`))) continue;
    if (!paths.some((each) => each.startsWith(`${path}.`))) delete object[name];
    else if (isHash(value)) keepOnly(value, paths, `${path}.`);
  }
}
