/** Patterns of words, numbers, addresses, paths and times. */

export const basicPatterns = String.raw`
# words and numbers
USERNAME [a-zA-Z0-9._-]+
USER %{USERNAME}
EMAILLOCALPART [a-zA-Z0-9!#$%&'*+\-/=?^_${"`"}{|}~]{1,64}(?:\.[a-zA-Z0-9!#$%&'*+\-/=?^_${"`"}{|}~]{1,62}){0,63}
EMAILADDRESS %{EMAILLOCALPART}@%{HOSTNAME}
INT (?:[+-]?[0-9]+)
BASE10NUM (?<![0-9.+-])(?>[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+))
NUMBER (?:%{BASE10NUM})
BASE16NUM (?<![0-9A-Fa-f])(?:[+-]?(?:0x)?[0-9A-Fa-f]+)
BASE16FLOAT \b(?<![0-9A-Fa-f.])(?:[+-]?(?:0x)?(?:[0-9A-Fa-f]+(?:\.[0-9A-Fa-f]*)?|\.[0-9A-Fa-f]+))\b
POSINT \b[1-9][0-9]*\b
NONNEGINT \b[0-9]+\b
WORD \b\w+\b
NOTSPACE \S+
SPACE \s*
DATA .*?
GREEDYDATA .*
QUOTEDSTRING (?>(?<!\\)(?:"(?>\\.|[^\\"]+)*"|'(?>\\.|[^\\']+)*'|${"`"}(?>\\.|[^\\${"`"}]+)*${"`"}))
QS %{QUOTEDSTRING}
UUID [A-Fa-f0-9]{8}-(?:[A-Fa-f0-9]{4}-){3}[A-Fa-f0-9]{12}
URN urn:[0-9A-Za-z][0-9A-Za-z-]{0,31}:(?:%[0-9a-fA-F]{2}|[0-9A-Za-z()+,.:=@;$_!*'/?#-])+

# addresses
CISCOMAC (?:[A-Fa-f0-9]{4}\.){2}[A-Fa-f0-9]{4}
WINDOWSMAC (?:[A-Fa-f0-9]{2}-){5}[A-Fa-f0-9]{2}
COMMONMAC (?:[A-Fa-f0-9]{2}:){5}[A-Fa-f0-9]{2}
MAC (?:%{CISCOMAC}|%{WINDOWSMAC}|%{COMMONMAC})
# The look-ahead keeps the search from trying each of the forms at every word.
IPV6GROUP [0-9A-Fa-f]{1,4}
IPV6TAIL (?:%{IPV4OCTET}(?:\.%{IPV4OCTET}){3})
IPV4OCTET (?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])
IPV6 (?=[0-9A-Fa-f]{0,4}:)(?:(?:(?:%{IPV6GROUP}:){7}(?:%{IPV6GROUP}|:))|(?:(?:%{IPV6GROUP}:){6}(?::%{IPV6GROUP}|%{IPV6TAIL}|:))|(?:(?:%{IPV6GROUP}:){5}(?:(?::%{IPV6GROUP}){1,2}|:%{IPV6TAIL}|:))|(?:(?:%{IPV6GROUP}:){4}(?:(?::%{IPV6GROUP}){1,3}|(?::%{IPV6GROUP})?:%{IPV6TAIL}|:))|(?:(?:%{IPV6GROUP}:){3}(?:(?::%{IPV6GROUP}){1,4}|(?::%{IPV6GROUP}){0,2}:%{IPV6TAIL}|:))|(?:(?:%{IPV6GROUP}:){2}(?:(?::%{IPV6GROUP}){1,5}|(?::%{IPV6GROUP}){0,3}:%{IPV6TAIL}|:))|(?:%{IPV6GROUP}:(?:(?::%{IPV6GROUP}){1,6}|(?::%{IPV6GROUP}){0,4}:%{IPV6TAIL}|:))|(?::(?:(?::%{IPV6GROUP}){1,7}|(?::%{IPV6GROUP}){0,5}:%{IPV6TAIL}|:)))(?:%\S+)?
IPV4 (?<![0-9])(?:(?:[0-1]?[0-9]{1,2}|2[0-4][0-9]|25[0-5])(?:\.(?:[0-1]?[0-9]{1,2}|2[0-4][0-9]|25[0-5])){3})(?![0-9])
IP (?:%{IPV6}|%{IPV4})
HOSTNAME \b[0-9A-Za-z][0-9A-Za-z-]{0,62}(?:\.[0-9A-Za-z][0-9A-Za-z-]{0,62})*(?:\.?|\b)
IPORHOST (?:%{IP}|%{HOSTNAME})
HOSTPORT %{IPORHOST}:%{POSINT}

# paths and addresses of resources
UNIXPATH (?:/[[:alnum:]_%!$@:.,+~-]*)+
TTY (?:/dev/(?:pts|tty(?:[pq])?)(?:\w+)?/?[0-9]+)
WINPATH (?:[A-Za-z]+:|\\)(?:\\[^\\?*]*)+
PATH (?:%{UNIXPATH}|%{WINPATH})
URIPROTO [A-Za-z][A-Za-z0-9+\-.]+
URIHOST %{IPORHOST}(?::%{POSINT:port|[url][port]:int})?
URIPATH (?:/[A-Za-z0-9$.+!*'(){},~:;=@#%&_\-]*)+
URIQUERY [A-Za-z0-9$.+!*'|(){},~@#%&/=:;_?\-\[\]<>]*
URIPARAM \?%{URIQUERY}
URIPATHPARAM %{URIPATH}(?:\?%{URIQUERY})?
URI %{URIPROTO}://(?:%{USER}(?::[^@]*)?@)?(?:%{URIHOST})?(?:%{URIPATH}(?:\?%{URIQUERY})?)?

# times
MONTH \b(?:[Jj]an(?:uary|uar)?|[Ff]eb(?:ruary|ruar)?|[Mm](?:a|${"\u00e4"})?r(?:ch|z)?|[Aa]pr(?:il)?|[Mm]a(?:y|i)?|[Jj]un(?:e|i)?|[Jj]ul(?:y|i)?|[Aa]ug(?:ust)?|[Ss]ep(?:tember)?|[Oo](?:c|k)?t(?:ober)?|[Nn]ov(?:ember)?|[Dd]e(?:c|z)(?:ember)?)\b
MONTHNUM (?:0?[1-9]|1[0-2])
MONTHNUM2 (?:0[1-9]|1[0-2])
MONTHDAY (?:0[1-9]|[12][0-9]|3[01]|[1-9])
DAY (?:Mon(?:day)?|Tue(?:sday)?|Wed(?:nesday)?|Thu(?:rsday)?|Fri(?:day)?|Sat(?:urday)?|Sun(?:day)?)
YEAR (?>\d\d){1,2}
HOUR (?:2[0123]|[01]?[0-9])
MINUTE (?:[0-5][0-9])
SECOND (?:(?:[0-5]?[0-9]|60)(?:[:.,][0-9]+)?)
TIME (?!<[0-9])%{HOUR}:%{MINUTE}(?::%{SECOND})(?![0-9])
DATE_US %{MONTHNUM}[/-]%{MONTHDAY}[/-]%{YEAR}
DATE_EU %{MONTHDAY}[./-]%{MONTHNUM}[./-]%{YEAR}
ISO8601_TIMEZONE (?:Z|[+-]%{HOUR}(?::?%{MINUTE}))
ISO8601_HOUR (?:2[0-3]|[01][0-9])
ISO8601_SECOND %{SECOND}
TIMESTAMP_ISO8601 %{YEAR}-%{MONTHNUM}-%{MONTHDAY}[T ]%{HOUR}:?%{MINUTE}(?::?%{SECOND})?%{ISO8601_TIMEZONE}?
DATE %{DATE_US}|%{DATE_EU}
DATESTAMP %{DATE}[- ]%{TIME}
TZ (?:[APMCE][SD]T|UTC)
DATESTAMP_RFC822 %{DAY} %{MONTH} %{MONTHDAY} %{YEAR} %{TIME} %{TZ}
DATESTAMP_RFC2822 %{DAY}, %{MONTHDAY} %{MONTH} %{YEAR} %{TIME} %{ISO8601_TIMEZONE}
DATESTAMP_OTHER %{DAY} %{MONTH} %{MONTHDAY} %{TIME} %{TZ} %{YEAR}
DATESTAMP_EVENTLOG %{YEAR}%{MONTHNUM2}%{MONTHDAY}%{HOUR}%{MINUTE}%{SECOND}
HTTPDATE %{MONTHDAY}/%{MONTH}/%{YEAR}:%{TIME} %{INT}

LOGLEVEL (?:[Aa]lert|ALERT|[Tt]race|TRACE|[Dd]ebug|DEBUG|[Nn]otice|NOTICE|[Ii]nfo?(?:rmation)?|INFO?(?:RMATION)?|[Ww]arn?(?:ing)?|WARN?(?:ING)?|[Ee]rr?(?:or)?|ERR?(?:OR)?|[Cc]rit?(?:ical)?|CRIT?(?:ICAL)?|[Ff]atal|FATAL|[Ss]evere|SEVERE|EMERG(?:ENCY)?|[Ee]merg(?:ency)?)
`;

export const networkPatterns = String.raw`

# Elastic Load Balancing, classic
legacy ELB_URIHOST %{IPORHOST}(?::%{POSINT:port})?
legacy ELB_URIPATHPARAM %{URIPATH:path}(?:\?%{URIQUERY:params})?
legacy ELB_URI %{URIPROTO:proto}://(?:%{USER}(?::[^@]*)?@)?(?:%{ELB_URIHOST:urihost})?(?:%{ELB_URIPATHPARAM})?
ecs ELB_URI %{URIPROTO:[url][scheme]}://(?:%{USER}(?::[^@]*)?@)?(?:%{IPORHOST:[url][domain]}(?::%{POSINT:[url][port]:int})?)?(?:%{URIPATH:[url][path]}(?:\?%{URIQUERY:[url][query]})?)?
ELB_REQUEST_LINE (?:%{WORD:verb|[http][request][method]} %{ELB_URI:request|[url][original]}(?: HTTP/%{NUMBER:httpversion|[http][version]})?)
ELB_SECONDS (?:-1|%{NUMBER})
legacy ELB_ACCESS_LOG %{TIMESTAMP_ISO8601:timestamp} %{NOTSPACE:elb} %{IP:clientip}:%{INT:clientport:int} (?:%{IP:backendip}:%{INT:backendport:int}|-) %{NUMBER:request_processing_time:float} %{NUMBER:backend_processing_time:float} %{NUMBER:response_processing_time:float} (?:-|%{INT:response:int}) (?:-|%{INT:backend_response:int}) %{INT:received_bytes:int} %{INT:bytes:int} "%{ELB_REQUEST_LINE}"
ecs ELB_ACCESS_LOG %{TIMESTAMP_ISO8601:timestamp} %{NOTSPACE:[aws][elb][name]} %{IP:[source][ip]}:%{INT:[source][port]:int} (?:-|%{IP:[aws][elb][backend][ip]}:%{INT:[aws][elb][backend][port]:int}) (?:-1|%{NUMBER:[aws][elb][request_processing_time][sec]:float}) (?:-1|%{NUMBER:[aws][elb][backend_processing_time][sec]:float}) (?:-1|%{NUMBER:[aws][elb][response_processing_time][sec]:float}) %{INT:[http][response][status_code]:int} (?:-|%{INT:[aws][elb][backend][http][response][status_code]:int}) %{INT:[http][request][body][bytes]:int} %{INT:[http][response][body][bytes]:int} "%{ELB_REQUEST_LINE}"(?: "(?:-|%{DATA:[user_agent][original]})" (?:-|%{NOTSPACE:[tls][cipher]}) (?:-|%{NOTSPACE:[aws][elb][ssl_protocol]}))?

# CloudFront: columns between tabs, - for one without a value
legacy CLOUDFRONT_ACCESS_LOG (?<timestamp>%{YEAR}-%{MONTHNUM}-%{MONTHDAY}\t%{TIME})\t%{WORD:x_edge_location}\t(?:%{NUMBER:sc_bytes:int}|-)\t%{IPORHOST:clientip}\t%{WORD:cs_method}\t%{HOSTNAME:cs_host}\t%{NOTSPACE:cs_uri_stem}\t%{NUMBER:sc_status:int}\t%{GREEDYDATA:referrer}\t%{GREEDYDATA:agent}\t%{GREEDYDATA:cs_uri_query}\t%{GREEDYDATA:cookies}\t%{WORD:x_edge_result_type}\t%{NOTSPACE:x_edge_request_id}\t%{HOSTNAME:x_host_header}\t%{URIPROTO:cs_protocol}\t%{INT:cs_bytes:int}\t%{GREEDYDATA:time_taken:float}\t%{GREEDYDATA:x_forwarded_for}\t%{GREEDYDATA:ssl_protocol}\t%{GREEDYDATA:ssl_cipher}\t%{GREEDYDATA:x_edge_response_result_type}
ecs CLOUDFRONT_ACCESS_LOG (?<timestamp>%{YEAR}-%{MONTHNUM}-%{MONTHDAY}\t%{TIME})\t%{WORD:[aws][cloudfront][x_edge_location]}\t(?:-|%{INT:[destination][bytes]:int})\t%{IPORHOST:[source][ip]}\t%{WORD:[http][request][method]}\t%{HOSTNAME:[url][domain]}\t%{NOTSPACE:[url][path]}\t(?:000|%{INT:[http][response][status_code]:int})\t(?:-|%{DATA:[http][request][referrer]})\t%{DATA:[user_agent][original]}\t(?:-|%{DATA:[url][query]})\t(?:-|%{DATA:[aws][cloudfront][http][request][cookie]})\t%{WORD:[aws][cloudfront][x_edge_result_type]}\t%{NOTSPACE:[aws][cloudfront][x_edge_request_id]}\t%{HOSTNAME:[aws][cloudfront][http][request][host]}\t%{URIPROTO:[network][protocol]}\t(?:-|%{INT:[source][bytes]:int})\t%{NUMBER:[aws][cloudfront][time_taken]:float}\t(?:-|%{IP:[network][forwarded_ip]})\t(?:-|%{DATA:[aws][cloudfront][ssl_protocol]})\t(?:-|%{NOTSPACE:[tls][cipher]})\t%{WORD:[aws][cloudfront][x_edge_response_result_type]}(?:\t(?:-|HTTP/%{NUMBER:[http][version]})\t(?:-|%{DATA:[aws][cloudfront][fle_status]})\t(?:-|%{DATA:[aws][cloudfront][fle_encrypted_fields]})\t%{INT:[source][port]:int}\t%{NUMBER:[aws][cloudfront][time_to_first_byte]:float}\t(?:-|%{DATA:[aws][cloudfront][x_edge_detailed_result_type]})\t(?:-|%{NOTSPACE:[http][request][mime_type]})\t(?:-|%{INT:[aws][cloudfront][http][request][size]:int})\t(?:-|%{INT:[aws][cloudfront][http][request][range][start]:int})\t(?:-|%{INT:[aws][cloudfront][http][request][range][end]:int}))?

# S3 server access
S3_REQUEST_LINE (?:%{WORD:verb|[http][request][method]} %{NOTSPACE:request|[url][original]}(?: HTTP/%{NUMBER:httpversion|[http][version]})?)
legacy S3_ACCESS_LOG %{WORD:owner} %{NOTSPACE:bucket} \[%{HTTPDATE:timestamp}\] %{IP:clientip} %{NOTSPACE:requester} %{NOTSPACE:request_id} %{NOTSPACE:operation} %{NOTSPACE:key} (?:"%{S3_REQUEST_LINE}"|-) (?:-|%{INT:response:int}) (?:-|%{NOTSPACE:error_code}) (?:-|%{INT:bytes:int}) (?:-|%{INT:object_size:int}) (?:-|%{INT:request_time_ms:int}) (?:-|%{INT:turnaround_time_ms:int}) (?:%{QS:referrer}|-) (?:"?%{QS:agent}"?|-) (?:-|%{NOTSPACE:version_id})
ecs S3_ACCESS_LOG %{WORD:[aws][s3access][bucket_owner]} %{NOTSPACE:[aws][s3access][bucket]} \[%{HTTPDATE:timestamp}\] (?:-|%{IP:[client][ip]}) (?:-|%{NOTSPACE:[client][user][id]}) %{NOTSPACE:[aws][s3access][request_id]} %{NOTSPACE:[aws][s3access][operation]} (?:-|%{NOTSPACE:[aws][s3access][key]}) (?:-|"(?<[aws][s3access][request_uri]>%{S3_REQUEST_LINE})") (?:-|%{INT:[http][response][status_code]:int}) (?:-|%{NOTSPACE:[aws][s3access][error_code]}) (?:-|%{INT:[aws][s3access][bytes_sent]:int}) (?:-|%{INT:[aws][s3access][object_size]:int}) (?:-|%{INT:[aws][s3access][total_time]:int}) (?:-|%{INT:[aws][s3access][turn_around_time]:int}) "(?:-|%{DATA:[http][request][referrer]})" "(?:-|%{DATA:[user_agent][original]})" (?:-|%{NOTSPACE:[aws][s3access][version_id]})(?: (?:-|%{NOTSPACE:[aws][s3access][host_id]}) (?:-|%{NOTSPACE:[aws][s3access][signature_version]}) (?:-|%{NOTSPACE:[tls][cipher]}) (?:-|%{NOTSPACE:[aws][s3access][authentication_type]}) (?:-|%{NOTSPACE:[aws][s3access][host_header]}) (?:-|%{NOTSPACE:[aws][s3access][tls_version]}))?

# HAProxy
HAPROXYTIME (?!<[0-9])%{HOUR:haproxy_hour}:%{MINUTE:haproxy_minute}(?::%{SECOND:haproxy_second})(?![0-9])
legacy HAPROXYDATE %{MONTHDAY:haproxy_monthday}/%{MONTH:haproxy_month}/%{YEAR:haproxy_year}:%{HAPROXYTIME:haproxy_time}\.%{INT:haproxy_milliseconds}
ecs HAPROXYDATE %{MONTHDAY}/%{MONTH}/%{YEAR}:%{HOUR}:%{MINUTE}:[0-9]{2}\.%{INT}
HAPROXYCAPTUREDREQUESTHEADERS %{DATA:captured_request_headers|[haproxy][http][request][captured_headers]}
HAPROXYCAPTUREDRESPONSEHEADERS %{DATA:captured_response_headers|[haproxy][http][response][captured_headers]}
ecs HAPROXYURI (?:%{URIPROTO:[url][scheme]}://(?:%{USER:[url][username]}(?::[^@]*)?@)?(?:%{IPORHOST:[url][domain]}(?::%{POSINT:[url][port]:int})?)?)?%{URIPATH:[url][path]}(?:\?%{URIQUERY:[url][query]})?|%{IPORHOST:[url][domain]}:%{POSINT:[url][port]:int}
legacy HAPROXYHTTPREQUEST <BADREQ>|(?:%{WORD:http_verb} (?:%{URIPROTO:http_proto}://)?(?:%{USER:http_user}(?::[^@]*)?@)?(?:(?<http_host>%{IPORHOST}(?::%{POSINT:port})?))?(?:%{URIPATHPARAM:http_request})?(?: HTTP/%{NUMBER:http_version})?)
ecs HAPROXYHTTPREQUEST <BADREQ>|(?:%{WORD:[http][request][method]} (?<[url][original]>%{HAPROXYURI})(?: HTTP/%{NUMBER:[http][version]})?)
HAPROXYCOUNTERS %{INT:actconn|[haproxy][connections][active]:int}/%{INT:feconn|[haproxy][connections][frontend]:int}/%{INT:beconn|[haproxy][connections][backend]:int}/%{INT:srvconn|[haproxy][connections][server]:int}/%{INT:retries|[haproxy][connections][retries]:int} %{INT:srv_queue|[haproxy][server_queue]:int}/%{INT:backend_queue|[haproxy][backend_queue]:int}
legacy HAPROXYCLIENT %{IP:client_ip}:%{INT:client_port} \[%{HAPROXYDATE:accept_date}\] %{NOTSPACE:frontend_name} %{NOTSPACE:backend_name}/%{NOTSPACE:server_name}
ecs HAPROXYCLIENT %{IP:[source][address]}:%{INT:[source][port]:int} \[%{HAPROXYDATE:[haproxy][request_date]}\] %{NOTSPACE:[haproxy][frontend_name]} %{NOTSPACE:[haproxy][backend_name]}/(?:<NOSRV>|%{NOTSPACE:[haproxy][server_name]})
legacy HAPROXYHTTPBASE %{HAPROXYCLIENT} %{INT:time_request}/%{INT:time_queue}/%{INT:time_backend_connect}/%{INT:time_backend_response}/%{NOTSPACE:time_duration} %{INT:http_status_code} %{NOTSPACE:bytes_read} %{DATA:captured_request_cookie} %{DATA:captured_response_cookie} %{NOTSPACE:termination_state} %{HAPROXYCOUNTERS} (?:\{%{HAPROXYCAPTUREDREQUESTHEADERS}\} )?(?:\{%{HAPROXYCAPTUREDRESPONSEHEADERS}\} )?"%{HAPROXYHTTPREQUEST}"?
ecs HAPROXYHTTPBASE %{HAPROXYCLIENT} (?:-1|%{INT:[haproxy][http][request][time_wait_ms]:int})/(?:-1|%{INT:[haproxy][total_waiting_time_ms]:int})/(?:-1|%{INT:[haproxy][connection_wait_time_ms]:int})/(?:-1|%{INT:[haproxy][http][request][time_wait_without_data_ms]:int})/%{NOTSPACE:[haproxy][total_time_ms]} %{INT:[http][response][status_code]:int} %{INT:[source][bytes]:int} (?:-|%{DATA:[haproxy][http][request][captured_cookie]}) (?:-|%{DATA:[haproxy][http][response][captured_cookie]}) %{NOTSPACE:[haproxy][termination_state]} %{HAPROXYCOUNTERS} (?:\{%{HAPROXYCAPTUREDREQUESTHEADERS}\} )?(?:\{%{HAPROXYCAPTUREDRESPONSEHEADERS}\} )?"%{HAPROXYHTTPREQUEST}"?
legacy HAPROXYSYSLOG (?:%{SYSLOGTIMESTAMP:syslog_timestamp}|%{TIMESTAMP_ISO8601:timestamp8601}) %{IPORHOST:syslog_server} %{SYSLOGPROG}:
ecs HAPROXYSYSLOG (?:%{SYSLOGTIMESTAMP:timestamp}|%{TIMESTAMP_ISO8601:timestamp}) %{IPORHOST:[host][hostname]} %{SYSLOGPROG}:
HAPROXYHTTP %{HAPROXYSYSLOG} %{HAPROXYHTTPBASE}
legacy HAPROXYTCP %{HAPROXYSYSLOG} %{HAPROXYCLIENT} %{INT:time_queue}/%{INT:time_backend_connect}/%{NOTSPACE:time_duration} %{NOTSPACE:bytes_read} %{NOTSPACE:termination_state} %{HAPROXYCOUNTERS}
ecs HAPROXYTCP %{HAPROXYSYSLOG} %{HAPROXYCLIENT} (?:-1|%{INT:[haproxy][total_waiting_time_ms]:int})/(?:-1|%{INT:[haproxy][connection_wait_time_ms]:int})/%{NOTSPACE:[haproxy][total_time_ms]} %{INT:[source][bytes]:int} %{NOTSPACE:[haproxy][termination_state]} %{HAPROXYCOUNTERS}

# Squid's native format
legacy SQUID3 %{NUMBER:timestamp} +%{NUMBER:duration} %{IP:client_address} %{WORD:cache_result}/%{NONNEGINT:status_code} %{NUMBER:bytes} %{WORD:request_method} %{NOTSPACE:url} (?:%{NOTSPACE:user}|-) %{WORD:hierarchy_code}/(?:-|%{IPORHOST:server}) %{NOTSPACE:content_type}
ecs SQUID3 %{NUMBER:timestamp} +%{NUMBER:[squid][request][duration]:int} %{IP:[source][ip]} %{WORD:[event][action]}/(?:0|00|000|%{INT:[http][response][status_code]:int}) %{INT:[http][response][bytes]:int} %{WORD:[http][request][method]} %{NOTSPACE:[url][original]} (?:-|%{NOTSPACE:[user][name]}) %{WORD:[squid][hierarchy_code]}/(?:-|%{IPORHOST:[destination][address]}) (?:-|%{NOTSPACE:[http][response][mime_type]})

# BIND's query log
BIND9_TIMESTAMP %{MONTHDAY}-%{MONTH}-%{YEAR} %{TIME}
legacy BIND9 %{BIND9_TIMESTAMP:timestamp} queries: %{LOGLEVEL:loglevel}: client(?: @0x[0-9A-Fa-f]+)? %{IP:clientip}#%{POSINT:clientport} \(%{GREEDYDATA:query}\): query: %{GREEDYDATA:query} IN %{GREEDYDATA:querytype} \(%{IP:dns}\)
ecs BIND9_QUERYLOGBASE client(?: @0x[0-9A-Fa-f]+)? %{IP:[client][ip]}#%{POSINT:[client][port]:int} \(%{GREEDYDATA:[bind][log][question][name]}\): query: %{GREEDYDATA:[dns][question][name]} %{WORD:[dns][question][class]} %{WORD:[dns][question][type]} %{NOTSPACE:[bind][log][question][flags]} \(%{IP:[server][ip]}\)
ecs BIND9 %{BIND9_TIMESTAMP:timestamp} %{WORD:[bing][log][category]}: %{LOGLEVEL:[log][level]}: %{BIND9_QUERYLOGBASE}
legacy BIND9_QUERYLOGBASE client(?: @0x[0-9A-Fa-f]+)? %{IP:clientip}#%{POSINT:clientport} \(%{GREEDYDATA:query}\): query: %{GREEDYDATA:query} IN %{GREEDYDATA:querytype} \(%{IP:dns}\)
`;

export const syslogPatterns = String.raw`
SYSLOGTIMESTAMP %{MONTH} +%{MONTHDAY} %{TIME}
PROG [\x21-\x5a\x5c\x5e-\x7e]+
SYSLOGPROG %{PROG:program|[process][name]}(?:\[%{POSINT:pid|[process][pid]:int}\])?
SYSLOGHOST %{IPORHOST}
SYSLOGFACILITY <%{NONNEGINT:facility|[log][syslog][facility][code]:int}.%{NONNEGINT:priority|[log][syslog][priority]:int}>
SYSLOGBASE %{SYSLOGTIMESTAMP:timestamp} (?:%{SYSLOGFACILITY} )?%{SYSLOGHOST:logsource|[host][hostname]} %{SYSLOGPROG}:
legacy SYSLOGBASE2 (?:%{SYSLOGTIMESTAMP:timestamp}|%{TIMESTAMP_ISO8601:timestamp8601})(?: %{SYSLOGFACILITY})? %{SYSLOGHOST:logsource}(?: %{SYSLOGPROG}:)?
ecs SYSLOGBASE2 (?:%{SYSLOGTIMESTAMP:timestamp}|%{TIMESTAMP_ISO8601:timestamp})(?: %{SYSLOGFACILITY})?(?: %{SYSLOGHOST:[host][hostname]})?(?: %{SYSLOGPROG}:)?
SYSLOGLINE %{SYSLOGBASE2} %{GREEDYDATA:message}
legacy SYSLOGPAMSESSION %{SYSLOGBASE} (?=%{GREEDYDATA:message})%{WORD:pam_module|[system][auth][pam][module]}\(%{DATA:pam_caller|[system][auth][pam][origin]}\): session %{WORD:pam_session_state|[system][auth][pam][session_state]} for user %{USERNAME:username|[user][name]}(?: by %{GREEDYDATA:pam_by})?
ecs SYSLOGPAMSESSION %{SYSLOGBASE} (?=%{GREEDYDATA:message})%{WORD:pam_module|[system][auth][pam][module]}\(%{DATA:pam_caller|[system][auth][pam][origin]}\): session %{WORD:pam_session_state|[system][auth][pam][session_state]} for user %{USERNAME:username|[user][name]}
CRON_ACTION [A-Z ]+
CRONLOG %{SYSLOGBASE} \(%{USER:user|[user][name]}\) %{CRON_ACTION:action|[system][cron][action]} \(%{DATA:message}\)
SYSLOG5424PRINTASCII [!-~]+
SYSLOG5424PRI <%{NONNEGINT:syslog5424_pri|[log][syslog][priority]:int}>
SYSLOG5424SD \[%{DATA}\]+
SYSLOG5424BASE %{SYSLOG5424PRI}%{NONNEGINT:syslog5424_ver|[system][syslog][version]} +(?:-|%{TIMESTAMP_ISO8601:syslog5424_ts|timestamp}) +(?:-|%{IPORHOST:syslog5424_host|[host][hostname]}) +(?:-|%{SYSLOG5424PRINTASCII:syslog5424_app|[process][name]}) +(?:-|%{SYSLOG5424PRINTASCII:syslog5424_proc|[process][pid]:int}) +(?:-|%{SYSLOG5424PRINTASCII:syslog5424_msgid|[event][code]}) +(?:-|%{SYSLOG5424SD:syslog5424_sd|[system][syslog][structured_data]})?
SYSLOG5424LINE %{SYSLOG5424BASE} +%{GREEDYDATA:syslog5424_msg|message}
`;
