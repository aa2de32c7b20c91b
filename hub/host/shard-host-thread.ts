/** Started as a thread: the host of a hub's shards. */

import { runHostThread } from "./host-thread.ts";

runHostThread();
