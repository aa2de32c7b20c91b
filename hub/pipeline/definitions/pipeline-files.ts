/** Pipelines defined in files: those that `path.config` names, and those of `pipelines.yml`. */

import { globSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import {
  ECS_COMPATIBILITIES,
  type PipelineDefinition,
  type PipelineFile,
} from "#hub/pipeline/language/pipeline-definition.ts";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";
import { didYouMean } from "#proto/kit/nearest.ts";

/** Id of the pipeline that `path.config` makes. */
export const MAIN_ID = "main";

/** A pipeline's text is written by people; longer ones are something else. Bytes. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** Ids are part of documents' ids, metrics and addresses. */
export const PIPELINE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

const ID_KEY = "pipeline.id";
const PATH_KEY = "path.config";
const TEXT_KEY = "config.string";
const WORKERS_KEY = "pipeline.workers";
const ESCAPES_KEY = "config.support_escapes";
const ECS_KEY = "pipeline.ecs_compatibility";

/** Keys of existing files that change nothing here: the log takes the place of queues, threads are shared. */
const ACCEPTED = [
  "config.debug",
  "config.reload.automatic",
  "config.reload.interval",
  "config.test_and_exit",
  "dead_letter_queue.enable",
  "dead_letter_queue.flush_interval",
  "dead_letter_queue.max_bytes",
  "dead_letter_queue.retain.age",
  "dead_letter_queue.storage_policy",
  "path.dead_letter_queue",
  "path.queue",
  "pipeline.batch.delay",
  "pipeline.batch.size",
  "pipeline.bath.size",
  "pipeline.ordered",
  "pipeline.reloadable",
  "pipeline.separate_logs",
  "pipeline.unsafe_shutdown",
  "queue.checkpoint.acks",
  "queue.checkpoint.interval",
  "queue.checkpoint.retry",
  "queue.checkpoint.writes",
  "queue.drain",
  "queue.max_bytes",
  "queue.max_events",
  "queue.page_capacity",
  "queue.type",
] as const;

export interface PipelineFilesOptions {
  /** path.config: globs, folders or files. */
  readonly paths: readonly string[];
  /** path.pipelines; a file that isn't there is none. */
  readonly pipelinesFile: string;
}

/** Returns all pipelines; none if no file is there. Throws settings_invalid. */
export function readPipelineFiles({ paths, pipelinesFile }: PipelineFilesOptions): PipelineDefinition[] {
  const files = readConfigs(paths);
  const main = files.length === 0 ? [] : [{ id: MAIN_ID, files }];
  const others = readPipelinesYaml(pipelinesFile);
  const twice = others.find(({ id }) => id === MAIN_ID && main.length > 0);
  if (twice !== undefined) {
    throw new AppError(
      "settings_invalid",
      `${pipelinesFile}: the pipeline "${MAIN_ID}" is already defined by ${files[0]!.path}: move it to pipelines.yml or give this one another id`,
    );
  }
  return [...main, ...others];
}

/** Returns the files that `patterns` name, in the order of their names; a folder stands for all files in it. */
export function readConfigs(patterns: readonly string[]): PipelineFile[] {
  const found = new Set<string>();
  for (const pattern of patterns) {
    for (const path of globSync(isFolder(pattern) ? join(pattern, "*") : pattern)) {
      // Editors leave copies with such names.
      if (!path.endsWith("~") && !isFolder(path)) found.add(path);
    }
  }
  return [...found].sort((a, b) => (a < b ? -1 : 1)).map((path) => ({ path, text: readText(path) }));
}

/** Reads one file of a pipeline. Throws settings_invalid. */
export function readText(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > MAX_FILE_BYTES) throw new Error(`it has more than ${MAX_FILE_BYTES} bytes`);
    return readFileSync(path, "utf8");
  } catch (error) {
    const why = systemCode(error) === "ENOENT" ? "there is no such file" : (error as Error).message;
    throw new AppError("settings_invalid", `cannot read the pipeline file ${path}: ${why}`, { cause: error });
  }
}

