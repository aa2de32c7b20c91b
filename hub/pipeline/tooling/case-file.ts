/**
 * Test cases of a pipeline: YAML files that name the pipeline's files, inputs and the expected result of each. The
 * format of existing case files (`testcases`, `fields`, `ignore`) is read too.
 */

import { dirname, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Document, isMap, parseDocument, type YAMLMap } from "yaml";
import type { PipelineFile } from "#hub/pipeline/language/pipeline-definition.ts";
import type { Variables } from "#hub/pipeline/language/plugin-options.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";
import { type EventJson, simulate } from "./simulate.ts";

/** The result of one case. */
export interface CaseResult {
  readonly name: string;
  /** Differences, one a line; empty: as expected. */
  readonly differences: readonly string[];
  readonly refused: readonly string[];
}

interface Case {
  readonly name: string;
  readonly samples: readonly EventJson[];
  readonly expected: readonly EventJson[];
  readonly ignore: readonly string[];
  /** The position of the expectation in the document. */
  readonly node: YAMLMap;
}

/** A missing time is the time of the run. */
const IGNORED = "@timestamp";

export class CaseFile {
  readonly path: string;
  readonly #document: Document;
  readonly #cases: readonly Case[];
  readonly #patterns: readonly string[];

  /** `text`: the file's. Throws settings_invalid with what is wrong. */
  constructor(path: string, text: string) {
    this.path = path;
    this.#document = parseDocument(text);
    const [fault] = this.#document.errors;
    if (fault !== undefined) throw this.#fault(fault.message);
    const content = this.#document.toJS() as Record<string, unknown> | null;
    if (content === null || typeof content !== "object")
      throw this.#fault("write a table with pipeline and cases");
    this.#patterns = texts(content["pipeline"] ?? content["files"]);
    this.#cases = this.#read(content);
  }

  /** Files of the pipeline, absolute globs; none if the caller must name them. */
  get pipeline(): string[] {
    return this.#patterns.map((each) => resolve(dirname(this.path), each));
  }

  /** Runs all cases. Throws settings_invalid if the pipeline can't be used. */
  async run(files: readonly PipelineFile[], variables: Variables): Promise<CaseResult[]> {
    const results: CaseResult[] = [];
    for (const each of this.#cases) {
      const { events, refused } = await outcome(each, files, variables);
      results.push({ name: each.name, differences: compare(each.expected, events), refused });
    }
    return results;
  }

  /** Returns the file's text with what the cases give now as what is expected; all else stays. */
  async updated(files: readonly PipelineFile[], variables: Variables): Promise<string> {
    for (const each of this.#cases) {
      const { events } = await outcome(each, files, variables);
      each.node.set("expected", this.#document.createNode(events));
    }
    return this.#document.toString();
  }

  #read(content: Readonly<Record<string, unknown>>): Case[] {
    const key = "cases" in content ? "cases" : "testcases";
    const list = content[key];
    if (!Array.isArray(list)) throw this.#fault('it needs a list "cases"');
    const shared = isRecord(content["fields"]) ? content["fields"] : {};
    const ignore = texts(content["ignore"]);
    return list.map((entry: unknown, index) => {
      const node = this.#document.getIn([key, index]);
      if (!isRecord(entry) || !isMap(node)) throw this.#fault(`case ${index + 1} isn't a table`);
      if (entry["input"] === undefined) throw this.#fault(`case ${index + 1} needs an "input"`);
      const name = entry["name"] ?? entry["description"];
      return {
        name: typeof name === "string" ? name : `case ${index + 1}`,
        samples: listOf(entry["input"]).map((input) => ({
          ...shared,
          ...(isRecord(entry["fields"]) ? entry["fields"] : {}),
          ...(isRecord(input) ? input : { message: String(input) }),
        })),
        expected: listOf(entry["expected"] ?? []).filter(isRecord),
        ignore: [...ignore, ...texts(entry["ignore"])],
        node,
      };
    });
  }

  #fault(message: string): AppError {
    return new AppError("settings_invalid", `${this.path}: ${message}`);
  }
}

async function outcome(
  { samples, expected, ignore }: Case,
  files: readonly PipelineFile[],
  variables: Variables,
): Promise<{ readonly events: EventJson[]; readonly refused: string[] }> {
  const simulations = await simulate({ files, samples, variables, withSteps: false });
  const events = simulations.flatMap(({ results }) => results.map(({ event }) => event));
  const isTimed = samples.some((sample) => IGNORED in sample);
  return {
    events: events.map((event, index) => {
      const names = [...ignore];
      const isExpected = expected[index] !== undefined && IGNORED in expected[index];
      if (!isTimed && !isExpected && isNow(event[IGNORED])) names.push(IGNORED);
      return without(event, names);
    }),
    refused: simulations.flatMap(({ refused }) => refused),
  };
}

/** A time within the last minute is the run's own. */
function isNow(value: unknown): boolean {
  return typeof value === "string" && Math.abs(Date.parse(value) - Date.now()) < 60_000;
}

/** Leaves out fields by their names, `[a][b]` for inner ones. */
function without(event: EventJson, names: readonly string[]): EventJson {
  const rest = structuredClone(event);
  for (const name of names) {
    const path = name.startsWith("[") ? name.slice(1, -1).split("][") : [name];
    let at: unknown = rest;
    for (const part of path.slice(0, -1)) at = isRecord(at) ? at[part] : undefined;
    if (isRecord(at)) delete at[path.at(-1)!];
  }
  return rest;
}

function compare(expected: readonly EventJson[], events: readonly EventJson[]): string[] {
  const differences: string[] = [];
  if (expected.length !== events.length) {
    differences.push(`${expected.length} events were expected, ${events.length} came out`);
  }
  for (let index = 0; index < Math.max(expected.length, events.length); index++) {
    const where = events.length > 1 ? `event ${index + 1} ` : "";
    differences.push(...compareValues(expected[index] ?? {}, events[index] ?? {}, where));
  }
  return differences;
}

function compareValues(expected: EventJson, event: EventJson, where: string, path = ""): string[] {
  return [...new Set([...Object.keys(expected), ...Object.keys(event)])].flatMap((name) => {
    const [before, now] = [expected[name], event[name]];
    const field = `${path}[${name}]`;
    if (isDeepStrictEqual(before, now)) return [];
    if (isRecord(before) && isRecord(now)) return compareValues(before, now, where, field);
    return [
      ...(before === undefined ? [] : [`- ${where}${field}: ${JSON.stringify(before)}`]),
      ...(now === undefined ? [] : [`+ ${where}${field}: ${JSON.stringify(now)}`]),
    ];
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return isObject(value);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function texts(value: unknown): string[] {
  return listOf(value).filter((each) => typeof each === "string");
}
