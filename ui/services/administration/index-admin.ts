/** The requests of the page Indices to the search interface, with answers in the form that the page shows. */

import { callHub } from "#ui/services/hub/hub-client.ts";
import { asFacts } from "#ui/services/hub/json-call.ts";
import { valueText } from "#ui/services/search/log-document.ts";
import type { SearchClient } from "#ui/services/search/search-client.ts";
import { encodeIndex } from "#ui/services/search/search-request.ts";

type Json = Readonly<Record<string, unknown>>;

/** An index in the table. */
export interface IndexRow {
  readonly name: string;
  readonly health: string;
  readonly isOpen: boolean;
  readonly docs: number;
  readonly deleted: number;
  readonly sizeBytes: number;
  readonly shards: number;
  readonly replicas: number;
  readonly segments: number;
  /** ms since 1970-01-01 UTC */
  readonly createdMs: number;
}

export type SortKey = "name" | "health" | "docs" | "sizeBytes" | "shards" | "createdMs";

/** A field of a mapping, its sub-fields and its object's members below it. */
export interface FieldNode {
  /** The last part of its name. */
  readonly name: string;
  readonly path: string;
  /** `object` if it only has members. */
  readonly type: string;
  /** True for a second way to index the same value (`fields`). */
  readonly isSubField: boolean;
  /** Further parameters of the mapping: `ignore_above: 256`. */
  readonly details: readonly string[];
  readonly children: readonly FieldNode[];
}

export interface IndexAlias {
  readonly name: string;
  readonly isWriteIndex: boolean;
  readonly hasFilter: boolean;
}

/** A word an analyser makes of a text. */
export interface AnalysedToken {
  readonly token: string;
  readonly start_offset: number;
  readonly end_offset: number;
  readonly type: string;
  readonly position: number;
}

const COLUMNS = "health,status,index,pri,rep,docs.count,docs.deleted,store.size,creation.date,segments.count";
const HEALTH_ORDER: Readonly<Record<string, number>> = { red: 0, yellow: 1, green: 2 };

/** All calls throw HubError. */
export class IndexAdmin {
  readonly #client: SearchClient;

  constructor(client: SearchClient) {
    this.#client = client;
  }

  async list(signal?: AbortSignal): Promise<IndexRow[]> {
    const path = `/_cat/indices?format=json&bytes=b&expand_wildcards=all&h=${COLUMNS}`;
    const rows = await this.#client.call("GET", path, undefined, signal);
    return (rows as Record<string, string | null>[]).map(rowOf);
  }

  async mapping(index: string, signal?: AbortSignal): Promise<FieldNode[]> {
    const answer = await this.#get(index, "_mapping", signal);
    const { mappings = {} } = (answer[index] ?? {}) as { mappings?: Json };
    const typed = mappings["properties"] === undefined ? Object.values(mappings)[0] : mappings;
    return fieldTree(typed as Json | undefined);
  }

  /** Returns the settings that were given, dotted. */
  async settings(index: string, signal?: AbortSignal): Promise<Map<string, string>> {
    const answer = await this.#get(index, "_settings?flat_settings=true", signal);
    const { settings = {} } = (answer[index] ?? {}) as { settings?: Json };
    return new Map(Object.entries(settings).map(([key, value]) => [key, valueText(value)]));
  }

  async aliases(index: string, signal?: AbortSignal): Promise<IndexAlias[]> {
    const answer = await this.#get(index, "_alias", signal);
    const { aliases = {} } = (answer[index] ?? {}) as { aliases?: Record<string, Json> };
    return Object.entries(aliases).map(([name, alias]) => ({
      name,
      isWriteIndex: alias["is_write_index"] === true,
      hasFilter: alias["filter"] !== undefined,
    }));
  }

  /** Sets settings (dotted; null takes back). */
  async putSettings(index: string, settings: Readonly<Record<string, string | null>>): Promise<void> {
    await this.#client.call("PUT", `/${encodeIndex(index)}/_settings`, settings);
  }

  async changeAlias(index: string, alias: string, kind: "add" | "remove"): Promise<void> {
    await this.#client.call("POST", "/_aliases", { actions: [{ [kind]: { index, alias } }] });
  }

