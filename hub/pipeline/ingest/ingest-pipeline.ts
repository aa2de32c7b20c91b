/** Ingest pipelines: lists of processors, compiled once, that documents go through before they are written. */

import { isHash } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { nearestName } from "#proto/kit/nearest.ts";
import { LEFT_OUT, PROCESSORS } from "./all.ts";
import { type IngestDocument, PipelineCycle, ProcessorFault, typeNameOf } from "./ingest-document.ts";
import { type ProcessorContext, ProcessorSettings } from "./processor.ts";
import { type Condition, takeCondition } from "./script-processor.ts";

/** Processors of one pipeline, those for failures too. */
const MAX_PROCESSORS = 1_000;
/** Name of a pipeline that a simulation gives without one. */
const ON_TRIAL = "_simulate_pipeline";
/** The first version that documents know the name of their pipeline in. */
export const NAMED_PIPELINES = 706;
/** How deep failures, lists and pipelines may be nested. */
const MAX_DEPTH = 16;

/** A compiled processor with what its failure leads to. */
interface Step {
  readonly type: string;
  readonly tag: string | undefined;
  readonly description: string | undefined;
  readonly ignoresFailure: boolean;
  readonly onFailure: readonly Step[];
  /** Undefined: it runs on every document. */
  readonly condition: Condition | undefined;
  /** The condition's text. */
  readonly conditionText: string | undefined;
  work(document: IngestDocument): void;
}

export type PipelineContext = Pick<
  ProcessorContext,
  "clock" | "guard" | "call" | "hasPipeline" | "findScript" | "version"
>;

export class IngestPipeline {
  readonly #steps: readonly Step[];
  readonly #onFailure: readonly Step[];
  /** Undefined: documents don't get it. */
  readonly #name: string | undefined;

  /** Throws request_invalid naming the processor and its setting. */
  constructor(definition: JsonObject, context: PipelineContext, id = ON_TRIAL) {
    const { processors, on_failure: onFailure, description, version, _meta: _, ...others } = definition;
    const [unknown] = Object.keys(others);
    if (unknown !== undefined)
      throw parseFault(`pipeline doesn't support one or more provided configuration parameters [${unknown}]`);
    if (description !== undefined && typeof description !== "string")
      throw parseFault("[description] property isn't a string");
    if (version !== undefined && !Number.isInteger(version))
      throw parseFault("[version] property isn't an integer");
    if (!Array.isArray(processors)) throw parseFault("[processors] required property is missing");
    this.#name = context.version >= NAMED_PIPELINES ? id : undefined;
    const compiler = new Compiler(context);
    this.#steps = compiler.steps(processors, 0);
    if (Array.isArray(onFailure) && onFailure.length === 0)
      throw parseFault(`pipeline [${id}] cannot have an empty on_failure option defined`);
    if (onFailure !== undefined && !Array.isArray(onFailure))
      throw parseFault("[on_failure] property isn't a list");
    this.#onFailure = compiler.steps(onFailure ?? [], 0);
  }

