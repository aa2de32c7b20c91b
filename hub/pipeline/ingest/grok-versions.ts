/**
 * The grok patterns of ingest pipelines, which differ from those of pipelines (`hub/pipeline/grok/`): some are missing,
 * and some have other fields or match other text. Facts of `GET _ingest/processor/grok` of 6.5.4, 7.10.2 and 7.16;
 * versions are numbers as 605.
 */

import { grokPatterns, parsePatternFile } from "#hub/pipeline/grok/all.ts";

/** Names that came with the synchronisations of 7.6 and 7.16; the others of `grokPatterns` a server doesn't list. */
const ADDED: readonly (readonly [since: number, names: string])[] = [
  [
    706,
    "URN CLOUDFRONT_ACCESS_LOG BIND9 BIND9_TIMESTAMP CISCOFW304001 SFW2 MAVEN_VERSION REDISMONLOG SQUID3",
  ],
  [716, "HTTPD_COMMONLOG HTTPD_COMBINEDLOG EXIM_UNKNOWN_FIELD EXIM_NAMED_FIELDS EXIM_MESSAGE_ARRIVAL EXIM"],
];

/** Patterns of pipelines that no server lists: parts of others, and logs that only pipelines read. */
const UNLISTED = new Set(
  `IPV6GROUP IPV6TAIL IPV4OCTET URIQUERY ELB_URIHOST ELB_SECONDS HAPROXYHTTPREQUEST HAPROXYCOUNTERS HAPROXYCLIENT
  HAPROXYSYSLOG BIND9_QUERYLOGBASE CATALINA7_DATESTAMP CATALINA8_DATESTAMP TOMCATLEGACY_DATESTAMP CATALINA7_LOG
  CATALINA8_LOG RAILS_TIMESTAMP CISCO_HITCOUNT_INTERVAL CISCO_SRC_IP_USER CISCO_DST_IP_USER CISCO_SRC_HOST_PORT_USER
  CISCO_DST_HOST_PORT_USER CISCO_SRC_IP_PORT CISCO_DST_IP_PORT CISCO_SRC_INTERFACE_IP_PORT CISCO_DST_INTERFACE_IP_PORT
  CISCO_HASHCODES CISCO_OUTCOME CISCO_TRANSPORT CISCO_FLOW CISCO_ON_INTERFACE RT_FLOW_TAG RT_FLOW_ENDPOINTS RT_FLOW_NAT
  RT_FLOW_POLICY NAGIOS_EC_LINE_SCHEDULE_SERVICE_DOWNTIME BACULA_VOLUME_NAME BACULA_ON_DEVICE BACULA_LOG
  EXIM_QUOTED_CONTENT EXIM_FOR ZEEK_BOOL ZEEK_DATA BRO_BOOL BRO_DATA ZEEK_HTTP ZEEK_DNS ZEEK_CONN ZEEK_FILES`.split(
    /\s+/,
  ),
);

