/** A pipeline as its files say it: each line becomes an event, goes through the filters and to the outputs. */

import { createHash } from "node:crypto";
import { DailyIndex } from "#hub/pipeline/batch/daily-index.ts";
import { DocumentIds } from "#hub/pipeline/batch/document-id.ts";
import { EventJson } from "#hub/pipeline/batch/event-json.ts";
import type { DocumentPacker } from "#hub/pipeline/batch/packed-documents.ts";
import { RECORDS_PER_OFFSET } from "#hub/pipeline/batch/packed-records.ts";
import type { PluginFigure } from "#hub/pipeline/batch/plugin-statistics.ts";
import type { MessageProcessor, RawMessage } from "#hub/pipeline/batch/raw-message.ts";
import { commonFields } from "#hub/pipeline/batch/shared-fields.ts";
import type { EcsCompatibility } from "#hub/pipeline/batch/worker-protocol.ts";
import type { DocumentTarget } from "#hub/pipeline/plugins/output.ts";
import type { RegexpGuard } from "#hub/pipeline/regexp/regexp-guard.ts";
import type { Event } from "#proto/event.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { pipelineError } from "../language/diagnostics.ts";
import type { SourceText } from "../language/source-text.ts";
import type { Variables } from "../language/variables.ts";
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

/** Where the documents of a message go. */
interface Documents {
  readonly out: DocumentPacker;
  readonly json: EventJson;
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
      // Several events of one payload share its offset; their results are counted on.
      const children = before?.offset === offset ? before.children : 0;
      before = { number, offset, idOf: (child) => ids.of(offset, child), children, ended: 0 };
      this.#enter(event, before, documents);
    });
  }

  /** Lets filters that keep events make what is due. */
  flush(out: DocumentPacker): void {
    const { id: pipelineId } = this.#options;
    const documents = { out, json: new EventJson(out.json) };
    this.#compiled.program.flush((_, plugin, key) => {
      const idOf = (child: number): string =>
        createHash("sha256")
          .update(JSON.stringify([pipelineId, plugin, key, child]))
          .digest()
          .toString("base64url", 0, 15);
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
  takeFigures(): PluginFigure[] {
    return this.#compiled.program.figures.take();
  }

  #enter(event: Event, lineage: Lineage, documents: Documents): void {
    const { counts } = documents.out;
    counts.events++;
    this.#compiled.program.run(event, this.#collect(lineage, documents));
    if (lineage.ended === 0) counts.dropped++;
  }

  /** Returns who takes the results of one event. */
  #collect(lineage: Lineage, { out, json }: Documents): ProgramEvents {
    const { outputs } = this.#compiled;
    const { number, offset } = lineage;
    const keep = (each: Event, { index, id, action }: DocumentTarget): void => {
      const shape = json.write(each.rawFields);
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
