/** Patterns of web servers' logs. */

export const httpdPatterns = String.raw`
HTTPDUSER %{EMAILADDRESS}|%{USER}
HTTPDERROR_DATE %{DAY} %{MONTH} %{MONTHDAY} %{TIME} %{YEAR}
legacy HTTPD_COMMONLOG %{IPORHOST:clientip} %{HTTPDUSER:ident} %{HTTPDUSER:auth} \[%{HTTPDATE:timestamp}\] "(?:%{WORD:verb} %{NOTSPACE:request}(?: HTTP/%{NUMBER:httpversion})?|%{DATA:rawrequest})" (?:-|%{NUMBER:response}) (?:-|%{NUMBER:bytes})
legacy HTTPD_COMBINEDLOG %{HTTPD_COMMONLOG} %{QS:referrer} %{QS:agent}
ecs HTTPD_COMMONLOG %{IPORHOST:clientip|[source][address]} (?:-|%{HTTPDUSER:ident|[apache][access][user][identity]}) (?:-|%{HTTPDUSER:auth|[user][name]}) \[%{HTTPDATE:timestamp}\] "(?:%{WORD:verb|[http][request][method]} %{NOTSPACE:request|[url][original]}(?: HTTP/%{NUMBER:httpversion|[http][version]})?|%{DATA:rawrequest})" (?:-|%{INT:response|[http][response][status_code]:int}) (?:-|%{INT:bytes|[http][response][body][bytes]:int})
ecs HTTPD_COMBINEDLOG %{HTTPD_COMMONLOG} "(?:-|%{DATA:referrer|[http][request][referrer]})" "(?:-|%{DATA:agent|[user_agent][original]})"
HTTPD20_ERRORLOG \[%{HTTPDERROR_DATE:timestamp}\] \[%{LOGLEVEL:loglevel|[log][level]}\] (?:\[client %{IPORHOST:clientip|[source][address]}\] )?%{GREEDYDATA:message}
HTTPD24_ERRORLOG \[%{HTTPDERROR_DATE:timestamp}\] \[(?:%{WORD:module|[apache][error][module]})?:%{LOGLEVEL:loglevel|[log][level]}\] \[pid %{POSINT:pid|[process][pid]:int}(?::tid %{INT:tid|[process][thread][id]:int})?\](?: \(%{POSINT:proxy_errorcode|[apache][error][proxy][error][code]}\)%{DATA:proxy_message|[apache][error][proxy][error][message]}:)?(?: \[client %{IPORHOST:clientip|[source][address]}(?::%{POSINT:clientport|[source][port]:int})?\])?(?: %{DATA:errorcode|[error][code]}:)? %{GREEDYDATA:message}
HTTPD_ERRORLOG %{HTTPD20_ERRORLOG}|%{HTTPD24_ERRORLOG}
COMMONAPACHELOG %{HTTPD_COMMONLOG}
COMBINEDAPACHELOG %{HTTPD_COMBINEDLOG}
`;
