/** A pipeline as its files say it: each line becomes an event, goes through the filters and to the outputs. */

import { createHash } from "node:crypto";
import { type JsonObject, parseJsonObject } from "#proto/codec/json.ts";
import { LineCutter } from "#proto/codec/lines.ts";
import { decodeText, INVALID_UTF8_TAG, toValidUtf8 } from "#proto/codec/plain.ts";
import { valueShape } from "#proto/codec/value-shape.ts";
import { copyValue, Event, isObject } from "#proto/event.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { type CommonFields, commonFields } from "../default/shared-fields.ts";
import { pipelineError } from "../language/diagnostics.ts";
import type { SourceText } from "../language/source-text.ts";
import type { Variables } from "../language/variables.ts";
import type { DocumentTarget } from "../outputs/output.ts";
import { DailyIndex } from "../runtime/daily-index.ts";
import { DocumentIds } from "../runtime/document-id.ts";
import type { DocumentPacker } from "../runtime/packed-documents.ts";
import { RECORDS_PER_OFFSET } from "../runtime/packed-records.ts";
import type { MessageProcessor, RawMessage } from "../runtime/raw-message.ts";
import type { EcsCompatibility } from "../runtime/worker-protocol.ts";
import { type Compiled, compilePipeline } from "./compile.ts";
import type { PluginFigure } from "./plugin-figures.ts";
import type { ProgramEvents } from "./program.ts";
import type { RegexpGuard } from "./regexp-guard.ts";

export interface ConfiguredPipelineOptions {
  /** Goes into the documents' ids. */
  readonly id: string;
  /** Files of the pipeline in their order. */
  readonly sources: readonly SourceText[];
  readonly variables: Variables;
  readonly clock: Clock;
  readonly guard: RegexpGuard;
  /** See PipelineDefinition.ecsCompatibility. */
  readonly ecsCompatibility?: EcsCompatibility;
  /** Number of its first output among those of all pipelines. */
  readonly firstOutput?: number;
}

/** An event before it enters, with the place it was read at. */
interface Arrival {
  readonly number: number;
  readonly offset: number;
}

/** What the results of one event are told apart by. */
interface Lineage extends Arrival {
  /** Returns the id of a result, counted from 0. */
  readonly idOf: (child: number) => string;
  /** True: nothing but the ids tells what comes once more after a crash. */
  readonly isRepeatable?: boolean;
  /** Results so far. */
  children: number;
  ended: number;
}

/** A place is a message's sequence with room for so many events. */
const EVENTS_PER_MESSAGE = 2 ** 20;

export class ConfiguredPipeline implements MessageProcessor {
  readonly #options: ConfiguredPipelineOptions;
  readonly #compiled: Compiled;
  readonly #index = new DailyIndex("logs-");
  #place = 0;

  /** Throws settings_invalid naming everything that is wrong with the files. */
  constructor(options: ConfiguredPipelineOptions) {
    const { sources, variables, clock, guard, ecsCompatibility } = options;
    const place = (): number => this.#place;
    const compiled = compilePipeline(sources, {
      variables,
      clock,
      random: Math.random,
      guard,
      place,
      ...(ecsCompatibility !== undefined && { ecsCompatibility }),
    });
    const { diagnostics } = compiled;
    if (diagnostics.some(({ severity }) => severity === "error")) throw pipelineError(diagnostics);
    this.#options = options;
    this.#compiled = compiled;
  }

  get id(): string {
    return this.#options.id;
  }

  get takesAgents(): boolean {
    return this.#compiled.takesAgents;
  }

  /** True where a filter keeps something of events for later ones. */
  get isStateful(): boolean {
    return this.#compiled.stateful;
  }

  /** Number of its outputs. */
  get outputs(): number {
    return this.#compiled.outputs.length;
  }

  process(message: RawMessage, out: DocumentPacker): void {
    const common = commonFields(message, this.#options.clock.now());
    const ids = new DocumentIds(message.sourceKey, this.#options.id);
    if (message.events.length > 0) this.#processEvents(message, common, ids, out);
    else this.#processLines(message, common, ids, out);
  }

  /** Lets filters that keep events make what is due. */
  flush(out: DocumentPacker): void {
    const { id: pipelineId } = this.#options;
    this.#compiled.program.flush((_, plugin, key) => {
      const idOf = (child: number): string =>
        createHash("sha256")
          .update(JSON.stringify([pipelineId, plugin, key, child]))
          .digest()
          .toString("base64url", 0, 15);
      return this.#collect({ number: 0, offset: 0, idOf, isRepeatable: true, children: 0, ended: 0 }, out);
    });
  }

  /** Sequence of the oldest message that a filter still needs; undefined: none is needed. */
  heldSequence(): number | undefined {
    const place = this.#compiled.program.heldFrom();
    return place === undefined ? undefined : Math.floor(place / EVENTS_PER_MESSAGE);
  }

  /** Returns what the plugins did since the last call. */
  takeFigures(): PluginFigure[] {
    return this.#compiled.program.figures.take();
  }

