/**
 * Rollover: an alias or a data stream gets a new index to write to. `_rollover` and lifecycle policies share the conditions
 * and the steps. The steps can be repeated: an interrupted rollover leaves a new index without the alias, and the alias at
 * the previous index.
 */

import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { parseDuration, parseSize } from "#proto/kit/units.ts";
import type { AliasAction } from "./aliases.ts";
import { backingIndices } from "./data-streams.ts";
import type { IndexMetadata } from "./index-metadata.ts";
import type { IndexDefinition } from "./templates.ts";

/** Digits of the number in a generated index name. */
const DIGITS = 6;

/** The documents of an index and the disk space that they use. */
export interface IndexSize {
  readonly docs: number;
  readonly bytes: number;
  /** Of its largest shard. */
  readonly shardBytes: number;
}

/** One condition of a rollover: with `max_` it makes the rollover due, with `min_` it holds the rollover back. */
export interface RolloverCondition {
  /** Its name in responses: "[max_docs: 5]". */
  readonly label: string;
  readonly holdsBack: boolean;
  isMet(ageMs: number, size: IndexSize): boolean;
}

/** What a rollover reads and changes. */
export interface RolloverIndices {
  all(): IndexMetadata[];
  get(name: string): IndexMetadata | undefined;
  create(name: string, definition: IndexDefinition): Promise<IndexMetadata>;
  nextBackingName(stream: string): string;
  rollDataStream(stream: string, name: string, definition: IndexDefinition): Promise<IndexMetadata>;
  updateAliases(actions: readonly AliasAction[]): Promise<void>;
}

/**
 * Returns the size of an index with these shards. An index without documents has size 0, whatever its files use. Uncommitted
 * documents have no files; a document counts at least one byte.
 */
export function sizeOfShards(
  shards: readonly { readonly docs: number; readonly bytes: number }[],
): IndexSize {
  const sizes = shards.map(({ docs, bytes }) => (docs === 0 ? 0 : Math.max(docs, bytes)));
  return {
    docs: shards.reduce((sum, { docs }) => sum + docs, 0),
    bytes: sizes.reduce((sum, bytes) => sum + bytes, 0),
    shardBytes: Math.max(0, ...sizes),
  };
}

/** Reads conditions by name. Throws parsing for unknown ones, request_invalid for values that can't be read. */
export function parseConditions(json: Readonly<JsonObject>): RolloverCondition[] {
  return Object.entries(json).map(([name, value]): RolloverCondition => {
    const label = `[${name}: ${String(value)}]`;
    const [, bound, what] = /^(max|min)_(age|docs|size|primary_shard_size)$/.exec(name) ?? [];
    if (what === undefined) {
      throw new AppError("parsing", `[conditions] unknown field [${name}], parser not found`, {
        data: { type: "x_content_parse_exception" },
      });
    }
    if (what !== "docs" && typeof value !== "string") {
      const kind = value === null ? "NULL" : (typeof value).toUpperCase();
      throw new AppError("parsing", `[conditions] ${name} doesn't support values of type: VALUE_${kind}`, {
        data: { type: "x_content_parse_exception" },
      });
    }
    return { label, holdsBack: bound === "min", isMet: testOf(what, value, label) };
  });
}

function testOf(what: string, value: unknown, label: string): RolloverCondition["isMet"] {
  if (what === "docs") {
    const docs = Number(value);
    if (!Number.isInteger(docs))
      throw new AppError("parsing", `[conditions] ${label} must be a whole number`);
    return (_ageMs, size) => size.docs >= docs;
  }
  try {
    if (what === "age") {
      const least = parseDuration(String(value), 1);
      return (ageMs) => ageMs >= least;
    }
    const bytes = parseSize(String(value));
    return what === "size"
      ? (_ageMs, size) => size.bytes >= bytes
      : (_ageMs, size) => size.shardBytes >= bytes;
  } catch (error) {
    throw new AppError("request_invalid", `[conditions] ${label} can't be read`, { cause: error });
  }
}

