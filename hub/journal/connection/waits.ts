/** Waits that can end early, by a signal or a timeout. */

/** Resolves like `promise`; rejects with the reason of `signal` when that is aborted first. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  promise.catch(() => undefined); // there may be no listener any more
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Runs `call` with a signal that is aborted after `timeoutMs`, with a TimeoutError as its reason. */
export async function within<T>(timeoutMs: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  const expire = (): void => deadline.abort(new DOMException(`${timeoutMs} ms are over`, "TimeoutError"));
  const timer = setTimeout(expire, timeoutMs);
  try {
    return await call(deadline.signal);
  } finally {
    clearTimeout(timer);
  }
}
