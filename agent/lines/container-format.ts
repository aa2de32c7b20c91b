/**
 * Makes events from a container's log file. Lines of stdout and stderr are interleaved, even between the pieces of one
 * line; so an offset is safe only if no event of either stream is open.
 */

import { parseJsonObject } from "#proto/codec/json.ts";
import { type Line, Terminator, UTF_8 } from "./encoding.ts";
import { type CutEvent, type EventFormat, type FileView, leftOut } from "./event-format.ts";
import { eventTimeMs } from "./event-time.ts";
import type { JsonLineDecoder } from "./json-line.ts";
import type { LineGroup, MultilineOptions } from "./multiline.ts";

export interface ContainerOptions {
  readonly format: ContainerFormatName;
  /** The stream to read, or all. */
  readonly stream: "all" | "stdout" | "stderr";
  readonly multiline: MultilineOptions | null;
  readonly json: JsonLineDecoder | null;
  readonly include: readonly RegExp[];
  readonly exclude: readonly RegExp[];
  readonly onFiltered: () => void;
}

/** An event that may be continued. */
interface OpenEvent {
  readonly stream: string;
  readonly start: number;
  readonly timeMs: number;
  readonly group: LineGroup | undefined;
  /** Whole lines of the container. */
  readonly texts: string[];
  /** End of the last whole line. */
  end: number;
  /** Pieces of an incomplete line, where it begins, where it ends so far, and its time. */
  pieces: string[];
  lineStart: number;
  lineEnd: number;
  lineTimeMs: number;
}

/** Maximum of events between two safe offsets: more would not fit into one message. */
const EVENTS_MAX = 1_000;

export class ContainerFormat implements EventFormat {
  readonly maxEventBytes: number;
  readonly timeoutMs: number;
  readonly #options: ContainerOptions;
  readonly #terminator = new Terminator("auto", UTF_8);

  constructor(options: ContainerOptions, maxEventBytes: number) {
    this.#options = options;
    this.maxEventBytes = maxEventBytes;
    this.timeoutMs = options.multiline?.timeoutMs ?? 0;
  }

  begin(): number {
    return 0;
  }

  boundaryBefore(buffer: Buffer, at: number): boolean {
    return this.#terminator.endsAt(buffer, at);
  }

  /** Every line is JSON or has a head of its own. */
  readonly plainLines = null;

  reset(): void {
    // nothing is remembered between views
  }

