/** Input journald_remote: entries that systemd-journal-upload sends from the journals of other machines. */

import type { TlsOptions } from "node:tls";
import type { Static } from "typebox";
import { listenerTls, TLS_LISTENER } from "#hub/pipeline/connections/tls.ts";
import {
  defineInput,
  type InputChannel,
  type InputContext,
  type InputEvent,
} from "#hub/pipeline/plugins/input.ts";
import {
  type HttpAnswer,
  HttpServer,
  type StreamedRequest,
} from "#hub/pipeline/plugins/inputs/stream/http-server.ts";
import {
  type ExportedEntry,
  JournalExportReader,
} from "#hub/pipeline/plugins/inputs/stream/journal-export.ts";
import { SIGN_IN, SignIn } from "#hub/pipeline/plugins/inputs/stream/sign-in.ts";
import { journalEntryOf } from "#proto/codec/journal-entry.ts";
import { decodeText } from "#proto/codec/plain.ts";
import { Event } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const PATH = "/upload";
const MEDIA_TYPE = "application/vnd.fdo.journal";
const CUT_TAG = "field_cut";

/** Channels that one upload holds open; boots come one after the other. */
const MAX_CHANNELS = 16;

/** Sequence number id, sequence number (hexadecimal) and boot of an entry. */
const CURSOR = /(?:^|;)s=([0-9a-f]{32})(?=;|$).*?;i=([0-9a-f]{1,12})(?=;|$).*?;b=([0-9a-f]{32})(?=;|$)/;

const OPTIONS = options({
  host: text("address to listen on", "0.0.0.0"),
  port: Type.Integer({
    default: 19_532,
    minimum: 0,
    maximum: 65535,
    description: "port to listen on",
  }),
  max_uploads: Type.Integer({
    default: 200,
    minimum: 1,
    description: "maximum number of concurrent uploads; further ones are answered 429",
  }),
  ...SIGN_IN,
  ...TLS_LISTENER,
});

type Options = Static<typeof OPTIONS>;

export const journaldRemoteInput = defineInput({
  name: "journald_remote",
  description: "receives journal entries of other machines from systemd-journal-upload, each entry once",
  options: OPTIONS,
  create(values, { resolvePath }) {
    const tls = listenerTls(values, resolvePath);
    return (context) => new JournaldRemoteInput(context, values, tls);
  },
});

class JournaldRemoteInput implements Component {
  readonly #context: InputContext;
  readonly #server: HttpServer;

  constructor(context: InputContext, values: Options, tls: TlsOptions | undefined) {
    this.#context = context;
    this.#server = new HttpServer({
      host: values.host,
      port: values.port,
      tls,
      maxRequests: values.max_uploads,
      signIn: new SignIn(values, context.mayIngest),
      shares: context.shares,
      serveStream: (request) => this.#serve(request),
    });
  }

  async start(): Promise<void> {
    await this.#server.start();
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }

  async #serve({ method, url, headers, body, held }: StreamedRequest): Promise<HttpAnswer> {
    if (url.split("?")[0] !== PATH)
      throw new AppError(
        "not_found",
        `journals are uploaded to ${PATH}: give systemd-journal-upload the address without a path`,
      );
    if (method !== "POST") throw new AppError("method_not_allowed", "entries must be sent by POST");
    if (headers["content-type"] !== MEDIA_TYPE)
      throw new AppError("request_invalid", `the Content-Type must be ${MEDIA_TYPE}`);
    const upload = new Upload(this.#context);
    try {
      const reader = new JournalExportReader();
      for await (const chunk of body) {
        await upload.take(reader.push(chunk));
        held(reader.pendingBytes);
      }
      const last = reader.end();
      if (last !== undefined) await upload.take([last]);
    } finally {
      upload.close();
    }
    return { status: 202, headers: { "Content-Type": "text/plain" }, body: "OK.\n" };
  }
}

/**
 * The channels of one upload. An entry's channel is its journal and boot and its offset the sequence number, so that the log
 * drops an entry that is uploaded again. The boot is part of it as copies of a machine continue one sequence.
 */
class Upload {
  readonly #context: InputContext;
  readonly #channels = new Map<string, InputChannel>();

  constructor(context: InputContext) {
    this.#context = context;
  }

  /** Resolves when the log has the entries. Throws parsing if one has no `__CURSOR` with its position. */
  async take(entries: readonly ExportedEntry[]): Promise<void> {
    const placed = entries.map((entry) => placeEntry(entry, this.#context.clock.now()));
    for (const [key, some] of Map.groupBy(placed, (each) => each.key)) await this.#channel(key).send(some);
  }

  close(): void {
    for (const channel of this.#channels.values()) channel.close();
  }

  #channel(key: string): InputChannel {
    const known = this.#channels.get(key);
    if (known !== undefined) return known;
    const [oldest] = this.#channels;
    if (oldest !== undefined && this.#channels.size >= MAX_CHANNELS) {
      oldest[1].close();
      this.#channels.delete(oldest[0]);
    }
    const channel = this.#context.open({ key });
    this.#channels.set(key, channel);
    return channel;
  }
}

function placeEntry({ fields, isCut }: ExportedEntry, nowMs: number): InputEvent & { readonly key: string } {
  const entry = journalEntryOf(fields);
  const [, sequence, number = "", boot] = CURSOR.exec(entry?.cursor ?? "") ?? [];
  if (entry === null || sequence === undefined)
    throw new AppError("parsing", "an entry has no __CURSOR with its journal, number and boot");
  const event = new Event({ ...entry.fields, message: decodeText(entry.message) }, entry.timeMs || nowMs);
  if (isCut) event.tag(CUT_TAG);
  return { event, offset: Number.parseInt(number, 16), key: `${sequence}${boot}` };
}
