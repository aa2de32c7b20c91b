/** Patterns of firewalls: Cisco ASA and PIX, NetScreen, Junos, and what builds on the kernel's netfilter. */

const ciscoPatterns = String.raw`
# The head of a message and the words that recur
CISCOTIMESTAMP %{MONTH} +%{MONTHDAY}(?: %{YEAR})? %{TIME}
CISCOTAG [A-Z0-9]+-%{INT}-(?:[A-Z0-9_]+)
CISCO_TAGGED_SYSLOG ^<%{POSINT:syslog_pri|[log][syslog][priority]:int}>%{CISCOTIMESTAMP:timestamp}(?: %{SYSLOGHOST:sysloghost|[host][hostname]})? ?: %%{CISCOTAG:ciscotag|[cisco][asa][tag]}:
CISCO_ACTION Built|Teardown|Deny|Denied|denied|requested|permitted|denied by ACL|discarded|est-allowed|Dropping|created|deleted
CISCO_REASON Duplicate TCP SYN|Failed to locate egress interface|Invalid transport field|No matching connection|DNS Response|DNS Query|(?:%{WORD}\s*)*
CISCO_DIRECTION Inbound|inbound|Outbound|outbound
CISCO_INTERVAL first hit|%{INT}-second interval
CISCO_XLATE_TYPE static|dynamic
CISCO_HITCOUNT_INTERVAL hit-cnt %{INT:hit_count|[cisco][asa][hit_count]:int} %{CISCO_INTERVAL:interval|}
CISCO_SRC_IP_USER %{NOTSPACE:src_interface|[observer][ingress][interface][name]}:%{IP:src_ip|[source][ip]}(?:\(%{DATA:src_fwuser|[source][user][name]}\))?
CISCO_DST_IP_USER %{NOTSPACE:dst_interface|[observer][egress][interface][name]}:%{IP:dst_ip|[destination][ip]}(?:\(%{DATA:dst_fwuser|[destination][user][name]}\))?
CISCO_SRC_HOST_PORT_USER %{NOTSPACE:src_interface|[observer][ingress][interface][name]}:(?:%{IP:src_ip|[source][ip]}|%{HOSTNAME:src_ip|[source][address]})(?:/%{INT:src_port|[source][port]:int})?(?:\(%{DATA:src_fwuser|[source][user][name]}\))?
CISCO_DST_HOST_PORT_USER %{NOTSPACE:dst_interface|[observer][egress][interface][name]}:(?:%{IP:dst_ip|[destination][ip]}|%{HOSTNAME:dst_ip|[destination][address]})(?:/%{INT:dst_port|[destination][port]:int})?(?:\(%{DATA:dst_fwuser|[destination][user][name]}\))?
CISCO_SRC_IP_PORT %{IP:src_ip|[source][ip]}/%{INT:src_port|[source][port]:int}
CISCO_DST_IP_PORT %{IP:dst_ip|[destination][ip]}/%{INT:dst_port|[destination][port]:int}
CISCO_SRC_INTERFACE_IP_PORT %{NOTSPACE:src_interface|[observer][ingress][interface][name]}:%{CISCO_SRC_IP_PORT}
CISCO_DST_INTERFACE_IP_PORT %{NOTSPACE:dst_interface|[observer][egress][interface][name]}:%{CISCO_DST_IP_PORT}
CISCO_HASHCODES \[%{DATA:hashcode1|[@metadata][cisco][asa][hashcode1]}, %{DATA:hashcode2|[@metadata][cisco][asa][hashcode2]}\]
CISCO_OUTCOME %{CISCO_ACTION:action|[cisco][asa][outcome]}
CISCO_TRANSPORT %{WORD:protocol|[cisco][asa][network][transport]}
CISCO_FLOW %{CISCO_DIRECTION:direction|[cisco][asa][network][direction]}
CISCO_ON_INTERFACE on interface %{NOTSPACE:interface|[observer][egress][interface][name]}

# Failover
CISCOFW104001 \((?:Primary|Secondary)\) Switching to ACTIVE - %{GREEDYDATA:switch_reason|[event][reason]}
CISCOFW104002 \((?:Primary|Secondary)\) Switching to STANDBY - %{GREEDYDATA:switch_reason|[event][reason]}
CISCOFW104003 \((?:Primary|Secondary)\) Switching to FAILED\.
CISCOFW104004 \((?:Primary|Secondary)\) Switching to OK\.
CISCOFW105003 \((?:Primary|Secondary)\) Monitoring on [Ii]nterface %{NOTSPACE:interface_name|[network][interface][name]} waiting
CISCOFW105004 \((?:Primary|Secondary)\) Monitoring on [Ii]nterface %{NOTSPACE:interface_name|[network][interface][name]} normal
CISCOFW105005 \((?:Primary|Secondary)\) Lost Failover communications with mate on [Ii]nterface %{NOTSPACE:interface_name|[network][interface][name]}
CISCOFW105008 \((?:Primary|Secondary)\) Testing [Ii]nterface %{NOTSPACE:interface_name|[network][interface][name]}
CISCOFW105009 \((?:Primary|Secondary)\) Testing on [Ii]nterface %{NOTSPACE:interface_name|[network][interface][name]} (?:Passed|Failed)

# Packets refused or let through by a rule
CISCOFW106001 %{CISCO_FLOW} %{CISCO_TRANSPORT} connection %{CISCO_OUTCOME} from %{CISCO_SRC_IP_PORT} to %{CISCO_DST_IP_PORT} flags %{DATA:tcp_flags|[cisco][asa][tcp_flags]} %{CISCO_ON_INTERFACE}
legacy CISCOFW106006_106007_106010 %{CISCO_OUTCOME} %{CISCO_FLOW} %{CISCO_TRANSPORT} (?:from|src) %{CISCO_SRC_IP_PORT}(?:\(%{DATA:src_fwuser}\))? (?:to|dst) %{CISCO_DST_IP_PORT}(?:\(%{DATA:dst_fwuser}\))? (?:on interface %{DATA:interface}|due to %{CISCO_REASON:reason})
ecs CISCOFW106006_106007_106010 %{CISCO_OUTCOME} %{CISCO_FLOW} %{CISCO_TRANSPORT} (?:from|src) %{CISCO_SRC_IP_PORT}(?:\(%{DATA:[source][user][name]}\))? (?:to|dst) %{CISCO_DST_IP_PORT}(?:\(%{DATA:[destination][user][name]}\))? (?:%{CISCO_ON_INTERFACE}|due to %{CISCO_REASON:[event][reason]})
legacy CISCOFW106014 %{CISCO_OUTCOME} %{CISCO_FLOW} %{CISCO_TRANSPORT} src %{CISCO_SRC_IP_USER} dst %{CISCO_DST_IP_USER} \(type %{INT:icmp_type}, code %{INT:icmp_code}\)
ecs CISCOFW106014 %{CISCO_OUTCOME} %{CISCO_FLOW} %{CISCO_TRANSPORT} src %{CISCO_SRC_IP_USER} dst %{CISCO_DST_IP_USER}\s?\(type %{INT:[cisco][asa][icmp_type]:int}, code %{INT:[cisco][asa][icmp_code]:int}\)
CISCOFW106015 %{CISCO_OUTCOME} %{CISCO_TRANSPORT} \(%{DATA:policy_id|[cisco][asa][rule_name]}\) from %{CISCO_SRC_IP_PORT} to %{CISCO_DST_IP_PORT} flags %{DATA:tcp_flags|[cisco][asa][tcp_flags]} %{CISCO_ON_INTERFACE}
CISCOFW106021 %{CISCO_OUTCOME} %{CISCO_TRANSPORT} reverse path check from %{IP:src_ip|[source][ip]} to %{IP:dst_ip|[destination][ip]} %{CISCO_ON_INTERFACE}
CISCOFW106023 %{CISCO_OUTCOME}(?: protocol)? %{CISCO_TRANSPORT} src %{CISCO_SRC_HOST_PORT_USER} dst %{CISCO_DST_HOST_PORT_USER}(?: \(type %{INT:icmp_type|[cisco][asa][icmp_type]:int}, code %{INT:icmp_code|[cisco][asa][icmp_code]:int}\))? by access-group "?%{DATA:policy_id|[cisco][asa][rule_name]}"? %{CISCO_HASHCODES}
CISCOFW106100_2_3 access-list %{NOTSPACE:policy_id|[cisco][asa][rule_name]} %{CISCO_OUTCOME} %{CISCO_TRANSPORT} for user '%{DATA:src_fwuser|[user][name]}' %{DATA:src_interface|[observer][ingress][interface][name]}/%{IP:src_ip|[source][ip]}\(%{INT:src_port|[source][port]:int}\) -> %{DATA:dst_interface|[observer][egress][interface][name]}/%{IP:dst_ip|[destination][ip]}\(%{INT:dst_port|[destination][port]:int}\) %{CISCO_HITCOUNT_INTERVAL} %{CISCO_HASHCODES}
CISCOFW106100 access-list %{NOTSPACE:policy_id|[cisco][asa][rule_name]} %{CISCO_OUTCOME} %{CISCO_TRANSPORT} %{DATA:src_interface|[observer][ingress][interface][name]}/%{IP:src_ip|[source][ip]}\(%{INT:src_port|[source][port]:int}\)(?:\(%{DATA:src_fwuser|[source][user][name]}\))? -> %{DATA:dst_interface|[observer][egress][interface][name]}/%{IP:dst_ip|[destination][ip]}\(%{INT:dst_port|[destination][port]:int}\)(?:\(%{DATA:dst_fwuser|[destination][user][name]}\))? %{CISCO_HITCOUNT_INTERVAL} %{CISCO_HASHCODES}
CISCOFW304001 %{IP:src_ip|[source][ip]}(?:\(%{DATA:src_fwuser|[source][user][name]}\))? Accessed URL %{IP:dst_ip|[destination][ip]}:%{GREEDYDATA:dst_url|[url][original]}

# Connections and translations
legacy CISCOFW110002 %{CISCO_REASON:reason} for %{WORD:protocol} from %{DATA:src_interface}:%{IP:src_ip}/%{INT:src_port} to %{IP:dst_ip}/%{INT:dst_port}
ecs CISCOFW110002 %{CISCO_REASON:[event][reason]} for %{CISCO_TRANSPORT} from %{DATA:[observer][ingress][interface][name]}:%{CISCO_SRC_IP_PORT} to %{CISCO_DST_IP_PORT}
CISCOFW302010 %{INT:connection_count|[cisco][asa][connections][in_use]:int} in use, %{INT:connection_count_max|[cisco][asa][connections][most_used]:int} most used
CISCOFW302013_302014_302015_302016 %{CISCO_OUTCOME}(?: %{CISCO_FLOW})? %{CISCO_TRANSPORT} connection %{INT:connection_id|[cisco][asa][connection_id]} for %{CISCO_SRC_INTERFACE_IP_PORT}(?: \(%{IP:src_mapped_ip|[source][nat][ip]}/%{INT:src_mapped_port|[source][nat][port]:int}\))?(?:\(%{DATA:src_fwuser|[source][user][name]}\))? to %{CISCO_DST_INTERFACE_IP_PORT}(?: \(%{IP:dst_mapped_ip|[destination][nat][ip]}/%{INT:dst_mapped_port|[destination][nat][port]:int}\))?(?:\(%{DATA:dst_fwuser|[destination][user][name]}\))?(?: duration %{TIME:duration|[cisco][asa][duration]} bytes %{INT:bytes|[network][bytes]:int})?(?: %{CISCO_REASON:reason|[event][reason]})?(?: \(%{DATA:user|[user][name]}\))?
CISCOFW302020_302021 %{CISCO_OUTCOME}(?: %{CISCO_FLOW})? %{CISCO_TRANSPORT} connection for faddr %{IP:dst_ip|[destination][ip]}/%{INT:icmp_seq_num|[cisco][asa][icmp_seq]:int}(?:\(%{DATA:fwuser|[destination][user][name]}\))? gaddr %{IP:src_xlated_ip|[source][nat][ip]}/%{INT:icmp_code_xlated|[cisco][asa][icmp_type]:int} laddr %{IP:src_ip|[source][ip]}/%{INT:icmp_code|}(?: \(%{DATA:user|[user][name]}\))?
legacy CISCOFW305011 %{CISCO_OUTCOME} %{CISCO_XLATE_TYPE:xlate_type} %{CISCO_TRANSPORT} translation from %{DATA:src_interface}:%{IP:src_ip}(?:/%{INT:src_port})?(?:\(%{DATA:src_fwuser}\))? to %{DATA:src_xlated_interface}:%{IP:src_xlated_ip}/%{DATA:src_xlated_port}
ecs CISCOFW305011 %{CISCO_OUTCOME} %{CISCO_XLATE_TYPE} %{CISCO_TRANSPORT} translation from %{DATA:[observer][ingress][interface][name]}:%{IP:[source][ip]}(?:/%{INT:[source][port]:int})?(?:\(%{DATA:[source][user][name]}\))? to %{DATA:[observer][egress][interface][name]}:%{CISCO_DST_IP_PORT}
legacy CISCOFW313001_313004_313008 %{CISCO_OUTCOME} %{CISCO_TRANSPORT} type=%{INT:icmp_type}, code=%{INT:icmp_code} from %{IP:src_ip} on interface %{DATA:interface}(?: to %{IP:dst_ip})?
ecs CISCOFW313001_313004_313008 %{CISCO_OUTCOME} %{CISCO_TRANSPORT} type=%{INT:[cisco][asa][icmp_type]:int}, code=%{INT:[cisco][asa][icmp_code]:int} from %{IP:[source][ip]} %{CISCO_ON_INTERFACE}(?: to %{IP:[destination][ip]})?
legacy CISCOFW313005 %{CISCO_REASON:reason} for %{WORD:protocol} error message: %{WORD:err_protocol} src %{DATA:err_src_interface}:%{IP:err_src_ip}(?:\(%{DATA:err_src_fwuser}\))? dst %{DATA:err_dst_interface}:%{IP:err_dst_ip}(?:\(%{DATA:err_dst_fwuser}\))? \(type %{INT:err_icmp_type}, code %{INT:err_icmp_code}\) on %{DATA:interface} interface\.\s+Original IP payload: %{WORD:protocol} src %{IP:orig_src_ip}/%{INT:orig_src_port}(?:\(%{DATA:orig_src_fwuser}\))? dst %{IP:orig_dst_ip}/%{INT:orig_dst_port}(?:\(%{DATA:orig_dst_fwuser}\))?
ecs CISCOFW313005 %{CISCO_REASON:[event][reason]} for %{CISCO_TRANSPORT} error message: %{WORD} src %{CISCO_SRC_IP_USER} dst %{CISCO_DST_IP_USER}\s?\(type %{INT:[cisco][asa][icmp_type]:int}, code %{INT:[cisco][asa][icmp_code]:int}\) on %{NOTSPACE} interface\.\s+Original IP payload: %{WORD:[cisco][asa][original_ip_payload][network][transport]} src %{IP:[cisco][asa][original_ip_payload][source][ip]}/%{INT:[cisco][asa][original_ip_payload][source][port]:int}(?:\(%{DATA:[cisco][asa][original_ip_payload][source][user][name]}\))? dst %{IP:[cisco][asa][original_ip_payload][destination][ip]}/%{INT:[cisco][asa][original_ip_payload][destination][port]:int}(?:\(%{DATA:[cisco][asa][original_ip_payload][destination][user][name]}\))?
CISCOFW321001 Resource '%{DATA:resource_name|[cisco][asa][resource][name]}' limit of %{POSINT:resource_limit|[cisco][asa][resource][limit]:int} reached for system

# Tunnels
CISCOFW402117 %{WORD:protocol|[cisco][asa][network][type]}: Received a non-IPSec packet \(protocol=\s?%{WORD:orig_protocol|[cisco][asa][network][transport]}\) from %{IP:src_ip|[source][ip]} to %{IP:dst_ip|[destination][ip]}\.?
CISCOFW402119 %{WORD:protocol|[cisco][asa][network][type]}: Received an %{WORD:orig_protocol|[cisco][asa][ipsec][protocol]} packet \(SPI=\s?%{DATA:spi|[cisco][asa][ipsec][spi]}, sequence number=\s?%{DATA:seq_num|[cisco][asa][ipsec][seq_num]}\) from %{IP:src_ip|[source][ip]} \(user=\s?%{DATA:user|[source][user][name]}\) to %{IP:dst_ip|[destination][ip]} that failed anti-replay checking\.?
CISCOFW419001 %{CISCO_OUTCOME} %{CISCO_TRANSPORT} packet from %{CISCO_SRC_INTERFACE_IP_PORT} to %{CISCO_DST_INTERFACE_IP_PORT}, reason: %{GREEDYDATA:reason|[event][reason]}
CISCOFW419002 %{CISCO_REASON:reason|[event][reason]} from %{CISCO_SRC_INTERFACE_IP_PORT} to %{CISCO_DST_INTERFACE_IP_PORT} with different initial sequence number
CISCOFW500004 %{CISCO_REASON:reason|[event][reason]} for protocol=%{WORD:protocol|[cisco][asa][network][transport]}, from %{CISCO_SRC_IP_PORT} to %{CISCO_DST_IP_PORT}
CISCOFW602303_602304 %{WORD:protocol|[cisco][asa][network][type]}: An %{CISCO_FLOW} %{DATA:tunnel_type|[cisco][asa][ipsec][tunnel_type]} SA \(SPI=\s?%{DATA:spi|[cisco][asa][ipsec][spi]}\) between %{IP:src_ip|[source][ip]} and %{IP:dst_ip|[destination][ip]} \(user=\s?%{DATA:user|[source][user][name]}\) has been %{CISCO_OUTCOME}
CISCOFW710001_710002_710003_710005_710006 %{CISCO_TRANSPORT} (?:request|access) %{CISCO_OUTCOME} from %{CISCO_SRC_IP_PORT} to %{CISCO_DST_INTERFACE_IP_PORT}
CISCOFW713172 Group = %{DATA:group|[cisco][asa][source][group]}, IP = %{IP:src_ip|[source][ip]}, Automatic NAT Detection Status:\s+Remote end\s*%{DATA:is_remote_natted|[@metadata][cisco][asa][remote_nat]}\s*behind a NAT device\s+This\s+end\s*%{DATA:is_local_natted|[@metadata][cisco][asa][local_nat]}\s*behind a NAT device
CISCOFW733100 \[\s*%{DATA:drop_type|[cisco][asa][burst][object]}\s*\] drop %{DATA:drop_rate_id|[cisco][asa][burst][id]} exceeded\. Current burst rate is %{INT:drop_rate_current_burst|[cisco][asa][burst][current_rate]:int} per second, max configured rate is %{INT:drop_rate_max_burst|[cisco][asa][burst][configured_rate]:int}; Current average rate is %{INT:drop_rate_current_avg|[cisco][asa][burst][avg_rate]:int} per second, max configured rate is %{INT:drop_rate_max_avg|[cisco][asa][burst][configured_avg_rate]:int}; Cumulative total count is %{INT:drop_total_count|[cisco][asa][burst][cumulative_count]:int}
`;

