/**
 * The information that the main thread needs about the pipelines: inputs, writers of outputs, and constraints on
 * running them.
 */

import { type DiagnosticPlace, diagnosticPlace, pipelineError } from "#hub/pipeline/language/diagnostics.ts";
import { type PipelineDefinition, sourceText } from "#hub/pipeline/language/pipeline-definition.ts";
import type { Variables } from "#hub/pipeline/language/plugin-options.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { compilePipeline, loadPlugins } from "./compile.ts";
import type { CompiledInput, CompiledOutput } from "./compile-plugin.ts";

export interface PlannedInput {
  readonly pipeline: string;
  readonly input: CompiledInput;
  readonly isManaged: boolean;
}

export interface PlannedOutput {
  readonly pipeline: string;
  readonly output: CompiledOutput;
  readonly isManaged: boolean;
}

/** A doubtful position in a pipeline's text. */
interface PlanWarning extends DiagnosticPlace {
  readonly message: string;
  /** What to do, or empty. */
  readonly hint: string;
}

export interface Plan {
  readonly inputs: readonly PlannedInput[];
  /** By their numbers over all pipelines. */
  readonly outputs: readonly PlannedOutput[];
  /** True where one thread must see all events. */
  readonly stateful: boolean;
  /** For the log. */
  readonly warnings: readonly PlanWarning[];
  /** What the texts were read with. */
  readonly variables: Variables;
}

/**
 * Returns the plan of the pipelines. Throws settings_invalid naming everything that is wrong with any of them. `signInPort`: see
 * OutputContext.
 */
export async function planPipelines(
  pipelines: readonly PipelineDefinition[],
  variables: Variables,
  signInPort?: number,
): Promise<Plan> {
  const guard = new RegexpGuard();
  const options = { variables, clock: systemClock, random: Math.random, guard, signInPort };
  const read = pipelines.map(({ id, files, isManaged = false, ecsCompatibility }) => ({
    id,
    isManaged,
    ecs: ecsCompatibility === undefined ? {} : { ecsCompatibility },
    sources: files.map(sourceText),
  }));
  await loadPlugins(read.flatMap(({ sources }) => sources));
  const compiled = read.map(({ id, isManaged, ecs, sources }) => ({
    id,
    isManaged,
    ...compilePipeline(sources, { ...options, ...ecs, isManaged }),
  }));
  const diagnostics = compiled.flatMap((each) => each.diagnostics);
  if (diagnostics.some(({ severity }) => severity === "error")) throw pipelineError(diagnostics);
  return {
    inputs: compiled.flatMap(({ id, isManaged, inputs }) =>
      inputs.map((input) => ({ pipeline: id, input, isManaged })),
    ),
    outputs: compiled.flatMap(({ id, isManaged, outputs }) =>
      outputs.map((output) => ({ pipeline: id, output, isManaged })),
    ),
    stateful: compiled.some(({ stateful }) => stateful),
    warnings: diagnostics.map((each) => ({
      ...diagnosticPlace(each),
      message: each.message,
      hint: each.hint,
    })),
    variables,
  };
}
