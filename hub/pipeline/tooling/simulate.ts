/**
 * Runs sample events through a pipeline's filters and shows what each step made of them, or only the events that
 * leave it. Opens no input and no output.
 */

import { type Diagnostic, pipelineError } from "#hub/pipeline/language/diagnostics.ts";
import { type PipelineFile, sourceText } from "#hub/pipeline/language/pipeline-definition.ts";
import type { Variables } from "#hub/pipeline/language/plugin-options.ts";
import { type Compiled, compilePipeline, loadPlugins } from "#hub/pipeline/program/compile.ts";
import type { CompiledInput } from "#hub/pipeline/program/compile-plugin.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { copyValue, Event } from "#proto/event.ts";
import { systemClock } from "#proto/kit/clock.ts";

/** An event as JSON, `@metadata` included where there is any. */
export type EventJson = Record<string, unknown>;

/** A filter that an event went through. */
export interface SimulatedStep {
  readonly id: string;
  readonly name: string;
  /** False: it did nothing, as a pattern that didn't match. */
  readonly matched: boolean;
  /** The event after it; null: it was dropped there. */
  readonly event: EventJson | null;
}

/** Where an event would go. */
export interface SimulatedOutput {
  readonly id: string;
  readonly name: string;
  readonly index?: string;
  readonly documentId?: string;
  readonly target?: string;
  /** What would be written, where it is text. */
  readonly body?: string;
  readonly refused?: string;
}

export interface SimulatedEvent {
  readonly event: EventJson;
  readonly outputs: readonly SimulatedOutput[];
}

/** The result of one sample. */
export interface Simulation {
  readonly input: EventJson;
  /** In the order in which they were done; empty unless asked for. */
  readonly steps: readonly SimulatedStep[];
  readonly results: readonly SimulatedEvent[];
  /** Why an event couldn't continue. */
  readonly refused: readonly string[];
  /** Index of the sample or line that it was made of; of joined lines the last. */
  readonly sample: number;
}

export interface SimulateOptions {
  readonly files: readonly PipelineFile[];
  /** Fields of each sample event; or lines, which the codec of the first input decodes. */
  readonly samples: readonly EventJson[] | { readonly lines: readonly string[] };
  readonly variables: Variables;
  readonly withSteps: boolean;
  /** True: the text is of the page, see CompileOptions.isManaged. */
  readonly isManaged?: boolean;
}

/** Samples done at a time: a batch takes far less than the time after which one is suspected and done again. */
const SAMPLES_AT_A_TIME = 1_000;
/** A batch of a pipeline whose filters keep something can't be done again; it is ended after this time. */
const STATEFUL_BATCH_MS = 60_000;

/** Samples of a pipeline that is ready for them. */
export interface OpenedSamples {
  readonly compiled: Compiled;
  readonly guard: RegexpGuard;
  /** Decoded when they are asked for, once. */
  readonly sampled: Iterable<Sampled>;
}

/** Compiles a pipeline and opens samples. Throws settings_invalid if the pipeline can't be used. */
export async function openSamples({
  files,
  samples,
  variables,
  isManaged = false,
}: Omit<SimulateOptions, "withSteps">): Promise<OpenedSamples> {
  const guard = new RegexpGuard();
  const clock = systemClock;
  const sources = files.map(sourceText);
  await loadPlugins(sources);
  const compiled = compilePipeline(sources, { variables, clock, random: Math.random, guard, isManaged });
  if (compiled.diagnostics.some(({ severity }) => severity === "error"))
    throw pipelineError(compiled.diagnostics);
  const sampled =
    "lines" in samples
      ? decodeLines(samples.lines, compiled.inputs[0], clock.now())
      : eventsOf(samples, clock.now());
  return { compiled, guard, sampled };
}

/** Yields what `run` returns for the samples, some at a time. Each event is a copy: a batch may have to be done again. */
export function* runAtOnce<T>(
  { compiled, guard, sampled }: OpenedSamples,
  run: (sample: Sampled) => T,
): Generator<T[]> {
  let part: Sampled[] = [];
  const batch = (): T[] => part.map(({ event, sample }) => run({ event: event.clone(), sample }));
  const done = (): T[] =>
    compiled.stateful ? guard.runOnce(batch, STATEFUL_BATCH_MS) : guard.runBatch(batch);
  for (const each of sampled) {
    part.push(each);
    if (part.length < SAMPLES_AT_A_TIME) continue;
    yield done();
    part = [];
  }
  if (part.length > 0) yield done();
}

