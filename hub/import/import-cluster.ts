/**
 * Imports a cluster into a hub: pipelines, lifecycle policies, templates, indices with their settings, mappings and aliases, and
 * documents. An import may be repeated: objects that the hub has are kept, and documents are read from where the last import
 * stopped.
 */

import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { BulkCopy, type CopyCounts, Pace } from "./bulk-copy.ts";
import { type ClusterClient, segmentOf } from "./cluster-client.ts";
import { type Page, scrollPages, sequenceEnds, shardPages } from "./document-pages.ts";
import {
  type DefinitionResult,
  type ImportedPolicies,
  importPipelines,
  importPolicies,
  importTemplates,
} from "./import-definitions.ts";
import { type IndexPosition, isOwnTarget, readPosition } from "./import-positions.ts";
import { definitionOf, putDefinition } from "./index-definition.ts";
import { type ClusterVersion, listIndices, readIndex, type SourceIndex, versionOf } from "./source-index.ts";
import { aroundFinalPipelines, undoAfter } from "./undo-after.ts";

export const IMPORT_PARTS = ["pipelines", "templates", "indices", "documents"] as const;
export type ImportPart = (typeof IMPORT_PARTS)[number];

export interface ImportOptions {
  readonly source: ClusterClient;
  readonly hub: ClusterClient;
  /** Names and patterns of indices; none: all except those of the cluster's own programs. */
  readonly patterns: readonly string[];
  readonly parts: ReadonlySet<ImportPart>;
  /** Maximum number of documents per second; Infinity: no limit. */
  readonly rate: number;
  /** Shards read at a time. */
  readonly parallel: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called after each page with the documents read by this import, and those that it will read. */
  readonly progress: (done: number, total: number) => void;
}

/** Result of the import of an index. */
export interface IndexResult {
  readonly name: string;
  /** Index or data stream of the hub. */
  readonly target: string;
  readonly leftOut: readonly string[];
  /** Undefined: the index was created or already existed. */
  readonly error: string | undefined;
  readonly copied: CopyCounts | undefined;
  /** Documents of the source and of the target at the end; undefined if documents weren't imported. */
  readonly counts: { readonly source: number; readonly hub: number } | undefined;
}

export interface ImportReport {
  readonly definitions: readonly DefinitionResult[];
  readonly indices: readonly IndexResult[];
  /** Names of indices that can't be read while they are closed. */
  readonly closed: readonly string[];
  /** Retention rules that replace the deletions of lifecycle policies that the hub refuses. */
  readonly retention: readonly string[];
  /** True: lifecycle policies were stopped before the import, by an administrator or an import that was killed. */
  readonly lifecyclesStopped: boolean;
}

/** An index that was created in the hub. */
interface MadeIndex {
  readonly index: SourceIndex;
  readonly target: { readonly name: string; readonly isStream: boolean };
  readonly leftOut: readonly string[];
  readonly error: string | undefined;
}

/**
 * Imports what `options` name. Lifecycle policies are stopped meanwhile because they would roll over, block or delete indices
 * that are being copied. Throws unavailable, unauthenticated, cancelled by the signal's reason.
 */
export async function importCluster(options: ImportOptions): Promise<ImportReport> {
  const { hub } = options;
  const mode = (await hub.find("/_ilm/status"))?.["operation_mode"];
  if (mode !== "RUNNING") return importAll(options, mode !== undefined);
  const work = async (): Promise<ImportReport> => {
    await hub.ask("POST", "/_ilm/stop");
    return importAll(options, false);
  };
  return undoAfter(hub, work, {
    run: (client) => client.ask("POST", "/_ilm/start"),
    remedy: "lifecycle policies may still be stopped: POST /_ilm/start carries them out again",
  });
}

async function importAll(options: ImportOptions, lifecyclesStopped: boolean): Promise<ImportReport> {
  const { source, hub, parts } = options;
  const from = await versionOf(source);
  const to = await versionOf(hub);
  const { open, closed } = await listIndices(source, options.patterns, from);
  const policies = parts.has("templates") ? await importPolicies(source, hub) : await policiesOf(hub);
  const definitions = [
    ...(parts.has("pipelines") ? await importPipelines(source, hub) : []),
    ...policies.results,
    ...(parts.has("templates") ? await importTemplates(source, hub, to, policies.names) : []),
  ];
  const made: MadeIndex[] = [];
  if (parts.has("indices") || parts.has("documents"))
    for (const name of open) made.push(await makeIndex(options, name, to, policies.names));
  const indices = parts.has("documents")
    ? await copyAll(options, made)
    : made.map(({ index, target, leftOut, error }) => ({
        name: index.name,
        target: target.name,
        leftOut,
        error,
        copied: undefined,
        counts: undefined,
      }));
  return { definitions, indices, closed, retention: policies.rules, lifecyclesStopped };
}

/** The policies of an import without templates: those that the hub has. */
async function policiesOf(hub: ClusterClient): Promise<ImportedPolicies> {
  const all = (await hub.find("/_ilm/policy")) ?? {};
  return { results: [], names: new Set(Object.keys(all)), rules: [] };
}

