/** Indices of the source cluster. */

import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { type ClusterClient, objectsIn, segmentOf } from "./cluster-client.ts";

/** A cluster's version: 6.8.23 is 608. OpenSearch counts as the version that it was forked from, 710. */
export type ClusterVersion = number;
const OPENSEARCH: ClusterVersion = 710;
/** From this version on hidden indices, such as those of data streams, are listed only on request. */
const HIDES_INDICES: ClusterVersion = 707;

/** An index of the source. */
export interface SourceIndex {
  readonly name: string;
  readonly uuid: string;
  readonly shards: number;
  /** Name of the data stream that it belongs to. */
  readonly dataStream: string | undefined;
  /** settings, mappings, aliases. */
  readonly definition: JsonObject;
}

const DATA_STREAM_INDEX = /^\.ds-(.+)-(?:\d{4}\.\d{2}\.\d{2}-)?\d{6}$/;

/** Returns the version of a cluster. Throws as `ClusterClient.ask`. */
export async function versionOf(client: ClusterClient): Promise<ClusterVersion> {
  const { version } = await client.ask("GET", "/");
  const { number, distribution } = isObject(version) ? version : {};
  if (distribution === "opensearch") return OPENSEARCH;
  const [major = 0, minor = 0] = String(number as string)
    .split(".")
    .map(Number);
  return major * 100 + minor;
}

/** Returns the open and the closed indices that `patterns` match; without patterns: all. Throws as `ClusterClient.ask`. */
export async function listIndices(
  client: ClusterClient,
  patterns: readonly string[],
  version: ClusterVersion,
): Promise<{ open: string[]; closed: string[] }> {
  const hidden = version >= HIDES_INDICES ? "&expand_wildcards=all" : "";
  const names = patterns.length === 0 ? "" : `/${patterns.map(encodeURIComponent).join(",")}`;
  const path = `/_cat/indices${names}?format=json&h=index,status${hidden}`;
  const rows = objectsIn(await client.list(path));
  const wanted = rows.filter(({ index }) => isWanted(String(index as string), patterns));
  const named = (isClosed: boolean): string[] =>
    wanted
      .filter(({ status }) => (status === "close") === isClosed)
      .map(({ index }) => String(index as string))
      .toSorted();
  return { open: named(false), closed: named(true) };
}

/** Indices of the cluster's own programs are imported only if a pattern begins like their names. */
function isWanted(name: string, patterns: readonly string[]): boolean {
  return !name.startsWith(".") || name.startsWith(".ds-") || patterns.some((each) => each.startsWith("."));
}

/** Reads the definition of one index. Throws as `ClusterClient.ask`. */
export async function readIndex(client: ClusterClient, name: string): Promise<SourceIndex> {
  const answer = await client.ask("GET", `/${segmentOf(name)}`);
  const definition = isObject(answer[name]) ? answer[name] : {};
  const settings = flatSettings(definition["settings"]);
  const stream = definition["data_stream"] ?? DATA_STREAM_INDEX.exec(name)?.[1];
  return {
    name,
    uuid: String(settings["uuid"] as string),
    shards: Number(settings["number_of_shards"] ?? 1),
    dataStream: typeof stream === "string" ? stream : undefined,
    definition,
  };
}

/** Returns settings by dotted names without the leading "index."; lists are kept as values. */
export function flatSettings(settings: unknown): JsonObject {
  const result: JsonObject = {};
  const walk = (value: JsonObject, prefix: string): void => {
    for (const [key, inner] of Object.entries(value)) {
      if (isObject(inner)) walk(inner, `${prefix}${key}.`);
      else result[`${prefix}${key}`.replace(/^index\./, "")] = inner;
    }
  };
  if (isObject(settings)) walk(settings, "");
  return result;
}
