/** Entry point of the thread that hosts a hub's shards. */

import { runHostThread } from "./host-thread.ts";

runHostThread();
