/** Output email: a mail per event. */

import { createTransport, type Transporter } from "nodemailer";
import type { Static } from "typebox";
import {
  defineOutput,
  type OutputRecord,
  type OutputWriter,
  type WriteRest,
  type WriterContext,
} from "#hub/pipeline/plugins/output.ts";
import { compileFormat } from "#proto/format.ts";
import { AppError } from "#proto/kit/errors.ts";
import { flag, oneOf, optional, options, refused, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const OPTIONS = options({
  to: text("recipients, comma-separated addresses, a format"),
  from: text("sender, a format", "tailrace@localhost"),
  cc: optional(text("recipients of copies, a format")),
  bcc: optional(text("recipients of blind copies, a format")),
  replyto: optional(text("reply subject, a format")),
  subject: text("subject, a format", ""),
  body: text("text body of the mail, a format; \\n in it is a line end", ""),
  htmlbody: optional(text("HTML body of the mail, a format")),
  attachments: refused("put what is to be sent into body or htmlbody"),
  authentication: withoutEffect("the methods that the mail server offers are used"),
  contenttype: withoutEffect("body is plain text, htmlbody is HTML"),
  address: text("host of the mail server", "localhost"),
  port: Type.Integer({ default: 25, minimum: 1, maximum: 65535, description: "port of the mail server" }),
  username: optional(text("name at the mail server")),
  password: optional(text("password at the mail server")),
  use_tls: flag("uses TLS: from the start on port 465, otherwise with STARTTLS", false),
  debug: withoutEffect("failures are in the log", Type.Boolean({ default: false })),
  template_file: refused("write htmlbody => with %{field} in it"),
  domain: text("name by which the server is greeted", "localhost"),
  via: oneOf(["smtp"], "how mail is delivered", "smtp"),
});

type Options = Static<typeof OPTIONS>;

/** A record's target. Its body is the mail's text, followed by the HTML where there is one. */
interface Envelope {
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of the text; undefined: no HTML follows it. */
  readonly textBytes?: number;
}

export const emailOutput = defineOutput({
  name: "email",
  description: "sends a mail for each event",
  options: OPTIONS,
  create(values) {
    const { to, from, subject, cc, bcc, replyto, body, htmlbody } = values;
    const headers = Object.entries({ to, from, subject, cc, bcc, replyTo: replyto }).flatMap(
      ([name, value]) => (value === undefined ? [] : [[name, compileFormat(value)] as const]),
    );
    // Quotes hold no escape sequences, so that pipelines write line ends like this.
    const text = compileFormat(body.replaceAll("\\n", "\n"));
    const html = htmlbody === undefined ? undefined : compileFormat(htmlbody);
    return {
      shape(event) {
        const plain = Buffer.from(text(event));
        const envelope: Envelope = {
          headers: Object.fromEntries(headers.map(([name, format]) => [name, format(event)])),
          ...(html !== undefined && { textBytes: plain.length }),
        };
        const parts = html === undefined ? plain : Buffer.concat([plain, Buffer.from(html(event))]);
        return { target: JSON.stringify(envelope), body: parts };
      },
    };
  },
  writer: (values, context) => new MailWriter(values, context),
});

class MailWriter implements OutputWriter {
  readonly #values: Options;
  readonly #context: WriterContext;
  #transport: Transporter | undefined;

  constructor(values: Options, context: WriterContext) {
    this.#values = values;
    this.#context = context;
  }

  async write(records: readonly OutputRecord[], signal: AbortSignal): Promise<WriteRest | undefined> {
    const refused: { place: number; reason: string }[] = [];
    for (const [place, { id, target, body }] of records.entries()) {
      if (signal.aborted) return { again: [...records.keys()].slice(place), refused };
      const { headers, textBytes = body.length } = JSON.parse(target) as Envelope;
      const mail = Buffer.from(body.buffer, body.byteOffset, body.length);
      try {
        // A mail that goes out once more has the same id, by which mail programs drop it.
        await this.#open().sendMail({
          ...headers,
          text: mail.subarray(0, textBytes),
          ...(textBytes < mail.length && { html: mail.subarray(textBytes) }),
          messageId: `<${id}@tailrace>`,
          disableFileAccess: true,
          disableUrlAccess: true,
        });
      } catch (error) {
        const { responseCode } = error as { responseCode?: number };
        const reason = (error as Error).message;
        if (responseCode !== undefined && responseCode >= 500)
          refused.push({ place, reason: `the mail server refused: ${reason}` });
        else if (place === 0)
          throw new AppError("unavailable", `mail can't be sent: ${reason}`, { cause: error });
        else return { again: [...records.keys()].slice(place), refused };
      }
    }
    return refused.length === 0 ? undefined : { refused };
  }

  async stop(): Promise<void> {
    this.#transport?.close();
    this.#transport = undefined;
  }

  #open(): Transporter {
    const { address, port, username, password, use_tls, domain } = this.#values;
    this.#context.checkTarget(address);
    this.#transport ??= createTransport({
      host: address,
      port,
      name: domain,
      secure: use_tls && port === 465,
      requireTLS: use_tls && port !== 465,
      ignoreTLS: !use_tls,
      ...(username !== undefined && { auth: { user: username, pass: password ?? "" } }),
      pool: true,
      maxConnections: 1,
    });
    return this.#transport;
  }
}
