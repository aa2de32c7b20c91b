/** Loads the plugins that pipelines name, before these are compiled. */

import { codecs } from "#hub/pipeline/plugins/codecs/all.ts";
import { filters } from "#hub/pipeline/plugins/filters/all.ts";
import { inputs } from "#hub/pipeline/plugins/inputs/all.ts";
import { outputs } from "#hub/pipeline/plugins/outputs/all.ts";
import { parsePipeline } from "../language/parser.ts";
import type { SourceText } from "../language/source-text.ts";
import type { PluginNode, SectionName, StepNode } from "../language/syntax-tree.ts";

const SETS = { input: inputs, filter: filters, output: outputs };

/** Loads what `compilePipeline` needs for these files. */
export async function loadPlugins(sources: readonly SourceText[]): Promise<void> {
  const nodes: Record<SectionName, PluginNode[]> = { input: [], filter: [], output: [] };
  for (const source of sources) {
    for (const { name, steps } of parsePipeline(source).sections) nodes[name].push(...pluginsOf(steps));
  }
  await Promise.all(
    (["input", "filter", "output"] as const).map((kind) =>
      SETS[kind].load(nodes[kind].map(({ name }) => name)),
    ),
  );
  // Which codec it will be may be said by a variable; they are small.
  const definitions = [
    ...nodes.input.map(({ name }) => inputs.get(name)),
    ...nodes.output.map(({ name }) => outputs.get(name)),
  ];
  if (definitions.some((each) => each !== undefined && "codec" in each.options.properties))
    await codecs.load();
}

/** Loads all there are. */
export async function loadAllPlugins(): Promise<void> {
  await Promise.all([inputs.load(), filters.load(), outputs.load(), codecs.load()]);
}

/** Returns the plugins of a section, those under conditions too. */
function pluginsOf(steps: readonly StepNode[]): PluginNode[] {
  return steps.flatMap((step) =>
    step.kind === "plugin" ? [step] : step.cases.flatMap((each) => pluginsOf(each.steps)),
  );
}