async function makeIndex(
  { source, hub }: ImportOptions,
  name: string,
  to: ClusterVersion,
  policies: ReadonlySet<string>,
): Promise<MadeIndex> {
  const index = await readIndex(source, name);
  const { dataStream } = index;
  const target = { name: dataStream ?? name, isStream: dataStream !== undefined };
  if (isOwnTarget(target)) return { index, target, leftOut: [], error: `${target.name} is the hub's own` };
  const path = `/${target.isStream ? "_data_stream/" : ""}${segmentOf(target.name)}`;
  try {
    const definition = target.isStream
      ? { body: {}, leftOut: [] }
      : definitionOf(index.definition, to, policies);
    return { index, target, leftOut: await putDefinition(hub, path, definition), error: undefined };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const isThere = error.code === "name_taken";
    if (!isThere && !["request_invalid", "not_offered"].includes(error.code)) throw error;
    return { index, target, leftOut: [], error: isThere ? undefined : error.message };
  }
}

/** After a rollover in between, another index of the stream would accept the same documents again. */
const IMPORTED_BEFORE =
  "an earlier import began to copy it, and without sequence numbers a second one may double its documents; delete the data stream in the hub and import again";

/** The copy of one shard, or of one index that is read by scroll. */
interface Task {
  readonly pages: () => AsyncGenerator<Page>;
  readonly save: (next: number) => Promise<void>;
  readonly copy: BulkCopy;
}

async function copyAll(options: ImportOptions, made: readonly MadeIndex[]): Promise<IndexResult[]> {
  const { source, hub, signal, clock } = options;
  const copies = new Map<MadeIndex, BulkCopy>();
  const refusals = new Map<MadeIndex, string>();
  const tasks: Task[] = [];
  let total = 0;
  for (const each of made) {
    if (each.error !== undefined) continue;
    const copy = new BulkCopy(hub, each.target, { clock, signal });
    const own = await tasksOf(options, each, copy);
    if (own === undefined) {
      refusals.set(each, IMPORTED_BEFORE);
      continue;
    }
    copies.set(each, copy);
    total += await countOf(source, each.index.name);
    tasks.push(...own);
  }
  const copied = [...copies.keys()].map(({ index, target }) => ({
    target: target.name,
    settings: index.definition["settings"],
  }));
  await aroundFinalPipelines(hub, copied, () => runTasks(options, tasks, total));
  const results: IndexResult[] = [];
  for (const each of made) {
    const error = refusals.get(each) ?? each.error;
    results.push(await resultOf(options, { ...each, error }, copies.get(each), made));
  }
  return results;
}

/** Returns the tasks of an index; undefined if they would write documents a second time. */
async function tasksOf(
  { source, hub }: ImportOptions,
  { index, target }: MadeIndex,
  copy: BulkCopy,
): Promise<Task[] | undefined> {
  const ends = await sequenceEnds(source, index.name);
  const position: IndexPosition = await readPosition(hub, index, target.name);
  if (ends === undefined) {
    if (target.isStream && position.wasBegun) return undefined;
    const pages = async function* (): AsyncGenerator<Page> {
      await position.begin();
      yield* scrollPages(source, index.name, !target.isStream);
    };
    return [{ pages, save: () => Promise.resolve(), copy }];
  }
  return [...ends].map(([shard, to]) => ({
    pages: () => shardPages(source, { index: index.name, shard, from: position.nextOf(shard), to }),
    save: (next) => position.save(shard, next),
    copy,
  }));
}

/** Runs tasks, `parallel` at a time; the first failure ends all. */
async function runTasks(options: ImportOptions, tasks: readonly Task[], total: number): Promise<void> {
  const pace = new Pace(options.rate, options.clock);
  const waiting = [...tasks];
  let done = 0;
  let hasFailed = false;
  const work = async (): Promise<void> => {
    for (let task = waiting.shift(); task !== undefined && !hasFailed; task = waiting.shift()) {
      for await (const { documents, next } of task.pages()) {
        await pace.take(documents.length, options.signal);
        await task.copy.write(documents);
        if (next !== undefined) await task.save(next);
        done += documents.length;
        options.progress(done, total);
        if (hasFailed) return;
      }
    }
  };
  const workers = Array.from({ length: options.parallel }, () =>
    work().catch((error: unknown) => {
      hasFailed = true;
      throw error;
    }),
  );
  const failure = (await Promise.allSettled(workers)).find(({ status }) => status === "rejected");
  if (failure?.status === "rejected") throw failure.reason;
}

/** Counts the documents of both sides. A data stream has the documents of all its indices. */
async function resultOf(
  { source, hub }: ImportOptions,
  { index, target, leftOut, error }: MadeIndex,
  copy: BulkCopy | undefined,
  made: readonly MadeIndex[],
): Promise<IndexResult> {
  const about = { name: index.name, target: target.name, leftOut, error };
  if (copy === undefined) return { ...about, copied: undefined, counts: undefined };
  const names = target.isStream
    ? made.filter((other) => other.target.name === target.name).map((other) => other.index.name)
    : [index.name];
  let sum = 0;
  for (const name of names) sum += await countOf(source, name);
  await hub.ask("POST", `/${segmentOf(target.name)}/_refresh`);
  return { ...about, copied: copy.counts, counts: { source: sum, hub: await countOf(hub, target.name) } };
}

async function countOf(client: ClusterClient, name: string): Promise<number> {
  return Number((await client.ask("POST", `/${segmentOf(name)}/_count`))["count"]);
}
