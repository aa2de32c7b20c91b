/** Names of fields in ArcSight's Common Event Format: short, long, and by the Elastic Common Schema. */

export interface CefName {
  /** Key that devices write. */
  readonly short: string;
  readonly long: string;
  /** Field reference. */
  readonly ecs: string;
  readonly kind?: "int" | "time" | undefined;
}

type Row = readonly [short: string, long: string, ecs: string, kind?: "int" | "time"];

/** A name without a short form has the long one twice. */
const ROWS: readonly Row[] = [
  ["act", "deviceAction", "[event][action]"],
  ["agentDnsDomain", "agentDnsDomain", "[cef][agent][registered_domain]"],
  ["agentNtDomain", "agentNtDomain", "[cef][agent][registered_domain]"],
  ["agentTranslatedAddress", "agentTranslatedAddress", "[cef][agent][nat][ip]"],
  [
    "agentTranslatedZoneExternalID",
    "agentTranslatedZoneExternalID",
    "[cef][agent][translated_zone][external_id]",
  ],
  ["agentTranslatedZoneURI", "agentTranslatedZoneURI", "[cef][agent][translated_zone][uri]"],
  ["agentZoneExternalID", "agentZoneExternalID", "[cef][agent][zone][external_id]"],
  ["agentZoneURI", "agentZoneURI", "[cef][agent][zone][uri]"],
  ["agt", "agentAddress", "[agent][ip]"],
  ["ahost", "agentHostName", "[agent][name]"],
  ["aid", "agentId", "[agent][id]"],
  ["amac", "agentMacAddress", "[agent][mac]"],
  ["app", "applicationProtocol", "[network][protocol]"],
  ["art", "agentReceiptTime", "[event][created]", "time"],
  ["at", "agentType", "[agent][type]"],
  ["atz", "agentTimeZone", "[cef][agent][timezone]"],
  ["av", "agentVersion", "[agent][version]"],
  ["cat", "deviceEventCategory", "[cef][category]"],
  ["catdt", "categoryDeviceType", "[cef][device_type]"],
  ["cnt", "baseEventCount", "[cef][base_event_count]", "int"],
  ["customerExternalID", "customerExternalID", "[organization][id]"],
  ["customerURI", "customerURI", "[organization][name]"],
  ["destinationDnsDomain", "destinationDnsDomain", "[destination][registered_domain]"],
  ["destinationServiceName", "destinationServiceName", "[destination][service][name]"],
  ["destinationTranslatedAddress", "destinationTranslatedAddress", "[destination][nat][ip]"],
  ["destinationTranslatedPort", "destinationTranslatedPort", "[destination][nat][port]", "int"],
  [
    "destinationTranslatedZoneExternalID",
    "destinationTranslatedZoneExternalID",
    "[cef][destination][translated_zone][external_id]",
  ],
  [
    "destinationTranslatedZoneURI",
    "destinationTranslatedZoneURI",
    "[cef][destination][translated_zone][uri]",
  ],
  ["destinationZoneExternalID", "destinationZoneExternalID", "[cef][destination][zone][external_id]"],
  ["destinationZoneURI", "destinationZoneURI", "[cef][destination][zone][uri]"],
  ["deviceDirection", "deviceDirection", "[network][direction]"],
  ["deviceDnsDomain", "deviceDnsDomain", "[observer][registered_domain]"],
  ["deviceExternalId", "deviceExternalId", "[observer][name]"],
  ["deviceFacility", "deviceFacility", "[log][syslog][facility][code]"],
  ["deviceInboundInterface", "deviceInboundInterface", "[observer][ingress][interface][name]"],
  ["deviceNtDomain", "deviceNtDomain", "[cef][nt_domain]"],
  ["deviceOutboundInterface", "deviceOutboundInterface", "[observer][egress][interface][name]"],
  ["devicePayloadId", "devicePayloadId", "[cef][payload_id]"],
  ["deviceProcessName", "deviceProcessName", "[process][name]"],
  ["deviceTranslatedAddress", "deviceTranslatedAddress", "[host][nat][ip]"],
  ["deviceTranslatedZoneExternalID", "deviceTranslatedZoneExternalID", "[cef][translated_zone][external_id]"],
  ["deviceTranslatedZoneURI", "deviceTranslatedZoneURI", "[cef][translated_zone][uri]"],
  ["deviceZoneExternalID", "deviceZoneExternalID", "[cef][zone][external_id]"],
  ["deviceZoneURI", "deviceZoneURI", "[cef][zone][uri]"],
  ["dhost", "destinationHostName", "[destination][domain]"],
  ["dlat", "destinationGeoLatitude", "[destination][geo][location][lat]"],
  ["dlong", "destinationGeoLongitude", "[destination][geo][location][lon]"],
  ["dmac", "destinationMacAddress", "[destination][mac]"],
  ["dntdom", "destinationNtDomain", "[destination][registered_domain]"],
  ["dpid", "destinationProcessId", "[destination][process][pid]", "int"],
  ["dpriv", "destinationUserPrivileges", "[destination][user][group][name]"],
  ["dproc", "destinationProcessName", "[destination][process][name]"],
  ["dpt", "destinationPort", "[destination][port]", "int"],
  ["dst", "destinationAddress", "[destination][ip]"],
  ["dtz", "deviceTimeZone", "[event][timezone]"],
  ["duid", "destinationUserId", "[destination][user][id]"],
  ["duser", "destinationUserName", "[destination][user][name]"],
  ["dvc", "deviceAddress", "[observer][ip]"],
  ["dvchost", "deviceHostName", "[observer][hostname]"],
  ["dvcmac", "deviceMacAddress", "[observer][mac]"],
  ["dvcpid", "deviceProcessId", "[process][pid]", "int"],
  ["end", "endTime", "[event][end]", "time"],
  ["eventId", "eventId", "[event][id]"],
  ["externalId", "externalId", "[cef][external_id]"],
  ["fileCreateTime", "fileCreateTime", "[file][created]"],
  ["fileHash", "fileHash", "[file][hash]"],
  ["fileId", "fileId", "[file][inode]"],
  ["fileModificationTime", "fileModificationTime", "[file][mtime]", "time"],
  ["filePath", "filePath", "[file][path]"],
  ["filePermission", "filePermission", "[file][group]"],
  ["fileType", "fileType", "[file][extension]"],
  ["fname", "fileName", "[file][name]"],
  ["fsize", "fileSize", "[file][size]", "int"],
  ["in", "bytesIn", "[source][bytes]", "int"],
  ["mrt", "managerReceiptTime", "[event][ingested]", "time"],
  ["msg", "message", "[message]"],
  ["oldFileCreateTime", "oldFileCreateTime", "[cef][old_file][created]", "time"],
  ["oldFileHash", "oldFileHash", "[cef][old_file][hash]"],
  ["oldFileId", "oldFileId", "[cef][old_file][inode]"],
  ["oldFileModificationTime", "oldFileModificationTime", "[cef][old_file][mtime]", "time"],
  ["oldFileName", "oldFileName", "[cef][old_file][name]"],
  ["oldFilePath", "oldFilePath", "[cef][old_file][path]"],
  ["oldFilePermission", "oldFilePermission", "[cef][old_file][group]"],
  ["oldFileSize", "oldFileSize", "[cef][old_file][size]"],
  ["oldFileType", "oldFileType", "[cef][old_file][extension]"],
  ["out", "bytesOut", "[destination][bytes]", "int"],
  ["outcome", "eventOutcome", "[event][outcome]"],
  ["proto", "transportProtocol", "[network][transport]"],
  ["rawEvent", "rawEvent", "[event][original]"],
  ["reason", "Reason", "[event][reason]"],
  ["request", "requestUrl", "[url][original]"],
  ["requestClientApplication", "requestClientApplication", "[user_agent][original]"],
  ["requestContext", "requestContext", "[http][request][referrer]"],
  ["requestCookies", "requestCookies", "[cef][request][cookies]"],
  ["requestMethod", "requestMethod", "[http][request][method]"],
  ["rt", "deviceReceiptTime", "[@timestamp]", "time"],
  ["shost", "sourceHostName", "[source][domain]"],
  ["slat", "sourceGeoLatitude", "[source][geo][location][lat]"],
  ["slong", "sourceGeoLongitude", "[source][geo][location][lon]"],
  ["smac", "sourceMacAddress", "[source][mac]"],
  // Before sourceNtDomain, as the first of two names of a field is written.
  ["sourceDnsDomain", "sourceDnsDomain", "[source][registered_domain]"],
  ["sntdom", "sourceNtDomain", "[source][registered_domain]"],
  ["sourceServiceName", "sourceServiceName", "[source][service][name]"],
  ["sourceTranslatedAddress", "sourceTranslatedAddress", "[source][nat][ip]"],
  ["sourceTranslatedPort", "sourceTranslatedPort", "[source][nat][port]", "int"],
  [
    "sourceTranslatedZoneExternalID",
    "sourceTranslatedZoneExternalID",
    "[cef][source][translated_zone][external_id]",
  ],
  ["sourceTranslatedZoneURI", "sourceTranslatedZoneURI", "[cef][source][translated_zone][uri]"],
  ["sourceZoneExternalID", "sourceZoneExternalID", "[cef][source][zone][external_id]"],
  ["sourceZoneURI", "sourceZoneURI", "[cef][source][zone][uri]"],
  ["spid", "sourceProcessId", "[source][process][pid]", "int"],
  ["spriv", "sourceUserPrivileges", "[source][user][group][name]"],
  ["sproc", "sourceProcessName", "[source][process][name]"],
  ["spt", "sourcePort", "[source][port]", "int"],
  ["src", "sourceAddress", "[source][ip]"],
  ["start", "startTime", "[event][start]", "time"],
  ["suid", "sourceUserId", "[source][user][id]"],
  ["suser", "sourceUserName", "[source][user][name]"],
  ["type", "type", "[cef][type]"],
];

