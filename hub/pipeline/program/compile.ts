/** From the text of a pipeline to a program: reads, checks against the plugins, compiles once. */

import { dirname, resolve } from "node:path";
import type { Event } from "#proto/event.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { filters } from "../filters/all.ts";
import { compileDecorations, decorationOptions } from "../filters/decorations.ts";
import type { FilterContext, FilterDefinition } from "../filters/filter.ts";
import { options } from "../filters/option-types.ts";
import { inputs } from "../inputs/all.ts";
import type { Diagnostic } from "../language/diagnostics.ts";
import { parsePipeline } from "../language/parser.ts";
import { type OptionValues, optionRange, type Report, readOptions } from "../language/plugin-options.ts";
import type { SourceText } from "../language/source-text.ts";
import type { BranchNode, PluginNode, SectionName, StepNode } from "../language/syntax-tree.ts";
import type { Variables } from "../language/variables.ts";
import { outputs } from "../outputs/all.ts";
import type { Output } from "../outputs/output.ts";
import { compileCondition } from "./condition.ts";
import { type Instruction, Program } from "./program.ts";
import type { RegexpGuard } from "./regexp-guard.ts";

export interface CompileOptions {
  readonly variables: Variables;
  readonly clock: Clock;
  readonly random: () => number;
  readonly guard: RegexpGuard;
}

export interface Compiled {
  /** Use only where no diagnostic is an error. */
  readonly program: Program;
  /** By the number in `output` instructions; empty where the pipeline names none. */
  readonly outputs: readonly Output[];
  /** In the order of the text. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Compiles the files of one pipeline, in their order. Faults are told by `diagnostics`, never thrown. */
export function compilePipeline(sources: readonly SourceText[], options: CompileOptions): Compiled {
  return new Compiler(options).compile(sources);
}

class Compiler {
  readonly #options: CompileOptions;
  readonly #diagnostics: Diagnostic[] = [];
  readonly #instructions: Instruction[] = [];
  readonly #outputs: Output[] = [];
  readonly #report: Report = (severity, range, message, hint = "") => {
    this.#diagnostics.push({ severity, range, message, hint });
  };

  constructor(options: CompileOptions) {
    this.#options = options;
  }

  compile(sources: readonly SourceText[]): Compiled {
    const parsed = sources.map(parsePipeline);
    for (const { diagnostics } of parsed) this.#diagnostics.push(...diagnostics);
    const sections = parsed.flatMap((each) => each.sections);
    for (const name of ["input", "filter", "output"] as const) {
      for (const section of sections) if (section.name === name) this.#steps(section.steps, name);
    }
    const program = new Program(this.#instructions);
    return { program, outputs: this.#outputs, diagnostics: this.#diagnostics };
  }

  #steps(steps: readonly StepNode[], section: SectionName): void {
    for (const step of steps) {
      if (step.kind === "branch") this.#branch(step, section);
      else if (section === "filter") this.#filter(step);
      else if (section === "output") this.#output(step);
      else this.#input(step);
    }
  }

  /** Each case: unless its condition holds, on to the next one; behind its steps, on to the end. */
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
      const compiled = compileCondition(condition, this.#options.variables, this.#report);
      this.#instructions[test] = { kind: "unless", condition: compiled, target: this.#instructions.length };
    }
    for (const end of ends) this.#instructions[end] = { kind: "jump", target: this.#instructions.length };
  }

  /** Makes a place for an instruction that is known later. */
  #reserve(): number {
    return this.#instructions.push({ kind: "jump", target: 0 }) - 1;
  }

  #filter(node: PluginNode): void {
    const definition = filters.get(node.name);
    if (definition === undefined) {
      this.#unknown(node, filters);
      return;
    }
    const schema = options({ ...decorationOptions.properties, ...definition.options.properties });
    const values = this.#values(node, schema, `filter ${node.name}`);
    if (values === undefined) return;
    this.#guarded(node, () => {
      const decorate = compileDecorations(values as unknown as Parameters<typeof compileDecorations>[0]);
      const filter = definition.create(
        values as Parameters<FilterDefinition["create"]>[0],
        this.#context(node, values),
      );
      this.#instructions.push({ kind: "filter", name: node.name, filter, decorate });
    });
  }

  #output(node: PluginNode): void {
    const definition = outputs.get(node.name);
    if (definition === undefined) {
      this.#unknown(node, outputs);
      return;
    }
    const values = this.#values(node, definition.options, `output ${node.name}`);
    if (values === undefined) return;
    this.#guarded(node, () => {
      const output = definition.create(values, { report: this.#reporter(node) });
      this.#instructions.push({ kind: "output", output: this.#outputs.push(output) - 1 });
    });
  }

  #input(node: PluginNode): void {
    const definition = inputs.get(node.name);
    if (definition === undefined) this.#unknown(node, inputs);
    else this.#values(node, definition.options, `input ${node.name}`);
  }

  #unknown(node: PluginNode, set: { readonly kind: string; hint(name: string): string }): void {
    this.#report("error", node.nameRange, `there is no ${set.kind} "${node.name}"`, set.hint(node.name));
  }

  /** Returns the checked options, or undefined where some are wrong. */
  #values(node: PluginNode, schema: FilterDefinition["options"], title: string): OptionValues | undefined {
    const before = this.#errors();
    const values = readOptions(node, schema, title, this.#options.variables, this.#report);
    return this.#errors() === before ? values : undefined;
  }

  #context(node: PluginNode, values: OptionValues): FilterContext {
    const { clock, random, guard } = this.#options;
    const folder = dirname(node.range.source.file);
    return {
      clock,
      random,
      guard,
      ecs: values["ecs_compatibility"] !== "disabled",
      resolvePath: (path) => resolve(folder, path),
      report: this.#reporter(node),
    };
  }

  #reporter(node: PluginNode): FilterContext["report"] {
    return (severity, option, message, hint = "") =>
      this.#report(severity, optionRange(node, option), message, hint);
  }

  /** What a plugin throws while it is made (a format, a reference, a file) is a fault of its options. */
  #guarded(node: PluginNode, create: () => void): void {
    try {
      create();
    } catch (error) {
      this.#report("error", node.nameRange, `${node.name}: ${(error as Error).message}`);
    }
  }

  #errors(): number {
    return this.#diagnostics.filter(({ severity }) => severity === "error").length;
  }
}

/** Runs events through a program by themselves, for tests, `pipeline run` and simulation; returns what comes out. */
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