  async analyse(index: string, body: Json, signal?: AbortSignal): Promise<AnalysedToken[]> {
    const path = `/${encodeIndex(index)}/_analyze`;
    const answer = (await this.#client.call("POST", path, body, signal)) as { tokens?: AnalysedToken[] };
    return answer.tokens ?? [];
  }

  async refresh(index: string): Promise<void> {
    await this.#client.call("POST", `/${encodeIndex(index)}/_refresh`);
  }

  /** Joins segments until at most this many are left. */
  async forceMerge(index: string, maxSegments: number): Promise<void> {
    const path = `/${encodeIndex(index)}/_forcemerge?max_num_segments=${maxSegments}`;
    await this.#client.call("POST", path);
  }

  async setOpen(index: string, isOpen: boolean): Promise<void> {
    await this.#client.call("POST", `/${encodeIndex(index)}/${isOpen ? "_open" : "_close"}`);
  }

  async remove(index: string): Promise<void> {
    await this.#client.call("DELETE", `/${encodeIndex(index)}`);
  }

  async #get(index: string, what: string, signal: AbortSignal | undefined): Promise<Json> {
    return (await this.#client.call("GET", `/${encodeIndex(index)}/${what}`, undefined, signal)) as Json;
  }
}

function rowOf(row: Readonly<Record<string, string | null>>): IndexRow {
  const number = (key: string): number => Number(row[key] ?? 0) || 0;
  return {
    name: row["index"] ?? "",
    health: row["health"] ?? "",
    isOpen: row["status"] !== "close",
    docs: number("docs.count"),
    deleted: number("docs.deleted"),
    sizeBytes: number("store.size"),
    shards: number("pri"),
    replicas: number("rep"),
    segments: number("segments.count"),
    createdMs: number("creation.date"),
  };
}

/**
 * Returns the rows whose name contains `search` (or, with `*`, matches it), sorted; hidden ones (`.name`) only on
 * request.
 */
export function selectRows(
  rows: readonly IndexRow[],
  { search, sort, isDescending, hasHidden }: RowChoice,
): IndexRow[] {
  const pieces = search
    .trim()
    .toLowerCase()
    .split("*")
    .map((piece) => piece.replaceAll(/[^\w]/g, "\\$&"));
  const pattern = new RegExp(pieces.length > 1 ? `^${pieces.join(".*")}$` : pieces[0]!);
  const sign = isDescending ? -1 : 1;
  return rows
    .filter(({ name }) => (hasHidden || !name.startsWith(".")) && pattern.test(name.toLowerCase()))
    .toSorted((a, b) => sign * compare(a, b, sort) || (a.name < b.name ? -1 : 1));
}

export interface RowChoice {
  readonly search: string;
  readonly sort: SortKey;
  readonly isDescending: boolean;
  readonly hasHidden: boolean;
}

function compare(a: IndexRow, b: IndexRow, sort: SortKey): number {
  if (sort === "name") return a.name < b.name ? -1 : Number(a.name > b.name);
  if (sort === "health") return (HEALTH_ORDER[a.health] ?? 0) - (HEALTH_ORDER[b.health] ?? 0);
  return a[sort] - b[sort];
}

/** Returns the fields of a mapping as a tree, in the order of their names. */
export function fieldTree(mapping: Json | undefined, prefix = ""): FieldNode[] {
  const properties = (mapping?.["properties"] ?? {}) as Record<string, Json>;
  return Object.entries(properties)
    .map(([name, field]) => nodeOf(name, field, prefix, false))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function nodeOf(name: string, field: Json, prefix: string, isSubField: boolean): FieldNode {
  const path = `${prefix}${name}`;
  const subFields = Object.entries((field["fields"] ?? {}) as Record<string, Json>);
  const details = Object.entries(field)
    .filter(([key]) => !["type", "fields", "properties"].includes(key))
    .map(([key, value]) => `${key}: ${valueText(value)}`);
  return {
    name,
    path,
    type: typeof field["type"] === "string" ? field["type"] : "object",
    isSubField,
    details,
    children: [
      ...subFields.map(([sub, own]) => nodeOf(sub, own, `${path}.`, true)),
      ...fieldTree(field, `${path}.`),
    ],
  };
}

/** Returns the nodes whose path holds `search`, with the nodes that contain them. */
export function filterTree(nodes: readonly FieldNode[], search: string): FieldNode[] {
  const wanted = search.trim().toLowerCase();
  if (wanted === "") return [...nodes];
  return nodes.flatMap((node) => {
    const children = filterTree(node.children, wanted);
    if (node.path.toLowerCase().includes(wanted)) return [node];
    return children.length > 0 ? [{ ...node, children }] : [];
  });
}

export interface Retention {
  /** Of the hub's settings; the page can't change them. */
  readonly fixed: readonly string[];
  readonly rules: readonly string[];
  readonly revision: number;
}

/** A rule in its parts; an empty age or size sets no limit. */
export interface RetentionRule {
  readonly pattern: string;
  /** `30d` */
  readonly age: string;
  /** `50gb` */
  readonly size: string;
}

const PATH = "/api/retention";

/** Throws HubError. */
export async function fetchRetention(signal: AbortSignal): Promise<Retention> {
  return asFacts(await callHub("GET", PATH, undefined, signal)) as unknown as Retention;
}

/** Replaces the rules; throws HubError where they were changed meanwhile, or one can't be read. */
export async function putRetention(rules: readonly string[], revision: number): Promise<void> {
  await callHub("PUT", PATH, { rules, revision });
}

/** Returns the indices that these rules would delete at once; throws HubError. */
export async function previewRetention(rules: readonly string[]): Promise<string[]> {
  const { indices } = asFacts(await callHub("POST", `${PATH}/_preview`, { rules }));
  return indices as string[];
}

/** Returns the parts of a rule; sizes end in b. */
export function readRule(text: string): RetentionRule {
  const [pattern = "", ...limits] = text.trim().split(/\s+/);
  const isSize = (limit: string): boolean => /b$/i.test(limit);
  return {
    pattern,
    age: limits.find((limit) => !isSize(limit)) ?? "",
    size: limits.find(isSize) ?? "",
  };
}

/** Returns a rule as the hub takes it. */
export function writeRule({ pattern, age, size }: RetentionRule): string {
  return [pattern, age, size].filter((part) => part !== "").join(" ");
}
