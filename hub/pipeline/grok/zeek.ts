/** Patterns of Zeek's (once Bro's) logs: columns between tabs, `-` for one without a value. */

/** A column: its pattern, its old name, its name by the Elastic Common Schema and the narrower pattern that goes with it. */
type Column = readonly [pattern: string, legacy: string, ecs: string, narrow?: string];

const CONNECTION: readonly Column[] = [
  ["NUMBER", "ts", "timestamp"],
  ["NOTSPACE", "uid", "[zeek][session_id]"],
  ["IP", "orig_h", "[source][ip]"],
  ["INT", "orig_p", "[source][port]:int"],
  ["IP", "resp_h", "[destination][ip]"],
  ["INT", "resp_p", "[destination][port]:int"],
];

const HTTP_REQUEST: readonly Column[] = [
  ["INT", "trans_depth", "[zeek][http][trans_depth]:int"],
  ["GREEDYDATA", "method", "[http][request][method]"],
  ["GREEDYDATA", "domain", "[url][domain]"],
  ["GREEDYDATA", "uri", "[url][original]"],
  ["GREEDYDATA", "referrer", "[http][request][referrer]"],
];

const HTTP_ANSWER: readonly Column[] = [
  ["GREEDYDATA", "request_body_len", "[http][request][body][bytes]:int"],
  ["GREEDYDATA", "response_body_len", "[http][response][body][bytes]:int"],
  ["GREEDYDATA", "status_code", "[http][response][status_code]:int", "POSINT"],
  ["GREEDYDATA", "status_msg", "[zeek][http][status_msg]"],
  ["GREEDYDATA", "info_code", "[zeek][http][info_code]"],
  ["GREEDYDATA", "info_msg", "[zeek][http][info_msg]"],
];

const HTTP_USER: readonly Column[] = [
  ["GREEDYDATA", "bro_tags", "[zeek][http][tags]"],
  ["GREEDYDATA", "username", "[url][username]"],
  ["GREEDYDATA", "password", "[url][password]"],
  ["GREEDYDATA", "proxied", "[zeek][http][proxied]"],
];

const REQUEST_FILES: Column = ["GREEDYDATA", "orig_fuids", "[zeek][http][orig_fuids]"];
const REQUEST_TYPES: Column = ["GREEDYDATA", "orig_mime_types", "[http][request][mime_type]"];
const ANSWER_FILES: Column = ["GREEDYDATA", "resp_fuids", "[zeek][http][resp_fuids]"];
const ANSWER_TYPES: Column = ["GREEDYDATA", "resp_mime_types", "[http][response][mime_type]"];

const AGENT: Column = ["GREEDYDATA", "user_agent", "[user_agent][original]"];
const FILE_NAME: Column = ["GREEDYDATA", "filename", "[zeek][http][filename]"];

const BRO_HTTP: readonly Column[] = [
  ...CONNECTION,
  ...HTTP_REQUEST,
  AGENT,
  ...HTTP_ANSWER,
  FILE_NAME,
  ...HTTP_USER,
  REQUEST_FILES,
  REQUEST_TYPES,
  ANSWER_FILES,
  ANSWER_TYPES,
];

const ZEEK_HTTP: readonly Column[] = [
  ...CONNECTION,
  ...HTTP_REQUEST,
  ["NUMBER", "version", "[http][version]"],
  AGENT,
  ["GREEDYDATA", "origin", "[zeek][http][origin]"],
  ...HTTP_ANSWER,
  ...HTTP_USER,
  REQUEST_FILES,
  ["GREEDYDATA", "orig_filenames", "[zeek][http][orig_filenames]"],
  REQUEST_TYPES,
  ANSWER_FILES,
  ["GREEDYDATA", "resp_filenames", "[zeek][http][resp_filenames]"],
  ANSWER_TYPES,
];

const DNS_HEAD: readonly Column[] = [
  ...CONNECTION,
  ["WORD", "proto", "[network][transport]"],
  ["INT", "trans_id", "[dns][id]:int"],
];

