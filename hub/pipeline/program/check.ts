/** Checks a pipeline's files without running them, and runs samples through them. */

import type { Event } from "#proto/event.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { type Diagnostic, pipelineError } from "../language/diagnostics.ts";
import { SourceText } from "../language/source-text.ts";
import type { Variables } from "../language/variables.ts";
import type { PipelineFile } from "../runtime/worker-protocol.ts";
import { type Compiled, compilePipeline, runEvents } from "./compile.ts";
import { sampleEvent } from "./configured-pipeline.ts";
import { RegexpGuard } from "./regexp-guard.ts";

/** Returns everything that is wrong or doubtful with the files of one pipeline. No files are the default pipeline: nothing. */
export function inspectPipeline(files: readonly PipelineFile[], variables: Variables): readonly Diagnostic[] {
  return files.length === 0 ? [] : compile(files, variables).diagnostics;
}

/** Throws settings_invalid naming everything that is wrong with the files of one pipeline. */
export function checkPipeline(files: readonly PipelineFile[], variables: Variables): void {
  const diagnostics = inspectPipeline(files, variables);
  if (diagnostics.some(({ severity }) => severity === "error")) throw pipelineError(diagnostics);
}

/** What became of a sample line. */
export interface SampleResult {
  /** Events that came to their end, in their order. */
  readonly events: readonly Event[];
  /** Why an event couldn't go on. */
  readonly refused: readonly string[];
}

/** Runs lines through the filters of a pipeline; returns a result per line. Throws settings_invalid. */
export function runSample(
  files: readonly PipelineFile[],
  lines: readonly string[],
  variables: Variables,
): SampleResult[] {
  const { program, diagnostics } = compile(files, variables);
  if (diagnostics.some(({ severity }) => severity === "error")) throw pipelineError(diagnostics);
  return lines.map((line) => {
    const { finished, refused } = runEvents(program, [sampleEvent(line, systemClock.now())]);
    return { events: finished, refused: refused.map(({ reason }) => reason) };
  });
}

function compile(files: readonly PipelineFile[], variables: Variables): Compiled {
  const sources = files.map(({ path, text }) => new SourceText(path, text));
  return compilePipeline(sources, {
    variables,
    clock: systemClock,
    random: Math.random,
    guard: new RegexpGuard(),
  });
}
