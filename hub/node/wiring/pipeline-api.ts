/** Pipelines and dead letters for the hub API. */

import { createHash } from "node:crypto";
import { hostname } from "node:os";
import type { DeadLetterBox, PipelineAdmin, PipelineSamples } from "#hub/api/ports/pipelines.ts";
import type { KeptDeadLetter } from "#hub/journal/dead-letters.ts";
import type { Journal } from "#hub/journal/journal.ts";
import type { KnownPipeline } from "#hub/pipeline/definitions/pipeline-control.ts";
import type { PipelineFile } from "#hub/pipeline/language/pipeline-definition.ts";
import { RawChannel } from "#hub/pipeline/runtime/input-channel.ts";
import type { GrokAnswer } from "#hub/pipeline/tooling/grok-debug.ts";
import { debugGrokApart, simulateApart } from "#hub/pipeline/tooling/isolated-run.ts";
import { Event } from "#proto/event.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { Logger } from "#proto/kit/log.ts";
import { LogBatch } from "#proto/messages.ts";
import { partitionOf, rawSubject } from "#proto/subjects.ts";
import type { Pipelines } from "./pipelines.ts";

/** Timeout of a replay. */
const REPLAY_TIMEOUT_MS = 30_000;

export interface PipelineApiOptions {
  readonly pipelines: Pipelines;
  readonly journal: Journal;
  readonly hubName: string;
  readonly version: string;
  readonly log: Logger;
  readonly clock: Clock;
}

export class PipelineApi implements PipelineAdmin, DeadLetterBox {
  readonly #options: PipelineApiOptions;

  constructor(options: PipelineApiOptions) {
    this.#options = options;
  }

  async list(): Promise<JsonObject> {
    const { control, pipeline } = this.#options.pipelines;
    const { inputs, failures, plugins } = pipeline.status();
    const known = await control.list();
    return {
      problem: control.problem,
      pipelines: known.map((each) => ({
        ...summary(each),
        inputs: inputs.filter((input) => input.pipeline === each.id),
        failures: failures.filter((failure) => failure.pipeline === each.id),
        plugins: plugins.filter((plugin) => plugin.pipeline === each.id),
      })),
    };
  }

  async get(id: string): Promise<JsonObject> {
    const known = await this.#options.pipelines.control.get(id);
    return { ...summary(known), files: known.files, text: known.managed?.text };
  }

  async put(
    id: string,
    content: { readonly text: string; readonly description: string; readonly by: string },
    revision?: number,
  ): Promise<JsonObject> {
    await this.#options.pipelines.control.put(id, content, revision);
    return this.get(id);
  }

  delete(id: string, revision?: number): Promise<void> {
    return this.#options.pipelines.control.delete(id, revision);
  }

  async simulate(id: string | undefined, { text, events }: PipelineSamples): Promise<JsonObject> {
    const known =
      text === undefined && id !== undefined ? await this.#options.pipelines.control.get(id) : undefined;
    const files: readonly PipelineFile[] = known?.files ?? [{ path: id ?? "pipeline", text: text ?? "" }];
    const isManaged = known?.origin !== "files";
    // Test runs get no secrets: they open no connections and show everything.
    const variables = await this.#options.pipelines.shownVariables();
    return {
      simulations: await simulateApart({ files, samples: events, withSteps: true, variables, isManaged }),
    };
  }

  grok(question: Parameters<typeof debugGrokApart>[0]): Promise<GrokAnswer> {
    return debugGrokApart(question);
  }

  async letters(after: number, limit: number): Promise<JsonObject[]> {
    const { journal } = this.#options;
    const found: KeptDeadLetter[] = [];
    let position = { incarnation: 0, sequence: 0 };
    // People name letters by sequence; positions include the incarnation.
    while (found.length < limit) {
      const letters = await journal.deadLetters(position, limit);
      found.push(...letters.filter((letter) => letter.position.sequence > after));
      const last = letters.at(-1);
      if (last === undefined) break;
      position = last.position;
    }
    return found.slice(0, limit).map(letterJson);
  }

