/** The options of plugins as existing pipelines write them: each is known here, with the default that they count on. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { codecs } from "#hub/pipeline/plugins/codecs/all.ts";
import { decorationOptions } from "#hub/pipeline/plugins/decorations.ts";
import { filters } from "#hub/pipeline/plugins/filters/all.ts";
import { inputs } from "#hub/pipeline/plugins/inputs/all.ts";
import { outputs } from "#hub/pipeline/plugins/outputs/all.ts";
import { loadAllPlugins } from "#hub/pipeline/program/compile.ts";
import { referenceFile } from "#test/conformance/shared-suites.ts";

await loadAllPlugins();

const SETS = { codec: codecs, filter: filters, input: inputs, output: outputs };

/** What isn't here, each with its reason. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "codec netflow": "a protocol of routers, not of logs",
  "input s3": "objects are fetched by tools of the store",
  "jdbc loaders": "of another plugin of the same package, a filter that isn't here",
  "jdbc local_db_objects": "of that filter",
  "jdbc local_lookups": "of that filter",
  "jdbc loader_schedule": "of that filter",
  "jdbc tag_on_failure": "of that filter",
  "jdbc tag_on_default_use": "of that filter",
  "jdbc staging_directory": "of that filter",
  "jdbc default_hash": "of that filter",
  "jdbc use_cache": "of that filter",
  "jdbc cache_expiration": "of that filter",
  "jdbc cache_size": "of that filter",
  "jdbc prepared_statement_warn_on_constant_usage": "of that filter",
  "jdbc interval": "never worked there: schedule is what is used",
  "jdbc period": "never worked there: schedule is what is used",
};

/** Defaults that differ, each with its reason. */
const OTHER_DEFAULTS: Readonly<Record<string, string>> = {
  "dns.hit_cache_size": "a lookup for each event would stall the thread",
  "dns.failed_cache_size": "a lookup for each event would stall the thread",
  "file.file_completed_action": "a file that was read isn't deleted unless somebody says so",
  "file.sincedb_write_interval": "positions are stored immediately",
  "http.additional_codecs": "lines of JSON are read too",
  "elasticsearch.ilm_pattern": "this output creates no first index",
  "tcp.ssl_supported_protocols": "an empty list means those of the runtime, which are these",
  "dead_letter_queue.pipeline_id": "dead letters of all pipelines are in one stream",
};

type Properties = Readonly<Record<string, { readonly default?: unknown; readonly description?: string }>>;

interface Listed {
  readonly kind: string;
  readonly name: string;
  readonly options: readonly { readonly name: string; readonly fallback: string | undefined }[];
}

const reference = referenceFile("plugin-options.md");

test("every option of existing pipelines is known, or left out for a listed reason", {
  skip: reference.missing,
}, () => {
  const missing = listed().flatMap(({ kind, name, options }) => {
    const known = propertiesOf(kind, name);
    if (known.length === 0) return LEFT_OUT[`${kind} ${name}`] === undefined ? [`${kind} ${name}`] : [];
    return options
      .filter((option) => !known.some((properties) => option.name in properties))
      .filter((option) => LEFT_OUT[`${name} ${option.name}`] === undefined)
      .map((option) => `${kind} ${name}: ${option.name}`);
  });
  assert.deepEqual(missing, []);
});

test("the default of an option is that of existing pipelines, or differs for a listed reason", {
  skip: reference.missing,
}, () => {
  const differing = listed().flatMap(({ kind, name, options }) =>
    options.flatMap((option) => {
      const own = propertiesOf(kind, name).flatMap((properties) => properties[option.name] ?? []);
      const theirs = literal(option.fallback);
      if (theirs === undefined || own.length === 0 || OTHER_DEFAULTS[`${name}.${option.name}`] !== undefined)
        return [];
      // What has no effect, or has an empty default, needs none.
      const isSame = own.some(({ default: value, description = "" }) =>
        /^(?:no effect|refused|formerly)/.test(description) || value === undefined
          ? true
          : plain(value) === plain(theirs),
      );
      return isSame
        ? []
        : [
            `${kind} ${name}: ${option.name} is ${own.map((each) => plain(each.default)).join()}, there ${plain(theirs)}`,
          ];
    }),
  );
  assert.deepEqual(differing, []);
});

/** Both halves of what is one package there. */
function propertiesOf(kind: string, name: string): Properties[] {
  const common = decorationOptions.properties as Properties;
  const of = (set: keyof typeof SETS): Properties[] => {
    const found = SETS[set].all.find((plugin) => plugin.name === name);
    return found === undefined ? [] : [{ ...common, ...(found.options.properties as Properties) }];
  };
  return kind === "integration" ? [...of("input"), ...of("output")] : of(kind as keyof typeof SETS);
}

function listed(): Listed[] {
  const text = readFileSync(reference.path, "utf8");
  return [...text.matchAll(/^### (\w+)-(\w+).*\n([^\n]*)/gm)].map(
    ([, kind = "", name = "", options = ""]) => ({
      kind,
      name,
      options: [...options.matchAll(/`(\w+)`([^;]*)/g)].map(([, option = "", rest = ""]) => ({
        name: option,
        fallback: /=\s*(.*?)(?:\s*\*\*\w+\*\*)*$/.exec(rest)?.[1],
      })),
    }),
  );
}

/** Returns a value as it is written there; undefined for what is more than a literal. */
function literal(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  const written = text
    .trim()
    .replace(/ #.*$/, "")
    .replaceAll(/(?<=\d)_(?=\d)/g, "");
  const asJson = /^'.*'$/.test(written)
    ? JSON.stringify(written.slice(1, -1))
    : written.replaceAll("=>", ":");
  try {
    return JSON.parse(asJson);
  } catch {
    return undefined;
  }
}

/** One value in a list is the value; times and lists in words are numbers and lists. */
function plain(value: unknown): string {
  if (Array.isArray(value) && value.length === 1) return plain(value[0]);
  if (value === "1 hour") return "3600";
  if (value === "14 days") return "14";
  return JSON.stringify(value);
}
