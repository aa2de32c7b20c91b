/** A pipeline defined by files: each line becomes an event that passes through the filters to the outputs. */

import { createHash } from "node:crypto";
import { DailyIndex, DocumentIds } from "#hub/pipeline/batch/document-id.ts";
import type { DocumentPacker } from "#hub/pipeline/batch/document-packer.ts";
import { EventJson } from "#hub/pipeline/batch/event-json.ts";
import { RECORDS_PER_OFFSET } from "#hub/pipeline/batch/packed-records.ts";
import type { PluginStatistics } from "#hub/pipeline/batch/plugin-statistics.ts";
import type { MessageProcessor, RawMessage } from "#hub/pipeline/batch/raw-message.ts";
import { commonFields } from "#hub/pipeline/batch/source-fields.ts";
import { pipelineError } from "#hub/pipeline/language/diagnostics.ts";
import type { EcsCompatibility } from "#hub/pipeline/language/pipeline-definition.ts";
import type { Variables } from "#hub/pipeline/language/plugin-options.ts";
import type { SourceText } from "#hub/pipeline/language/syntax-tree.ts";
import type { DocumentTarget } from "#hub/pipeline/plugins/output.ts";
import type { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import type { Event } from "#proto/event.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { type Compiled, compilePipeline } from "./compile.ts";
import { takeEvents } from "./message-events.ts";
import type { ProgramEvents } from "./program.ts";

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
  /** See FilterContext.isChecked. */
  readonly isChecked?: boolean;
  /** Number of its first output among those of all pipelines. */
  readonly firstOutput?: number;
}

/** An event before it enters, with the position it was read at. */
interface Arrival {
  readonly number: number;
  readonly offset: number;
}

/** Identifies the results of one event. */
interface Lineage extends Arrival {
  /** Returns the id of a result, counted from 0, in ASCII; good until the next one is asked for. */
  readonly idOf: (child: number) => Buffer;
  /** True: after a crash only the ids identify repeated results. */
  readonly isRepeatable?: boolean;
  /** Results so far. */
  children: number;
  /** Events that reached the end of the filters or were refused; none: the event was dropped. */
  ended: number;
}

/** Where the documents of a message go. */
interface Documents {
  readonly out: DocumentPacker;
  readonly json: EventJson;
}

/** An event is numbered by its message's sequence times this, plus its number within the message. */
const EVENTS_PER_MESSAGE = 2 ** 20;

export class ConfiguredPipeline implements MessageProcessor {
  readonly #options: ConfiguredPipelineOptions;
  readonly #compiled: Compiled;
  readonly #index = new DailyIndex("logs-");
  #place = 0;

  /** Throws settings_invalid naming everything that is wrong with the files. */
  constructor(options: ConfiguredPipelineOptions) {
    const { sources, variables, clock, guard, ecsCompatibility, isChecked = false } = options;
    const place = (): number => this.#place;
    const compiled = compilePipeline(sources, {
      variables,
      clock,
      random: Math.random,
      guard,
      isChecked,
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
    const documents = { out, json: new EventJson(out.json, common.object) };
    let before: Lineage | undefined;
    takeEvents(message, common, out.counts, (event, number, offset, line) => {
      documents.json.line = line;
      this.#place = message.sequence * EVENTS_PER_MESSAGE + Math.min(number, EVENTS_PER_MESSAGE - 1);
      // Several events of one payload share its offset; numbering of their results continues.
      const children = before?.offset === offset ? before.children : 0;
      before = { number, offset, idOf: (child) => ids.of(offset, child), children, ended: 0 };
      this.#enter(event, before, documents);
    });
  }

  /** Flushes the filters that keep events. */
  flush(out: DocumentPacker): void {
    const { id: pipelineId } = this.#options;
    const documents = { out, json: new EventJson(out.json) };
    this.#compiled.program.flush((_, plugin, key) => {
      const idOf = (child: number): Buffer => {
        const hash = createHash("sha256")
          .update(JSON.stringify([pipelineId, plugin, key, child]))
          .digest();
        return Buffer.from(hash.toString("base64url", 0, 15));
      };
      return this.#collect(
        { number: 0, offset: 0, idOf, isRepeatable: true, children: 0, ended: 0 },
        documents,
      );
    });
  }

  /** Sequence of the oldest message that a filter still needs; undefined: none is needed. */
  heldSequence(): number | undefined {
    const place = this.#compiled.program.heldFrom();
    return place === undefined ? undefined : Math.floor(place / EVENTS_PER_MESSAGE);
  }

  /** Returns what the plugins did since the last call. */
  takeStatistics(): PluginStatistics[] {
    return this.#compiled.program.statistics.take();
  }

  #enter(event: Event, lineage: Lineage, documents: Documents): void {
    const { counts } = documents.out;
    counts.events++;
    this.#compiled.program.run(event, this.#collect(lineage, documents));
    if (lineage.ended === 0) counts.dropped++;
  }

  /** Returns the callbacks that pack the results of one event. */
  #collect(lineage: Lineage, { out, json }: Documents): ProgramEvents {
    const { outputs } = this.#compiled;
    const { number, offset } = lineage;
    const keep = (each: Event, { index, id, action }: DocumentTarget): void => {
      const shape = json.write(each.rawFields);
      const child = lineage.children++;
      if (id !== "") out.add(index, id, number, offset, each.timeMs, action ?? "index", shape);
      else {
        const own = lineage.isRepeatable ? "index" : "append";
        out.add(index, lineage.idOf(child), number, offset, each.timeMs, own, shape);
      }
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
        else if (!target.id.isWellFormed()) reject(each, offset, name, illFormedId(target.id), out);
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
      id: lineage.idOf(child).toString("latin1"),
      place: lineage.offset * RECORDS_PER_OFFSET + Math.min(child, RECORDS_PER_OFFSET - 1),
      timeMs: event.timeMs,
    });
  }
}

/** A message of DOC that holds such an id could never be read. */
function illFormedId(id: string): string {
  return `[_id] holds half a surrogate pair, which no UTF-8 can hold: [${id.toWellFormed()}]; send well-formed Unicode`;
}

function reject(event: Event, offset: number, plugin: string, reason: string, out: DocumentPacker): void {
  out.rejected.push({ offset, reason, plugin, event: Buffer.from(event.toJson()) });
}