  async replay(sequence: number, changed: JsonObject | undefined, pipeline: string): Promise<JsonObject> {
    const letter = (await this.letters(sequence - 1, 1))[0];
    if (letter === undefined || letter["sequence"] !== sequence) {
      throw new AppError(
        "not_found",
        `there is no dead letter ${sequence}; the oldest are deleted when the stream is full`,
      );
    }
    const event = changed ?? (letter["event"] as JsonObject | null);
    if (event !== null) await this.#replayEvent(sequence, event, pipeline);
    else await this.#replayBatch(sequence, Buffer.from(String(letter["data"]), "base64"));
    return { replayed: true, sequence };
  }

  /** Replays an event. The same event of the same letter is processed once, however often it is replayed. */
  async #replayEvent(sequence: number, event: JsonObject, pipeline: string): Promise<void> {
    const { journal, hubName, version, log, clock } = this.#options;
    const hash = createHash("sha256").update(JSON.stringify(event)).digest("hex").slice(0, 16);
    const channel = new RawChannel({
      identity: {
        pipeline,
        plugin: "dead-letters",
        type: "dead_letter",
        hubName,
        sourceName: hubName,
        hostName: hostname(),
        version,
      },
      source: { key: `letter-${sequence}-${hash}` },
      decorate: () => undefined,
      publish: (subject, data, options) => journal.publish(subject, data, options),
      clock,
      log,
      signal: AbortSignal.timeout(REPLAY_TIMEOUT_MS),
      sent: () => undefined,
    });
    await channel.send([{ event: new Event(event, clock.now()), offset: 0 }]);
  }

  /** Replays a batch as a new source: the original's source counts as processed. */
  async #replayBatch(sequence: number, data: Uint8Array): Promise<void> {
    const batch = decodeBatch(sequence, data);
    const { source } = batch.block ?? {};
    if (source === null || source === undefined) throw unreadable(sequence);
    source.fileKey = `${source.fileKey ?? ""}-letter-${sequence}`;
    const subject = rawSubject(partitionOf(batch.agentId, source.fileKey), batch.agentId);
    await this.#options.journal.publish(subject, LogBatch.encode(batch).finish(), {
      messageId: `letter/${sequence}`,
      signal: AbortSignal.timeout(REPLAY_TIMEOUT_MS),
    });
  }
}

function decodeBatch(sequence: number, data: Uint8Array) {
  try {
    return LogBatch.decode(data);
  } catch (error) {
    throw new AppError("request_invalid", unreadable(sequence).message, { cause: error });
  }
}

function unreadable(sequence: number): AppError {
  return new AppError(
    "request_invalid",
    `dead letter ${sequence} contains no event; send one in the body to replay it`,
  );
}

function summary({ id, origin, isRunning, files, managed }: KnownPipeline): JsonObject {
  return {
    id,
    origin,
    running: isRunning,
    paths: files.map(({ path }) => path),
    ...(managed !== undefined && {
      description: managed.description,
      updated: managed.updated,
      updated_by: managed.updatedBy,
      revision: managed.revision,
    }),
  };
}

function letterJson({
  position,
  timeMs,
  source,
  reason,
  origin,
  data,
  originalBytes,
}: KeptDeadLetter): JsonObject {
  const event = eventOf(data);
  return {
    sequence: position.sequence,
    time: new Date(timeMs).toISOString(),
    source,
    reason,
    origin: origin === undefined ? null : { stream: origin.stream, sequence: origin.position.sequence },
    event: event ?? null,
    ...(event === undefined && { data: Buffer.from(data).toString("base64") }),
    bytes: originalBytes,
    truncated: originalBytes > data.length,
  };
}

/** Returns the event, or undefined if the letter contains something else or was truncated. */
function eventOf(data: Uint8Array): JsonObject | undefined {
  if (data[0] !== 0x7b) return undefined;
  try {
    return JSON.parse(Buffer.from(data).toString()) as JsonObject;
  } catch {
    return undefined;
  }
}
