/** A fileset of Filebeat's modules: what its manifest says, how lines become events, and which pipelines they go through. */

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { eventLines, type Line } from "./event-lines.ts";
import { renderTemplate } from "./go-template.ts";
import { processed } from "./shipper-processors.ts";

type Json = Readonly<Record<string, unknown>>;

interface Manifest {
  readonly var?: readonly { readonly name: string; readonly default?: unknown }[];
  readonly ingest_pipeline: string | readonly string[];
  readonly input: string;
}

/** A file of lines with the documents that are expected of it. */
export interface SampleFile {
  readonly path: string;
  readonly name: string;
  readonly expected: readonly Json[];
}

export class Fileset {
  readonly module: string;
  readonly name: string;
  readonly #folder: string;
  readonly #manifest: Manifest;

  constructor(folder: string, module: string, name: string) {
    this.module = module;
    this.name = name;
    this.#folder = join(folder, module, name);
    this.#manifest = parse(readFileSync(join(this.#folder, "manifest.yml"), "utf8")) as Manifest;
  }

  /** Returns all filesets of a folder of modules. */
  static all(folder: string): Fileset[] {
    const names = (path: string): string[] =>
      readdirSync(path).filter((name) => statSync(join(path, name)).isDirectory()); // links are followed
    return names(folder).flatMap((module) =>
      names(join(folder, module))
        .filter((name) => existsSync(join(folder, module, name, "manifest.yml")))
        .map((name) => new Fileset(folder, module, name)),
    );
  }

  get id(): string {
    return `${this.module}/${this.name}`;
  }

  /** The files that lines are to be read of; large ones are left out of the folder. */
  samples(): SampleFile[] {
    const folder = join(this.#folder, "test");
    if (!existsSync(folder)) return [];
    const suffix = "-expected.json";
    return readdirSync(folder)
      .filter((name) => name.endsWith(suffix))
      .map((name) => ({
        path: join(folder, name.slice(0, -suffix.length)),
        name: name.slice(0, -suffix.length),
        expected: JSON.parse(readFileSync(join(folder, name), "utf8")) as Json[],
      }))
      .filter(({ path }) => existsSync(path));
  }

  /** Ingest pipelines by the ids they are loaded under; the first one is the fileset's own. */
  pipelines(): Map<string, Json> {
    const paths = [this.#manifest.ingest_pipeline].flat();
    const idOf = (name: string): string => `filebeat-${this.module}-${this.name}-${name}`;
    return new Map(
      paths.map((path) => {
        const file = this.#render(path, {});
        const source = readFileSync(join(this.#folder, file), "utf8");
        const named = source.replace(/\{<\s*IngestPipeline\s+"([^"]+)"\s*>\}/g, (_, name: string) =>
          idOf(name),
        );
        // The templates of pipelines stand in other braces, as theirs are Mustache's.
        const rendered = renderTemplate(named, this.#values({}), ["{<", ">}"]);
        const isJson = file.endsWith(".json");
        return [
          idOf(path.replace(/^.*\/|\.\w+$/g, "")),
          (isJson ? JSON.parse(rendered) : parse(rendered)) as Json,
        ];
      }),
    );
  }

  /** Reads the events of a sample, as the shipper sends them. */
  events({ path, name }: SampleFile, nowMs: number): Json[] {
    const values = { paths: [path], ...(name.includes("-json") && { format: "json" }), input: "file" };
    const source = readFileSync(join(this.#folder, this.#render(this.#manifest.input, values)), "utf8");
    const config = parse(renderTemplate(source, this.#values(values))) as Json;
    const input = config["type"] === "system-logs" ? { ...config, ...(config["files"] as Json) } : config;
    const processors = (config["processors"] ?? []) as readonly Json[];
    return eventLines(readFileSync(path), input)
      .map((line) => processed(processors, this.#event(line, path, nowMs, config)))
      .filter((event) => event !== undefined);
  }

  #event(line: Line, path: string, nowMs: number, config: Json): Record<string, unknown> {
    return {
      "@timestamp": new Date(nowMs).toISOString(),
      ...(line.json === undefined ? { message: line.text } : decodedLine(line, config)),
      input: { type: "log" },
      fileset: { name: this.name },
      service: { type: this.module },
      event: { module: this.module, dataset: `${this.module}.${this.#dataset()}` },
      log: { offset: line.offset, file: { path }, ...(line.isJoined && { flags: ["multiline"] }) },
      ecs: { version: "1.12.0" },
      ...(Array.isArray(config["tags"]) && config["tags"].length > 0 && { tags: config["tags"] }),
    };
  }

  #dataset(): string {
    return this.name.startsWith(`${this.module}_`) ? this.name.slice(this.module.length + 1) : this.name;
  }

  #values(given: Json): Json {
    const builtin = { hostname: "host", domain: "example.com" };
    const defaults = (this.#manifest.var ?? []).map((each) => [each.name, each.default] as const);
    return { builtin, ...Object.fromEntries(defaults), ...given };
  }

  #render(text: string, given: Json): string {
    return renderTemplate(text, this.#values(given));
  }
}

/** A line of JSON: its members at the root, or under `json`. */
function decodedLine({ json }: Line, config: Json): Json {
  return config["json.keys_under_root"] === true ? (json as Json) : { json };
}
