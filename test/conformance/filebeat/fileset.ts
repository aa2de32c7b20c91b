/** A fileset of Filebeat's modules: what its manifest says, how lines become events, and which pipelines they go through. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { renderTemplate } from "./go-template.ts";

type Json = Readonly<Record<string, unknown>>;

interface Manifest {
  readonly var?: readonly { readonly name: string; readonly default?: unknown }[];
  readonly ingest_pipeline: string | readonly string[];
  readonly input: string;
}

/** Time zone of the shipper that made the expected documents. */
const TIME_ZONE = "-02:00";

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
      readdirSync(path, { withFileTypes: true })
        .filter((each) => each.isDirectory())
        .map((each) => each.name);
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
        const source = readFileSync(join(this.#folder, this.#render(path, {})), "utf8");
        const named = source.replace(/\{<\s*IngestPipeline\s+"([^"]+)"\s*>\}/g, (_, name: string) =>
          idOf(name),
        );
        return [idOf(path.replace(/^.*\/|\.\w+$/g, "")), parse(named) as Json];
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
    return eventLines(readFileSync(path), input).map((line) =>
      processed(processors, {
        "@timestamp": new Date(nowMs).toISOString(),
        message: line.text,
        input: { type: "log" },
        fileset: { name: this.name },
        service: { type: this.module },
        event: { module: this.module, dataset: `${this.module}.${this.#dataset()}` },
        log: { offset: line.offset, file: { path }, ...(line.isJoined && { flags: ["multiline"] }) },
        ecs: { version: "1.12.0" },
        ...(Array.isArray(config["tags"]) && config["tags"].length > 0 && { tags: config["tags"] }),
      }),
    );
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

interface Line {
  readonly text: string;
  readonly offset: number;
  readonly isJoined: boolean;
}

interface Multiline {
  readonly pattern: string;
  readonly negate?: boolean;
  readonly match: "after" | "before";
}

/** Cuts a file as an input's configuration says: joined lines, without excluded and empty ones. */
function eventLines(bytes: Buffer, input: Json): Line[] {
  const multiline = input["multiline"] as Multiline | undefined;
  const joined = multiline === undefined ? linesOf(bytes) : joinedLines(linesOf(bytes), multiline);
  const excluded = ((input["exclude_lines"] ?? []) as readonly string[]).map(expression);
  const included = ((input["include_lines"] ?? []) as readonly string[]).map(expression);
  return joined.filter(
    ({ text }) =>
      text !== "" &&
      !excluded.some((each) => each.test(text)) &&
      (included.length === 0 || included.some((each) => each.test(text))),
  );
}

function linesOf(bytes: Buffer): Line[] {
  const lines: Line[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at);
    const stop = end < 0 ? bytes.length : end;
    lines.push({ text: bytes.toString("utf8", at, stop).replace(/\r$/, ""), offset: at, isJoined: false });
    at = stop + 1;
  }
  return lines;
}

function joinedLines(lines: readonly Line[], { pattern, negate = false, match }: Multiline): Line[] {
  const test = expression(pattern);
  const joined: Line[] = [];
  let isOpen = false;
  for (const line of lines) {
    const belongs = test.test(line.text) !== negate;
    const last = joined.at(-1);
    if (last !== undefined && (match === "after" ? belongs : isOpen))
      joined[joined.length - 1] = { ...last, text: `${last.text}\n${line.text}`, isJoined: true };
    else joined.push(line);
    isOpen = belongs;
  }
  return joined;
}

function expression(pattern: string): RegExp {
  return new RegExp(pattern.replace(/^\(\?i\)/, ""), pattern.startsWith("(?i)") ? "i" : "");
}

/** Applies the shipper's processors. Throws an Error for those that aren't known here. */
function processed(processors: readonly Json[], event: Record<string, unknown>): Json {
  for (const processor of processors) {
    for (const [name, given] of Object.entries(processor)) {
      const options = (given ?? {}) as Json;
      if (name === "add_locale") (event["event"] as Record<string, unknown>)["timezone"] = TIME_ZONE;
      else if (name === "add_locale.when.not.regexp.message") {
        if (!new RegExp(String(given)).test(String(event["message"])))
          (event["event"] as Record<string, unknown>)["timezone"] = TIME_ZONE;
      } else if (name === "add_fields") addFields(event, options);
      else throw new Error(`the processor isn't known here: ${name}`);
    }
  }
  return event;
}

function addFields(event: Record<string, unknown>, { target = "fields", fields }: Json): void {
  const prefix = target === "" ? [] : [String(target)];
  for (const [path, value] of Object.entries((fields ?? {}) as Json)) {
    let at = event;
    const keys = [...prefix, ...path.split(".")];
    for (const key of keys.slice(0, -1)) at = (at[key] ??= {}) as Record<string, unknown>;
    at[keys.at(-1)!] = value;
  }
}