function readPipelinesYaml(path: string): PipelineDefinition[] {
  if (path === "" || statSync(path, { throwIfNoEntry: false }) === undefined) return [];
  let list: unknown;
  try {
    list = parse(readText(path));
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("settings_invalid", `${path}: ${(error as Error).message}`, { cause: error });
  }
  if (list === null) return [];
  if (!Array.isArray(list)) {
    throw new AppError(
      "settings_invalid",
      `${path}: write a list of pipelines, each as "- pipeline.id: name"`,
    );
  }
  const ids = new Set<string>();
  return list.map((entry: unknown, place) => {
    const definition = readEntry(flatten(entry), `${path}: pipeline ${place + 1}`, dirname(resolve(path)));
    if (ids.has(definition.id)) {
      throw new AppError("settings_invalid", `${path}: two pipelines have the id "${definition.id}"`);
    }
    ids.add(definition.id);
    return definition;
  });
}

function readEntry(entry: ReadonlyMap<string, unknown>, place: string, folder: string): PipelineDefinition {
  const known = [ID_KEY, PATH_KEY, TEXT_KEY, WORKERS_KEY, ESCAPES_KEY, ECS_KEY, ...ACCEPTED];
  for (const key of entry.keys()) {
    if (!known.includes(key)) {
      throw new AppError("settings_invalid", `${place}: unknown setting "${key}"${didYouMean(key, known)}`);
    }
  }
  const id = entry.get(ID_KEY) ?? MAIN_ID;
  if (typeof id !== "string" || !PIPELINE_ID.test(id)) {
    throw new AppError("settings_invalid", `${place}: ${ID_KEY} is 1 to 64 letters, digits, - and _`);
  }
  const workers = entry.get(WORKERS_KEY);
  if (
    workers !== undefined &&
    (!Number.isInteger(workers) || (workers as number) < 1 || (workers as number) > 64)
  ) {
    throw new AppError("settings_invalid", `${place}: ${WORKERS_KEY} is a number from 1 to 64`);
  }
  const hasEscapes = entry.get(ESCAPES_KEY);
  if (hasEscapes !== undefined && typeof hasEscapes !== "boolean")
    throw new AppError("settings_invalid", `${place}: ${ESCAPES_KEY} is true or false`);
  const writtenEcs = entry.get(ECS_KEY);
  const ecs = ECS_COMPATIBILITIES.find((each) => each === writtenEcs);
  if (writtenEcs !== undefined && ecs === undefined)
    throw new AppError("settings_invalid", `${place}: ${ECS_KEY} is ${ECS_COMPATIBILITIES.join(", ")}`);
  return {
    id,
    files: entryFiles(entry, id, place, folder).map((file) =>
      hasEscapes === true ? { ...file, hasEscapes } : file,
    ),
    ...(workers !== undefined && { workers: workers as number }),
    ...(ecs !== undefined && { ecsCompatibility: ecs }),
  };
}

function entryFiles(
  entry: ReadonlyMap<string, unknown>,
  id: string,
  place: string,
  folder: string,
): PipelineFile[] {
  const text = entry.get(TEXT_KEY);
  const paths = entry.get(PATH_KEY);
  if (typeof text === "string") return [{ path: join(folder, `${id}.conf`), text }];
  const patterns = (Array.isArray(paths) ? paths : [paths]).filter((each) => typeof each === "string");
  const files = readConfigs(patterns.map((pattern) => resolve(folder, pattern)));
  if (files.length > 0) return files;
  throw new AppError(
    "settings_invalid",
    patterns.length === 0
      ? `${place}: it needs ${PATH_KEY} or ${TEXT_KEY}`
      : `${place}: no file is at ${patterns.join(", ")}`,
  );
}

/** Returns the entry with dotted keys, however it was nested. */
function flatten(value: unknown, prefix = ""): Map<string, unknown> {
  const flat = new Map<string, unknown>();
  if (!isObject(value)) return flat;
  for (const [key, item] of Object.entries(value)) {
    const isNested = isObject(item);
    if (!isNested) flat.set(prefix + key, item);
    else for (const [inner, each] of flatten(item, `${prefix}${key}.`)) flat.set(inner, each);
  }
  return flat;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
