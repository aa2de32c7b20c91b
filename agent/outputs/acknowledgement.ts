/** Reads the stream's answers to batches and explains refusals. */

/** Stored, or not stored and why. All failures are passing ones: the batch is sent again. */
export type Acknowledgement =
  | { readonly kind: "stored"; readonly sequence: number; readonly duplicate: boolean }
  | { readonly kind: "failed"; readonly reason: FailureReason; readonly text: string };

export type FailureReason = "timeout" | "no_stream" | "full" | "resources" | "in_process" | "refused";

/** Error codes of JetStream. */
const MAXIMUM_BYTES_EXCEEDED = 10077;
const INSUFFICIENT_RESOURCES = 10023;
/** Status of a message without a receiver: no stream has the subject, or JetStream isn't running. */
const NO_RESPONDERS = 503;

const TEXTS: Readonly<Record<FailureReason, string>> = {
  timeout: "the hub's log doesn't answer in time; its disk may be full or its server overloaded",
  no_stream: "the hub's log doesn't exist yet; is the hub running?",
  full: "the hub's log is full; the agent continues when the hub has freed space",
  resources: "the hub's log lacks resources; look at the disk and memory of its server",
  in_process: "the hub's log is still storing an earlier copy of the batch",
  refused: "the hub's log refused the batch",
};

/** Returns a sentence for people. */
export function explain(reason: FailureReason): string {
  return TEXTS[reason];
}

/** Reads the answer: `status` is that of the headers (0 without), `data` a PubAck or an error as JSON. */
export function readAcknowledgement(status: number, data: Uint8Array): Acknowledgement {
  if (status === NO_RESPONDERS) return failed("no_stream");
  let answer: PubAck;
  try {
    answer = JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.length).toString()) as PubAck;
  } catch {
    return failed("refused", "with an answer that isn't JSON");
  }
  if (answer.error !== undefined) return readError(answer.error);
  if (typeof answer.seq !== "number" || answer.seq < 1)
    return failed("refused", "with an answer without a sequence");
  return { kind: "stored", sequence: answer.seq, duplicate: answer.duplicate === true };
}

interface PubAck {
  readonly seq?: unknown;
  readonly duplicate?: unknown;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

function readError({ err_code, description = "" }: NonNullable<PubAck["error"]>): Acknowledgement {
  if (err_code === MAXIMUM_BYTES_EXCEEDED) return failed("full");
  if (err_code === INSUFFICIENT_RESOURCES) return failed("resources");
  if (/duplicate message id is in process/i.test(description)) return failed("in_process");
  return failed("refused", `${description} (${err_code ?? "no code"})`);
}

function failed(reason: FailureReason, detail = ""): Acknowledgement {
  return { kind: "failed", reason, text: detail === "" ? TEXTS[reason] : `${TEXTS[reason]} ${detail}` };
}
