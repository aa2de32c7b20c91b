/**
 * Creates the plugins that a pipeline's text names: reads and checks their options, and passes each its dependencies.
 */

import { dirname, resolve } from "node:path";
import type { TObject } from "typebox";
import type { EcsCompatibility } from "#hub/pipeline/language/pipeline-definition.ts";
import {
  type OptionValues,
  optionRange,
  type Report,
  readOptions,
  type Variables,
} from "#hub/pipeline/language/plugin-options.ts";
import type { PluginNode } from "#hub/pipeline/language/syntax-tree.ts";
import type { Codec, CodecMaker } from "#hub/pipeline/plugins/codec.ts";
import { codecs } from "#hub/pipeline/plugins/codecs/all.ts";
import {
  compileDecorations,
  type DecorationOptions,
  decorationOptions,
} from "#hub/pipeline/plugins/decorations.ts";
import type { Filter, FilterContext, FilterDefinition } from "#hub/pipeline/plugins/filter.ts";
import type { Names } from "#hub/pipeline/plugins/host-names.ts";
import type { InputContext, InputDefinition } from "#hub/pipeline/plugins/input.ts";
import type { OutputDefinition, OutputWriter, Shaper, WriterContext } from "#hub/pipeline/plugins/output.ts";
import type { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import type { Event } from "#proto/event.ts";
import { FieldConflict } from "#proto/event-members.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { isObject } from "#proto/kit/json.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { anyTable, list, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";
import { checkManaged, pathRefused, variableRefused } from "./managed-limits.ts";
import { optionsHash, writtenOptions } from "./plugin-ids.ts";

/** Tag of an event whose own field kept its input from adding one. */
const CONFLICT_TAG = "_addfieldfailure";

const ECS_OPTION = "ecs_compatibility";

export interface CompileOptions {
  readonly variables: Variables;
  readonly clock: Clock;
  readonly random: () => number;
  readonly guard: RegexpGuard;
  /** See PipelineDefinition.ecsCompatibility. */
  readonly ecsCompatibility?: EcsCompatibility;
  /** See FilterContext.place; 0 without it. */
  readonly place?: () => number;
  /** See FilterContext.names. */
  readonly names?: Names;
  /** See FilterContext.isChecked; false without it. */
  readonly isChecked?: boolean;
  /** True: the pipeline was made through the hub interface, see managed-limits.ts. */
  readonly isManaged?: boolean;
  /** See OutputContext.signInPort. */
  readonly signInPort?: number | undefined;
}

/** An input that is to be run. */
export interface CompiledInput {
  readonly id: string;
  readonly name: string;
  /** Changes with anything that is written in its options. */
  readonly fingerprint: string;
  /** Applies the options that all inputs have. */
  readonly decorate: (event: Event) => void;
  readonly make: (context: InputContext) => Component;
  /** See InputDefinition. */
  readonly isShared: boolean;
  /** Makes a codec as the input's option `codec` names it; undefined if it has no such option. */
  readonly codec: (() => Codec) | undefined;
}

export interface CompiledOutput {
  readonly id: string;
  readonly name: string;
  readonly shaper: Shaper;
  /** Makes the part that runs on the main thread; undefined where documents are routed. */
  readonly makeWriter: (context: WriterContext) => OutputWriter | undefined;
}

/** Of plugins without fields of their own by either name. */
const ONE_NAMING = withoutEffect(
  "its events have the same names of fields in each mode",
  Type.Enum(["disabled", "v1", "v8"], { default: "disabled" }),
);

/** Options of every input. */
export const INPUT_OPTIONS = options({
  add_field: anyTable("fields to add to each event, names and values as formats"),
  tags: list("tags to add to each event"),
  type: optional(text("value of the field type of each event, unless the event has one")),
  id: optional(text("name of this input in metrics and messages")),
  ecs_compatibility: ONE_NAMING,
  enable_metric: withoutEffect("inputs are always measured", Type.Boolean({ default: true })),
});

/** Options of every output. */
export const OUTPUT_OPTIONS = options({
  id: optional(text("name of this output in metrics and messages")),
  ecs_compatibility: ONE_NAMING,
  enable_metric: withoutEffect("outputs are always measured", Type.Boolean({ default: true })),
  codec: withoutEffect("events are written in one form; outputs with a choice list the option"),
});

/** Returns the options of a plugin; its own replace common ones of the same name. */
export function pluginOptions(common: TObject, own: TObject): TObject {
  const others = Object.entries(common.properties).filter(([name]) => !Object.hasOwn(own.properties, name));
  return options({ ...Object.fromEntries(others), ...own.properties });
}

/** Makes plugins; each method returns undefined if it reported an error. */
export class PluginMaker {
  readonly #options: CompileOptions;
  readonly #report: Report;
  readonly #errors: () => number;
  readonly #ids = new Set<string>();
  readonly #shared = new Map<string, unknown>();

  /** `errors` returns the number of errors reported so far. */
  constructor(compile: CompileOptions, report: Report, errors: () => number) {
    this.#options = compile;
    this.#report = report;
    this.#errors = errors;
  }

  filter(
    node: PluginNode,
    definition: FilterDefinition,
  ): { id: string; filter: Filter; decorate: ((event: Event) => void) | undefined } | undefined {
    return this.#make(node, definition, decorationOptions, "filter", (values, id) => {
      const decorate = compileDecorations(values as unknown as DecorationOptions);
      return { id, filter: definition.create(values, this.#filterContext(node, values)), decorate };
    });
  }

  output(node: PluginNode, definition: OutputDefinition): CompiledOutput | undefined {
    return this.#make(node, definition, OUTPUT_OPTIONS, "output", (values, id) => {
      const context = {
        codec: (value: unknown) => this.#codec(node, value)(),
        report: this.#reporter(node),
        signInPort: this.#options.signInPort,
      };
      return {
        id,
        name: node.name,
        shaper: refusing(definition.create(values, context)),
        makeWriter: (running) => definition.writer?.(values, running),
      };
    });
  }

  /** Returns undefined also for an input whose events come from the log, which isn't run. */
  input(node: PluginNode, definition: InputDefinition): CompiledInput | undefined {
    return this.#make(node, definition, INPUT_OPTIONS, "input", (values, id) => {
      let codec: (() => Codec) | undefined;
      const make = definition.create(values, {
        codec: (value) => {
          const made = this.#codec(node, value);
          if (value === values["codec"]) codec ??= made;
          return made;
        },
        resolvePath: this.#resolvePath(node),
        report: this.#reporter(node),
      });
      if (make === undefined) return undefined;
      const fingerprint = `${node.name} ${writtenOptions(values)}`;
      const isShared = definition.isShared === true;
      return { id, name: node.name, fingerprint, decorate: inputDecoration(values), make, isShared, codec };
    });
  }

  #make<T>(
    node: PluginNode,
    definition: { readonly options: TObject },
    common: TObject,
    kind: string,
    create: (values: OptionValues, id: string) => T,
  ): T | undefined {
    const schema = pluginOptions(common, definition.options);
    const before = this.#errors();
    const values = this.#read(node, schema, `${kind} ${node.name}`);
    const id = this.#id(node, kind, values);
    if (this.#errors() > before) return undefined;
    try {
      const made = create(values, id);
      return this.#errors() > before ? undefined : made;
    } catch (error) {
      // What a plugin throws while it is made (a format, a reference, a file) is a fault of its options.
      if (this.#errors() === before) {
        this.#report("error", node.nameRange, `${node.name}: ${(error as Error).message}`);
      }
      return undefined;
    }
  }

  /** Returns the plugin's options; the pipeline's setting for field names is the default of the plugin's. */
  #read(node: PluginNode, schema: TObject, title: string): OptionValues {
    const { variables, ecsCompatibility } = this.#options;
    const values = readOptions(node, schema, title, variables, this.#report);
    if (this.#options.isManaged === true) checkManaged(node, title, this.#report);
    const isOpen =
      ECS_OPTION in schema.properties && !node.attributes.some(({ name }) => name === ECS_OPTION);
    if (isOpen && ecsCompatibility !== undefined) values[ECS_OPTION] = ecsCompatibility;
    return values;
  }

  /** Returns a name that depends on the plugin's text only, not on its position. */
  #id(node: PluginNode, kind: string, values: OptionValues): string {
    const given = values["id"];
    if (typeof given === "string" && given !== "") {
      const isTwice = this.#ids.has(`${kind} ${given}`);
      this.#ids.add(`${kind} ${given}`);
      if (isTwice) {
        this.#report(
          "error",
          optionRange(node, "id"),
          `two ${kind}s have the id "${given}"`,
          "ids are unique",
        );
      }
      return given;
    }
    const hash = optionsHash(kind, node, values);
    let id = `${node.name}_${hash}`;
    for (let count = 2; this.#ids.has(`${kind} ${id}`); count++) id = `${node.name}_${hash}_${count}`;
    this.#ids.add(`${kind} ${id}`);
    return id;
  }

  #filterContext(node: PluginNode, values: OptionValues): FilterContext {
    const { clock, random, guard, place, names, isChecked = false } = this.#options;
    return {
      clock,
      random,
      guard,
      isChecked,
      place: place ?? (() => Number.NaN), // no event is done again
      shared: this.#shared,
      ...(names !== undefined && { names }),
      ecs: values[ECS_OPTION] !== "disabled",
      variable: (name) => {
        if (this.#options.isManaged === true) throw variableRefused(name);
        return this.#options.variables[name];
      },
      resolvePath: this.#resolvePath(node),
      report: this.#reporter(node),
    };
  }

  #codec(node: PluginNode, value: unknown): CodecMaker {
    const isName = typeof value === "string";
    if (!isName && !isPluginNode(value)) {
      const problem = "this is not a codec: write codec => json, or codec => json { … }";
      this.#report("error", optionRange(node, "codec"), problem);
      return noCodec(problem);
    }
    const written = isName ? { ...node, name: value, attributes: [] } : value;
    const definition = codecs.get(written.name);
    if (definition === undefined) {
      const range = isName ? optionRange(node, "codec") : written.nameRange;
      const problem = `there is no codec "${written.name}"`;
      this.#report("error", range, problem, codecs.hint(written.name));
      return noCodec(problem);
    }
    const schema = options({ ...CODEC_OPTIONS.properties, ...definition.options.properties });
    const title = `codec ${written.name}`;
    const before = this.#errors();
    const values = this.#read(written, schema, title);
    try {
      if (this.#errors() === before) definition.create(values);
    } catch (error) {
      this.#report("error", written.nameRange, `${title}: ${(error as Error).message}`);
    }
    const { charset } = values;
    return Object.assign(() => definition.create(values), typeof charset === "string" ? { charset } : {});
  }

  #resolvePath(node: PluginNode): (path: string) => string {
    const folder = dirname(node.range.source.file);
    return (path) => {
      if (this.#options.isManaged === true) throw pathRefused(path);
      return resolve(folder, path);
    };
  }

  #reporter(node: PluginNode): FilterContext["report"] {
    return (severity, option, message, hint = "") =>
      this.#report(severity, optionRange(node, option), message, hint);
  }
}

