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
MONTH \b(?:[Jj]an(?:uary|uar)?|[Ff]eb(?:ruary|ruar)?|[Mm](?:a|ä)?r(?:ch|z)?|[Aa]pr(?:il)?|[Mm]a(?:y|i)?|[Jj]un(?:e|i)?|[Jj]ul(?:y|i)?|[Aa]ug(?:ust)?|[Ss]ep(?:tember)?|[Oo](?:c|k)?t(?:ober)?|[Nn]ov(?:ember)?|[Dd]e(?:c|z)(?:ember)?)\b
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
