/** What the cluster needs from the durable log; hub/journal's Journal implements it. */

/** Acknowledgement of a stored message. */
export interface Acknowledgement {
  readonly sequence: number;
}

export interface PublishOptions {
  /** Nats-Msg-Id; the same id within ten minutes is stored once. */
  readonly messageId: string;
  /** False: throws journal_full instead of waiting for free space. Default true. */
  readonly wait?: boolean;
  readonly signal?: AbortSignal;
}

export interface LogPort {
  /** Stores a message; retried until it is stored or `signal` is aborted. */
  publish(subject: string, data: Uint8Array, options: PublishOptions): Promise<Acknowledgement>;
  /** Sends without storing; there may be no receiver. */
  send(subject: string, data: Uint8Array): void;
  /** Calls `handler` for each message on `subject` until the returned function is called. */
  subscribe(subject: string, handler: (message: ReceivedMessage) => void): () => void;
}

export interface ReceivedMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Answers a request; does nothing if no answer was requested. */
  respond(data: Uint8Array): void;
}
