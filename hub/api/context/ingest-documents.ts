/** Sends documents through the ingest pipelines that their request or their index names before they are written. */

import { adoptType, DEFAULT_TYPE } from "#hub/api/compat/mapping-types.ts";
import { checkId, makeConditions } from "#hub/api/parameters/write-options.ts";
import type { Documents, WriteItem } from "#hub/api/ports/documents.ts";
import type { Indices } from "#hub/api/ports/indices.ts";
import type {
  IngestDestination,
  IngestFailure,
  IngestOutcome,
  IngestPipelines,
} from "#hub/api/ports/pipelines.ts";
import type { WriteConditions, WriteResult } from "#hub/cluster/writes/writes.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { aliasFault } from "./index-blocks.ts";

/** Name with which requests and settings select no pipeline, not even the index's own. */
const NO_PIPELINE = "_none";

/** Returns the pipeline that a client names; {} if it names none. */
export function pipelineOf(name: string | undefined): { pipeline?: string } {
  return name === undefined ? {} : { pipeline: name };
}

/** Throws request_invalid if there is no such pipeline. */
export function checkPipeline(ingest: IngestPipelines | undefined, name: string | undefined): void {
  const { pipeline } = pipelineOf(name);
  if (pipeline !== undefined && pipeline !== NO_PIPELINE && ingest?.all().has(pipeline) !== true)
    throw missing(pipeline);
}

/** Returns true if new documents of an index pass pipelines: that of the request, `given`, or the index's own. */
export function passesPipelines(
  indices: Pick<Indices, "settingsFor">,
  index: string,
  given: string | undefined,
): boolean {
  const { first, last } = ownPipelines(indices, index);
  return (given ?? first ?? NO_PIPELINE) !== NO_PIPELINE || last !== undefined;
}

/**
 * Wraps `documents` so that writes go through the pipeline they name, else through `index.default_pipeline`, and
 * finally through `index.final_pipeline` of the index that they are then addressed to.
 */
export function ingestDocuments(
  documents: Documents,
  ingest: IngestPipelines | undefined,
  indices: Pick<Indices, "all" | "settingsFor" | "ensure" | "putSettings">,
  clock: Clock,
): Documents {
  return {
    get: (index, id, options) => documents.get(index, id, options),
    append: (run, options) => {
      const own = ownPipelines(indices, run.indexNames[0]!);
      const isPlain = own.first === undefined && own.last === undefined;
      return isPlain ? documents.append(run, options) : Promise.resolve(null);
    },
    async write(items, options) {
      const known = new Map<string, OwnPipelines>();
      const ownOf = (index: string): OwnPipelines => {
        const own = known.get(index) ?? ownPipelines(indices, index);
        known.set(index, own);
        return own;
      };
      const first = (item: IndexItem) => item.pipeline ?? ownOf(item.index).first;
      const last = (item: IndexItem) => ownOf(item.index).last;
      const startMs = clock.monotonic();
      const made = await applyPipelines(await applyPipelines(items, ingest, first), ingest, last);
      const isChanged = made.some((each, at) => each !== items[at]);
      if (isChanged) options.onIngest?.(clock.monotonic() - startMs);
      const allowed = made.map((each) => inAlias(each, indices));
      const changed = (isChanged ? await adoptTypes(allowed, indices) : allowed).map(remade);
      const writes = changed.filter((each): each is WriteItem => !("result" in each));
      if (writes.length === items.length) return documents.write(writes, options);
      const written = writes.length === 0 ? [] : await documents.write(writes, options);
      let next = 0;
      return changed.map((each) => ("result" in each ? each.result : written[next++]!));
    },
  };
}

/** An item to write, or the result of an item that isn't written. */
type Changed = WriteItem | { readonly result: WriteResult };

/** Pipelines of an index: `first` for documents that name none, `last` after all others. */
interface OwnPipelines {
  readonly first: string | undefined;
  readonly last: string | undefined;
}

function ownPipelines(indices: Pick<Indices, "settingsFor">, index: string): OwnPipelines {
  const settings = indices.settingsFor(index);
  const named = (name: string): string | undefined => {
    const value = settings[name];
    return typeof value === "string" && value !== "" && value !== NO_PIPELINE ? value : undefined;
  };
  return { first: named("default_pipeline"), last: named("final_pipeline") };
}

/** Sends each new document through the pipeline that `pipelineFor` returns for it. */
async function applyPipelines(
  items: readonly Changed[],
  ingest: IngestPipelines | undefined,
  pipelineFor: (item: IndexItem) => string | undefined,
): Promise<readonly Changed[]> {
  const tasks: { readonly place: number; readonly item: IndexItem; readonly pipeline: string }[] = [];
  const changed: Changed[] = [];
  const known = ingest?.all();
  for (const [place, item] of items.entries()) {
    changed.push(item);
    const document = "result" in item ? undefined : newDocument(item);
    const pipeline = document && pipelineFor(document);
    if (document === undefined || pipeline === undefined || pipeline === NO_PIPELINE) continue;
    if (known?.has(pipeline) === true) tasks.push({ place, item: document, pipeline });
    else changed[place] = { result: { index: document.index, id: document.id, error: missing(pipeline) } };
  }
  if (ingest === undefined || tasks.length === 0) return changed;
  const outcomes = await ingest.run(tasks.map(({ item, pipeline }) => taskOf(item, pipeline)));
  for (const [at, { place, item }] of tasks.entries())
    changed[place] = withDocument(items[place]!, afterPipeline(item, outcomes[at]!));
  return changed;
}