/** What differs in every version; what is the same except for notation isn't repeated. */
const ALWAYS = String.raw`
EMAILLOCALPART [a-zA-Z][a-zA-Z0-9_.+-=:]+
TIMESTAMP_ISO8601 %{YEAR}-%{MONTHNUM}-%{MONTHDAY}[T ]%{ISO8601_HOUR}:?%{MINUTE}(?::?%{SECOND})?%{ISO8601_TIMEZONE}?
LOGLEVEL (?:[Aa]lert|ALERT|[Tt]race|TRACE|[Dd]ebug|DEBUG|[Nn]otice|NOTICE|[Ii]nfo|INFO|[Ww]arn?(?:ing)?|WARN?(?:ING)?|[Ee]rr?(?:or)?|ERR?(?:OR)?|[Cc]rit?(?:ical)?|CRIT?(?:ICAL)?|[Ff]atal|FATAL|[Ss]evere|SEVERE|EMERG(?:ENCY)?|[Ee]merg(?:ency)?)
S3_REQUEST_LINE (?:%{WORD:verb} %{NOTSPACE:request}(?: HTTP/%{NUMBER:httpversion})?|%{DATA:rawrequest})
ELB_REQUEST_LINE (?:%{WORD:verb} %{ELB_URI:request}(?: HTTP/%{NUMBER:httpversion})?|%{DATA:rawrequest})
ELB_URIPATHPARAM %{URIPATH:path}(?:%{URIPARAM:params})?
CISCOFW106100 access-list %{NOTSPACE:policy_id} %{CISCO_ACTION:action} %{WORD:protocol} %{DATA:src_interface}/%{IP:src_ip}\(%{INT:src_port}\)(?:\(%{DATA:src_fwuser}\))? -> %{DATA:dst_interface}/%{IP:dst_ip}\(%{INT:dst_port}\)(?:\(%{DATA:src_fwuser}\))? hit-cnt %{INT:hit_count} %{CISCO_INTERVAL:interval} \[%{DATA:hashcode1}, %{DATA:hashcode2}\]
NAGIOS_EC_LINE_PROCESS_SERVICE_CHECK_RESULT %{NAGIOS_TYPE_EXTERNAL_COMMAND:nagios_type}: %{NAGIOS_EC_PROCESS_SERVICE_CHECK_RESULT:nagios_command};%{DATA:nagios_hostname};%{DATA:nagios_service};%{DATA:nagios_state};%{GREEDYDATA:nagios_check_result}
NAGIOS_EC_LINE_PROCESS_HOST_CHECK_RESULT %{NAGIOS_TYPE_EXTERNAL_COMMAND:nagios_type}: %{NAGIOS_EC_PROCESS_HOST_CHECK_RESULT:nagios_command};%{DATA:nagios_hostname};%{DATA:nagios_state};%{GREEDYDATA:nagios_check_result}
NAGIOS_EC_LINE_DISABLE_HOST_SVC_NOTIFICATIONS %{NAGIOS_TYPE_EXTERNAL_COMMAND:nagios_type}: %{NAGIOS_EC_DISABLE_HOST_SVC_NOTIFICATIONS:nagios_command};%{GREEDYDATA:nagios_hostname}
NAGIOS_EC_LINE_DISABLE_HOST_NOTIFICATIONS %{NAGIOS_TYPE_EXTERNAL_COMMAND:nagios_type}: %{NAGIOS_EC_DISABLE_HOST_NOTIFICATIONS:nagios_command};%{GREEDYDATA:nagios_hostname}
NAGIOS_EC_LINE_DISABLE_SVC_NOTIFICATIONS %{NAGIOS_TYPE_EXTERNAL_COMMAND:nagios_type}: %{NAGIOS_EC_DISABLE_SVC_NOTIFICATIONS:nagios_command};%{DATA:nagios_hostname};%{GREEDYDATA:nagios_service}
NAGIOS_EC_LINE_ENABLE_HOST_SVC_NOTIFICATIONS %{NAGIOS_TYPE_EXTERNAL_COMMAND:nagios_type}: %{NAGIOS_EC_ENABLE_HOST_SVC_NOTIFICATIONS:nagios_command};%{GREEDYDATA:nagios_hostname}
NAGIOS_EC_LINE_ENABLE_HOST_NOTIFICATIONS %{NAGIOS_TYPE_EXTERNAL_COMMAND:nagios_type}: %{NAGIOS_EC_ENABLE_HOST_NOTIFICATIONS:nagios_command};%{GREEDYDATA:nagios_hostname}
NAGIOS_EC_LINE_ENABLE_SVC_NOTIFICATIONS %{NAGIOS_TYPE_EXTERNAL_COMMAND:nagios_type}: %{NAGIOS_EC_ENABLE_SVC_NOTIFICATIONS:nagios_command};%{DATA:nagios_hostname};%{GREEDYDATA:nagios_service}
SYSLOGBASE2 (?:%{SYSLOGTIMESTAMP:timestamp}|%{TIMESTAMP_ISO8601:timestamp8601}) (?:%{SYSLOGFACILITY} )?%{SYSLOGHOST:logsource}(?: %{SYSLOGPROG}:)?
`;

/** What differed before 7.16. */
const BEFORE_716 = String.raw`
COMMONAPACHELOG %{IPORHOST:clientip} %{HTTPDUSER:ident} %{USER:auth} \[%{HTTPDATE:timestamp}\] "(?:%{WORD:verb} %{NOTSPACE:request}(?: HTTP/%{NUMBER:httpversion})?|%{DATA:rawrequest})" %{NUMBER:response} (?:%{NUMBER:bytes}|-)
COMBINEDAPACHELOG %{COMMONAPACHELOG} %{QS:referrer} %{QS:agent}
HTTPD20_ERRORLOG \[%{HTTPDERROR_DATE:timestamp}\] \[%{LOGLEVEL:loglevel}\] (?:\[client %{IPORHOST:clientip}\] )?%{GREEDYDATA:errormsg}
HTTPD24_ERRORLOG \[%{HTTPDERROR_DATE:timestamp}\] \[(?:%{WORD:module})?:%{LOGLEVEL:loglevel}\] \[pid %{POSINT:pid}(?::tid %{NUMBER:tid})?\](?: \(%{POSINT:proxy_errorcode}\)%{DATA:proxy_errormessage}:)?(?: \[client %{IPORHOST:client}:%{POSINT:clientport}\])?(?: %{DATA:errorcode}:)? %{GREEDYDATA:message}
JAVASTACKTRACEPART at %{JAVACLASS:class}\.%{WORD:method}\(%{JAVAFILE:file}:%{NUMBER:line}\)
EXIM_PID \[%{POSINT}\]
EXIM_REMOTE_HOST H=(?:%{NOTSPACE:remote_hostname} )?(?:\(%{NOTSPACE:remote_heloname}\) )?\[%{IP:remote_host}\]
SFW2 (?:%{SYSLOGTIMESTAMP}|%{TIMESTAMP_ISO8601})\s*%{HOSTNAME}\s*kernel\S+\s*%{NAGIOSTIME}\s*SFW2-INext-%{NOTSPACE:nf_action}\s*IN=%{USERNAME:nf_in_interface}.*OUT=(?:\s*%{USERNAME:nf_out_interface}|\s*)MAC=(?:%{COMMONMAC:nf_dst_mac}:%{COMMONMAC:nf_src_mac}|\s*).*SRC=%{IP:nf_src_ip}\s*DST=%{IP:nf_dst_ip}.*PROTO=%{WORD:nf_protocol}(?:.*SPT=%{INT:nf_src_port}.*DPT=%{INT:nf_dst_port}.*)?
`;

