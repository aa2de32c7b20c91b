/** One index that gets more and more fields: what a field costs when it is added, filled, asked and opened. */

import type { JsonObject } from "#proto/kit/json.ts";
import type { BenchmarkContext, Result } from "../benchmark.ts";
import { sendAll } from "../bulk-bodies.ts";
import { GrowingHub } from "./growing-hub.ts";
import { LEVEL, LINEAR, type Sample, Series, sizesUpTo } from "./series.ts";

const FIELDS = 10_000;
const SIZES = 3;
const FACTOR = 10;
const SHARDS = 1;
/** Documents at each size, and fields of each. */
const DOCUMENTS = 20_000;
const FIELDS_EACH = 20;
const BODY_DOCUMENTS = 5_000;
/** Fields that come one by one with documents. */
const NEW_FIELDS = 20;
const LIMIT = 1_000_000;

export async function growFields(context: BenchmarkContext): Promise<Result[]> {
  const { workspace, scale, progress } = context;
  const series = new Series("fields");
  for (const size of sizesUpTo(Math.max(FIELDS_EACH, Math.round(FIELDS * scale)), SIZES, FACTOR)) {
    const growing = await GrowingHub.start(workspace, `fields-${size}`);
    series.add(size, await samplesOf(growing, size));
    await growing.hub.destroy();
    progress(`${size} fields\n${series.table()}`);
  }
  return series.results();
}

const nameOf = (number: number): string => `group${number % 50}.field${number}`;

/** Keywords, numbers and dates in turn. */
function mappingOf(fields: number): JsonObject {
  const properties: Record<string, { readonly type: string }> = {};
  for (let number = 0; number < fields; number++)
    properties[nameOf(number)] = { type: ["keyword", "long", "keyword", "date"][number % 4]! };
  return { properties };
}

/** Returns the document of a number: each has other fields than the one before. */
function documentOf(number: number, fields: number): string {
  const source: Record<string, string | number> = {};
  for (let at = 0; at < FIELDS_EACH; at++) {
    const field = (number * FIELDS_EACH + at) % fields;
    source[nameOf(field)] = field % 2 === 0 ? `value ${number % 97}` : 1_767_225_600_000 + number;
  }
  return JSON.stringify(source);
}

async function fill(growing: GrowingHub, fields: number): Promise<void> {
  const bodies: string[] = [];
  for (let from = 0; from < DOCUMENTS; from += BODY_DOCUMENTS)
    bodies.push(
      Array.from(
        { length: BODY_DOCUMENTS },
        (_, at) => `{"index":{}}\n${documentOf(from + at, fields)}\n`,
      ).join(""),
    );
  await sendAll(growing.url("/wide/_doc/_bulk"), bodies);
  await growing.ask("POST", "/wide/_refresh");
}

async function samplesOf(growing: GrowingHub, fields: number): Promise<Sample[]> {
  const settings = { number_of_shards: SHARDS, "index.mapping.total_fields.limit": LIMIT };
  const made = await growing.cpuOf(() =>
    growing.ask("PUT", "/wide", { settings, mappings: { _doc: mappingOf(fields) } }),
  );
  const filled = await growing.cpuOf(() => fill(growing, fields));
  await growing.untilAtRest();
  let added = 0;
  const addOne = async (): Promise<void> => {
    await growing.ask("POST", "/wide/_doc", { [`added.field${added++}`]: "one more" });
  };
  await addOne();
  const updates = await growing.cpuOf(async () => {
    while (added <= NEW_FIELDS) await addOne();
  });
  const samples: Sample[] = [
    { measure: "making the mapping", unit: "CPU-s", value: made, growth: LINEAR },
    {
      measure: `${DOCUMENTS.toLocaleString("en")} documents of ${FIELDS_EACH} fields`,
      unit: "CPU-s",
      value: filled,
      growth: LEVEL,
    },
    {
      measure: "a document with a new field",
      unit: "CPU-ms",
      value: (updates * 1000) / NEW_FIELDS,
      growth: LINEAR,
    },
    { measure: "disk", unit: "MiB", value: growing.diskMib(), growth: LINEAR },
    growing.memory(),
    { measure: "start", unit: "CPU-s", value: await growing.restart(), growth: LINEAR },
  ];
  const field = nameOf(0);
  const asked = [
    ["_search, a word in a fiftieth of the fields", "/wide/_search?request_cache=false", queryString],
    ["_search, one field", "/wide/_search?request_cache=false", { query: { term: { [field]: "value 0" } } }],
    [
      "terms of one field",
      "/wide/_search?request_cache=false",
      { size: 0, aggs: { by: { terms: { field } } } },
    ],
    ["_mapping", "/wide/_mapping", undefined],
    ["_field_caps", "/wide/_field_caps?fields=*", undefined],
    ["_cluster/health", "/_cluster/health", undefined],
    ["_cat/indices", "/_cat/indices", undefined],
  ] as const;
  for (const [measure, path, body] of asked) {
    const value = await growing.cpuMsOf(body === undefined ? { path } : { path, body });
    samples.push({ measure, unit: "CPU-ms", value, growth: LINEAR });
  }
  return samples;
}

/** One of fifty fields: of all they would soon be more than a query may name. */
const queryString = { query: { query_string: { query: "seven", fields: ["group0.*"] } } };
