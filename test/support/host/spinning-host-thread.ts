/** Started as a thread by tests: a host with an operation that never ends and hears no cancel. */

import { runHostThread } from "#hub/host/host-thread.ts";

runHostThread({
  spin: () => {
    for (;;);
  },
});