/** Throws settings_invalid if the pipeline can't be used. */
export async function simulate(options: SimulateOptions): Promise<Simulation[]> {
  const { withSteps } = options;
  const opened = await openSamples(options);
  const { compiled } = opened;
  return [...runAtOnce(opened, runOne)].flat();

  function runOne({ event, sample }: Sampled): Simulation {
    const input = eventJson(event);
    const steps: SimulatedStep[] = [];
    const refused: string[] = [];
    const outputs = new Map<Event, SimulatedOutput[]>();
    const results: SimulatedEvent[] = [];
    const outputsOf = (each: Event): SimulatedOutput[] => {
      const known = outputs.get(each) ?? [];
      outputs.set(each, known);
      return known;
    };
    compiled.program.run(event, {
      finished: (each) => results.push({ event: eventJson(each), outputs: outputsOf(each) }),
      output: (each, position) => outputsOf(each).push(shown(each, compiled.outputs[position]!)),
      refused: (_, fault) => refused.push(fault.message),
      ...(withSteps && {
        stepped: (each: Event, step: { id: string; name: string; matched: boolean }) =>
          steps.push({ ...step, event: each.cancelled ? null : eventJson(each) }),
      }),
    });
    return { input, steps, results, refused, sample };
  }
}

/** Returns what an output would do with an event. */
function shown(event: Event, { id, name, shaper }: Compiled["outputs"][number]): SimulatedOutput {
  if ("route" in shaper) {
    const target = shaper.route(event);
    if (target === undefined) return { id, name };
    if ("refused" in target) return { id, name, refused: target.refused };
    return { id, name, index: target.index, documentId: target.id };
  }
  const record = shaper.shape(event);
  if (record === undefined) return { id, name };
  if ("refused" in record) return { id, name, refused: record.refused };
  return { id, name, target: record.target, body: Buffer.from(record.body).toString() };
}

/** The event of a sample or line. */
export interface Sampled {
  readonly event: Event;
  readonly sample: number;
}

/** Yields the events of lines as the input makes them: by its codec, with its fields, tags and type. */
function* decodeLines(
  lines: readonly string[],
  input: CompiledInput | undefined,
  nowMs: number,
): Generator<Sampled> {
  const codec = input?.codec?.();
  for (const [sample, line] of lines.entries()) {
    const events = codec?.decode(Buffer.from(line), nowMs) ?? [new Event({ message: line }, nowMs)];
    for (const event of events) {
      input?.decorate(event);
      yield { event, sample };
    }
  }
  for (const event of codec?.flush?.() ?? []) {
    input?.decorate(event);
    yield { event, sample: lines.length - 1 };
  }
}

function* eventsOf(samples: readonly EventJson[], nowMs: number): Generator<Sampled> {
  for (const [sample, fields] of samples.entries())
    yield { event: new Event(copyValue(fields) as EventJson, nowMs), sample };
}

/** Returns an event as plain JSON values, its metadata too. */
function eventJson(event: Event): EventJson {
  const fields = JSON.parse(event.toJson()) as EventJson;
  if (Object.keys(event.metadata).length === 0) return fields;
  return { ...fields, "@metadata": JSON.parse(JSON.stringify(event.metadata)) as unknown };
}

/** Returns everything that is wrong or doubtful with the files of one pipeline. No files are the default pipeline: nothing. */
export async function inspectPipeline(
  files: readonly PipelineFile[],
  variables: Variables,
): Promise<readonly Diagnostic[]> {
  if (files.length === 0) return [];
  const sources = files.map(sourceText);
  await loadPlugins(sources);
  const options = { variables, clock: systemClock, random: Math.random, guard: new RegexpGuard() };
  return compilePipeline(sources, options).diagnostics;
}

/** The results of the samples. */
export interface SampleRun {
  /** Each event as a line of JSON, `@metadata` included where there is any. */
  readonly text: string;
  /** Why an event couldn't continue, by the sample or line that it was made of. */
  readonly refused: readonly { readonly sample: number; readonly reason: string }[];
}

/** Throws settings_invalid where the pipeline can't be used. */
export async function runSamples(options: Omit<SimulateOptions, "withSteps">): Promise<SampleRun> {
  const opened = await openSamples(options);
  const texts: string[] = [];
  const refused: { readonly sample: number; readonly reason: string }[] = [];
  for (const part of runAtOnce(opened, ({ event, sample }) => {
    const faults: { sample: number; reason: string }[] = [];
    let text = "";
    opened.compiled.program.run(event, {
      finished: (each) => {
        text += eventLine(each);
      },
      refused: (_, { message }) => faults.push({ sample, reason: message }),
    });
    return { text, faults };
  })) {
    let all = "";
    for (const { text, faults } of part) {
      all += text;
      refused.push(...faults);
    }
    texts.push(all);
  }
  return { text: texts.join(""), refused };
}

function eventLine(event: Event): string {
  const fields = event.toJson();
  if (Object.keys(event.metadata).length === 0) return `${fields}\n`;
  // An event has at least a time, so that a comma is right.
  return `${fields.slice(0, -1)},"@metadata":${JSON.stringify(event.metadata)}}\n`;
}
