/** The thread of ingest pipelines: compiles definitions and runs documents through them. */

import { parentPort } from "node:worker_threads";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import type { StoredScript } from "#hub/scripts/script.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { type ErrorCode, toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { parseFields } from "./document-json.ts";
import { listedPatterns } from "./grok-versions.ts";
import {
  type Destination,
  failureOf,
  IngestDocument,
  type IngestFailure,
  PipelineCycle,
  ProcessorFault,
} from "./ingest-document.ts";
import { IngestPipeline, NAMED_PIPELINES, type PipelineContext } from "./ingest-pipeline.ts";
import { simulated } from "./simulation.ts";

/** Definitions by id, as JSON. */
export type Definitions = Readonly<Record<string, string>>;

/** What pipelines name by ids: other pipelines and stored scripts. */
export interface IngestLibrary {
  readonly pipelines: Definitions;
  readonly scripts: Definitions;
  /** Version that the pipelines behave as, 100 × major + minor. */
  readonly version: number;
}

/** A document to be taken through a pipeline. */
export interface IngestTask {
  readonly pipeline: string;
  readonly destination: Destination;
  /** JSON object. */
  readonly source: string;
}

/** The result of a document. */
export type IngestOutcome =
  | {
      readonly kind: "done";
      readonly source: string;
      readonly destination: Destination;
      /** True: it goes through the pipelines of its new index. */
      readonly isRerouted?: true;
    }
  | { readonly kind: "dropped" }
  | ({ readonly kind: "failed" } & IngestFailure);

export type IngestRequest =
  | { readonly kind: "define"; readonly library: IngestLibrary }
  /** Answers without a fault where the definition can be used. */
  | { readonly kind: "check"; readonly id: string; readonly definition: string }
  | { readonly kind: "run"; readonly tasks: readonly IngestTask[] }
  | Simulation
  /** Answers with the patterns that grok knows; `ecs`: those of `ecs_compatibility: v1`. */
  | { readonly kind: "patterns"; readonly ecs: boolean };

/** Documents to try a definition with. */
export interface Simulation {
  readonly kind: "simulate";
  readonly definition: string;
  /** Of a stored pipeline. */
  readonly id?: string;
  readonly documents: readonly { readonly source: string; readonly destination: Destination }[];
  readonly verbose: boolean;
}

export type IngestReply =
  | { readonly value: unknown }
  | { readonly code: ErrorCode; readonly message: string; readonly data: Readonly<Record<string, unknown>> };

/** Behaviour where nothing else is configured. */
export const FIRST_VERSION = 605;

/** Pipelines that may call one another for one document. */
const MAX_CALLS = 33;

/** Compiled pipelines of this thread. */
class Pipelines {
  #library: IngestLibrary = { pipelines: {}, scripts: {}, version: FIRST_VERSION };
  readonly #compiled = new Map<string, IngestPipeline>();
  readonly #running: string[] = [];
  readonly #guard = new RegexpGuard({ careful: true });

  #context(): PipelineContext {
    return {
      clock: systemClock,
      guard: this.#guard,
      call: (id, document) => this.#call(id, document),
      hasPipeline: (id) => Object.hasOwn(this.#library.pipelines, id),
      findScript: (id) => this.#findScript(id),
      version: this.#library.version,
    };
  }

  define(library: IngestLibrary): void {
    this.#library = library;
    this.#compiled.clear();
  }

  /** Throws request_invalid. */
  compile(definition: string, id?: string): IngestPipeline {
    return new IngestPipeline(JSON.parse(definition) as JsonObject, this.#context(), id);
  }

  /** Sends a document through the pipeline of a request. Throws ProcessorFault. */
  run(id: string, document: IngestDocument): void {
    // Before, a pipeline that was reached again through another one was noticed only when that one was.
    if (this.#library.version >= NAMED_PIPELINES) this.#call(id, document);
    else this.#get(id).run(document);
  }

  /** Tries a definition out; returns the documents of the answer. Throws request_invalid. */
  simulate({ definition, id, documents, verbose }: Simulation): unknown[] {
    const pipeline = this.compile(definition, id);
    return documents.map(({ source, destination }) => {
      const document = new IngestDocument(parseFields(source) ?? {}, destination, systemClock.now());
      return simulated(pipeline, document, verbose, this.#library.version >= 700);
    });
  }

  /** Returns the grok patterns of the version by name; `ecs`: those of `ecs_compatibility: v1`. */
  patterns(ecs: boolean): Readonly<Record<string, string>> {
    return listedPatterns(ecs, this.#library.version);
  }

  /** Sends a document through a pipeline that another one names. Throws ProcessorFault. */
  #call(id: string, document: IngestDocument): void {
    if (this.#running.includes(id) || this.#running.length >= MAX_CALLS) throw new PipelineCycle(id);
    this.#running.push(id);
    try {
      this.#get(id).run(document);
    } finally {
      this.#running.pop();
    }
  }

  #findScript(id: string): StoredScript | undefined {
    const { scripts } = this.#library;
    return Object.hasOwn(scripts, id) ? (JSON.parse(scripts[id]!) as StoredScript) : undefined;
  }

  #get(id: string): IngestPipeline {
    const known = this.#compiled.get(id);
    if (known !== undefined) return known;
    const { pipelines } = this.#library;
    const definition = Object.hasOwn(pipelines, id) ? pipelines[id] : undefined;
    if (definition === undefined) throw new ProcessorFault(`pipeline with id [${id}] does not exist`);
    const made = this.compile(definition, id);
    this.#compiled.set(id, made);
    return made;
  }
}

if (parentPort !== null) {
  const port = parentPort;
  const pipelines = new Pipelines();
  port.on("message", (request: IngestRequest) => port.postMessage(answer(pipelines, request)));
}

function answer(pipelines: Pipelines, request: IngestRequest): IngestReply {
  try {
    switch (request.kind) {
      case "define":
        pipelines.define(request.library);
        return { value: true };
      case "check":
        pipelines.compile(request.definition, request.id);
        return { value: true };
      case "run":
        return { value: request.tasks.map((task) => runTask(pipelines, task)) };
      case "simulate":
        return { value: pipelines.simulate(request) };
      case "patterns":
        return { value: pipelines.patterns(request.ecs) };
    }
  } catch (error) {
    const { code, message, data } = toAppError(error);
    return { code, message, data };
  }
}

function runTask(pipelines: Pipelines, { pipeline, destination, source }: IngestTask): IngestOutcome {
  const fields = parseFields(source);
  if (fields === undefined) return { kind: "failed", message: "the document is not a JSON object" };
  const document = new IngestDocument(fields, destination, systemClock.now());
  try {
    pipelines.run(pipeline, document);
    if (document.dropped) return { kind: "dropped" };
    // What nests too deep to be written fails by itself, without the others of its request.
    const text = JSON.stringify(document.source);
    const sentOn = document.isRerouted ? ({ isRerouted: true } as const) : {};
    return { kind: "done", source: text, destination: document.destination, ...sentOn };
  } catch (error) {
    return { kind: "failed", ...failureOf(error as Error) };
  }
}