/** Makes a shaper refuse an event that its codec can't write, instead of throwing: other outputs may take the event. */
function refusing(shaper: Shaper): Shaper {
  if ("route" in shaper) return shaper;
  return {
    shape(event) {
      try {
        return shaper.shape(event);
      } catch (error) {
        return { refused: (error as Error).message };
      }
    },
  };
}

function isPluginNode(value: unknown): value is PluginNode {
  return isObject(value) && value["kind"] === "plugin" && isObject(value["nameRange"]);
}

function noCodec(problem: string): () => never {
  return () => {
    throw new Error(problem);
  };
}

/** Options of every codec. */
export const CODEC_OPTIONS = options({
  id: optional(text("name of this codec in messages")),
  enable_metric: withoutEffect("codecs are measured with their plugin", Type.Boolean({ default: true })),
  ecs_compatibility: decorationOptions.properties.ecs_compatibility,
});

function inputDecoration(values: OptionValues): (event: Event) => void {
  const {
    add_field = {},
    tags = [],
    type,
  } = values as { add_field?: object; tags?: string[]; type?: string };
  const decorate = compileDecorations({
    add_field: add_field as Record<string, unknown>,
    add_tag: [],
    remove_field: [],
    remove_tag: [],
  });
  return (event) => {
    if (type !== undefined && event.fields["type"] === undefined) event.fields["type"] = type;
    for (const tag of tags) event.tag(tag);
    try {
      decorate?.(event);
    } catch (error) {
      // A sender's own plain value is in the way of a field to add: the event continues, as nobody could send it
      // otherwise.
      if (!(error instanceof FieldConflict)) throw error;
      event.tag(CONFLICT_TAG);
    }
  };
}
