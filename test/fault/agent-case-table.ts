/** The agent's acceptance cases: which test shows each, or why none does here. */

/** `here`: a test of agent-cases.test.ts with that number. `file` and `test`: a test elsewhere whose name contains the text. */
export type Proof = "here" | { readonly file: string; readonly test: string } | { readonly reason: string };

/** Number, name and proof of every case. */
export const AGENT_CASES: readonly (readonly [number: number, name: string, proof: Proof])[] = [
  [
    1,
    "N-kill9-agent",
    {
      file: "test/fault/agent-raw.test.ts",
      test: "no byte is missing in RAW after agent and nats-server were killed",
    },
  ],
  [
    2,
    "N-kill9-agent-during-checkpoint",
    {
      file: "agent/harvester/file-set.test.ts",
      test: "after a restart reading goes on behind the last acknowledged byte",
    },
  ],
  [3, "N-sigterm", "here"],
  [
    4,
    "N-sigterm-output-down",
    { file: "agent/cli.test.ts", test: "ends with 0 on SIGTERM while the hub is away" },
  ],
  [5, "N-nats-down-5min", "here"],
  [
    6,
    "N-nats-kill9",
    {
      file: "test/fault/agent-raw.test.ts",
      test: "no byte is missing in RAW after agent and nats-server were killed",
    },
  ],
  [
    7,
    "N-nats-restart-wiped",
    { file: "test/fault/agent-raw.test.ts", test: "when the store of RAW is replaced by an empty one" },
  ],
  [8, "N-nats-stream-full", "here"],
  [9, "N-nats-disk-full", { reason: "needs a file system of its own that can be filled" }],
  [10, "N-hub-down", { reason: "the hub's: test/e2e/faults.test.ts" }],
  [11, "N-hub-crash-between-index-and-ack", { reason: "the hub's: test/e2e/faults.test.ts" }],
  [12, "N-network-blackhole", "here"],
  [13, "N-slow-ack", "here"],
  [
    14,
    "N-puback-lost",
    {
      reason:
        "needs a proxy that drops answers; the stream drops a repeated message id, and the hub repeated ranges",
    },
  ],
  [15, "N-dup-window-expired", { reason: "the hub drops ranges it has: hub/pipeline" }],
  [16, "N-agent-disk-full", { reason: "needs a file system of its own that can be filled" }],
  [
    17,
    "N-registry-readonly",
    {
      reason:
        "a file system with files open for writing can't be made read-only here; a full one is N-agent-disk-full",
    },
  ],
  [
    18,
    "N-power-loss-registry",
    { file: "agent/registry/registry.test.ts", test: "no row is lost and no epoch used again" },
  ],
  [
    19,
    "N-registry-CURRENT-missing",
    { file: "agent/registry/registry.test.ts", test: "no row is lost and no epoch used again" },
  ],
  [20, "N-registry-deleted", "here"],
  [
    21,
    "N-two-agents-one-state",
    { file: "agent/registry/registry.test.ts", test: "a second agent on the same folder is refused" },
  ],
  [22, "N-clock-back", { reason: "needs a clock of its own; timers use the monotonic clock throughout" }],
  [
    23,
    "N-oom",
    {
      reason:
        "takes minutes: npm run bench -- agent reports the memory; long lines in agent/harvester/file-lines.test.ts",
    },
  ],
  [24, "N-random-soak", { file: "test/fault/kill-schedule.test.ts", test: "every line is there once after" }],
  [
    25,
    "R-rename-create",
    {
      file: "agent/harvester/rotation.test.ts",
      test: "a renamed file is read on and its successor from the start",
    },
  ],
  [
    26,
    "R-rename-out-of-glob",
    {
      file: "agent/harvester/rotation.test.ts",
      test: "what is written to a file after it was moved out of the patterns arrives",
    },
  ],
  [
    27,
    "R-rename-during-outage",
    {
      file: "agent/harvester/rotation.test.ts",
      test: "a chain of renames between two scans loses and repeats nothing",
    },
  ],
  [
    28,
    "R-rename-while-stopped",
    {
      file: "agent/harvester/rotation.test.ts",
      test: "a file moved within its folder while the agent was away is read on",
    },
  ],
  [
    29,
    "R-delete-during-outage",
    {
      file: "agent/harvester/rotation.test.ts",
      test: "the lines of a file deleted while the output is away are held",
    },
  ],
  [30, "R-delete-while-stopped", "here"],
  [
    31,
    "R-copytruncate-running",
    { file: "agent/harvester/copies.test.ts", test: "rotation by copy and truncation repeats nothing" },
  ],
  [
    32,
    "R-copytruncate-regrow",
    { file: "agent/harvester/rotation.test.ts", test: "a file truncated and rewritten with" },
  ],
  [
    33,
    "R-copytruncate-same-head",
    { file: "agent/harvester/rotation.test.ts", test: "a file truncated and rewritten with" },
  ],
  [
    34,
    "R-copytruncate-copy-matched",
    { file: "agent/harvester/copies.test.ts", test: "a copy whose original stays is taken as read" },
  ],
  [
    35,
    "R-truncate-to-zero-and-same-size",
    { file: "agent/harvester/rotation.test.ts", test: "a file truncated and rewritten with" },
  ],
  [
    36,
    "R-gzip",
    {
      file: "agent/harvester/file-set.test.ts",
      test: "records, archives, links, folders and empty files are not read",
    },
  ],
  [
    37,
    "R-compress-before-read",
    { file: "agent/harvester/rotation.test.ts", test: "a deleted file is read to its end and held open" },
  ],
  [
    38,
    "R-inode-reuse",
    {
      file: "agent/harvester/rotation.test.ts",
      test: "a new file that got the inode of a deleted one is read from its start",
    },
  ],
  [
    39,
    "R-inode-reuse-while-stopped",
    { file: "agent/harvester/rotation.test.ts", test: "while the agent was away is read from its start" },
  ],
  [
    40,
    "R-rename-chain",
    { file: "agent/harvester/rotation.test.ts", test: "a chain of renames between two scans" },
  ],
  [41, "R-date-named", { reason: "48 hours of files; the same as R-rename-create and D-close_inactive" }],
  [
    42,
    "R-fast-rotate",
    {
      reason:
        "how many files live shorter than a search is the machine's matter; none is repeated: R-rename-chain",
    },
  ],
  [
    43,
    "R-atomic-replace",
    { file: "agent/harvester/rotation.test.ts", test: "a file replaced by renaming another one over it" },
  ],
  [
    44,
    "R-hardlink",
    { file: "agent/harvester/rotation.test.ts", test: "two names of one file are read once" },
  ],
  [
    45,
    "R-symlink-current",
    { file: "agent/harvester/scanner.test.ts", test: "files are found through links" },
  ],
  [46, "R-symlink-loop", { file: "agent/harvester/scanner.test.ts", test: "with symbolic links loops end" }],
  [
    47,
    "R-symlink-disabled",
    { file: "agent/harvester/file-set.test.ts", test: "records, archives, links, folders" },
  ],
  [
    48,
    "R-nfs-stale",
    { reason: "needs a network file system; a failed read is tried again without moving the offset" },
  ],
  [49, "R-unmount-remount", { reason: "needs a mount; rows outlive a minute of absence" }],
  [
    50,
    "L-partial-line",
    { file: "agent/harvester/file-lines.test.ts", test: "a line without an end waits for its rest" },
  ],
  [
    51,
    "L-partial-at-eof-then-rotate",
    { file: "agent/harvester/rotation.test.ts", test: "the unfinished last line of a rotated file is sent" },
  ],
  [
    52,
    "L-split-utf8",
    { file: "agent/harvester/file-lines.test.ts", test: "around the size of buffers, arrive unchanged" },
  ],
  [
    53,
    "L-crlf",
    { file: "agent/lines/line-format.test.ts", test: "only the line end's carriage return goes" },
  ],
  [54, "L-nul", { file: "agent/harvester/file-events.test.ts", test: "a hole of 20 MB of NULs" }],
  [
    55,
    "L-invalid-utf8",
    { file: "agent/harvester/file-lines.test.ts", test: "lines are sent as they are, with exact offsets" },
  ],
  [
    56,
    "L-huge-line",
    { file: "agent/harvester/file-lines.test.ts", test: "a line of 50 MB passes in bounded memory" },
  ],
  [
    57,
    "L-line-equal-buffer",
    { file: "agent/harvester/file-lines.test.ts", test: "around the size of buffers, arrive unchanged" },
  ],
  [58, "L-empty-lines", { file: "agent/lines/line-format.test.ts", test: "empty lines are no events" }],
  [59, "L-bom", { file: "agent/harvester/file-events.test.ts", test: "a byte order mark is left out" }],
  [60, "L-encoding", { file: "agent/lines/line-format.test.ts", test: "shift_jis" }],
  [
    61,
    "L-delimiter-custom",
    { file: "agent/lines/line-format.test.ts", test: "a terminator of two characters" },
  ],
  [
    62,
    "L-max-payload",
    { file: "agent/watermark.test.ts", test: "lines beyond one batch are shipped whole" },
  ],
  [
    63,
    "L-2GB/5GB-file",
    { file: "agent/harvester/file-lines.test.ts", test: "offsets beyond 2^32 are exact" },
  ],
  [64, "L-sparse-file", { file: "agent/harvester/file-events.test.ts", test: "a hole of 20 MB of NULs" }],
  [
    65,
    "L-include/exclude order",
    { file: "agent/lines/line-format.test.ts", test: "include comes before exclude" },
  ],
  [
    66,
    "L-all-lines-excluded",
    { file: "agent/harvester/file-events.test.ts", test: "lines that are all left out are committed" },
  ],
  [67, "L-multiline-java", "here"],
  [
    68,
    "L-multiline-max-lines",
    { file: "agent/lines/line-format.test.ts", test: "too many lines are truncated and marked" },
  ],
  [69, "L-json", { file: "agent/lines/line-format.test.ts", test: "a JSON line is decoded" }],
  [
    70,
    "L-ansi, tabs, emoji, RTL",
    { file: "agent/harvester/file-lines.test.ts", test: "lines are sent as they are, with exact offsets" },
  ],
  [
    71,
    "D-10k-files",
    {
      file: "agent/harvester/scanner.test.ts",
      test: "a scan takes at most 10 µs of processor time for each file",
    },
  ],
  [
    72,
    "D-100k-old-files",
    { file: "agent/harvester/file-set.test.ts", test: "files older than ignore_older are left alone" },
  ],
  [
    73,
    "D-fd-limit",
    {
      file: "agent/harvester/file-set.test.ts",
      test: "with a limit of open files all of them get their turn",
    },
  ],
  [74, "D-inotify-limit", { reason: "the limit is the machine's; without hints searches find everything" }],
  [75, "D-dir-created-later", "here"],
  [
    76,
    "D-permission-denied",
    { reason: "root may read everything; a failed opening is tried again at each search" },
  ],
  [
    77,
    "D-permission-removed while open",
    { reason: "an open file isn't asked for its permissions by the system" },
  ],
  [
    78,
    "D-directory-removed",
    { file: "agent/harvester/rotation.test.ts", test: "a deleted file is read to its end" },
  ],
  [
    79,
    "D-weird-names",
    { file: "agent/harvester/scanner.test.ts", test: "a name that is no UTF-8 is found" },
  ],
  [
    80,
    "D-fifo/socket/device/dir",
    { file: "agent/harvester/file-set.test.ts", test: "records, archives, links, folders" },
  ],
  [81, "D-own-log", "here"],
  [
    82,
    "D-harvester-limit-fairness",
    {
      file: "agent/harvester/file-set.test.ts",
      test: "with a limit of open files all of them get their turn",
    },
  ],
  [83, "D-config-overlap", "here"],
  [
    84,
    "D-tail_files",
    { file: "agent/harvester/file-set.test.ts", test: "tail_files leaves out what was there before" },
  ],
  [
    85,
    "D-close_inactive",
    {
      file: "agent/harvester/file-set.test.ts",
      test: "an inactive file is closed, and read on when it grows",
    },
  ],
  [
    86,
    "D-clean_inactive validation",
    { file: "agent/config.test.ts", test: "clean_inactive must be longer than ignore_older" },
  ],
  [87, "D-clean_removed", { reason: "takes the minute that an unmounted folder may be away" }],
  [88, "D-registry-size", { reason: "a day of work; a row is removed a minute after its file" }],
  [89, "D-reload", { reason: "not offered yet: a restart keeps all offsets" }],
  [90, "D-rate-limit", { reason: "not offered: the number of batches in flight bounds the agent" }],
  [91, "E-tcp", { file: "agent/inputs/stream-inputs.test.ts", test: "a stream is cut into messages" }],
  [92, "E-tcp-tls", { reason: "needs certificates that this suite doesn't make yet" }],
  [
    93,
    "E-udp",
    { file: "agent/inputs/stream-inputs.test.ts", test: "datagrams are events, cut off at the limit" },
  ],
  [
    94,
    "E-syslog",
    { file: "agent/inputs/stream-inputs.test.ts", test: "syslog over TCP understands octet counts" },
  ],
  [
    95,
    "E-kvstore",
    {
      file: "agent/inputs/kvstore.test.ts",
      test: "entries of a list that were taken and not acknowledged come again",
    },
  ],
  [96, "E-stdin", { file: "agent/inputs/stream-inputs.test.ts", test: "standard input arrives to its end" }],
  [97, "E-docker-json", { file: "agent/lines/container-format.test.ts", test: "docker pieces" }],
  [
    98,
    "E-cri",
    { file: "agent/inputs/container.test.ts", test: "a line whose pieces stand in two files arrives once" },
  ],
  [99, "E-k8s", { file: "agent/inputs/container.test.ts", test: "the pod is read from" }],
  [100, "E-spool", "here"],
  [101, "E-health", "here"],
];