/** What differed before 7.6. */
const BEFORE_706 = String.raw`
UNIXPATH (?:/[[:alnum:]_%!$@:.,~-]*)+
URIPROTO [A-Za-z]+(?:\+[A-Za-z+]+)?
URIPATH (?:/[A-Za-z0-9$.+!*'(){},~:;=@#%_\-]*)+
MONTH \b(?:Jan(?:uary|uar)?|Feb(?:ruary|ruar)?|M(?:a|${"\u00e4"})?r(?:ch|z)?|Apr(?:il)?|Ma(?:y|i)?|Jun(?:e|i)?|Jul(?:y)?|Aug(?:ust)?|Sep(?:tember)?|O(?:c|k)?t(?:ober)?|Nov(?:ember)?|De(?:c|z)(?:ember)?)\b
TZ (?:[PMCE][SD]T|UTC)
JAVACLASS (?:[a-zA-Z0-9-]+\.)+[A-Za-z0-9$]+
JAVAFILE [A-Za-z0-9_.-]+
JAVAMETHOD (?:<init>|[a-zA-Z$_][a-zA-Z$_0-9]*)
`;

/** `[source][ip]` of a name, as ingest pipelines write it: `source.ip`. */
const BRACKETED = /(?<=%\{\w+:|\(\?<)(?:\[[\w@-]+\])+/g;

/** A reference to a pattern, with the field that it fills. */
const REFERENCE = /%\{(\w+)(?::([^}]+))?\}/g;

const ECS = "ecs";
const tables = new Map<number | typeof ECS, ReadonlyMap<string, string>>();

/** Returns the patterns that grok processors of a server's version have by name; `ecs`: with fields of the ECS. */
export function ingestPatterns(ecs: boolean, version: number): ReadonlyMap<string, string> {
  const key = ecs ? ECS : version;
  let table = tables.get(key);
  if (table === undefined) {
    table = new Map([...grokPatterns(ecs), ...(ecs ? [] : differences(version))].map(withDots));
    tables.set(key, table);
  }
  return table;
}

/** Returns the patterns as `GET _ingest/processor/grok` lists them: complete, so that none names one outside the list. */
export function listedPatterns(ecs: boolean, version: number): Record<string, string> {
  const table = ingestPatterns(ecs, version);
  if (ecs) return Object.fromEntries(table);
  const later = ADDED.filter(([since]) => since > version).flatMap(([, names]) => names.split(" "));
  const hidden = new Set([...UNLISTED, ...later]);
  const listed = [...table].filter(([name]) => !hidden.has(name));
  return Object.fromEntries(listed.map(([name, text]) => [name, inlined(text, table, hidden)]));
}

function differences(version: number): [name: string, pattern: string][] {
  const texts = [ALWAYS, version < 716 ? BEFORE_716 : "", version < 706 ? BEFORE_706 : ""];
  return texts.flatMap(parsePatternFile);
}

function withDots([name, text]: readonly [string, string]): [string, string] {
  return [name, text.replace(BRACKETED, (found) => found.slice(1, -1).replaceAll("][", "."))];
}

/** Puts the hidden patterns in place of the references to them; none of them contains itself. */
function inlined(text: string, table: ReadonlyMap<string, string>, hidden: ReadonlySet<string>): string {
  return text.replace(REFERENCE, (whole, name: string, field?: string) => {
    if (!hidden.has(name)) return whole;
    const inner = inlined(table.get(name) ?? "", table, hidden);
    return field === undefined ? `(?:${inner})` : `(?<${field}>${inner})`;
  });
}
