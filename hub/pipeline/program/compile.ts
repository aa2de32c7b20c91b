/** From the text of a pipeline to a program: reads, checks against the plugins, compiles once. */

import type { Diagnostic } from "#hub/pipeline/language/diagnostics.ts";
import { parsePipeline } from "#hub/pipeline/language/parser.ts";
import type { Report } from "#hub/pipeline/language/plugin-options.ts";
import type {
  BranchNode,
  PluginNode,
  SectionName,
  SectionNode,
  SourceText,
  StepNode,
} from "#hub/pipeline/language/syntax-tree.ts";
import { codecs } from "#hub/pipeline/plugins/codecs/all.ts";
import { filters } from "#hub/pipeline/plugins/filters/all.ts";
import { inputs } from "#hub/pipeline/plugins/inputs/all.ts";
import { outputs } from "#hub/pipeline/plugins/outputs/all.ts";
import type { Event } from "#proto/event.ts";
import {
  type CompiledInput,
  type CompiledOutput,
  type CompileOptions,
  PluginMaker,
} from "./compile-plugin.ts";
import { compileCondition } from "./condition.ts";
import { checkManagedCondition } from "./managed-limits.ts";
import { type Instruction, Program } from "./program.ts";

export interface Compiled {
  /** Use only where no diagnostic is an error. */
  readonly program: Program;
  readonly inputs: readonly CompiledInput[];
  /** By the number in `output` instructions; empty if the pipeline names none. */
  readonly outputs: readonly CompiledOutput[];
  /** True where agents' events go through it: it has an input for them, or no input at all. */
  readonly takesAgents: boolean;
  /** True where a filter keeps something of events for later ones: one thread must see all of them. */
  readonly stateful: boolean;
  /** In the order of the text. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Compiles the files of one pipeline, in their order. Faults are in `diagnostics`, never thrown. */
export function compilePipeline(sources: readonly SourceText[], options: CompileOptions): Compiled {
  return new Compiler(options).compile(sources);
}

class Compiler {
  readonly #options: CompileOptions;
  readonly #diagnostics: Diagnostic[] = [];
  readonly #instructions: Instruction[] = [];
  readonly #inputs: CompiledInput[] = [];
  readonly #outputs: CompiledOutput[] = [];
  readonly #maker: PluginMaker;
  readonly #report: Report = (severity, range, message, hint = "") => {
    this.#diagnostics.push({ severity, range, message, hint });
  };
  #inputCount = 0;
  #takesAgents = false;
  #stateful = false;

  constructor(options: CompileOptions) {
    this.#options = options;
    this.#maker = new PluginMaker(options, this.#report, () => this.#errors());
  }

  compile(sources: readonly SourceText[]): Compiled {
    const parsed = sources.map(parsePipeline);
    for (const { diagnostics } of parsed) this.#diagnostics.push(...diagnostics);
    const sections = parsed.flatMap((each) => each.sections);
    for (const name of ["input", "filter", "output"] as const) {
      for (const section of sections) if (section.name === name) this.#steps(section.steps, name);
    }
    this.#checkFiles(sections);
    return {
      program: new Program(this.#instructions, this.#options.clock),
      inputs: this.#inputs,
      outputs: this.#outputs,
      takesAgents: this.#takesAgents || this.#inputCount === 0,
      stateful: this.#stateful,
      diagnostics: this.#diagnostics,
    };
  }

  /** The events of each file go through all of them: two that look like pipelines of their own would write each twice. */
  #checkFiles(sections: readonly SectionNode[]): void {
    const whole = new Set(sections.filter(({ name }) => name === "input").map(({ range }) => range.source));
    const known = new Map<string, PluginNode>();
    for (const { name, steps, range } of sections) {
      if (name !== "output" || !whole.has(range.source)) continue;
      for (const step of steps) {
        if (step.kind === "branch") continue;
        const other = known.get(step.name);
        if (other === undefined) known.set(step.name, step);
        else if (other.range.source !== range.source) {
          this.#report(
            "warning",
            step.nameRange,
            `this output and that of ${other.range.source.file} both write the events of all files`,
            "give each file an entry of its own in pipelines.yml, or put a condition around the outputs",
          );
          return;
        }
      }
    }
  }

  #steps(steps: readonly StepNode[], section: SectionName): void {
    for (const step of steps) {
      if (step.kind === "branch") this.#branch(step, section);
      else if (section === "filter") this.#filter(step);
      else if (section === "output") this.#output(step);
      else this.#input(step);
    }
  }

  /** Each case: jumps to the next one unless its condition holds, and from the end of its steps to the end of the branch. */
  #branch({ cases, range }: BranchNode, section: SectionName): void {
    if (section === "input") {
      this.#report(
        "error",
        range,
        "an input can't stand under a condition",
        "put the condition around filters or outputs",
      );
      return;
    }
    const ends: number[] = [];
    for (const { condition, steps } of cases) {
      const test = condition === undefined ? -1 : this.#reserve();
      this.#steps(steps, section);
      ends.push(this.#reserve());
      if (condition === undefined) continue;
      if (this.#options.isManaged === true) checkManagedCondition(condition, this.#report);
      const compiled = compileCondition(condition, this.#options, this.#report);
      this.#instructions[test] = { kind: "unless", condition: compiled, target: this.#instructions.length };
    }
    for (const end of ends) this.#instructions[end] = { kind: "jump", target: this.#instructions.length };
  }

  /** Reserves an index for an instruction that is known later. */
  #reserve(): number {
    return this.#instructions.push({ kind: "jump", target: 0 }) - 1;
  }

  #filter(node: PluginNode): void {
    const definition = filters.get(node.name);
    if (definition === undefined) {
      this.#unknown(node, filters);
      return;
    }
    const made = this.#maker.filter(node, definition);
    if (made === undefined) return;
    this.#instructions.push({ kind: "filter", name: node.name, ...made });
    if (definition.stateful === true) this.#stateful = true;
  }

  #output(node: PluginNode): void {
    const definition = outputs.get(node.name);
    const made = definition === undefined ? undefined : this.#maker.output(node, definition);
    if (definition === undefined) this.#unknown(node, outputs);
    if (made === undefined) return;
    this.#instructions.push({
      kind: "output",
      id: made.id,
      name: node.name,
      output: this.#outputs.push(made) - 1,
    });
  }

  #input(node: PluginNode): void {
    this.#inputCount++;
    const definition = inputs.get(node.name);
    if (definition === undefined) {
      this.#unknown(node, inputs);
      return;
    }
    if (definition.takesAgents === true) this.#takesAgents = true;
    const made = this.#maker.input(node, definition);
    if (made !== undefined) this.#inputs.push(made);
  }

  #unknown(node: PluginNode, set: { readonly kind: string; hint(name: string): string }): void {
    this.#report("error", node.nameRange, `there is no ${set.kind} "${node.name}"`, set.hint(node.name));
  }

  #errors(): number {
    return this.#diagnostics.filter(({ severity }) => severity === "error").length;
  }
}

/** Runs events through a program without a log, for tests, `pipeline run` and simulation; returns the results. */
export function runEvents(
  program: Program,
  events: readonly Event[],
): { readonly finished: Event[]; readonly refused: { event: Event; reason: string }[] } {
  const finished: Event[] = [];
  const refused: { event: Event; reason: string }[] = [];
  for (const event of events) {
    program.run(event, {
      finished: (each) => finished.push(each),
      refused: (each, fault) => refused.push({ event: each, reason: fault.message }),
    });
  }
  return { finished, refused };
}

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
  // A variable may name the codec, so all are loaded; they are small.
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