  /** Takes a document through. Throws ProcessorFault if a processor failed and nothing takes care of it. */
  run(document: IngestDocument): void {
    const { ingest } = document;
    const { pipeline: caller } = ingest;
    if (this.#name !== undefined) ingest["pipeline"] = this.#name;
    try {
      runSteps(this.#steps, this.#onFailure, document);
    } catch (error) {
      if (caller !== undefined && error instanceof ProcessorFault) error.pipeline ??= this.#name;
      throw error;
    } finally {
      document.isTerminated = false;
      if (this.#name !== undefined) {
        if (caller === undefined) delete ingest["pipeline"];
        else ingest["pipeline"] = caller;
      }
    }
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
    return list.flatMap((item) => {
      if (!isHash(item)) throw parseFault("a processor is an object: its type, with its settings");
      // An object may have several processors, which run in the order they are written in.
      return Object.entries(item).map(([type, given]) => this.#step(type, given, depth));
    });
  }

  /** Takes the processors of the setting `on_failure`. */
  #failureSteps(settings: ProcessorSettings, depth: number): Step[] {
    const list = settings.take("on_failure");
    if (list === undefined) return [];
    if (!Array.isArray(list)) throw settings.mismatch("on_failure", "list", list);
    if (list.length === 0) throw settings.fault("on_failure", "processors list cannot be empty");
    return this.steps(list, depth);
  }

  #step(type: string, given: unknown, depth: number): Step {
    if (++this.#count > MAX_PROCESSORS)
      throw parseFault(`a pipeline has at most ${MAX_PROCESSORS} processors`);
    const kind = PROCESSORS.get(type);
    if (kind === undefined) throw unknownType(type);
    const object = type === "script" && typeof given === "string" ? { source: given } : given;
    if (!isHash(object)) throw typeFault(type, `property isn't a map, but of type [${typeNameOf(object)}]`);
    const settings = new ProcessorSettings(type, object as JsonObject);
    const conditionText = textOf(object["if"]);
    const condition = takeCondition(settings, this.#context.findScript);
    const tag = settings.optionalText("tag");
    const description = settings.optionalText("description");
    const ignoresFailure = settings.flag("ignore_failure");
    const onFailure = this.#failureSteps(settings, depth + 1);
    const work = kind(settings, {
      ...this.#context,
      compile: (definition) => {
        const [step, ...others] = this.steps([definition], depth + 1);
        if (step === undefined || others.length > 0)
          throw settings.fault("processor", "Must specify exactly one processor type");
        return (document) => runStep(step, document);
      },
    });
    settings.finish();
    return {
      type,
      tag,
      description,
      ignoresFailure,
      condition,
      conditionText,
      onFailure,
      work,
    };
  }
}

/** Returns the source of a condition, which is a text or an object. */
function textOf(condition: unknown): string | undefined {
  const source = isHash(condition) ? condition["source"] : condition;
  return typeof source === "string" ? source : undefined;
}

function runSteps(steps: readonly Step[], onFailure: readonly Step[], document: IngestDocument): void {
  for (const step of steps) {
    try {
      runStep(step, document);
    } catch (error) {
      if (onFailure.length === 0) throw error;
      withFailure(step, error as Error, document, () => runSteps(onFailure, [], document));
      return;
    }
    if (document.dropped || document.isTerminated || document.isRerouted) return;
  }
}

function runStep(step: Step, document: IngestDocument): void {
  try {
    if (step.condition?.(document) === false) {
      document.listener?.(step, "skipped", undefined);
      return;
    }
    if (step.type === "pipeline") document.listener?.(step, "entered", undefined);
    step.work(document);
    if (step.type !== "pipeline")
      document.listener?.(step, document.dropped ? "dropped" : "success", undefined);
  } catch (error) {
    const fault =
      error instanceof ProcessorFault
        ? error
        : new ProcessorFault((error as Error).message, { cause: error });
    // The failure of the called pipeline's processor was reported before.
    const isNew = fault.processor === undefined;
    fault.processor ??= step;
    // Pipelines that call one another fail before any of them has done something.
    if (isNew || (error instanceof PipelineCycle && step.type === "pipeline"))
      document.listener?.(step, step.ignoresFailure ? "error_ignored" : "error", fault);
    if (step.ignoresFailure) return;
    if (step.onFailure.length === 0) throw fault;
    withFailure(step, fault, document, () => runSteps(step.onFailure, [], document));
  }
}

/** While failures are handled, `_ingest` names what failed: of a pipeline that was called its processor. */
function withFailure(step: Step, fault: Error, document: IngestDocument, work: () => void): void {
  const { processor = step, pipeline } = fault instanceof ProcessorFault ? fault : {};
  const told = {
    on_failure_message: fault.message,
    on_failure_processor_type: processor.type,
    on_failure_processor_tag: processor.tag ?? null,
    ...(pipeline !== undefined && { on_failure_pipeline: pipeline }),
  };
  Object.assign(document.ingest, told);
  try {
    work();
  } finally {
    for (const name of Object.keys(told)) delete document.ingest[name];
  }
}

function unknownType(type: string): AppError {
  if (Object.hasOwn(LEFT_OUT, type))
    return typeFault(type, `processor [${type}] is not supported: ${LEFT_OUT[type]}`);
  const nearest = nearestName(type, [...PROCESSORS.keys()]);
  const message = `No processor type exists with name [${type}]${nearest === undefined ? "" : `; did you mean [${nearest}]?`}`;
  return typeFault(type, message);
}

function typeFault(type: string, message: string): AppError {
  return new AppError("request_invalid", message, {
    data: { type: "parse_exception", header: { processor_type: type } },
  });
}

function parseFault(message: string): AppError {
  return new AppError("request_invalid", message, { data: { type: "parse_exception" } });
}
