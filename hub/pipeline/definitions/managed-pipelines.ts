/** Pipelines that administrators created through the hub's API, stored in a bucket that all hubs share. */

import type { PipelineDefinition } from "#hub/pipeline/language/pipeline-definition.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { StateBucket, StateEntry } from "#proto/kit/state-bucket.ts";
import { PIPELINE_ID } from "./pipeline-files.ts";

/** Longest text, characters. */
const MAX_TEXT = 512 * 1024;
const MAX_DESCRIPTION = 1_000;
const MAX_PIPELINES = 200;

/** A pipeline as it is stored. */
export interface ManagedPipeline {
  readonly id: string;
  readonly description: string;
  readonly text: string;
  /** ISO 8601, UTC. */
  readonly updated: string;
  /** Who changed it last. */
  readonly updatedBy: string;
  /** Changes with each write. */
  readonly revision: number;
}

export type ManagedContent = Pick<ManagedPipeline, "description" | "text" | "updated" | "updatedBy">;

export class ManagedPipelines {
  readonly #bucket: StateBucket;

  constructor(bucket: StateBucket) {
    this.#bucket = bucket;
  }

  /** Returns all, by id. */
  async list(): Promise<ManagedPipeline[]> {
    const entries = await Promise.all(
      (await this.#bucket.keys("pipeline/")).map((key) => this.#bucket.get(key)),
    );
    return entries
      .filter((entry) => entry !== null)
      .map(decode)
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  async get(id: string): Promise<ManagedPipeline | undefined> {
    const entry = await this.#bucket.get(keyOf(id));
    return entry === null ? undefined : decode(entry);
  }

  /** Stores it; with a revision only where it is still the newest (0: where there is none). Throws journal_conflict, request_invalid, request_too_large. */
  async put(id: string, content: ManagedContent, revision?: number): Promise<ManagedPipeline> {
    const key = keyOf(id);
    if (content.text.length > MAX_TEXT) {
      throw new AppError("request_too_large", `a pipeline's text has at most ${MAX_TEXT} characters`);
    }
    if (content.description.length > MAX_DESCRIPTION) {
      throw new AppError("request_too_large", `a description has at most ${MAX_DESCRIPTION} characters`);
    }
    const found = await this.#bucket.get(key);
    if (found === null && (await this.#bucket.keys("pipeline/")).length >= MAX_PIPELINES) {
      throw new AppError("request_invalid", `there are ${MAX_PIPELINES} pipelines already: delete one first`);
    }
    const value = Buffer.from(JSON.stringify({ version: 1, ...content }));
    const expected = revision ?? found?.revision ?? 0;
    const next =
      expected === 0
        ? await this.#bucket.create(key, value)
        : await this.#bucket.update(key, value, expected);
    return { id, ...content, revision: next };
  }

  /** Throws not_found, journal_conflict. */
  async delete(id: string, revision?: number): Promise<void> {
    if ((await this.get(id)) === undefined) throw missingPipeline(id);
    await this.#bucket.delete(keyOf(id), revision);
  }

  /** Yields whenever something changed, until `signal` is aborted. */
  async *changes(signal: AbortSignal): AsyncIterable<void> {
    for await (const { key } of this.#bucket.watch(signal)) if (key.startsWith("pipeline/")) yield;
  }
}

/** Returns how a stored pipeline is run. */
export function managedDefinition({ id, text }: Pick<ManagedPipeline, "id" | "text">): PipelineDefinition {
  return { id, files: [{ path: id, text }], isManaged: true };
}

export function missingPipeline(id: string): AppError {
  return new AppError("not_found", `there is no pipeline "${id}"`);
}

function keyOf(id: string): string {
  if (!PIPELINE_ID.test(id)) {
    throw new AppError(
      "request_invalid",
      `"${id}" isn't an id of a pipeline: use 1 to 64 letters, digits, - and _`,
    );
  }
  return `pipeline/${id}`;
}

function decode({ key, value, revision }: StateEntry): ManagedPipeline {
  const stored = JSON.parse(Buffer.from(value).toString()) as ManagedContent;
  const { description, text, updated, updatedBy } = stored;
  return { id: key.slice("pipeline/".length), description, text, updated, updatedBy, revision };
}
