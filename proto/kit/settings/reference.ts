/** The reference of settings, generated from their schema. */

import type { TObject } from "typebox";

/** Returns the settings reference of a schema as a Markdown table: key, default, meaning and the values there are. */
export function describeSettings(schema: TObject): string {
  const rows = ["| setting | default | meaning |", "|---|---|---|"];
  for (const [key, property] of Object.entries(schema.properties)) {
    const { description = "", default: fallback } = property as { description?: string; default?: unknown };
    const code = fallback === undefined ? "" : `\`${cell(JSON.stringify(fallback))}\``;
    rows.push(`| \`${key}\` | ${code} | ${cell(description)}${cell(allowed(property))} |`);
  }
  return `${rows.join("\n")}\n`;
}

/** Returns what a setting may be where that is a choice or a range, in brackets. */
function allowed(property: object): string {
  const { anyOf, minimum, maximum } = property as {
    anyOf?: readonly { readonly const?: unknown }[];
    minimum?: number;
    maximum?: number;
  };
  if (anyOf?.every((each) => each.const !== undefined))
    return ` (${anyOf.map((each) => `\`${String(each.const)}\``).join(", ")})`;
  return minimum !== undefined && maximum !== undefined ? ` (${minimum} to ${maximum})` : "";
}

/** A bar would end the cell, in code as well. */
function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}