const DNS_REST: readonly Column[] = [
  ["GREEDYDATA", "query", "[dns][question][name]"],
  ["INT", "qclass", "[zeek][dns][qclass]:int"],
  ["GREEDYDATA", "qclass_name", "[zeek][dns][qclass_name]"],
  ["INT", "qtype", "[zeek][dns][qtype]:int"],
  ["GREEDYDATA", "qtype_name", "[dns][question][type]"],
  ["INT", "rcode", "[zeek][dns][rcode]:int"],
  ["GREEDYDATA", "rcode_name", "[dns][response_code]"],
  ["ZEEK_BOOL", "AA", "[zeek][dns][AA]"],
  ["ZEEK_BOOL", "TC", "[zeek][dns][TC]"],
  ["ZEEK_BOOL", "RD", "[zeek][dns][RD]"],
  ["ZEEK_BOOL", "RA", "[zeek][dns][RA]"],
  ["NONNEGINT", "Z", "[zeek][dns][Z]:int"],
  ["GREEDYDATA", "answers", "[zeek][dns][answers]"],
  ["GREEDYDATA", "TTLs", "[zeek][dns][TTLs]"],
  ["ZEEK_BOOL", "rejected", "[zeek][dns][rejected]"],
];

const BRO_DNS = [...DNS_HEAD, ...DNS_REST];
const ZEEK_DNS: readonly Column[] = [...DNS_HEAD, ["NUMBER", "rtt", "[zeek][dns][rtt]:float"], ...DNS_REST];

const TRAFFIC: readonly Column[] = [
  ...CONNECTION,
  ["WORD", "proto", "[network][transport]"],
  ["GREEDYDATA", "service", "[network][protocol]"],
  ["NUMBER", "duration", "[zeek][connection][duration]:float"],
  ["NUMBER", "orig_bytes", "[zeek][connection][orig_bytes]:int"],
  ["NUMBER", "resp_bytes", "[zeek][connection][resp_bytes]:int"],
  ["GREEDYDATA", "conn_state", "[zeek][connection][state]"],
];

const PACKETS: readonly Column[] = [
  ["NUMBER", "missed_bytes", "[zeek][connection][missed_bytes]:int"],
  ["GREEDYDATA", "history", "[zeek][connection][history]"],
  ["INT", "orig_pkts", "[source][packets]:int"],
  ["NUMBER", "orig_ip_bytes", "[source][bytes]:int"],
  ["INT", "resp_pkts", "[destination][packets]:int"],
  ["NUMBER", "resp_ip_bytes", "[destination][bytes]:int"],
];

const TUNNELS: Column = ["GREEDYDATA", "tunnel_parents", "[zeek][connection][tunnel_parents]"];
const LOCAL_ORIGIN: Column = ["ZEEK_BOOL", "local_orig", "[zeek][connection][local_orig]"];
const LOCAL_RESPONDER: Column = ["ZEEK_BOOL", "local_resp", "[zeek][connection][local_resp]"];

const FILE_HEAD: readonly Column[] = [
  ["NUMBER", "ts", "timestamp"],
  ["NOTSPACE", "fuid", "[zeek][files][fuid]"],
];

const FILE_REST: readonly Column[] = [
  ["DATA", "conn_uids", "[zeek][files][session_ids]"],
  ["GREEDYDATA", "source", "[zeek][files][source]"],
  ["GREEDYDATA", "depth", "[zeek][files][depth]:int"],
  ["GREEDYDATA", "analyzers", "[zeek][files][analyzers]"],
  ["GREEDYDATA", "mime_type", "[file][mime_type]"],
  ["GREEDYDATA", "filename", "[file][name]"],
  ["GREEDYDATA", "duration", "[zeek][files][duration]:float"],
  ["GREEDYDATA", "local_orig", "[zeek][files][local_orig]"],
  ["GREEDYDATA", "is_orig", "[zeek][files][is_orig]"],
  ["GREEDYDATA", "seen_bytes", "[zeek][files][seen_bytes]:int"],
  ["GREEDYDATA", "total_bytes", "[file][size]:int"],
  ["GREEDYDATA", "missing_bytes", "[zeek][files][missing_bytes]:int"],
  ["GREEDYDATA", "overflow_bytes", "[zeek][files][overflow_bytes]:int"],
  ["GREEDYDATA", "timedout", "[zeek][files][timedout]"],
  ["GREEDYDATA", "parent_fuid", "[zeek][files][parent_fuid]"],
  ["GREEDYDATA", "md5", "[file][hash][md5]"],
  ["GREEDYDATA", "sha1", "[file][hash][sha1]"],
  ["GREEDYDATA", "sha256", "[file][hash][sha256]"],
  ["GREEDYDATA", "extracted", "[zeek][files][extracted]"],
];

