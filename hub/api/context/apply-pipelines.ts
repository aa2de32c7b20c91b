/** Runs new documents through ingest pipelines, which may send them to other indices. */

import { DEFAULT_TYPE } from "#hub/api/compat/mapping-types.ts";
import { checkId, makeConditions } from "#hub/api/parameters/write-options.ts";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import type {
  IngestDestination,
  IngestFailure,
  IngestOutcome,
  IngestPipelines,
} from "#hub/api/ports/pipelines.ts";
import type { WriteConditions, WriteResult } from "#hub/cluster/writes/writes.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";

/** Name with which requests and settings select no pipeline, not even the index's own. */
export const NO_PIPELINE = "_none";
/** How often a document may be sent on to another index. */
const MAX_REROUTES = 32;

/** An item to write, or the result of an item that isn't written. */
export type Changed = WriteItem | { readonly result: WriteResult };

/** Pipelines of an index: `first` for documents that name none, `last` after all others. */
export interface OwnPipelines {
  readonly first: string | undefined;
  readonly last: string | undefined;
}

/**
 * Sends each new document through the pipeline that it names or that its index has, and, where a processor sends it on, through
 * those of the indices that it comes to.
 */
export async function applyFirst(
  items: readonly Changed[],
  ingest: IngestPipelines | undefined,
  ownOf: (index: string) => OwnPipelines,
): Promise<readonly Changed[]> {
  /** The indices that documents were sent on from, by their indexes. */
  const left = new Map<number, readonly string[]>();
  let from = items;
  let sent = await applyPipelines(from, ingest, ({ pipeline, index }) => pipeline ?? ownOf(index).first);
  while (sent.rerouted.size > 0) {
    const { changed, rerouted } = sent;
    const next = changed.map((item, place) =>
      rerouted.has(place) ? sentOn(from[place]!, item, left, place) : item,
    );
    from = next;
    sent = await applyPipelines(next, ingest, ({ index }, place) =>
      rerouted.has(place) && left.get(place)?.at(-1) !== index ? ownOf(index).first : undefined,
    );
  }
  return sent.changed;
}

/** Sends each new document through the last pipeline of its index, which may not choose another one. */
export async function applyLast(
  items: readonly Changed[],
  ingest: IngestPipelines | undefined,
  ownOf: (index: string) => OwnPipelines,
): Promise<readonly Changed[]> {
  const { changed } = await applyPipelines(items, ingest, ({ index }) => ownOf(index).last);
  return changed.map((made, place) => {
    const from = items[place]!;
    if ("result" in from || "result" in made || made.index === from.index) return made;
    const { index, id } = from;
    const way = `from [${index}] to [${made.index}]`;
    const message = `final pipeline [${ownOf(index).last}] can't change the target index (${way}) for document [${id}]`;
    return { result: { index, id, error: new AppError("request_invalid", message) } };
  });
}

/** Records the index that a document leaves. Returns the document, or its failure if it has been where it goes. */
function sentOn(from: Changed, item: Changed, left: Map<number, readonly string[]>, place: number): Changed {
  if ("result" in from || "result" in item) return item;
  const { index, id } = item;
  const way = [...(left.get(place) ?? []), from.index];
  left.set(place, way);
  const isCycle = way.slice(0, -1).includes(index);
  if (!isCycle && way.length <= MAX_REROUTES) return item;
  const what = isCycle ? "index cycle detected" : `more than ${MAX_REROUTES} reroutes`;
  const message = `${what} while processing pipelines for document [${id}]: [${[...way, index].join(", ")}]`;
  return { result: { index, id, error: new AppError("request_invalid", message) } };
}

/**
 * Sends each new document through the pipeline that `pipelineFor` returns for it. `rerouted`: the indexes of those that
 * its processors have sent on to another index.
 */
async function applyPipelines(
  items: readonly Changed[],
  ingest: IngestPipelines | undefined,
  pipelineFor: (item: IndexItem, place: number) => string | undefined,
): Promise<{ readonly changed: readonly Changed[]; readonly rerouted: ReadonlySet<number> }> {
  const rerouted = new Set<number>();
  const tasks: { readonly place: number; readonly item: IndexItem; readonly pipeline: string }[] = [];
  const changed: Changed[] = [];
  const known = ingest?.all();
  for (const [place, item] of items.entries()) {
    changed.push(item);
    const document = "result" in item ? undefined : newDocument(item);
    const pipeline = document && pipelineFor(document, place);
    if (document === undefined || pipeline === undefined || pipeline === NO_PIPELINE) continue;
    if (known?.has(pipeline) === true) tasks.push({ place, item: document, pipeline });
    else changed[place] = { result: { index: document.index, id: document.id, error: missing(pipeline) } };
  }
  if (ingest === undefined || tasks.length === 0) return { changed, rerouted };
  const outcomes = await ingest.run(tasks.map(({ item, pipeline }) => taskOf(item, pipeline)));
  for (const [at, { place, item }] of tasks.entries()) {
    const outcome = outcomes[at]!;
    changed[place] = withDocument(items[place]!, afterPipeline(item, outcome));
    if (outcome.kind === "done" && outcome.isRerouted === true) rerouted.add(place);
  }
  return { changed, rerouted };
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
    ...(!docAsUpsert && pipeline !== undefined && { pipeline }),
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

export function missing(pipeline: string): AppError {
  return new AppError("request_invalid", `pipeline with id [${pipeline}] does not exist`);
}
