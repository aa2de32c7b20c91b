/**
 * Publishes a message without copying it. The client library would copy each batch into a new buffer, and the garbage
 * collector would spend more time on those than the agent on everything else. So the protocol's line and headers are
 * written directly before the message, into free bytes reserved in its buffer.
 *
 * The buffer then belongs to the socket until the server has read all of it. That is certain once the batch is
 * acknowledged, but only for the first attempt: a retry could still be in the socket's queue when the answer to an
 * earlier attempt arrives. Retries are therefore copied.
 */

import type { NatsConnection } from "@nats-io/transport-node";

/** Part of the client's connection that takes a finished protocol frame. Not part of its public interface. */
interface FrameSender {
  readonly protocol?: { sendCommand?(frame: Uint8Array): void };
}

const LINE_END = Buffer.from("\r\n");

/** What goes before a message: HPUB line (NATS client protocol) and headers. */
export interface FrameFields {
  readonly subject: string;
  readonly reply: string;
  /** Header lines without the end, such as "Nats-Msg-Id: 1". */
  readonly headers: readonly string[];
}

/**
 * Sends `message`, a part of `frame`, with everything around it written into `frame`; returns false if that is not
 * possible, and nothing is sent. Throws where the message is longer than the server takes.
 */
export function publishInPlace(
  nats: NatsConnection,
  fields: FrameFields,
  message: Buffer,
  frame: Buffer,
): boolean {
  const { protocol } = nats as FrameSender;
  if (protocol?.sendCommand === undefined || message.buffer !== frame.buffer) return false;
  const headers = `NATS/1.0\r\n${fields.headers.join("\r\n")}\r\n\r\n`;
  const total = headers.length + message.length;
  if (total > (nats.info?.max_payload ?? 0)) return false; // publish() reports this error
  const head = `HPUB ${fields.subject} ${fields.reply} ${headers.length} ${total}\r\n${headers}`;
  const start = message.byteOffset - frame.byteOffset - head.length;
  const end = message.byteOffset - frame.byteOffset + message.length;
  if (start < 0 || end + LINE_END.length > frame.length) return false;
  frame.write(head, start, "latin1");
  LINE_END.copy(frame, end);
  protocol.sendCommand(frame.subarray(start, end + LINE_END.length));
  return true;
}