  #processLines(message: RawMessage, common: CommonFields, ids: DocumentIds, out: DocumentPacker): void {
    const lines = new LineCutter(message);
    while (lines.next()) {
      const fields = lineFields(message.data.subarray(lines.start, lines.end), common, out);
      const log = fields["log"] as JsonObject;
      log["offset"] = lines.offset;
      if (lines.continued || lines.open) {
        log["flags"] = [...(lines.continued ? ["continued"] : []), ...(lines.open ? ["open"] : [])];
      }
      const { index: number, offset } = lines;
      this.#enter(
        message,
        new Event(fields, message.readTimeMs),
        {
          number,
          offset,
          idOf: (child) => ids.of(offset, child),
          children: 0,
          ended: 0,
        },
        out,
      );
    }
    out.counts.emptyLines += lines.emptyLines;
    out.counts.nulBytes += lines.nulBytes;
  }

  #processEvents(message: RawMessage, common: CommonFields, ids: DocumentIds, out: DocumentPacker): void {
    let before: Lineage | undefined;
    for (const [number, { offset: place, message: text, fieldsJson, timeMs }] of message.events.entries()) {
      const offset = place ?? 0;
      if (!message.ranges.some(([from, to]) => offset >= from && offset < to)) continue;
      const fields = lineFields(text ?? new Uint8Array(), common, out);
      if (text === undefined || text === null || text.length === 0) delete fields["message"];
      if (message.pipelineId === "" || message.path !== "") (fields["log"] as JsonObject)["offset"] = offset;
      else if (message.path === "") delete fields["log"];
      const own = fieldsJson?.length ? parseJsonObject(decodeText(fieldsJson)) : undefined;
      if (own !== undefined) mergeFields(fields, own);
      const event = new Event(fields, timeMs ? timeMs : message.readTimeMs);
      // Several events of one payload share its offset; their results are counted on.
      const children = before?.offset === offset ? before.children : 0;
      before = { number, offset, idOf: (child) => ids.of(offset, child), children, ended: 0 };
      this.#enter(message, event, before, out);
    }
  }

  #enter(message: RawMessage, event: Event, lineage: Lineage, out: DocumentPacker): void {
    this.#place = message.sequence * EVENTS_PER_MESSAGE + Math.min(lineage.number, EVENTS_PER_MESSAGE - 1);
    out.counts.events++;
    this.#compiled.program.run(event, this.#collect(lineage, out));
    if (lineage.ended === 0) out.counts.dropped++;
  }

  /** Returns who takes the results of one event. */
  #collect(lineage: Lineage, out: DocumentPacker): ProgramEvents {
    const { outputs } = this.#compiled;
    const { number, offset } = lineage;
    const keep = (each: Event, { index, id, action }: DocumentTarget): void => {
      out.json.text(each.toJson());
      const shape = valueShape(each.fields);
      const own = lineage.idOf(lineage.children++);
      if (id !== "") out.add(index, id, number, offset, each.timeMs, action ?? "index", shape);
      else out.add(index, own, number, offset, each.timeMs, lineage.isRepeatable ? "index" : "append", shape);
    };
    return {
      finished: (each) => {
        lineage.ended++;
        if (outputs.length === 0) keep(each, { index: this.#index.of(each.timeMs), id: "" });
      },
      output: (each, place) => {
        const { shaper, name } = outputs[place]!;
        if (!("route" in shaper)) {
          this.#shape(each, place, lineage, out);
          return;
        }
        const target = shaper.route(each);
        if (target === undefined) return;
        if ("refused" in target) reject(each, offset, name, target.refused, out);
        else keep(each, target);
      },
      refused: (each, fault) => {
        lineage.ended++;
        reject(each, offset, fault.plugin, fault.message, out);
      },
    };
  }

  #shape(event: Event, place: number, lineage: Lineage, out: DocumentPacker): void {
    const { shaper, name } = this.#compiled.outputs[place]!;
    if ("route" in shaper) return;
    const record = shaper.shape(event);
    if (record === undefined) return;
    if ("refused" in record) {
      reject(event, lineage.offset, name, record.refused, out);
      return;
    }
    const child = lineage.children++;
    out.records.add((this.#options.firstOutput ?? 0) + place, {
      target: record.target,
      body: record.body,
      id: lineage.idOf(child),
      place: lineage.offset * RECORDS_PER_OFFSET + Math.min(child, RECORDS_PER_OFFSET - 1),
      timeMs: event.timeMs,
    });
  }
}

function reject(event: Event, offset: number, plugin: string, reason: string, out: DocumentPacker): void {
  out.rejected.push({ offset, reason, plugin, event: Buffer.from(event.toJson()) });
}

/** Returns the fields of a new event; each event gets objects of its own, as filters change them. */
function lineFields(bytes: Uint8Array, common: CommonFields, out: DocumentPacker): JsonObject {
  const valid = toValidUtf8(bytes);
  const tags = [...common.tagList];
  if (valid !== bytes) {
    out.counts.invalidUtf8++;
    tags.push(INVALID_UTF8_TAG);
  }
  const fields = copyValue(common.object) as JsonObject;
  fields["message"] = decodeText(valid);
  fields["log"] = common.path === "" ? {} : { file: { path: common.path } };
  if (tags.length > 0) fields["tags"] = tags;
  return fields;
}

/** Merges an event's own fields into those of its source: objects member by member, tags joined, else its own win. */
function mergeFields(into: JsonObject, own: JsonObject): void {
  for (const [name, value] of Object.entries(own)) {
    const before = into[name];
    if (name === "tags" && Array.isArray(before) && Array.isArray(value)) {
      into[name] = [...new Set([...before, ...value])];
    } else if (isObject(before) && isObject(value)) {
      mergeFields(before, value);
    } else {
      // A name like __proto__ is a field like any other.
      Object.defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true });
    }
  }
}
