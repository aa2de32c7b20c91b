/** Checks a pipeline's files without running them. */

import { systemClock } from "#proto/kit/clock.ts";
import type { Diagnostic } from "../language/diagnostics.ts";
import { SourceText } from "../language/source-text.ts";
import type { Variables } from "../language/variables.ts";
import type { PipelineFile } from "../runtime/worker-protocol.ts";
import { compilePipeline } from "./compile.ts";
import { RegexpGuard } from "./regexp-guard.ts";

/** Returns everything that is wrong or doubtful with the files of one pipeline. No files are the default pipeline: nothing. */
export function inspectPipeline(files: readonly PipelineFile[], variables: Variables): readonly Diagnostic[] {
  const sources = files.map(({ path, text }) => new SourceText(path, text));
  const options = { variables, clock: systemClock, random: Math.random, guard: new RegexpGuard() };
  return files.length === 0 ? [] : compilePipeline(sources, options).diagnostics;
}