  *cut(view: FileView): Generator<CutEvent, void> {
    const span = new Span(view.start);
    let at = view.start;
    let continued = view.continued;
    while (at < view.end) {
      const cut = view.cuts.find((each) => each > at && each <= view.end);
      const line = this.#terminator.lineAt(view.buffer, at, cut ?? view.end);
      if (!line.closed && line.next - at > this.maxEventBytes) {
        const end = at + this.maxEventBytes;
        yield* this.#closeAll(span, false);
        yield span.ended(this.#raw(view.buffer, { ...line, textEnd: end, next: end }, continued), end);
        continued = true;
        at = end;
        continue;
      }
      if (!line.closed && cut === undefined && !view.final) break;
      at = line.next;
      yield* this.#take(view.buffer, line, continued, span);
      continued = !line.closed;
      if (at === cut || at - span.start > this.maxEventBytes || span.events > EVENTS_MAX)
        yield* this.#closeAll(span, false);
    }
    if (view.final) yield* this.#closeAll(span, true);
    else if (view.expired && span.hasWholeLinesOnly) yield* this.#closeAll(span, true);
  }

  *#take(buffer: Buffer, line: Line, continued: boolean, span: Span): Generator<CutEvent> {
    const text = buffer.toString("utf8", line.start, line.textEnd);
    const read = continued ? null : readContainerLine(text, this.#options.format);
    if (read === null) {
      yield span.ended(this.#raw(buffer, line, continued), line.next);
      return;
    }
    const { stream } = this.#options;
    if (stream !== "all" && read.stream !== stream) {
      yield span.ended(leftOut(line.start, line.next), line.next);
      return;
    }
    const open = span.open.get(read.stream) ?? this.#openEvent(read.stream, read.timeMs, line.start);
    span.open.set(read.stream, open);
    if (open.pieces.length === 0) {
      open.lineStart = line.start;
      open.lineTimeMs = read.timeMs;
    }
    open.pieces.push(read.text);
    open.lineEnd = line.next;
    if (!read.partial) yield* this.#endLine(open, span);
  }

  /** Takes a complete line of the container: it joins its event, or ends it and begins another one. */
  *#endLine(open: OpenEvent, span: Span): Generator<CutEvent> {
    const { stream, lineStart, lineEnd, lineTimeMs } = open;
    const text = open.pieces.join("");
    open.pieces = [];
    let event = open;
    if (open.group !== undefined && !open.group.take(this.#looked(text))) {
      event = this.#openEvent(stream, lineTimeMs, lineStart);
      event.group?.take(this.#looked(text));
      span.open.set(stream, event);
      yield span.ended(this.#event(open), open.end);
    }
    event.texts.push(text);
    event.end = lineEnd;
    const { group, texts } = event;
    if (group !== undefined && !group.whole && texts.length < (this.#options.multiline?.maxLines ?? 1))
      return;
    span.open.delete(stream);
    yield span.ended(this.#event(event), event.end);
  }

  *#closeAll(span: Span, byTime: boolean): Generator<CutEvent> {
    for (const open of span.open.values()) {
      span.open.delete(open.stream);
      const end = open.pieces.length > 0 ? open.lineEnd : open.end;
      yield { ...span.ended(this.#event(open), end), cutByTime: byTime };
    }
  }

  #openEvent(stream: string, timeMs: number, start: number): OpenEvent {
    const group = this.#options.multiline?.begin();
    const line = { pieces: [], lineStart: start, lineEnd: start, lineTimeMs: timeMs };
    return { stream, start, timeMs, group, texts: [], end: start, ...line };
  }

  /** A line that isn't the runtime's is kept unchanged. */
  #raw(buffer: Buffer, { start, textEnd, next, closed }: Line, continued: boolean): CutEvent {
    const flags = [...(continued ? ["continued"] : []), ...(closed ? [] : ["open"])];
    const fields = {
      error: { message: "no line of a container runtime", type: "container" },
      log: { flags },
    };
    const message = textEnd === start ? null : buffer.subarray(start, textEnd);
    const fieldsJson = Buffer.from(JSON.stringify(flags.length === 0 ? { error: fields.error } : fields));
    return { ...leftOut(start, next), message, fieldsJson };
  }

  /** Returns the text that filters and multiline examine. */
  #looked(text: string): string {
    return this.#options.json?.textOf(text) ?? text;
  }

  #event(open: OpenEvent): CutEvent {
    const { stream, start, timeMs, texts, pieces } = open;
    const lines = pieces.length === 0 ? texts : [...texts, pieces.join("")];
    const text = lines.join("\n");
    const part = { ...leftOut(start, pieces.length > 0 ? open.lineEnd : open.end), timeMs };
    if (text === "") return part;
    const { include, exclude, json, onFiltered } = this.#options;
    const looked = lines.map((line) => this.#looked(line)).join("\n");
    const isIncluded = include.length === 0 || include.some((expression) => expression.test(looked));
    if (!isIncluded || exclude.some((expression) => expression.test(looked))) {
      onFiltered();
      return part;
    }
    const flags = [...(lines.length > 1 ? ["multiline"] : []), ...(pieces.length > 0 ? ["open"] : [])];
    const common = { stream, ...(flags.length === 0 ? {} : { log: { flags } }) };
    if (json === null) return { ...part, message: Buffer.from(text), fieldsJson: fieldsOf(common) };
    const decoded = json.decode(lines);
    return {
      ...part,
      message: Buffer.from(decoded.message ?? text),
      fieldsJson: fieldsOf({ ...decoded.fields, ...common }),
      timeMs: decoded.timeMs === 0 ? timeMs : decoded.timeMs,
    };
  }
}

/** The range between two safe offsets. */
class Span {
  readonly open = new Map<string, OpenEvent>();
  /** The last safe offset. */
  start: number;
  /** Events ended since then. */
  events = 0;
  #ended: number;

  constructor(start: number) {
    this.start = start;
    this.#ended = start;
  }

  /** True if every open event could be sent as it is. */
  get hasWholeLinesOnly(): boolean {
    return [...this.open.values()].every(({ pieces }) => pieces.length === 0);
  }

  /** Records that `cut` reaches to `end`; returns whether every event before some position has ended. */
  ended(cut: CutEvent, end: number): CutEvent {
    this.events++;
    this.#ended = Math.max(this.#ended, end);
    let firstOpen = Number.POSITIVE_INFINITY;
    for (const { start } of this.open.values()) firstOpen = Math.min(firstOpen, start);
    const safe = firstOpen >= this.#ended;
    if (!safe) return { ...cut, safe };
    this.start = this.#ended;
    this.events = 0;
    return { ...cut, end: this.#ended, safe };
  }
}

const STREAM_FIELDS = new Map([
  ["stdout", Buffer.from('{"stream":"stdout"}')],
  ["stderr", Buffer.from('{"stream":"stderr"}')],
]);

function fieldsOf(fields: { readonly stream: string; readonly log?: unknown }): Buffer {
  const plain = Object.keys(fields).length === 1 ? STREAM_FIELDS.get(fields.stream) : undefined;
  return plain ?? Buffer.from(JSON.stringify(fields));
}

type ContainerFormatName = "auto" | "docker" | "cri";

/** One line of a runtime: a whole line of the container, or a piece of one. */
interface ContainerLine {
  /** stdout or stderr. */
  readonly stream: string;
  readonly text: string;
  /** True if the container's line continues in the next line of the same stream. */
  readonly partial: boolean;
  /** ms since 1970-01-01 UTC; 0: unknown. */
  readonly timeMs: number;
}

/** "<RFC 3339 time> <stream> <tags> <text>": the first tag is P for a piece, F for the last or only one. */
const CRI = /^(\d{4}-\d\d-\d\dT\S+) (stdout|stderr) ([^ ]*)(?: (.*))?$/s;

/** Returns the content of the line, or null if it isn't one of the runtime's. */
function readContainerLine(line: string, format: ContainerFormatName): ContainerLine | null {
  const docker = format === "docker" || (format === "auto" && line.startsWith("{"));
  return docker ? readDocker(line) : readCri(line);
}

function readDocker(line: string): ContainerLine | null {
  const object = parseJsonObject(line);
  const text = object?.["log"];
  if (object === undefined || typeof text !== "string") return null;
  const { stream, time } = object;
  const whole = text.endsWith("\n");
  return {
    stream: typeof stream === "string" ? stream : "stdout",
    text: whole ? text.slice(0, text.endsWith("\r\n") ? -2 : -1) : text,
    partial: !whole,
    timeMs: eventTimeMs(time),
  };
}

function readCri(line: string): ContainerLine | null {
  const match = CRI.exec(line);
  if (match === null) return null;
  const [, time, stream = "", tags = "", text = ""] = match;
  return { stream, text, partial: tags.split(":", 1)[0] === "P", timeMs: eventTimeMs(time) };
}
