/** What the cluster needs of the durable log; hub/journal's Journal fits. */

/** Acknowledgement of a stored message. */
export interface Acknowledgement {
  readonly sequence: number;
}

export interface PublishOptions {
  /** Nats-Msg-Id; the same id within ten minutes is stored once. */
  readonly messageId: string;
  /** False: throws journal_full instead of waiting for room. Default true. */
  readonly wait?: boolean;
  readonly signal?: AbortSignal;
}

export interface LogPort {
  /** Stores a message; retried until it is stored or `signal` is aborted. */
  publish(subject: string, data: Uint8Array, options: PublishOptions): Promise<Acknowledgement>;
  /** Sends without storing; nobody may be listening. */
  send(subject: string, data: Uint8Array): void;
  /** Calls `handler` for each message on `subject` until the returned function is called. */
  subscribe(subject: string, handler: (message: ReceivedMessage) => void): () => void;
}

export interface ReceivedMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Answers a request; nothing happens where none was asked for. */
  respond(data: Uint8Array): void;
}
