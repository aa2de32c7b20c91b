/** Checks a pipeline's files without running them. */

import type { PipelineFile } from "#hub/pipeline/batch/worker-protocol.ts";
import type { Diagnostic } from "#hub/pipeline/language/diagnostics.ts";
import { SourceText } from "#hub/pipeline/language/source-text.ts";
import type { Variables } from "#hub/pipeline/language/variables.ts";
import { compilePipeline } from "#hub/pipeline/program/compile.ts";
import { loadPlugins } from "#hub/pipeline/program/load-plugins.ts";
import { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import { systemClock } from "#proto/kit/clock.ts";

/** Returns everything that is wrong or doubtful with the files of one pipeline. No files are the default pipeline: nothing. */
export async function inspectPipeline(
  files: readonly PipelineFile[],
  variables: Variables,
): Promise<readonly Diagnostic[]> {
  if (files.length === 0) return [];
  const sources = files.map(({ path, text }) => new SourceText(path, text));
  await loadPlugins(sources);
  const options = { variables, clock: systemClock, random: Math.random, guard: new RegexpGuard() };
  return compilePipeline(sources, options).diagnostics;
}
