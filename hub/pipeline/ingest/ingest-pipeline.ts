/** Ingest pipelines: lists of processors, compiled once, that documents go through before they are written. */

import { isHash } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { nearestName } from "#proto/kit/nearest.ts";
import { FIELD_PROCESSORS } from "./field-processors.ts";
import { FILTER_PROCESSORS } from "./filter-processors.ts";
import { type IngestDocument, ProcessorFault } from "./ingest-document.ts";
import { type ProcessorContext, type ProcessorKind, ProcessorSettings } from "./processor.ts";
import { type Condition, script, takeCondition } from "./script-processor.ts";
import { TEXT_PROCESSORS } from "./text-processors.ts";
import { uriParts } from "./uri-processor.ts";

/** Processors of one pipeline, those for failures too. */
const MAX_PROCESSORS = 1_000;
/** How deep failures, lists and pipelines may stand in one another. */
const MAX_DEPTH = 16;

const KINDS = new Map<string, ProcessorKind>(
  Object.entries({
    ...FIELD_PROCESSORS,
    ...TEXT_PROCESSORS,
    ...FILTER_PROCESSORS,
    script,
    uri_parts: uriParts,
  }),
);

/** Hears of each processor of the first level that has run. */
export type StepListener = (
  tag: string | undefined,
  document: IngestDocument,
  fault: Error | undefined,
) => void;

/** A compiled processor with what its failure leads to. */
interface Step {
  readonly type: string;
  readonly tag: string | undefined;
  readonly ignoresFailure: boolean;
  readonly onFailure: readonly Step[];
  /** Undefined: it runs on every document. */
  readonly condition: Condition | undefined;
  work(document: IngestDocument): void;
}

export type PipelineContext = Pick<ProcessorContext, "clock" | "guard" | "call" | "findScript" | "ecs">;

export class IngestPipeline {
  readonly #steps: readonly Step[];
  readonly #onFailure: readonly Step[];

  /** Throws request_invalid naming the processor and its setting. */
  constructor(definition: JsonObject, context: PipelineContext) {
    const { processors, on_failure: onFailure, description, version, ...others } = definition;
    const [unknown] = Object.keys(others);
    if (unknown !== undefined)
      throw parseFault(`pipeline doesn't support one or more provided configuration parameters [${unknown}]`);
    if (description !== undefined && typeof description !== "string")
      throw parseFault("[description] property isn't a string");
    if (version !== undefined && !Number.isInteger(version))
      throw parseFault("[version] property isn't an integer");
    if (!Array.isArray(processors)) throw parseFault("[processors] required property is missing");
    const compiler = new Compiler(context);
    this.#steps = compiler.steps(processors, 0);
    this.#onFailure = onFailure === undefined ? [] : compiler.failureSteps(onFailure, 0);
  }

  /** Takes a document through. Throws ProcessorFault where a processor failed and nothing takes care of it. */
  run(document: IngestDocument, listener?: StepListener): void {
    runSteps(this.#steps, this.#onFailure, document, listener);
  }
}

class Compiler {
  readonly #context: PipelineContext;
  #count = 0;

  constructor(context: PipelineContext) {
    this.#context = context;
  }

  steps(list: readonly unknown[], depth: number): Step[] {
    if (depth > MAX_DEPTH) throw parseFault(`processors stand more than ${MAX_DEPTH} deep in one another`);
    return list.map((item) => this.#step(item, depth));
  }

  failureSteps(list: unknown, depth: number): Step[] {
    if (!Array.isArray(list) || list.length === 0)
      throw parseFault("[on_failure] processors list cannot be empty");
    return this.steps(list, depth);
  }

  #step(item: unknown, depth: number): Step {
    if (++this.#count > MAX_PROCESSORS)
      throw parseFault(`a pipeline has at most ${MAX_PROCESSORS} processors`);
    const [entry, ...others] = isHash(item) ? Object.entries(item) : [];
    if (entry === undefined || others.length > 0 || !isHash(entry[1]))
      throw parseFault("a processor is an object with one member: its type, with its settings");
    const [type, given] = entry;
    const kind = KINDS.get(type);
    if (kind === undefined) throw unknownType(type);
    const settings = new ProcessorSettings(type, given as JsonObject);
    const condition = takeCondition(settings, this.#context.findScript);
    const tag = settings.optionalText("tag");
    settings.optionalText("description");
    const ignoresFailure = settings.flag("ignore_failure");
    const failures = settings.take("on_failure");
    const work = kind(settings, {
      ...this.#context,
      compile: (definition) => {
        const [step] = this.steps([definition], depth + 1);
        return (document) => runStep(step!, document);
      },
    });
    settings.finish();
    return {
      type,
      tag,
      ignoresFailure,
      condition,
      onFailure: failures === undefined ? [] : this.failureSteps(failures, depth + 1),
      work,
    };
  }
}

function runSteps(
  steps: readonly Step[],
  onFailure: readonly Step[],
  document: IngestDocument,
  listener?: StepListener,
): void {
  for (const step of steps) {
    try {
      runStep(step, document);
      listener?.(step.tag, document, undefined);
    } catch (error) {
      listener?.(step.tag, document, error as Error);
      if (onFailure.length === 0) throw error;
      withFailure(step, error as Error, document, () => runSteps(onFailure, [], document, listener));
      return;
    }
    if (document.dropped) return;
  }
}

function runStep(step: Step, document: IngestDocument): void {
  try {
    if (step.condition?.(document) === false) return;
    step.work(document);
  } catch (error) {
    const fault =
      error instanceof ProcessorFault
        ? error
        : new ProcessorFault((error as Error).message, { cause: error });
    fault.processor ??= step;
    if (step.ignoresFailure) return;
    if (step.onFailure.length === 0) throw fault;
    withFailure(step, fault, document, () => runSteps(step.onFailure, [], document));
  }
}

/** While failures are taken care of, `_ingest` tells what failed. */
function withFailure(step: Step, fault: Error, document: IngestDocument, work: () => void): void {
  const told = {
    on_failure_message: fault.message,
    on_failure_processor_type: step.type,
    on_failure_processor_tag: step.tag ?? null,
  };
  Object.assign(document.ingest, told);
  try {
    work();
  } finally {
    for (const name of Object.keys(told)) delete document.ingest[name];
  }
}

function unknownType(type: string): AppError {
  const nearest = nearestName(type, [...KINDS.keys()]);
  const message = `No processor type exists with name [${type}]${nearest === undefined ? "" : `; did you mean [${nearest}]?`}`;
  return new AppError("request_invalid", message, {
    data: { type: "parse_exception", header: { processor_type: type } },
  });
}

function parseFault(message: string): AppError {
  return new AppError("request_invalid", message, { data: { type: "parse_exception" } });
}