/** Returns the failure of an item that requires an alias if it goes elsewhere. */
function inAlias(item: Changed, indices: Pick<Indices, "all">): Changed {
  if (!("requiresAlias" in item) || item.requiresAlias !== true) return item;
  const { requiresAlias: _, ...write } = item;
  const error = aliasFault(indices, item.index);
  return error === undefined ? write : { result: { index: item.index, id: item.id, error } };
}

/** Returns an item with the document that its `remake` makes. */
function remade(item: Changed): Changed {
  if (!("remake" in item) || item.remake === undefined) return item;
  const { remake, ...write } = item;
  const { index, id = "" } = item;
  try {
    const source = remake(item.source);
    return source === undefined ? { result: notCreated(index, id) } : { ...write, source };
  } catch (error) {
    return { result: { index, id, error: toAppError(error) } };
  }
}

/** Returns the result of an update whose script doesn't want the new document. */
export function notCreated(index: string, id: string): WriteResult {
  return { index, id, result: "noop", version: -1, seqNo: -2, primaryTerm: 0, copies: 0, copiesDone: 0 };
}

/** Gives the indices that pipelines chose the types of their documents; documents that an index can't take fail. */
async function adoptTypes(
  items: readonly Changed[],
  indices: Pick<Indices, "ensure" | "putSettings">,
): Promise<Changed[]> {
  const faults = new Map<string, AppError | undefined>();
  const adopted: Changed[] = [];
  for (const item of items) {
    const type = "type" in item ? item.type : undefined;
    if ("result" in item || type === undefined) {
      adopted.push(item);
      continue;
    }
    const { index, id } = item;
    const key = `${index}/${type}`;
    if (!faults.has(key)) faults.set(key, await faultOf(adoptType(indices, index, type)));
    const error = faults.get(key);
    adopted.push(error === undefined ? item : { result: { index, id, error } });
  }
  return adopted;
}

async function faultOf(work: Promise<void>): Promise<AppError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return toAppError(error);
  }
}

type IndexItem = Extract<WriteItem, { kind: "index" | "create" }>;

/** Returns what an item indexes: itself, or the document that an update makes if there is none. */
function newDocument(item: WriteItem): IndexItem | undefined {
  if (item.kind === "delete" || item.skipsPipelines === true) return undefined;
  if (item.kind !== "update") return item;
  const { index, id, routing, pipeline, docAsUpsert } = item;
  const source = docAsUpsert ? item.source : item.upsert;
  if (source === undefined) return undefined;
  return {
    kind: "index",
    index,
    id,
    ...(routing !== undefined && { routing }),
    ...(docAsUpsert ? {} : pipelineOf(pipeline)),
    source,
  };
}

/** Puts the document that a pipeline made into the update that it is of. */
function withDocument(item: Changed, made: Changed): Changed {
  if ("result" in item || "result" in made || item.kind !== "update" || made.kind === "delete") return made;
  return { ...item, [item.docAsUpsert ? "source" : "upsert"]: made.source };
}

function taskOf(
  { index, id, routing, type, source }: IndexItem,
  pipeline: string,
): Parameters<IngestPipelines["run"]>[0][0] {
  return {
    pipeline,
    source,
    destination: {
      _index: index,
      _type: type ?? DEFAULT_TYPE,
      ...(id !== undefined && { _id: id }),
      ...(routing !== undefined && { _routing: routing }),
    },
  };
}

function afterPipeline({ routing: _routing, ...item }: IndexItem, outcome: IngestOutcome): Changed {
  if (outcome.kind === "failed") {
    return { result: { index: item.index, id: item.id, error: ingestError(outcome) } };
  }
  if (outcome.kind === "dropped") {
    const { index, id = "" } = item;
    const nothing = { version: 0, seqNo: 0, primaryTerm: 0, copies: 0, copiesDone: 0 };
    return { result: { index, id, result: "noop", ...nothing } };
  }
  const { _index: index = item.index, _type: type, _id: id, _routing: routing } = outcome.destination;
  let conditions: WriteConditions;
  try {
    if (id !== undefined) checkId(id);
    conditions = conditionsOf(outcome.destination);
  } catch (error) {
    return { result: { index, id, error: toAppError(error) } };
  }
  return {
    ...item,
    index,
    ...(type !== undefined && { type }),
    ...(id !== undefined && { id }),
    ...(routing !== undefined && { routing }),
    ...conditions,
    source: Buffer.from(outcome.source),
  };
}

/** Returns the error of a document that failed in a pipeline. */
export function ingestError({ message, fault }: IngestFailure): AppError {
  if (fault === undefined) return new AppError("request_invalid", message);
  const { processorType, processorTag, javaClass, script } = fault;
  return new AppError("request_invalid", script === undefined ? message : "runtime error", {
    data: {
      ...(script !== undefined && { ...script, type: "script_exception" }),
      java_class: javaClass,
      header: {
        processor_type: processorType,
        ...(processorTag !== undefined && { processor_tag: processorTag }),
      },
    },
  });
}

/** Returns the version that processors set on a document. Throws request_invalid. */
function conditionsOf({ _version: version, _version_type: versionType }: IngestDestination): WriteConditions {
  if (version === undefined && versionType === undefined) return {};
  const number = version === undefined ? undefined : Number(version);
  if (number !== undefined && !Number.isSafeInteger(number))
    throw new AppError("request_invalid", `[_version] must be a whole number, but is [${version}]`);
  return makeConditions({ version: number, versionType, ifSeqNo: undefined, ifPrimaryTerm: undefined });
}

function missing(pipeline: string): AppError {
  return new AppError("request_invalid", `pipeline with id [${pipeline}] does not exist`);
}
