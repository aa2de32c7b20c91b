/** Names of CEF's extensions (ArcSight Common Event Format, revision 25): short form, long form, Elastic Common Schema. */

type Row = readonly [short: string, long: string, ecs: string, type?: "int"];

const ROWS: readonly Row[] = [
  ["act", "deviceAction", "[event][action]"],
  ["app", "applicationProtocol", "[network][protocol]"],
  ["cat", "deviceEventCategory", "[cef][category]"],
  ["cnt", "baseEventCount", "[cef][base_event_count]", "int"],
  ["dhost", "destinationHostName", "[destination][domain]"],
  ["dmac", "destinationMacAddress", "[destination][mac]"],
  ["dntdom", "destinationNtDomain", "[destination][registered_domain]"],
  ["dpid", "destinationProcessId", "[destination][process][pid]", "int"],
  ["dpriv", "destinationUserPrivileges", "[destination][user][group][name]"],
  ["dproc", "destinationProcessName", "[destination][process][name]"],
  ["dpt", "destinationPort", "[destination][port]", "int"],
  ["dst", "destinationAddress", "[destination][ip]"],
  ["duid", "destinationUserId", "[destination][user][id]"],
  ["duser", "destinationUserName", "[destination][user][name]"],
  ["dvc", "deviceAddress", "[observer][ip]"],
  ["dvchost", "deviceHostName", "[observer][hostname]"],
  ["dvcmac", "deviceMacAddress", "[observer][mac]"],
  ["dvcpid", "deviceProcessId", "[process][pid]", "int"],
  ["deviceDirection", "deviceDirection", "[network][direction]"],
  ["deviceExternalId", "deviceExternalId", "[observer][name]"],
  ["deviceFacility", "deviceFacility", "[log][syslog][facility][code]"],
  ["deviceInboundInterface", "deviceInboundInterface", "[observer][ingress][interface][name]"],
  ["deviceOutboundInterface", "deviceOutboundInterface", "[observer][egress][interface][name]"],
  ["deviceProcessName", "deviceProcessName", "[process][name]"],
  ["dtz", "deviceTimeZone", "[event][timezone]"],
  ["end", "endTime", "[event][end]"],
  ["externalId", "externalId", "[event][id]"],
  ["fileCreateTime", "fileCreateTime", "[file][created]"],
  ["fileHash", "fileHash", "[file][hash]"],
  ["fileId", "fileId", "[file][inode]"],
  ["fileModificationTime", "fileModificationTime", "[file][mtime]"],
  ["filePath", "filePath", "[file][path]"],
  ["filePermission", "filePermission", "[file][group]"],
  ["fileType", "fileType", "[file][extension]"],
  ["fname", "fileName", "[file][name]"],
  ["fsize", "fileSize", "[file][size]", "int"],
  ["in", "bytesIn", "[source][bytes]", "int"],
  ["msg", "message", "[message]"],
  ["out", "bytesOut", "[destination][bytes]", "int"],
  ["outcome", "eventOutcome", "[event][outcome]"],
  ["proto", "transportProtocol", "[network][transport]"],
  ["reason", "reason", "[event][reason]"],
  ["request", "requestUrl", "[url][original]"],
  ["requestClientApplication", "requestClientApplication", "[user_agent][original]"],
  ["requestContext", "requestContext", "[http][request][referrer]"],
  ["requestCookies", "requestCookies", "[cef][request][cookies]"],
  ["requestMethod", "requestMethod", "[http][request][method]"],
  ["rt", "deviceReceiptTime", "[@timestamp]"],
  ["shost", "sourceHostName", "[source][domain]"],
  ["smac", "sourceMacAddress", "[source][mac]"],
  ["sntdom", "sourceNtDomain", "[source][registered_domain]"],
  ["sourceServiceName", "sourceServiceName", "[source][service][name]"],
  ["destinationServiceName", "destinationServiceName", "[destination][service][name]"],
  ["destinationTranslatedAddress", "destinationTranslatedAddress", "[destination][nat][ip]"],
  ["destinationTranslatedPort", "destinationTranslatedPort", "[destination][nat][port]", "int"],
  ["sourceTranslatedAddress", "sourceTranslatedAddress", "[source][nat][ip]"],
  ["sourceTranslatedPort", "sourceTranslatedPort", "[source][nat][port]", "int"],
  ["spid", "sourceProcessId", "[source][process][pid]", "int"],
  ["spriv", "sourceUserPrivileges", "[source][user][group][name]"],
  ["sproc", "sourceProcessName", "[source][process][name]"],
  ["spt", "sourcePort", "[source][port]", "int"],
  ["src", "sourceAddress", "[source][ip]"],
  ["start", "startTime", "[event][start]"],
  ["suid", "sourceUserId", "[source][user][id]"],
  ["suser", "sourceUserName", "[source][user][name]"],
  ["type", "type", "[cef][type]"],
  ["agt", "agentAddress", "[agent][ip]"],
  ["ahost", "agentHostName", "[agent][name]"],
  ["aid", "agentId", "[agent][id]"],
  ["amac", "agentMacAddress", "[agent][mac]"],
  ["art", "agentReceiptTime", "[event][created]"],
  ["at", "agentType", "[agent][type]"],
  ["atz", "agentTimeZone", "[cef][agent][timezone]"],
  ["av", "agentVersion", "[agent][version]"],
  ["dlat", "destinationGeoLatitude", "[destination][geo][location][lat]"],
  ["dlong", "destinationGeoLongitude", "[destination][geo][location][lon]"],
  ["slat", "sourceGeoLatitude", "[source][geo][location][lat]"],
  ["slong", "sourceGeoLongitude", "[source][geo][location][lon]"],
];

/** Extensions with a number in their name: cs1 → deviceCustomString1, cs1Label → deviceCustomString1Label. */
const NUMBERED: readonly (readonly [short: string, long: string, count: number])[] = [
  ["cs", "deviceCustomString", 15],
  ["cn", "deviceCustomNumber", 3],
  ["cfp", "deviceCustomFloatingPoint", 4],
  ["c6a", "deviceCustomIPv6Address", 4],
  ["flexString", "flexString", 2],
  ["flexNumber", "flexNumber", 2],
];

export interface CefName {
  readonly long: string;
  readonly ecs: string;
  readonly isNumber: boolean;
}

function table(): Map<string, CefName> {
  const names = new Map<string, CefName>();
  for (const [short, long, ecs, type] of ROWS) names.set(short, { long, ecs, isNumber: type === "int" });
  for (const [short, long, count] of NUMBERED) {
    for (let number = 1; number <= count; number++) {
      for (const label of ["", "Label"]) {
        const full = `${long}${number}${label}`;
        const ecs = `[cef][${snake(long)}_${number}][${label === "" ? "value" : "label"}]`;
        names.set(`${short}${number}${label}`, { long: full, ecs, isNumber: false });
      }
    }
  }
  return names;
}

function snake(name: string): string {
  return name.replace(/IPv6/, "Ipv6").replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Names by their short form. */
export const CEF_NAMES: ReadonlyMap<string, CefName> = table();
