/**
 * Turns of the searches of this thread: one continues in each turn of the event loop, in the order in which they paused.
 * Between two slices of searches everything else is served, however many searches there are: messages of the log, other
 * calls, timers.
 */

const waiting: (() => void)[] = [];

/** Resolves when it is the caller's turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(continueOne);
  });
}

function continueOne(): void {
  const first = waiting.shift();
  // What it does next happens before the next turn.
  if (waiting.length > 0) setImmediate(continueOne);
  first?.();
}
