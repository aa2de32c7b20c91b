/** The reference of all plugins, and their rows of `docs/compatibility.md`, made of their schemas. */

import type { TObject, TSchema } from "typebox";
import { describe } from "#hub/pipeline/language/plugin-options.ts";
import { codecs } from "#hub/pipeline/plugins/codecs/all.ts";
import { decorationOptions } from "#hub/pipeline/plugins/decorations.ts";
import { filters } from "#hub/pipeline/plugins/filters/all.ts";
import { inputs } from "#hub/pipeline/plugins/inputs/all.ts";
import { outputs } from "#hub/pipeline/plugins/outputs/all.ts";
import { REFUSED_PLUGINS } from "#hub/pipeline/plugins/refused-plugins.ts";
import { loadAllPlugins } from "#hub/pipeline/program/compile.ts";
import { CODEC_OPTIONS, INPUT_OPTIONS, OUTPUT_OPTIONS } from "#hub/pipeline/program/compile-plugin.ts";
import { type CompatibilityRow, cell } from "#proto/kit/compatibility-row.ts";
import { treatmentOf } from "#proto/kit/options.ts";

interface Documented {
  readonly name: string;
  readonly description: string;
  readonly options: TObject;
}

interface Kind {
  /** "input", "filter", "output" or "codec". */
  readonly kind: string;
  readonly plugins: readonly Documented[];
  /** Options of all plugins of the kind. */
  readonly common: TObject;
}

/** Returns the reference as Markdown; `name`: only of plugins of this name. */
export async function pluginReference(name?: string): Promise<string> {
  const kinds = (await pluginKinds())
    .map((kind) => ({
      ...kind,
      plugins: kind.plugins.filter((plugin) => name === undefined || plugin.name === name),
    }))
    .filter(({ plugins }) => plugins.length > 0);
  const sections = kinds.map(({ kind, plugins, common }) =>
    [
      `## ${kind.charAt(0).toUpperCase()}${kind.slice(1)}s`,
      ...(name === undefined ? [`Every one of them has:\n\n${optionTable(common)}`] : []),
      ...plugins
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(
          (plugin) =>
            `### ${plugin.name}\n\n${sentence(plugin.description)}\n\n${optionTable(plugin.options, common)}`,
        ),
    ].join("\n\n"),
  );
  return `# Plugins\n\n${sections.join("\n\n")}\n`;
}

/** Returns the names of all plugins. */
export async function pluginNames(): Promise<string[]> {
  const kinds = await pluginKinds();
  return [...new Set(kinds.flatMap(({ plugins }) => plugins.map(({ name }) => name)))];
}

/** Loads all plugins and returns them by kind. */
export async function pluginKinds(): Promise<Kind[]> {
  await loadAllPlugins();
  return [
    { kind: "input", plugins: inputs.all, common: INPUT_OPTIONS },
    { kind: "filter", plugins: filters.all, common: decorationOptions },
    { kind: "output", plugins: outputs.all, common: OUTPUT_OPTIONS },
    { kind: "codec", plugins: codecs.all, common: CODEC_OPTIONS },
  ];
}

/** An option that works here and has no effect elsewhere is a plugin's own. */
function isCommon(schema: TSchema, common: TSchema | undefined): boolean {
  if (common === undefined) return false;
  return treatmentOf(common) === undefined || treatmentOf(schema) !== undefined;
}

function optionTable(options: TObject, common?: TObject): string {
  const rows = Object.entries(options.properties)
    .filter(([name, schema]) => !isCommon(schema, common?.properties[name]))
    .map(([name, schema]) => {
      const isRequired = options.required?.includes(name) === true && !("default" in schema);
      const fallback = isRequired ? "required" : defaultOf(schema);
      return `| \`${name}\` | ${cell(kindOf(schema))} | ${cell(fallback)} | ${cell(describe(schema))} |`;
    });
  if (rows.length === 0) return "It has no options of its own.";
  return ["| option | kind | default | meaning |", "|---|---|---|---|", ...rows].join("\n");
}

function kindOf(schema: TSchema): string {
  const {
    type,
    enum: values,
    anyOf,
  } = schema as { type?: string; enum?: readonly unknown[]; anyOf?: TSchema[] };
  if (values !== undefined) return values.map((value) => `\`${String(value)}\``).join(", ");
  if (anyOf !== undefined) return [...new Set(anyOf.map(kindOf))].join(" or ");
  const names: Readonly<Record<string, string>> = {
    object: "table",
    array: "list",
    string: "text",
    boolean: "flag",
  };
  return names[type ?? ""] ?? type ?? "any";
}

function defaultOf(schema: TSchema): string {
  if (!("default" in schema)) return "";
  return `\`${JSON.stringify(schema.default)}\``;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/**
 * Returns the rows of all plugins; options that all plugins of a kind have are listed once, plugins that aren't here by
 * name.
 */
export async function pipelineCompatibility(): Promise<CompatibilityRow[]> {
  const kinds = await pluginKinds();
  return kinds.flatMap(({ kind, plugins, common }) => [
    ...Object.entries(REFUSED_PLUGINS[kind] ?? {}).map(
      ([name, note]): CompatibilityRow => ({ where: `pipelines, ${kind}`, name, treatment: "refused", note }),
    ),
    ...rowsOf(`every ${kind}`, common, []),
    ...plugins.flatMap(({ name, options }) =>
      rowsOf(`${kind} \`${name}\``, options, Object.keys(common.properties)),
    ),
  ]);
}

function rowsOf(where: string, options: TObject, except: readonly string[]): CompatibilityRow[] {
  return Object.entries(options.properties).flatMap(([name, schema]) => {
    const treated = treatmentOf(schema);
    return treated === undefined || except.includes(name) ? [] : [{ where, name, ...treated }];
  });
}