/** Returns whether a rollover is due: all `min_` conditions and, if there are any, one `max_` condition are met. */
export function isRolloverDue(results: readonly (readonly [RolloverCondition, boolean])[]): boolean {
  const due = results.filter(([{ holdsBack }]) => !holdsBack);
  const isFree = results.every(([{ holdsBack }, isMet]) => isMet || !holdsBack);
  return isFree && (due.length === 0 || due.some(([, isMet]) => isMet));
}

/** The write index of a name, and the stream if the name is a stream's. */
export interface RolloverSource {
  readonly index: IndexMetadata;
  readonly isStream: boolean;
}

/** Returns the index that an alias or a data stream writes to. Throws request_invalid. */
export function rolloverSource(indices: Pick<RolloverIndices, "all" | "get">, alias: string): RolloverSource {
  const all = indices.all();
  const newest = backingIndices(all, alias).at(-1);
  if (newest !== undefined) return { index: newest, isStream: true };
  const meant = all.filter(({ aliases }) => Object.hasOwn(aliases, alias));
  if (meant.length === 0) {
    const isIndex = indices.get(alias) !== undefined;
    const why = isIndex ? "source alias is a concrete index" : "source alias does not exist";
    throw new AppError("request_invalid", why);
  }
  const writing = meant.filter(({ aliases }) => aliases[alias]?.is_write_index === true);
  const index = writing[0] ?? (meant.length === 1 ? meant[0] : undefined);
  if (index !== undefined) return { index, isStream: false };
  throw new AppError("request_invalid", `source alias [${alias}] does not point to a write index`);
}

/** "logs-000001" becomes "logs-000002". Throws request_invalid. */
export function nextName(name: string): string {
  const match = /^(.*)-(\d{1,15})$/.exec(name);
  if (match !== null) return `${match[1]}-${String(Number(match[2]) + 1).padStart(DIGITS, "0")}`;
  throw new AppError("request_invalid", `index name [${name}] does not match pattern '^.*-\\d+$'`);
}

/** Makes `target` and lets `alias` write to it. Throws what creating an index throws. */
export async function rollOver(
  indices: RolloverIndices,
  alias: string,
  { index, isStream }: RolloverSource,
  target: string,
  definition: IndexDefinition,
): Promise<void> {
  if (isStream) {
    await indices.rollDataStream(alias, target, definition);
    return;
  }
  await indices.create(target, definition);
  await moveAlias(indices, alias, index, target);
}

/**
 * Gives `alias` its next index by templates and returns its name. Reuses the new index of a rollover that ended before the
 * alias was moved: it has no documents and names the alias. Throws what creating an index throws.
 */
export async function rollOnward(
  indices: RolloverIndices,
  alias: string,
  source: RolloverSource,
  isEmpty: (index: IndexMetadata) => Promise<boolean>,
): Promise<string> {
  const target = source.isStream ? indices.nextBackingName(alias) : nextName(source.index.name);
  const there = source.isStream ? undefined : indices.get(target);
  const mayBeOwn =
    there !== undefined && rolloverAlias(there) === alias && !Object.hasOwn(there.aliases, alias);
  if (mayBeOwn && (await isEmpty(there))) await moveAlias(indices, alias, source.index, target);
  else await rollOver(indices, alias, source, target, { settings: {}, mappings: {}, aliases: {} });
  return target;
}

/** Returns the alias that a policy rolls `index` over with; undefined without one. */
export function rolloverAlias({ settings }: Pick<IndexMetadata, "settings">): string | undefined {
  const alias = settings.raw["lifecycle.rollover_alias"];
  return typeof alias === "string" && alias !== "" ? alias : undefined;
}

/**
 * Lets `alias` write to `target`, which exists. An alias with a named write index keeps the previous index for searches.
 * `false` counts as named too, because an interrupted move leaves it so.
 */
async function moveAlias(
  indices: RolloverIndices,
  alias: string,
  source: IndexMetadata,
  target: string,
): Promise<void> {
  const info = source.aliases[alias]!;
  const add = (index: string, isWriteIndex?: boolean): AliasAction => ({
    kind: "add",
    index,
    alias,
    info: { ...info, ...(isWriteIndex !== undefined && { is_write_index: isWriteIndex }) },
  });
  await indices.updateAliases(
    info.is_write_index === undefined
      ? [add(target), { kind: "remove", index: source.name, alias }]
      : [add(source.name, false), add(target, true)],
  );
}