const juniperPatterns = String.raw`
legacy NETSCREENSESSIONLOG %{SYSLOGTIMESTAMP:date} %{IPORHOST:device} %{IPORHOST}: NetScreen device_id=%{WORD:device_id}%{DATA}: start_time=%{QUOTEDSTRING:start_time} duration=%{INT:duration} policy_id=%{INT:policy_id} service=%{DATA:service} proto=%{INT:proto} src zone=%{WORD:src_zone} dst zone=%{WORD:dst_zone} action=%{WORD:action} sent=%{INT:sent} rcvd=%{INT:rcvd} src=%{IPORHOST:src_ip} dst=%{IPORHOST:dst_ip} src_port=%{INT:src_port} dst_port=%{INT:dst_port} src-xlated ip=%{IPORHOST:src_xlated_ip} port=%{INT:src_xlated_port} dst-xlated ip=%{IPORHOST:dst_xlated_ip} port=%{INT:dst_xlated_port} session_id=%{INT:session_id} reason=%{GREEDYDATA:reason}
ecs NETSCREENSESSIONLOG %{SYSLOGTIMESTAMP:timestamp} %{IPORHOST:[observer][hostname]} %{NOTSPACE:[observer][name]}: (?<[observer][product]>NetScreen) device_id=%{WORD:[netscreen][device_id]} .*?\[%{DATA}\]system-\w+-%{NONNEGINT:[event][code]}\(%{WORD:[netscreen][session][type]}\): start_time="%{DATA:[netscreen][session][start_time]}" duration=%{INT:[netscreen][session][duration]:int} policy_id=%{INT:[netscreen][policy_id]} service=%{DATA:[netscreen][service]} proto=%{INT:[netscreen][protocol_number]:int} src zone=%{WORD:[observer][ingress][zone]} dst zone=%{WORD:[observer][egress][zone]} action=%{WORD:[event][action]} sent=%{INT:[source][bytes]:int} rcvd=%{INT:[destination][bytes]:int} src=%{IPORHOST:[source][address]} dst=%{IPORHOST:[destination][address]}(?: src_port=%{INT:[source][port]:int} dst_port=%{INT:[destination][port]:int})?(?: src-xlated ip=%{IP:[source][nat][ip]} port=%{INT:[source][nat][port]:int} dst-xlated ip=%{IP:[destination][nat][ip]} port=%{INT:[destination][nat][port]:int})?(?: session_id=%{INT:[netscreen][session][id]} reason=%{GREEDYDATA:[netscreen][session][reason]})?

# Junos: sessions of an SRX
RT_FLOW_TAG (?:RT_FLOW_SESSION_CREATE|RT_FLOW_SESSION_CLOSE|RT_FLOW_SESSION_DENY)
RT_FLOW_EVENT %{RT_FLOW_TAG}
RT_FLOW_ENDPOINTS %{IP:src-ip|[source][ip]}/%{INT:src-port|[source][port]:int}->%{IP:dst-ip|[destination][ip]}/%{INT:dst-port|[destination][port]:int} %{DATA:service|[juniper][srx][service_name]}
ecs RT_FLOW_NAT %{IP:[source][nat][ip]}/%{INT:[source][nat][port]:int}->%{IP:[destination][nat][ip]}/%{INT:[destination][nat][port]:int} (?:None|%{DATA:[juniper][srx][src_nat_rule_name]}) (?:None|%{DATA:[juniper][srx][dst_nat_rule_name]})
legacy RT_FLOW_NAT %{IP:nat-src-ip}/%{INT:nat-src-port}->%{IP:nat-dst-ip}/%{INT:nat-dst-port} %{DATA:src-nat-rule-name} %{DATA:dst-nat-rule-name}
RT_FLOW_POLICY %{DATA:policy-name|[rule][name]} %{DATA:from-zone|[observer][ingress][zone]} %{DATA:to-zone|[observer][egress][zone]}
RT_FLOW1 %{RT_FLOW_TAG:event|[juniper][srx][tag]}: %{GREEDYDATA:close-reason|[juniper][srx][reason]}: %{RT_FLOW_ENDPOINTS} %{RT_FLOW_NAT} %{INT:protocol-id|[network][iana_number]} %{RT_FLOW_POLICY} %{INT:session-id|[juniper][srx][session_id]} \d+\(%{INT:sent|[source][bytes]:int}\) \d+\(%{INT:received|[destination][bytes]:int}\) %{INT:elapsed-time|[juniper][srx][elapsed_time]:int} .*
RT_FLOW2 %{RT_FLOW_TAG:event|[juniper][srx][tag]}: session created %{RT_FLOW_ENDPOINTS} %{RT_FLOW_NAT} %{INT:protocol-id|[network][iana_number]} %{RT_FLOW_POLICY} %{INT:session-id|[juniper][srx][session_id]} .*
RT_FLOW3 %{RT_FLOW_TAG:event|[juniper][srx][tag]}: session denied %{RT_FLOW_ENDPOINTS} %{INT:protocol-id|[network][iana_number]}\(\d\) %{RT_FLOW_POLICY} .*
`;

