/**
 * Mustache templates of searches, as the 6.5 server has them: variables, sections, and the functions toJson, join and url.
 * Partials aren't offered. The format: https://mustache.github.io/mustache.5.html.
 */

import { toJson } from "#hub/scripts/values/json.ts";
import { print } from "#hub/scripts/values/values.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { TimeSlices } from "#proto/kit/time-slices.ts";

/** Maximum nesting of sections. */
const MAX_DEPTH = 32;
/** Longest text that a template may make, characters. */
const MAX_OUTPUT = 1_000_000;

/** Texts, variables and turns of sections that are rendered for one request. */
const MAX_STEPS = 200_000;

/** Steps between two points where a rendering may pause. */
const STEPS_A_PAUSE = 1_000;

/** Characters that all templates of a request may make together in all their parts, those that a function reads included. */
const MAX_WORK = 4 * MAX_OUTPUT;

/** Longest name of a variable or section, characters. */
const MAX_NAME = 1_000;

/** Parts of a path that are looked up in one step. */
const PARTS_A_STEP = 4;

/** A compiled template. Its methods throw request_invalid where the text gets too long. */
export interface MustacheTemplate {
  /** Makes a text of params. */
  render(params: JsonObject, budget?: TemplateBudget): string;
  /** Does the same in slices of time, for threads that serve others meanwhile. */
  renderInSlices(params: JsonObject, budget?: TemplateBudget): Promise<string>;
}

/** The parts of "a.b.0"; none for ".", the innermost scope. */
type Path = readonly string[];

type Node =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "variable"; readonly path: Path; readonly escaped: boolean }
  | {
      readonly kind: "section";
      readonly path: Path;
      /** The function that the section calls, if it calls one. */
      readonly call: TemplateFunction | undefined;
      readonly inverted: boolean;
      readonly children: readonly Node[];
    };

/** Compiles a template. Throws request_invalid for tags that aren't closed. */
export function compileMustache(source: string): MustacheTemplate {
  const nodes = new Parser(source).parse();
  return {
    render(params, budget = new TemplateBudget()) {
      const output = new Output(budget);
      for (const _ of render(nodes, [params], output));
      return output.text;
    },
    async renderInSlices(params, budget = new TemplateBudget()) {
      const output = new Output(budget);
      const slices = new TimeSlices();
      for (const _ of render(nodes, [params], output)) if (slices.isDue) await slices.pause();
      return output.text;
    },
  };
}

function fault(message: string): AppError {
  return new AppError("request_invalid", message, { data: { type: "general_script_exception" } });
}

/** Counts what the templates of one request cost. */
export class TemplateBudget {
  #steps = 0;
  #characters = 0;
  #pausedAt = 0;

  /** True once after each so many steps. */
  isPauseDue(): boolean {
    if (this.#steps - this.#pausedAt < STEPS_A_PAUSE) return false;
    this.#pausedAt = this.#steps;
    return true;
  }

  /** Counts a node or a turn of a section, which may write nothing. */
  step(count: number): void {
    this.#steps += count;
    if (this.#steps > MAX_STEPS)
      throw fault(`the templates of a request may take at most ${MAX_STEPS} steps`);
  }

  /** Counts characters that are read or made, whether or not the text has them in the end. */
  work(characters: number): void {
    this.#characters += characters;
    if (this.#characters > MAX_WORK)
      throw fault(`the templates of a request may make at most ${MAX_WORK} characters in all their parts`);
  }
}

class Output {
  text = "";
  readonly budget: TemplateBudget;

  constructor(budget: TemplateBudget) {
    this.budget = budget;
  }

  step(count = 1): void {
    this.budget.step(count);
  }

  work(characters: number): void {
    this.budget.work(characters);
  }

  add(part: string): void {
    this.text += part;
    if (this.text.length > MAX_OUTPUT) throw fault(`a template may make at most ${MAX_OUTPUT} characters`);
    this.work(part.length);
  }
}

/** Reads a template from its start to its end. */
class Parser {
  readonly #source: string;
  #at = 0;
  #parts = 0;
  #open = "{{";
  #close = "}}";

  constructor(source: string) {
    this.#source = source;
  }

  parse(): Node[] {
    return this.#nodes(undefined, 0);
  }

  /** Reads up to the end of the section `name`. */
  #nodes(name: string | undefined, depth: number): Node[] {
    if (depth > MAX_DEPTH) throw fault(`sections may stand at most ${MAX_DEPTH} deep in one another`);
    const nodes: Node[] = [];
    for (;;) {
      const start = this.#source.indexOf(this.#open, this.#at);
      const text = this.#source.slice(this.#at, start < 0 ? undefined : start);
      if (text !== "") nodes.push({ kind: "text", text });
      if (++this.#parts > MAX_STEPS) throw fault(`a template may have at most ${MAX_STEPS} parts`);
      if (start < 0) {
        if (name === undefined) return nodes;
        throw fault(`Failed to close '${name}' tag @[query-template:${this.#line(this.#at)}]`);
      }
      const tag = this.#tag(start);
      const [mark, rest] = [tag.charAt(0), tag.slice(1).trim()];
      if (mark === "/") {
        if (rest === name) return nodes;
        throw fault(`Unmatched close tag '${rest}' @[query-template:${this.#line(start)}]`);
      }
      const node = this.#node(tag, mark, rest, depth);
      if (node !== undefined) nodes.push(node);
    }
  }

  /** Reads the inside of a tag; "&name" for one of three braces. */
  #tag(start: number): string {
    const from = start + this.#open.length;
    const isTriple = this.#open === "{{" && this.#source[from] === "{";
    const close = isTriple ? "}}}" : this.#close;
    const end = this.#source.indexOf(close, from);
    if (end < 0) {
      const [line, column] = this.#place(start);
      throw fault(`Improperly closed variable in query-template:${line}@${column}`);
    }
    this.#at = end + close.length;
    const inside = this.#source.slice(isTriple ? from + 1 : from, end).trim();
    if (isTriple && inside.includes("}")) {
      const [line, column] = this.#place(start);
      throw fault(`Improperly closed variable in query-template:${line}@${column}`);
    }
    return isTriple ? `&${inside}` : inside;
  }

  #node(tag: string, mark: string, rest: string, depth: number): Node | undefined {
    switch (mark) {
      case "!":
        return undefined;
      case "=": {
        const [open, close] = rest.replace(/=$/, "").trim().split(/\s+/);
        if (open === undefined || close === undefined) throw fault(`Invalid delimiter string [${tag}]`);
        [this.#open, this.#close] = [open, close];
        return undefined;
      }
      case ">":
        throw fault(`Cannot expand '${rest}' because partial templates are not supported`);
      case "#":
      case "^":
        return {
          kind: "section",
          path: pathOf(rest),
          call: mark === "^" ? undefined : functionOf(rest),
          inverted: mark === "^",
          children: this.#nodes(rest, depth + 1),
        };
      case "&":
        return { kind: "variable", path: pathOf(rest), escaped: false };
      default:
        return { kind: "variable", path: pathOf(tag), escaped: true };
    }
  }

  #line(offset: number): number {
    return this.#place(offset)[0];
  }

  #place(offset: number): [line: number, column: number] {
    const before = this.#source.slice(0, offset);
    return [before.split("\n").length, offset - before.lastIndexOf("\n")];
  }
}

