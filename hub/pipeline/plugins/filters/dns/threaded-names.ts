/** Names asked of name servers by a thread of its own, for which the asking thread waits within a limit. */

import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { NameAnswer, Names } from "#hub/pipeline/plugins/host-names.ts";
import type { NameQuestion, NameThreadOptions, NameThreadStart } from "./lookup-thread.ts";

/** Beyond the limit of all tries: what the thread needs to start and to tell. ms */
const GRACE_MS = 250;

/** The first question waits for the thread to start. ms */
const START_MS = 3_000;

export class ThreadedNames implements Names {
  readonly #options: NameThreadOptions;
  /** Counts answers; the thread wakes the waiting one with it. */
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  #port: MessagePort | undefined;
  #asked = 0;

  constructor(options: NameThreadOptions) {
    this.#options = options;
  }

  resolve(name: string): NameAnswer {
    return this.#ask({ kind: "resolve", text: name });
  }

  reverse(address: string): NameAnswer {
    return this.#ask({ kind: "reverse", text: address });
  }

  #ask(question: Omit<NameQuestion, "id">): NameAnswer {
    const isFirst = this.#port === undefined;
    const port = this.#open();
    const id = ++this.#asked;
    const { timeoutMs, tries } = this.#options;
    const untilMs = performance.now() + timeoutMs * tries + (isFirst ? START_MS : GRACE_MS);
    port.postMessage({ ...question, id } satisfies NameQuestion);
    for (;;) {
      const seen = Atomics.load(this.#signal, 0);
      // Answers of questions that were given up come late; they are passed over.
      for (let answer = next(port); answer !== undefined; answer = next(port)) {
        if (answer.id === id) return answer.answer;
      }
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) return { kind: "timeout" };
      Atomics.wait(this.#signal, 0, seen, leftMs);
    }
  }

  /** The thread ends with the one that asks; it keeps no process alive. */
  #open(): MessagePort {
    if (this.#port !== undefined) return this.#port;
    const { port1, port2 } = new MessageChannel();
    const start: NameThreadStart = { port: port2, signal: this.#signal, options: this.#options };
    const worker = new Worker(new URL("lookup-thread.ts", import.meta.url), {
      workerData: start,
      transferList: [port2],
    });
    worker.on("error", () => {
      this.#port = undefined;
    });
    worker.unref();
    port1.unref();
    this.#port = port1;
    return port1;
  }
}

function next(port: MessagePort): { id: number; answer: NameAnswer } | undefined {
  return receiveMessageOnPort(port)?.message as { id: number; answer: NameAnswer } | undefined;
}
