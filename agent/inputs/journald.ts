/** Input `journald`: systemd's journal, read through `journalctl`, from the last acknowledged entry on. */

import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import type { Static } from "typebox";
import {
  defineInput,
  type Input,
  type InputContext,
  type InputState,
  settingFault,
} from "#agent/contract/input.ts";
import { Framer } from "#agent/inputs/streams/framing.ts";
import { Receipts, StreamSink } from "#agent/inputs/streams/stream-sink.ts";
import { readJournalEntry } from "#proto/codec/journal-entry.ts";
import { Backoff } from "#proto/kit/retry.ts";
import { Type } from "#proto/kit/schema.ts";

const list = (description: string) => Type.Array(Type.String({ minLength: 1 }), { default: [], description });

const schema = Type.Object(
  {
    units: list("Units to read, with patterns, such as nginx.service; empty: all."),
    identifiers: list("Syslog identifiers to read; empty: all."),
    matches: list("Further conditions FIELD=value; several values of a field are alternatives."),
    priority: Type.Optional(
      Type.String({
        description: "Lowest priority to read: a name or number, or a range such as 0..4.",
      }),
    ),
    transports: list("Transports to read: kernel, journal, stdout, syslog, audit, driver; empty: all."),
    seek: Type.Union([Type.Literal("head"), Type.Literal("tail")], {
      default: "head",
      description:
        "Where the very first start begins. Later starts continue after the last acknowledged entry.",
    }),
    directory: Type.Optional(Type.String({ description: "Folder of a journal other than the machine's." })),
    merge: Type.Boolean({ default: false, description: "Also read journals that came from other machines." }),
    command: Type.String({
      default: "journalctl",
      minLength: 1,
      description: "The program that reads the journal.",
    }),
  },
  { additionalProperties: false },
);

type Settings = Static<typeof schema>;
type Child = ChildProcessByStdio<null, Readable, Readable>;

const RETRY = { firstMs: 500, capMs: 30_000 };
/** A journalctl that runs for this time without an entry follows a quiet journal. */
const RUNS_MS = 2_000;
/** Before the input's id in the name of its position. */
const POSITIONS = "journald/";
/** An entry with all its fields; the journal takes messages of up to 48 KB by itself, and larger ones natively. */
const ENTRY_BYTES_MAX = 4 * 1_024 * 1_024;
/** The error output of journalctl. */
const ERROR_BYTES_MAX = 4_096;

export const journaldInput = defineInput({
  type: "journald",
  summary: "Reads systemd's journal through journalctl; the cursor of the last acknowledged entry is stored.",
  heldSlots: 1,
  schema,
  validate(settings) {
    const wrong = settings.matches.find((match) => !/^[A-Z0-9_]+=/.test(match));
    if (wrong !== undefined)
      throw settingFault("matches", `matches: "${wrong}" isn't a condition; write FIELD=value`);
  },
  create: (settings, context) => new JournaldInput(settings, context),
});

export class JournaldInput implements Input {
  readonly #settings: Settings;
  readonly #context: InputContext;
  readonly #sink: StreamSink;
  readonly #stop = new AbortController();
  readonly #receipts = new Receipts<string>();
  readonly #position: string;
  /** Of the last entry that was taken. */
  #cursor: string | undefined;
  #problem = "";
  #child: Child | undefined;
  #task: Promise<void> | undefined;