/** Renders, with pauses. `scopes`: what names are looked up in, the innermost last. */
function* render(nodes: readonly Node[], scopes: readonly unknown[], output: Output): Generator<void> {
  for (const node of nodes) {
    output.step();
    if (output.budget.isPauseDue()) yield;
    if (node.kind === "text") output.add(node.text);
    else if (node.kind === "section") yield* renderSection(node, scopes, output);
    else {
      const text = templateText(lookUp(node.path, scopes, output));
      output.add(node.escaped ? JSON.stringify(text).slice(1, -1) : text);
    }
  }
}

/** Returns the text of a variable's value: a list prints as a map from positions to items. */
export function templateText(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return `{${value.map((item, at) => `${at}=${print(item)}`).join(", ")}}`;
  return valueText(value);
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? print(value) : String(value as string | number | boolean | bigint);
}

function* renderSection(
  { path, call, inverted, children }: Extract<Node, { kind: "section" }>,
  scopes: readonly unknown[],
  output: Output,
): Generator<void> {
  if (call !== undefined) {
    const inner = new Output(output.budget);
    yield* render(children, scopes, inner);
    output.add(call(inner.text, scopes, output));
    return;
  }
  const value = lookUp(path, scopes, output);
  if (inverted) {
    if (isEmpty(value)) yield* render(children, scopes, output);
    return;
  }
  if (isEmpty(value)) return;
  for (const each of Array.isArray(value) ? value : [value]) {
    output.step();
    yield* render(children, [...scopes, each], output);
  }
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === "") return true;
  return Array.isArray(value) && value.length === 0;
}

/** Throws request_invalid for a name that is too long. */
function pathOf(name: string): Path {
  if (name.length > MAX_NAME) throw fault(`a name may have at most ${MAX_NAME} characters`);
  return name === "." ? [] : name.split(".");
}

/** Returns the value at a path. */
function lookUp([first, ...rest]: Path, scopes: readonly unknown[], output: Output): unknown {
  if (first === undefined) return scopes.at(-1);
  output.step(Math.floor(rest.length / PARTS_A_STEP));
  for (let at = scopes.length - 1; at >= 0; at--) {
    const found = memberOf(scopes[at], first);
    if (found !== undefined) return rest.reduce(memberOf, found);
  }
  return undefined;
}

function memberOf(value: unknown, name: string): unknown {
  if (Array.isArray(value))
    return name === "size" ? value.length : value[/^\d{1,9}$/.test(name) ? Number(name) : -1];
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

type TemplateFunction = (inside: string, scopes: readonly unknown[], output: Output) => string;

/** Returns the function that a section's name calls. */
function functionOf(name: string): TemplateFunction | undefined {
  if (name === "toJson")
    return (path, scopes, output) => {
      const text = JSON.stringify(toJson(lookUp(pathOf(path.trim()), scopes, output) ?? null));
      output.work(text.length);
      return text;
    };
  if (name === "url") return (text) => encoded(text);
  const join = /^join(?:\s+delimiter='(.*)')?$/.exec(name);
  if (join === null) return undefined;
  const [, delimiter = ","] = join;
  return (path, scopes, output) => {
    const value = lookUp(pathOf(path.trim()), scopes, output);
    return Array.isArray(value) ? joined(value, delimiter, output) : valueText(value);
  };
}

function joined(values: readonly unknown[], delimiter: string, output: Output): string {
  let text = "";
  for (const [at, value] of values.entries()) {
    const part = (at === 0 ? "" : delimiter) + valueText(value);
    output.work(1 + part.length);
    text += part;
  }
  return text;
}

/** As java.net.URLEncoder writes it: a blank is "+". */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}
