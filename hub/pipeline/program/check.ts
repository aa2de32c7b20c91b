/** Checks a pipeline's files without running them. */

import { systemClock } from "#proto/kit/clock.ts";
import type { Diagnostic } from "../language/diagnostics.ts";
import { SourceText } from "../language/source-text.ts";
import type { Variables } from "../language/variables.ts";
import type { PipelineFile } from "../runtime/worker-protocol.ts";
import { compilePipeline } from "./compile.ts";
import { loadPlugins } from "./load-plugins.ts";
import { RegexpGuard } from "./regexp-guard.ts";

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
