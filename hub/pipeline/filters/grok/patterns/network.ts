/** Patterns of proxies, name servers and cloud services. */

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
