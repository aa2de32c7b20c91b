/** A pipeline as its files say it: each line becomes an event, goes through the filters and to the outputs. */

import { type JsonObject, parseJsonObject } from "#proto/codec/json.ts";
import { LineCutter } from "#proto/codec/lines.ts";
import { decodeText, INVALID_UTF8_TAG, toValidUtf8 } from "#proto/codec/plain.ts";
import { copyValue, Event, Timestamp } from "#proto/event.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { type CommonFields, commonFields } from "../default/shared-fields.ts";
import { pipelineError } from "../language/diagnostics.ts";
import type { SourceText } from "../language/source-text.ts";
import type { Variables } from "../language/variables.ts";
import type { Output } from "../outputs/output.ts";
import { DailyIndex } from "../runtime/daily-index.ts";
import { DocumentIds } from "../runtime/document-id.ts";
import type { DocumentPacker } from "../runtime/packed-documents.ts";
import type { MessageProcessor, RawMessage } from "../runtime/raw-message.ts";
import { compilePipeline } from "./compile.ts";
import type { Program, ProgramEvents } from "./program.ts";
import type { RegexpGuard } from "./regexp-guard.ts";

export interface ConfiguredPipelineOptions {
  /** Goes into the documents' ids. */
  readonly id: string;
  /** Files of the pipeline in their order. */
  readonly sources: readonly SourceText[];
  readonly variables: Variables;
  readonly clock: Clock;
  readonly guard: RegexpGuard;
}

/** An event before it enters, with the place it was read at. */
interface Arrival {
  readonly number: number;
  readonly offset: number;
}

export class ConfiguredPipeline implements MessageProcessor {
  readonly #options: ConfiguredPipelineOptions;
  readonly #program: Program;
  readonly #outputs: readonly Output[];
  readonly #index = new DailyIndex("logs-");

  /** Throws settings_invalid naming everything that is wrong with the files. */
  constructor(options: ConfiguredPipelineOptions) {
    const { sources, variables, clock, guard } = options;
    const { program, outputs, diagnostics } = compilePipeline(sources, {
      variables,
      clock,
      random: Math.random,
      guard,
    });
    if (diagnostics.some(({ severity }) => severity === "error")) throw pipelineError(diagnostics);
    this.#options = options;
    this.#program = program;
    this.#outputs = outputs;
  }

  process(message: RawMessage, out: DocumentPacker): void {
    const common = commonFields(message, this.#options.clock.now());
    const ids = new DocumentIds(message.sourceKey, this.#options.id);
    if (message.events.length > 0) this.#processEvents(message, common, ids, out);
    else this.#processLines(message, common, ids, out);
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
      const event = new Event(fields, message.readTimeMs);
      this.#run(event, { number: lines.index, offset: lines.offset }, ids, out);
    }
    out.counts.emptyLines += lines.emptyLines;
    out.counts.nulBytes += lines.nulBytes;
  }

  #processEvents(message: RawMessage, common: CommonFields, ids: DocumentIds, out: DocumentPacker): void {
    for (const [number, { offset = 0, message: text, fieldsJson, timeMs }] of message.events.entries()) {
      const place = offset ?? 0;
      if (!message.ranges.some(([from, to]) => place >= from && place < to)) continue;
      const fields = lineFields(text ?? new Uint8Array(), common, out);
      (fields["log"] as JsonObject)["offset"] = place;
      const own = fieldsJson?.length ? parseJsonObject(decodeText(fieldsJson)) : undefined;
      if (own !== undefined) Object.assign(fields, own);
      const event = new Event(fields, timeMs ? timeMs : message.readTimeMs);
      this.#run(event, { number, offset: place }, ids, out);
    }
  }

  #run(event: Event, { number, offset }: Arrival, ids: DocumentIds, out: DocumentPacker): void {
    out.counts.events++;
    let child = 0;
    let ended = 0;
    const keep = (each: Event, index: string, id: string): void => {
      const { timeMs } = each;
      out.json.text(each.toJson());
      out.add(index, id === "" ? ids.of(offset, child) : id, number, offset, timeMs);
      child++;
    };
    const events: ProgramEvents = {
      finished: (each) => {
        ended++;
        if (this.#outputs.length === 0) keep(each, this.#index.of(each.timeMs), "");
      },
      output: (each, output) => {
        const target = this.#outputs[output]!.route(each);
        if (target !== undefined) keep(each, target.index, target.id);
      },
      refused: (each, fault) => {
        ended++;
        out.rejected.push({
          offset,
          reason: fault.message,
          plugin: fault.plugin,
          event: Buffer.from(each.toJson()),
        });
      },
    };
    this.#program.run(event, events);
    if (ended === 0) out.counts.dropped++;
  }
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

/** Returns an event as an agent's line makes it, for `pipeline run`, tests and simulation. */
export function sampleEvent(line: string, timeMs: number): Event {
  return new Event({ "@timestamp": new Timestamp(timeMs), message: line }, timeMs);
}