const netfilterPatterns = String.raw`
# The kernel's log target: IPv4, then IPv6, then what the protocol adds
ecs IPTABLES_TCP_FLAGS (?:CWR |ECE |URG |ACK |PSH |RST |SYN |FIN )*
ecs IPTABLES_TCP_PART (?:SEQ=%{INT:[iptables][tcp][seq]:int}\s+)?(?:ACK=%{INT:[iptables][tcp][ack]:int}\s+)?WINDOW=%{INT:[iptables][tcp][window]:int}\s+RES=0x%{BASE16NUM:[iptables][tcp_reserved_bits]}\s+%{IPTABLES_TCP_FLAGS:[iptables][tcp][flags]}
ecs IPTABLES4_FRAG (?:CE |DF |MF )*
ecs IPTABLES4_PART SRC=%{IPV4:[source][ip]}\s+DST=%{IPV4:[destination][ip]}\s+LEN=%{INT:[iptables][length]:int}\s+TOS=(?:0|0x)?%{BASE16NUM:[iptables][tos]}\s+PREC=(?:0x)?%{BASE16NUM:[iptables][precedence_bits]}\s+TTL=%{INT:[iptables][ttl]:int}\s+ID=%{INT:[iptables][id]}\s+(?:(?<[iptables][fragment_flags]>CE|DF|MF)\s+)*(?:FRAG=%{INT:[iptables][fragment_offset]:int}\s+)?
ecs IPTABLES6_PART SRC=%{IPV6:[source][ip]}\s+DST=%{IPV6:[destination][ip]}\s+LEN=%{INT:[iptables][length]}\s+TC=(?:%{INT}|(?:0x)?%{BASE16NUM})\s+HOPLIMIT=%{INT:[iptables][ttl]}\s+FLOWLBL=%{INT:[iptables][flow_label]}\s+
ecs IPTABLES IN=(?:%{NOTSPACE:[observer][ingress][interface][name]})?\s+OUT=(?:%{NOTSPACE:[observer][egress][interface][name]})?\s+(?:MAC=(?:%{COMMONMAC:[destination][mac]})?(?::%{COMMONMAC:[source][mac]})?(?::[A-Fa-f0-9]{2}:[A-Fa-f0-9]{2})?\s+)?(?:%{IPTABLES4_PART}|%{IPTABLES6_PART})PROTO=%{WORD:[network][transport]}\s+SPT=%{INT:[source][port]:int}\s+DPT=%{INT:[destination][port]:int}\s+(?:%{IPTABLES_TCP_PART})?

# SuSEfirewall2
legacy SFW2 (?:%{SYSLOGTIMESTAMP:timestamp}|%{TIMESTAMP_ISO8601:timestamp})\s*%{HOSTNAME}\s*kernel\S+\s*(?:%{NAGIOSTIME}\s*)?SFW2-INext-%{NOTSPACE:nf_action}\s*IN=%{USERNAME:nf_in_interface}.*OUT=(?:\s*|%{USERNAME:nf_out_interface}\s*)MAC=(?:%{COMMONMAC:nf_dst_mac}:%{COMMONMAC:nf_src_mac})?.*SRC=%{IP:nf_src_ip}\s*DST=%{IP:nf_dst_ip}.*PROTO=%{WORD:nf_protocol}(?:\s*SPT=%{INT:nf_src_port}\s*DPT=%{INT:nf_dst_port}.*)?
ecs SFW2_LOG_PREFIX SFW2-INext-%{NOTSPACE:[suse][firewall][action]}
ecs SFW2 (?:%{SYSLOGTIMESTAMP:timestamp}|%{TIMESTAMP_ISO8601:timestamp})\s*%{HOSTNAME:[observer][hostname]}.*?(?<[suse][firewall][log_prefix]>%{SFW2_LOG_PREFIX})\s*%{IPTABLES}

# Shorewall
legacy SHOREWALL (?:%{SYSLOGTIMESTAMP:timestamp}) (?:%{WORD:nf_host}) .*Shorewall:(?:%{WORD:nf_action1})?:(?:%{WORD:nf_action2})?.*IN=(?:%{USERNAME:nf_in_interface})?.*(?:OUT= *MAC=(?:%{COMMONMAC:nf_dst_mac}):(?:%{COMMONMAC:nf_src_mac})?|OUT=%{USERNAME:nf_out_interface}).*SRC=(?:%{IPV4:nf_src_ip}).*DST=(?:%{IPV4:nf_dst_ip}).*LEN=(?:%{WORD:nf_len}).*?TOS=(?:%{WORD:nf_tos}).*?PREC=(?:%{WORD:nf_prec}).*?TTL=(?:%{INT:nf_ttl}).*?ID=(?:%{INT:nf_id}).*?PROTO=(?:%{WORD:nf_protocol}).*?SPT=(?:%{INT:nf_src_port}?.*DPT=%{INT:nf_dst_port}?)
ecs SHOREWALL (?:%{SYSLOGTIMESTAMP:timestamp}) %{WORD:[observer][hostname]} .*Shorewall:%{WORD:[shorewall][firewall][type]}?:%{WORD:[shorewall][firewall][action]}?.*?%{IPTABLES}
`;

export const firewallPatterns = ciscoPatterns + juniperPatterns + netfilterPatterns;
