/** From the options of a plugin as written to values checked against its schema. */

import type { TObject, TSchema } from "typebox";
import { nearestName } from "#proto/kit/nearest.ts";
import type { Diagnostic } from "./diagnostics.ts";
import { convertText, schemaFault } from "./option-schema.ts";
import type { AttributeNode, PluginNode, Range, ValueNode } from "./syntax-tree.ts";
import { expandVariables, type Variables } from "./variables.ts";

/** Values by option; a plugin as a value (`codec => json { … }`) is a PluginNode. */
export type OptionValues = Record<string, unknown>;

/** Notes a fault of the pipeline's text. */
export type Report = (severity: Diagnostic["severity"], range: Range, message: string, hint?: string) => void;

/** Returns the checked options of `plugin`, defaults filled in; faults are reported. `title`: "filter grok". */
export function readOptions(
  plugin: PluginNode,
  schema: TObject,
  title: string,
  variables: Variables,
  report: Report,
): OptionValues {
  const values: OptionValues = {};
  const ranges = new Map<string, Range>();
  for (const attribute of plugin.attributes) {
    const { name, nameRange } = attribute;
    if (!Object.hasOwn(schema.properties, name)) {
      const nearest = nearestName(name, Object.keys(schema.properties));
      const hint =
        nearest === undefined
          ? `it knows: ${Object.keys(schema.properties).join(", ")}`
          : `did you mean "${nearest}"?`;
      report("error", nameRange, `${title} has no option "${name}"`, hint);
      continue;
    }
    const value = plainValue(attribute.value, variables, report);
    values[name] = Object.hasOwn(values, name) ? joinRepeated(values[name], value) : value;
    ranges.set(name, attribute.value.range);
  }
  for (const [name, property] of Object.entries(schema.properties)) {
    if (Object.hasOwn(values, name)) {
      const why = (property as { withoutEffect?: string }).withoutEffect;
      if (why !== undefined) report("warning", ranges.get(name)!, `${title}: "${name}" has no effect`, why);
      values[name] = checkOption(name, values[name], property, ranges.get(name)!, title, report);
    } else if ("default" in property) {
      values[name] = structuredClone(property.default);
    } else if (schema.required?.includes(name)) {
      report("error", plugin.nameRange, `${title} needs the option "${name}"`, describe(property));
    }
  }
  return values;
}

/** Returns the place of an option's value, or of the plugin's name where it isn't written. */
export function optionRange(plugin: PluginNode, name: string): Range {
  return (
    plugin.attributes.findLast((each: AttributeNode) => each.name === name)?.value.range ?? plugin.nameRange
  );
}

function plainValue(node: ValueNode, variables: Variables, report: Report): unknown {
  switch (node.kind) {
    case "string":
    case "bareword":
      return expandVariables(node.value, node.range, variables, report);
    case "number":
      return node.value;
    case "array":
      return node.items.map((item) => plainValue(item, variables, report));
    case "hash": {
      const entries: [string, unknown][] = [];
      for (const { key, keyRange, value } of node.entries) {
        const name = String(expandVariables(key, keyRange, variables, report));
        if (entries.some(([before]) => before === name)) {
          report(
            "error",
            keyRange,
            `the key "${name}" stands twice`,
            "keep one of them, or give it a list of values",
          );
        }
        entries.push([name, plainValue(value, variables, report)]);
      }
      return Object.fromEntries(entries);
    }
    case "plugin":
      return node;
  }
}

/** An option written several times: tables are merged, everything else becomes a list. */
function joinRepeated(before: unknown, value: unknown): unknown {
  if (isTable(before) && isTable(value)) {
    const merged = { ...before };
    for (const [key, item] of Object.entries(value)) {
      merged[key] = Object.hasOwn(merged, key) ? joinRepeated(merged[key], item) : item;
    }
    return merged;
  }
  const list = Array.isArray(before) ? before : [before];
  const added = Array.isArray(value) ? value : [value];
  if (!Array.isArray(before) && added.length === 1 && before === added[0]) return before;
  return [...list, ...added];
}

function isTable(value: unknown): value is Record<string, unknown> {
  return (
    value !== null &&
    typeof value === "object" &&
    !Array.isArray(value) &&
    !("kind" in value && "nameRange" in value)
  );
}

function checkOption(
  name: string,
  value: unknown,
  schema: TSchema,
  range: Range,
  title: string,
  report: Report,
): unknown {
  const converted = convertText(schema, shape(value, schema));
  const fault = schemaFault(schema, converted);
  if (fault === undefined) return converted;
  const where = fault.path.length === 0 ? "" : ` (at ${fault.path.join(".")})`;
  report("error", range, `${title}: "${name}" ${fault.message}${where}`, describe(schema));
  return converted;
}

/** Gives a value the outer shape that is asked for: a single value for a list, a list of pairs for a table, text for a number. */
function shape(value: unknown, schema: TSchema): unknown {
  const { type } = schema as { type?: string };
  if (type === "array") {
    const list = Array.isArray(value) ? value : [value];
    const { items } = schema as { items?: TSchema };
    return items === undefined ? list : list.map((item) => shape(item, items));
  }
  if (type === "object" && Array.isArray(value)) return pairs(value);
  if (type === "string" && (typeof value === "number" || typeof value === "boolean")) return String(value);
  if (type === "string" && Array.isArray(value) && value.length === 1) return shape(value[0], schema);
  return value;
}

/** `[ "a", "x", "b", "y" ]` as a table. */
function pairs(list: readonly unknown[]): unknown {
  if (list.length % 2 !== 0) return list;
  let table: Record<string, unknown> = {};
  for (let at = 0; at < list.length; at += 2) {
    table = joinRepeated(table, { [String(list[at])]: list[at + 1] }) as Record<string, unknown>;
  }
  return table;
}

function describe(schema: TSchema): string {
  return (schema as { description?: string }).description ?? "";
}