/** Extensions with a number in their name: cs1 → deviceCustomString1, cs1Label → deviceCustomString1Label. */
const NUMBERED = [
  ["cs", "deviceCustomString"],
  ["cn", "deviceCustomNumber"],
  ["cfp", "deviceCustomFloatingPoint"],
  ["c6a", "deviceCustomIPv6Address"],
] as const;

/** Numbers run from 1 to this. */
const NUMBERS = 15;

/** Older long names, which stay as they are unless fields are named by the Elastic Common Schema. */
const ALIASES: Readonly<Record<string, string>> = {
  destinationLatitude: "dlat",
  destinationLongitude: "dlong",
  sourceLatitude: "slat",
  sourceLongitude: "slong",
  destinationTimeZone: "dtz",
};

function allNames(): CefName[] {
  const names: CefName[] = ROWS.map(([short, long, ecs, kind]) => ({ short, long, ecs, kind }));
  for (const [short, long] of NUMBERED) {
    for (let number = 1; number <= NUMBERS; number++) {
      const ecs = `[cef][${snake(long)}_${number}]`;
      names.push({ short: `${short}${number}`, long: `${long}${number}`, ecs: `${ecs}[value]` });
      names.push({ short: `${short}${number}Label`, long: `${long}${number}Label`, ecs: `${ecs}[label]` });
    }
  }
  return names;
}

function snake(name: string): string {
  return name.replace(/IPv6/, "Ipv6").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const NAMES = allNames();

const BY_KEY: ReadonlyMap<string, CefName> = new Map([
  ...NAMES.map((name) => [name.long, name] as const),
  ...NAMES.map((name) => [name.short, name] as const),
  ...Object.entries(ALIASES).map(([long, short]) => {
    const name = NAMES.find((each) => each.short === short)!;
    return [long, { ...name, long }] as const;
  }),
]);

/** The first of the names that have one field of the Elastic Common Schema. */
const BY_ECS: ReadonlyMap<string, CefName> = new Map(NAMES.toReversed().map((name) => [name.ecs, name]));

/** Returns the name that a key of an event stands for, whether it is short or long. */
export function cefName(key: string): CefName | undefined {
  return BY_KEY.get(key);
}

/** Returns the name of a field reference of the Elastic Common Schema. */
export function cefNameOfEcs(field: string): CefName | undefined {
  return BY_ECS.get(field);
}
