/** From the options of a plugin as written to values checked against its schema. */

import type { TObject, TSchema } from "typebox";
import { decimal } from "#proto/codec/json.ts";
import { nearestName } from "#proto/kit/nearest.ts";
import { keepsDecimals, treatmentOf } from "#proto/kit/options.ts";
import { convert, schemaFault } from "#proto/kit/schema.ts";
import type { Diagnostic } from "./diagnostics.ts";
import type { AttributeNode, PluginNode, Range, ValueNode } from "./syntax-tree.ts";

/** Values by option; a plugin as a value (`codec => json { … }`) is a PluginNode. */
export type OptionValues = Record<string, unknown>;

/** Records a fault of the pipeline's text. */
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
    const value = optionValue(attribute.value, schema.properties[name]!, variables, report);
    values[name] = Object.hasOwn(values, name) ? joinRepeated(values[name], value) : value;
    ranges.set(name, attribute.value.range);
  }
  for (const [name, property] of Object.entries(schema.properties)) {
    if (Object.hasOwn(values, name)) {
      const range = ranges.get(name)!;
      values[name] = checkOption(name, values[name], property, range, title, report);
      reportTreatment(name, values[name], property, range, title, report);
    } else if ("default" in property) {
      values[name] = structuredClone(property.default);
    } else if (schema.required?.includes(name)) {
      report("error", plugin.nameRange, `${title} needs the option "${name}"`, describe(property));
    }
  }
  return values;
}

/** Returns the position of an option's value, or of the plugin's name where it isn't written. */
export function optionRange(plugin: PluginNode, name: string): Range {
  return (
    plugin.attributes.findLast((each: AttributeNode) => each.name === name)?.value.range ?? plugin.nameRange
  );
}

/** `exact`: 30.0 stays a decimal. */
function plainValue(node: ValueNode, variables: Variables, report: Report, exact = false): unknown {
  switch (node.kind) {
    case "string":
    case "bareword":
      return withVariables(node.value, node.range, variables, report);
    case "number":
      return exact && node.isDecimal ? decimal(node.value) : node.value;
    case "array":
      return node.items.map((item) => plainValue(item, variables, report, exact));
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
        entries.push([name, plainValue(value, variables, report, exact)]);
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
  const converted = convert(schema, shape(value, schema));
  const fault = schemaFault(schema, converted);
  if (fault === undefined) return converted;
  const where = fault.path.length === 0 ? "" : ` (at ${fault.path.join(".")})`;
  report("error", range, `${title}: "${name}" ${fault.message}${fault.hint}${where}`, describe(schema));
  return converted;
}

/** Reports an option that has no effect, unless its value is the default, and one that can't be used. */
function reportTreatment(
  name: string,
  value: unknown,
  schema: TSchema,
  range: Range,
  title: string,
  report: Report,
): void {
  const treated = treatmentOf(schema);
  if (treated === undefined) return;
  const { treatment, note } = treated;
  if (treatment === "refused") report("error", range, `${title}: "${name}" can't be used`, note);
  else if (value !== (schema as { default?: unknown }).default)
    report("warning", range, `${title}: "${name}" has no effect`, note);
}

const SCALARS = ["string", "number", "integer", "boolean"];

/** Reads a list of pairs as a table, and a list of one value as that value. */
function shape(value: unknown, schema: TSchema): unknown {
  const { type } = schema as { type?: string };
  if (!Array.isArray(value)) return value;
  if (type === "object") return pairs(value);
  return type !== undefined && SCALARS.includes(type) && value.length === 1 ? value[0] : value;
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

/** Returns the description of an option; "" where there is none. */
export function describe(schema: TSchema): string {
  return (schema as { description?: string }).description ?? "";
}

/** Values by name: secrets of the keystore, and the environment. */
export type Variables = Readonly<Record<string, string | undefined>>;

const VARIABLE = /\$\{([a-zA-Z_.][a-zA-Z0-9_.]*)(?::([^}]*))?\}/g;

/** Returns `text` with its variables replaced; one that isn't set and has no default is reported. */
export function expandVariables(text: string, range: Range, variables: Variables, report: Report): string {
  if (!text.includes("${")) return text;
  return text.replace(VARIABLE, (_, name: string, fallback?: string) => {
    const value = variables[name] ?? fallback;
    if (value !== undefined) return value;
    report(
      "error",
      range,
      `the environment variable ${name} isn't set`,
      `set it, put it into the keystore (tailrace-hub keystore add ${name}), or give a default: \${${name}:default}`,
    );
    return "";
  });
}

/** Returns a text with its variables replaced. Quotes around the value of one that stands alone are removed. */
function withVariables(text: string, range: Range, variables: Variables, report: Report): string {
  const expanded = expandVariables(text, range, variables, report);
  return isVariable(text) ? unquoted(expanded) : expanded;
}

/**
 * Returns the value of an option. A variable that stands alone carries a list, as containers write it (`["a", "b"]`), where
 * the option takes one.
 */
function optionValue(node: ValueNode, schema: TSchema, variables: Variables, report: Report): unknown {
  const value = plainValue(node, variables, report, keepsDecimals(schema));
  const { type } = schema as { type?: string };
  const isOne = (node.kind === "string" || node.kind === "bareword") && isVariable(node.value);
  return isOne && type === "array" ? listIn(String(value)) : value;
}

function isVariable(text: string): boolean {
  return text.replace(VARIABLE, "") === "" && text.lastIndexOf("${") === 0;
}

/** Returns the items of `["a", 'b', c]`; any other text as it is. */
function listIn(text: string): string | readonly string[] {
  if (text.length < 2 || !text.startsWith("[") || !text.endsWith("]")) return text;
  const inner = text.slice(1, -1);
  return inner === "" ? [] : inner.split(",").map((item) => unquoted(item.trim()));
}

function unquoted(text: string): string {
  let bare = text;
  for (const quote of ["'", '"'])
    if (bare.length > 1 && bare.startsWith(quote) && bare.endsWith(quote)) bare = bare.slice(1, -1);
  return bare;
}
