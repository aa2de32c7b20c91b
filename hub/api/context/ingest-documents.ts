/** Sends documents through the ingest pipelines that their request or their index names before they are written. */

import { adoptType } from "#hub/api/compat/mapping-types.ts";
import type { Documents, WriteItem } from "#hub/api/ports/documents.ts";
import type { Indices } from "#hub/api/ports/indices.ts";
import type { IngestPipelines } from "#hub/api/ports/pipelines.ts";
import type { WriteResult } from "#hub/cluster/writes/writes.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { type AppError, toAppError } from "#proto/kit/errors.ts";
import {
  applyFirst,
  applyLast,
  type Changed,
  missing,
  NO_PIPELINE,
  type OwnPipelines,
} from "./apply-pipelines.ts";
import { aliasFault } from "./index-blocks.ts";

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
 * finally through `index.final_pipeline` of the index that they are then addressed to, which they can't leave any more.
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
      const startMs = clock.monotonic();
      const routed = await applyFirst(items, ingest, ownOf);
      const made = await applyLast(routed, ingest, ownOf);
      const isChanged = made.some((each, at) => each !== items[at]);
      if (isChanged) options.onIngest?.(clock.monotonic() - startMs);
      const faults = new Map<string, AppError | undefined>();
      const faultOf = (index: string): AppError | undefined => {
        if (!faults.has(index)) faults.set(index, aliasFault(indices, index));
        return faults.get(index);
      };
      const allowed = made.map((each) => inAlias(each, faultOf));
      const changed = (isChanged ? await adoptTypes(allowed, indices) : allowed).map(remade);
      const writes = changed.filter((each): each is WriteItem => !("result" in each));
      if (writes.length === items.length) return documents.write(writes, options);
      const written = writes.length === 0 ? [] : await documents.write(writes, options);
      let next = 0;
      return changed.map((each) => ("result" in each ? each.result : written[next++]!));
    },
  };
}

function ownPipelines(indices: Pick<Indices, "settingsFor">, index: string): OwnPipelines {
  const settings = indices.settingsFor(index);
  const named = (name: string): string | undefined => {
    const value = settings[name];
    return typeof value === "string" && value !== "" && value !== NO_PIPELINE ? value : undefined;
  };
  return { first: named("default_pipeline"), last: named("final_pipeline") };
}

/** Returns the failure of an item that requires an alias if it goes elsewhere. `faultOf`: see aliasFault, which reads all indices. */
function inAlias(item: Changed, faultOf: (index: string) => AppError | undefined): Changed {
  if (!("requiresAlias" in item) || item.requiresAlias !== true) return item;
  const { requiresAlias: _, ...write } = item;
  const error = faultOf(item.index);
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
