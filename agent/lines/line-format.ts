/** Makes events of lines: encodings, lines that belong together, JSON, filters, and a limit of length. */

import { type Encoding, type Line, recogniseMark, Terminator, UTF_8 } from "./encoding.ts";
import {
  type CutEvent,
  type EventFormat,
  type FileView,
  flagFields,
  leftOut,
  NO_FIELDS,
  type PlainLines,
} from "./event-format.ts";
import type { JsonLineDecoder } from "./json-line.ts";
import { LineFilter } from "./line-filter.ts";
import type { MultilineOptions } from "./multiline.ts";

export interface LineOptions {
  readonly encoding: Encoding;
  /** Value of `line_terminator`. */
  readonly terminator: string;
  readonly multiline: MultilineOptions | null;
  readonly json: JsonLineDecoder | null;
  /** Events that match none are left out; empty: all are kept. */
  readonly include: readonly RegExp[];
  readonly exclude: readonly RegExp[];
  /** Handling of events beyond the limit: pieces, or only their beginning. */
  readonly onLong: "split" | "truncate";
  /** Called with bytes that `truncate` left out and with events that filters left out. */
  readonly onLeftOut: (kind: "truncated" | "filtered", amount: number) => void;
}

/** Lines of one event, as found. */
interface Gathered {
  readonly lines: readonly Line[];
  readonly texts: readonly string[];
  readonly end: number;
  /** `wait`: its end is missing yet. `long`: more lines would be too much. */
  readonly state: "whole" | "wait" | "long";
  readonly cutByTime: boolean;
}

const NEW_LINE = 0x0a;
/** UTF-8: bytes 10xxxxxx continue a character, three at most. */
const CONTINUATION_MASK = 0xc0;
const CONTINUATION = 0x80;
const CONTINUATIONS_MAX = 3;

export class LineFormat implements EventFormat {
  readonly maxEventBytes: number;
  readonly timeoutMs: number;
  readonly #options: LineOptions;
  readonly #filter: LineFilter;
  readonly #plainLines: PlainLines | null;
  #encoding: Encoding;
  #terminator: Terminator;
  /** True if the next bytes belong to an event that was truncated. */
  #skipping = false;

  /** `maxEventBytes`: of the file; a message in UTF-8 may be longer by the encoding's expansion. */
  constructor(options: LineOptions, maxEventBytes: number) {
    this.#options = options;
    this.#encoding = options.encoding;
    this.maxEventBytes = maxEventBytes - (maxEventBytes % options.encoding.unitBytes);
    this.timeoutMs = options.multiline?.timeoutMs ?? 0;
    this.#filter = new LineFilter(options.include, options.exclude);
    this.#terminator = new Terminator(options.terminator, options.encoding);
    this.#plainLines = this.#createPlainLines();
  }

  get plainLines(): PlainLines | null {
    return this.#skipping || this.#encoding !== UTF_8 ? null : this.#plainLines;
  }