/** Hosts that sent and received a file; there may be several, of which the first is the address. */
const FILE_HOSTS = String.raw`(?:-|(?<[zeek][files][tx_hosts]>%{IP:[server][ip]}(?:[ ,]%{IP})+)|%{IP:[server][ip]})\t(?:-|(?<[zeek][files][rx_hosts]>%{IP:[client][ip]}(?:[ ,]%{IP})+)|%{IP:[client][ip]})`;

export const zeekPatterns = [
  "ZEEK_BOOL [TF]",
  String.raw`ZEEK_DATA [^\t]+`,
  "BRO_BOOL [TF]",
  String.raw`BRO_DATA [^\t]+`,
  `legacy BRO_HTTP ${legacy(BRO_HTTP)}`,
  `ecs BRO_HTTP ${ecs(BRO_HTTP)}`,
  `ZEEK_HTTP ${ecs(ZEEK_HTTP)}`,
  `legacy BRO_DNS ${legacy(BRO_DNS)}`,
  `ecs BRO_DNS ${ecs(BRO_DNS)}`,
  `ZEEK_DNS ${ecs(ZEEK_DNS)}`,
  `legacy BRO_CONN ${legacy([...TRAFFIC, ["GREEDYDATA", "local_orig", ""], ...PACKETS, TUNNELS])}`,
  `ecs BRO_CONN ${ecs([...TRAFFIC, LOCAL_ORIGIN])}(?:\\t${column(LOCAL_RESPONDER)})?\\t${ecs([...PACKETS, TUNNELS])}`,
  String.raw`ZEEK_CONN ${ecs([...TRAFFIC, LOCAL_ORIGIN, LOCAL_RESPONDER, ...PACKETS, TUNNELS])}(?:\t(?:-|%{COMMONMAC:[source][mac]})\t(?:-|%{COMMONMAC:[destination][mac]}))?`,
  `legacy BRO_FILES ${legacy([...FILE_HEAD, ["IP", "tx_hosts", ""], ["IP", "rx_hosts", ""], ...FILE_REST])}`,
  String.raw`ecs BRO_FILES ${ecs(FILE_HEAD)}\t${FILE_HOSTS}\t${ecs(FILE_REST)}`,
  String.raw`ZEEK_FILES ${ecs(FILE_HEAD)}\t${FILE_HOSTS}\t${ecs(FILE_REST)}(?:\t(?:-|%{ZEEK_BOOL:[zeek][files][extracted_cutoff]})\t(?:-|%{INT:[zeek][files][extracted_size]:int}))?`,
].join("\n");

/** The whole line is one pattern per column, `-` captured like anything else. */
function legacy(columns: readonly Column[]): string {
  return columns.map(([pattern, name]) => `%{${pattern}:${name}}`).join(String.raw`\t`);
}

/** A column without a value gives no field. */
function ecs(columns: readonly Column[]): string {
  return columns.map(column).join(String.raw`\t`);
}

function column([pattern, , name, narrow]: Column): string {
  if (name === "timestamp") return `%{${pattern}:${name}}`;
  return String.raw`(?:\(empty\)|-|%{${narrow ?? narrowed(pattern, name)}:${name}})`;
}

/** A text ends at its tab, so that a line with another number of columns doesn't match. */
function narrowed(pattern: string, name: string): string {
  if (pattern !== "GREEDYDATA" && pattern !== "DATA") return pattern;
  if (name.endsWith(":int")) return "INT";
  return name.endsWith(":float") ? "NUMBER" : "ZEEK_DATA";
}