  constructor(settings: Settings, context: InputContext) {
    this.#settings = settings;
    this.#context = context;
    this.#position = POSITIONS + context.id;
    this.#sink = new StreamSink("journald", context, {
      onAcknowledged: (upTo) => {
        const cursor = this.#receipts.take(upTo).at(-1);
        if (cursor !== undefined) context.registry.setPosition(this.#position, cursor);
      },
    });
  }

  start(): Promise<void> {
    this.#task = this.#run();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#sink.close();
    this.#child?.kill("SIGTERM");
    await this.#task;
    await this.#sink.stop();
  }

  state(): InputState {
    return this.#sink.state();
  }

  problem(): string {
    return this.#problem;
  }

  /** Runs journalctl again whenever it ends; it continues after the last entry that was taken. */
  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const backoff = new Backoff(RETRY);
    const { registry, isInput } = this.#context;
    // The id of an input is another one after a change of its settings, unless they name it.
    const isFree = (name: string): boolean =>
      name.startsWith(POSITIONS) && !isInput(name.slice(POSITIONS.length));
    registry.inheritPosition(this.#position, isFree);
    this.#cursor = registry.position(this.#position);
    while (!signal.aborted) {
      const before = this.#cursor;
      const reason = await this.#follow();
      if (signal.aborted) return;
      if (this.#cursor !== before) backoff.reset();
      this.#sink.fail("journalctl can't be read; retrying", new Error(reason));
      this.#problem = `input ${this.#context.id}: journalctl can't be read: ${reason}`;
      await this.#context.clock.sleep(backoff.next(), signal);
    }
  }

  /** Runs journalctl until it ends; resolves with the reason. */
  async #follow(): Promise<string> {
    const child = spawn(this.#settings.command, journalArguments(this.#settings, this.#cursor), {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    const ended = once(child, "close").catch((error: unknown) => [error]);
    const complaint = collect(child.stderr);
    const runs = setTimeout(() => {
      this.#problem = "";
    }, RUNS_MS);
    try {
      await this.#read(child.stdout);
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#context.log.debug({ error }, "reading from journalctl broke off");
    }
    child.kill("SIGTERM");
    const [status] = (await ended) as [unknown];
    clearTimeout(runs);
    if (status instanceof Error) return status.message;
    return `it ended with ${String(status)}: ${(await complaint).trim()}`;
  }

  /** Reads to the end; the next chunk is taken only when this one is in a batch, and journalctl waits. */
  async #read(stream: Readable): Promise<void> {
    const framer = new Framer({ maxBytes: ENTRY_BYTES_MAX, octetCounting: false });
    for await (const chunk of stream) {
      for (const line of framer.push(chunk as Buffer)) {
        const entry = readJournalEntry(line.toString());
        if (entry === null) {
          this.#context.metrics.errors.inc({ input: this.#context.id });
          continue;
        }
        const most = this.#sink.maxMessageBytes;
        const message = entry.message.subarray(0, most);
        this.#context.metrics.truncatedBytes.inc(
          { input: this.#context.id },
          entry.message.length - message.length,
        );
        await this.#sink.put(message, Buffer.from(JSON.stringify(entry.fields)), entry.timeMs);
        if (this.#sink.closed) return;
        this.#cursor = entry.cursor;
        this.#problem = "";
        this.#receipts.add(this.#sink.events, entry.cursor);
      }
    }
  }
}

/** Returns the arguments of journalctl that follow the journal from `cursor` on. */
export function journalArguments(settings: Settings, cursor: string | undefined): string[] {
  const { units, identifiers, matches, priority, transports, seek, directory, merge } = settings;
  return [
    "--output=json",
    "--follow",
    "--all",
    "--quiet",
    ...(cursor === undefined
      ? [seek === "head" ? "--no-tail" : "--lines=0"]
      : [`--after-cursor=${cursor}`, "--no-tail"]),
    ...(directory === undefined ? [] : [`--directory=${directory}`]),
    ...(merge ? ["--merge"] : []),
    ...units.map((unit) => `--unit=${unit}`),
    ...identifiers.map((identifier) => `--identifier=${identifier}`),
    ...(priority === undefined ? [] : [`--priority=${priority}`]),
    ...transports.map((transport) => `_TRANSPORT=${transport}`),
    ...matches,
  ];
}

async function collect(stream: Readable): Promise<string> {
  let text = "";
  try {
    for await (const chunk of stream) if (text.length < ERROR_BYTES_MAX) text += String(chunk);
  } catch {
    // the process has ended
  }
  return text;
}