  begin(head: Buffer): number {
    const { encoding, markBytes } = recogniseMark(head, this.#options.encoding);
    this.#encoding = encoding;
    this.#terminator = new Terminator(this.#options.terminator, encoding);
    return markBytes;
  }

  boundaryBefore(buffer: Buffer, at: number): boolean {
    return this.#terminator.endsAt(buffer, at);
  }

  reset(): void {
    this.#skipping = false;
  }

  *cut(view: FileView): Generator<CutEvent, void> {
    let at = view.start;
    let continued = view.continued;
    if (this.#options.onLong === "truncate" && (this.#skipping || (continued && !view.afterCut))) {
      at = this.#skip(view, at, continued);
      if (at > view.start) yield leftOut(view.start, at);
      continued = false;
    }
    while (at < view.end) {
      const gathered = this.#gather(view, at);
      if (gathered.state === "wait") return;
      const { end, cutByTime } = gathered;
      yield { ...this.#event(view.buffer, at, gathered, continued), cutByTime };
      continued = gathered.state === "long" || gathered.lines.at(-1)?.closed === false;
      at = end;
      if (gathered.state !== "long" || this.#options.onLong === "split") continue;
      const next = this.#skip(view, at, gathered.lines.at(-1)?.closed === false);
      if (next > at) yield leftOut(at, next);
      at = next;
      continued = false;
    }
  }

  /** Collects the lines of the event at `start`. */
  #gather(view: FileView, start: number): Gathered {
    const { buffer, final, expired } = view;
    const { multiline } = this.#options;
    const cut = view.cuts.find((each) => each > start && each <= view.end);
    const isCut = cut !== undefined;
    const stop = cut ?? view.end;
    const group = multiline?.begin();
    const lines: Line[] = [];
    const texts: string[] = [];
    const found = (end: number, state: Gathered["state"], cutByTime = false): Gathered => {
      return { lines, texts, end, state, cutByTime };
    };
    for (let at = start; at < stop; ) {
      const line = this.#terminator.lineAt(buffer, at, stop);
      if (line.next - start > this.maxEventBytes) {
        if (lines.length > 0) return found(at, "long");
        const end = this.#characterEnd(buffer, start, start + this.maxEventBytes);
        lines.push({ start, textEnd: end, next: end, closed: false });
        return found(end, "long");
      }
      if (!line.closed && !isCut && !final) {
        return lines.length > 0 && expired ? found(at, "whole", true) : found(at, "wait");
      }
      if (group !== undefined) {
        const text = this.#text(buffer, line);
        if (!group.take(this.#looked(text))) return found(at, "whole");
        if (lines.length >= multiline!.maxLines) return found(at, "long");
        texts.push(text);
      }
      lines.push(line);
      at = line.next;
      if (group === undefined || group.whole) {
        return found(at, "whole", !line.closed && final && !isCut);
      }
    }
    if (isCut) return found(stop, "whole");
    return expired || final ? found(stop, "whole", true) : found(stop, "wait");
  }

  /** Makes the event of gathered lines. */
  #event(buffer: Buffer, start: number, gathered: Gathered, continued: boolean): CutEvent {
    const { lines, end, state } = gathered;
    const { json } = this.#options;
    const flags = lines.length > 1 ? ["multiline"] : [];
    if (continued) flags.push("continued");
    if (state === "long") flags.push(this.#options.onLong === "split" ? "open" : "truncated");
    else if (lines.at(-1)?.closed === false) flags.push("open");
    const bytes = this.#message(buffer, gathered);
    const common = { start, end, safe: true, cutByTime: false, timeMs: 0, fieldsJson: flagFields(flags) };
    if (bytes.length === 0) return { ...common, message: null, fieldsJson: NO_FIELDS };
    const text = this.#filter.isNeeded || json !== null ? bytes.toString() : "";
    const texts = gathered.texts.length > 1 ? gathered.texts : [text];
    if (this.#filter.isNeeded && !this.#filter.keeps(texts.map((each) => this.#looked(each)).join("\n"))) {
      this.#options.onLeftOut("filtered", 1);
      return { ...common, message: null, fieldsJson: NO_FIELDS };
    }
    // A piece of a split line has lost its head or tail: it isn't JSON any more.
    if (json === null || continued || state === "long") return { ...common, message: bytes };
    const decoded = json.decode(texts);
    const fields = flags.length === 0 ? decoded.fields : { ...decoded.fields, log: { flags } };
    return {
      ...common,
      message: decoded.message === undefined ? bytes : Buffer.from(decoded.message),
      fieldsJson: Object.keys(fields).length === 0 ? NO_FIELDS : Buffer.from(JSON.stringify(fields)),
      timeMs: decoded.timeMs,
    };
  }

  /** Returns the text of an event as UTF-8. */
  #message(buffer: Buffer, { lines }: Gathered): Buffer {
    const first = lines[0];
    const last = lines.at(-1);
    if (first === undefined || last === undefined) return Buffer.alloc(0);
    const start =
      this.#encoding.unitBytes === 1 ? withoutHole(buffer, first.start, last.textEnd) : first.start;
    const plain = lines.every(({ textEnd, next }) => next - textEnd === 1 && buffer[textEnd] === NEW_LINE);
    if (lines.length === 1 || plain) return this.#encoding.decode(buffer.subarray(start, last.textEnd));
    return Buffer.from(lines.map((line) => this.#text(buffer, line)).join("\n"));
  }

  #text(buffer: Buffer, { start, textEnd }: Line): string {
    return this.#encoding.decode(buffer.subarray(start, textEnd)).toString();
  }

  /** Returns what filters and multiline look at. */
  #looked(text: string): string {
    return this.#options.json?.textOf(text) ?? text;
  }

  #createPlainLines(): PlainLines | null {
    const { multiline, json, terminator } = this.#options;
    if (multiline !== null || json !== null || !["auto", "line_feed"].includes(terminator)) return null;
    return {
      maxBytes: this.maxEventBytes,
      stripsReturn: terminator === "auto",
      within: (buffer) => {
        const filter = this.#filter.within(buffer);
        const keeps = (start: number, end: number): boolean => {
          const isKept = filter.keeps(start, end);
          if (!isKept) this.#options.onLeftOut("filtered", 1);
          return isKept;
        };
        return { keeps, keptUntil: (start) => filter.keptUntil(start) };
      },
    };
  }

  /** Returns where the truncated event that continues at `start` ends, or where the next view finds out. */
  #skip(view: FileView, start: number, withinLine: boolean): number {
    const at = this.#endOfTruncated(view, start, withinLine);
    if (at > start) this.#options.onLeftOut("truncated", at - start);
    return at;
  }

  #endOfTruncated({ buffer, end, final }: FileView, start: number, withinLine: boolean): number {
    const group = this.#options.multiline?.begin(true);
    let at = start;
    this.#skipping = true;
    if (withinLine) {
      const line = this.#terminator.lineAt(buffer, at, end);
      at = line.next;
      if (!line.closed) return at;
    }
    while (group !== undefined && !group.whole) {
      if (at >= end) return at;
      const line = this.#terminator.lineAt(buffer, at, end);
      if (!line.closed && !final) return at;
      if (!group.take(this.#looked(this.#text(buffer, line)))) break;
      at = line.next;
    }
    this.#skipping = false;
    return at;
  }

  /** Returns the last offset at or before `end` where no character is cut, as far as the encoding allows that. */
  #characterEnd(buffer: Buffer, start: number, end: number): number {
    if (this.#encoding.unitBytes === 2) return end - ((end - start) % 2);
    if (this.#encoding.name !== "utf-8") return end;
    for (let at = end; at > start && at >= end - CONTINUATIONS_MAX; at--) {
      if ((buffer[at]! & CONTINUATION_MASK) !== CONTINUATION) return at;
    }
    return end;
  }
}

/** A program that continues at its old offset after a truncation leaves NULs before its text. */
function withoutHole(buffer: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && buffer[at] === 0) at++;
  return at;
}
