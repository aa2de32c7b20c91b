/** Documents that ask for an ingest pipeline go through it before they are written. */

import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { IngestOutcome, IngestPipelines } from "./pipeline-ports.ts";
import type { Documents, WriteItem, WriteResult } from "./ports.ts";
import { checkId } from "./write-answer.ts";

/** Says of a client's `pipeline` whether it names one; `_none` is how clients say that none is wanted. */
export function pipelineOf(name: string | undefined): { pipeline?: string } {
  return name === undefined || name === "" || name === "_none" ? {} : { pipeline: name };
}

/** Throws request_invalid where there is no such pipeline. */
export function checkPipeline(ingest: IngestPipelines | undefined, name: string | undefined): void {
  const { pipeline } = pipelineOf(name);
  if (pipeline !== undefined && ingest?.all().has(pipeline) !== true) throw missing(pipeline);
}

/** Returns documents whose writes go through the pipelines they name. */
export function ingestDocuments(documents: Documents, ingest: IngestPipelines | undefined): Documents {
  return {
    get: (index, id, options) => documents.get(index, id, options),
    append: (run, options) => documents.append(run, options),
    async write(items, options) {
      if (!items.some((item) => pipelineFor(item) !== undefined)) return documents.write(items, options);
      const changed = await applyPipelines(items, ingest);
      const writes = changed.filter((each): each is WriteItem => !("result" in each));
      const written = writes.length === 0 ? [] : await documents.write(writes, options);
      let next = 0;
      return changed.map((each) => ("result" in each ? each.result : written[next++]!));
    },
  };
}

/** An item to write, or the result of one that isn't to be. */
type Changed = WriteItem | { readonly result: WriteResult };

async function applyPipelines(
  items: readonly WriteItem[],
  ingest: IngestPipelines | undefined,
): Promise<Changed[]> {
  const changed: Changed[] = [...items];
  const known = ingest?.all();
  const places: number[] = [];
  for (const [place, item] of items.entries()) {
    const pipeline = pipelineFor(item);
    if (pipeline === undefined) continue;
    if (known?.has(pipeline) === true) places.push(place);
    else changed[place] = { result: { index: item.index, id: item.id, error: missing(pipeline) } };
  }
  if (ingest === undefined || places.length === 0) return changed;
  const outcomes = await ingest.run(places.map((place) => taskOf(items[place] as IndexItem)));
  for (const [at, place] of places.entries())
    changed[place] = afterPipeline(items[place] as IndexItem, outcomes[at]!);
  return changed;
}

type IndexItem = Extract<WriteItem, { kind: "index" | "create" }>;

function taskOf({
  pipeline = "",
  index,
  id,
  routing,
  source,
}: IndexItem): Parameters<IngestPipelines["run"]>[0][0] {
  return {
    pipeline,
    source,
    destination: {
      _index: index,
      _type: "_doc",
      ...(id !== undefined && { _id: id }),
      ...(routing !== undefined && { _routing: routing }),
    },
  };
}

function afterPipeline({ routing: _routing, ...item }: IndexItem, outcome: IngestOutcome): Changed {
  if (outcome.kind === "failed") {
    const error = new AppError("request_invalid", outcome.message);
    return { result: { index: item.index, id: item.id, error } };
  }
  if (outcome.kind === "dropped") {
    const { index, id = "" } = item;
    const nothing = { version: 0, seqNo: 0, primaryTerm: 0, copies: 0, copiesDone: 0 };
    return { result: { index, id, result: "noop", ...nothing } };
  }
  const { _index: index = item.index, _id: id, _routing: routing } = outcome.destination;
  try {
    if (id !== undefined) checkId(id);
  } catch (error) {
    return { result: { index, id, error: toAppError(error) } };
  }
  return {
    ...item,
    index,
    ...(id !== undefined && { id }),
    ...(routing !== undefined && { routing }),
    source: Buffer.from(outcome.source),
  };
}

function pipelineFor(item: WriteItem): string | undefined {
  return item.kind === "index" || item.kind === "create" ? item.pipeline : undefined;
}

function missing(pipeline: string): AppError {
  return new AppError("request_invalid", `pipeline with id [${pipeline}] does not exist`);
}
