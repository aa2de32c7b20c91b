/**
 * Names and types of the fields of flow records: NetFlow version 9 (RFC 3954 §8, with the fields of Cisco's firewalls) and
 * IPFIX (www.iana.org/assignments/ipfix), and how their values are read.
 */

import { decimal } from "#proto/codec/json.ts";

/**
 * How a value is read: u an unsigned number, a an IPv4 address, b an IPv6 address, m a MAC address, s a text, o bytes in hexadecimal, f a float, c an
 * application's class and number (RFC 6759), l the three numbers of an access list, w the status of forwarding and its reason, p padding, which has
 * no value.
 */
type FieldKind = "u" | "a" | "b" | "m" | "s" | "o" | "f" | "c" | "l" | "w" | "p";

export interface FlowField {
  readonly name: string;
  readonly kind: FieldKind;
}

/** Fields of reverse flows have the numbers of forward ones under this enterprise (RFC 5103 §6.1). */
const REVERSE_ENTERPRISE = 29_305;

/** Class of the applications that an enterprise numbers: PANA-L7-PEN (RFC 6759 §4.1). */
const ENTERPRISE_CLASS = 20;

const IPFIX = parseTable(`
1u:octetDeltaCount 2u:packetDeltaCount 3u:deltaFlowCount 4u:protocolIdentifier 5u:ipClassOfService
6u:tcpControlBits 7u:sourceTransportPort 8a:sourceIPv4Address 9u:sourceIPv4PrefixLength 10u:ingressInterface
11u:destinationTransportPort 12a:destinationIPv4Address 13u:destinationIPv4PrefixLength 14u:egressInterface
15a:ipNextHopIPv4Address 16u:bgpSourceAsNumber 17u:bgpDestinationAsNumber 18a:bgpNextHopIPv4Address
19u:postMCastPacketDeltaCount 20u:postMCastOctetDeltaCount 21u:flowEndSysUpTime 22u:flowStartSysUpTime
23u:postOctetDeltaCount 24u:postPacketDeltaCount 25u:minimumIpTotalLength 26u:maximumIpTotalLength
27b:sourceIPv6Address 28b:destinationIPv6Address 29u:sourceIPv6PrefixLength 30u:destinationIPv6PrefixLength
31u:flowLabelIPv6 32u:icmpTypeCodeIPv4 33u:igmpType 34u:samplingInterval 35u:samplingAlgorithm
36u:flowActiveTimeout 37u:flowIdleTimeout 38u:engineType 39u:engineId 40u:exportedOctetTotalCount
41u:exportedMessageTotalCount 42u:exportedFlowRecordTotalCount 43a:ipv4RouterSc 44a:sourceIPv4Prefix
45a:destinationIPv4Prefix 46u:mplsTopLabelType 47a:mplsTopLabelIPv4Address 48u:samplerId 49u:samplerMode
50u:samplerRandomInterval 51u:classId 52u:minimumTTL 53u:maximumTTL 54u:fragmentIdentification
55u:postIpClassOfService 56m:sourceMacAddress 57m:postDestinationMacAddress 58u:vlanId 59u:postVlanId
60u:ipVersion 61u:flowDirection 62b:ipNextHopIPv6Address 63b:bgpNextHopIPv6Address 64u:ipv6ExtensionHeaders
70o:mplsTopLabelStackSection 71o:mplsLabelStackSection2 72o:mplsLabelStackSection3 73o:mplsLabelStackSection4
74o:mplsLabelStackSection5 75o:mplsLabelStackSection6 76o:mplsLabelStackSection7 77o:mplsLabelStackSection8
78o:mplsLabelStackSection9 79o:mplsLabelStackSection10 80m:destinationMacAddress 81m:postSourceMacAddress
82s:interfaceName 83s:interfaceDescription 84s:samplerName 85u:octetTotalCount 86u:packetTotalCount
87u:flagsAndSamplerId 88u:fragmentOffset 89u:forwardingStatus 90o:mplsVpnRouteDistinguisher
91u:mplsTopLabelPrefixLength 92u:srcTrafficIndex 93u:dstTrafficIndex 94s:applicationDescription
95c:applicationId 96s:applicationName 98u:postIpDiffServCodePoint 99u:multicastReplicationFactor 100s:className
101u:classificationEngineId 102u:layer2packetSectionOffset 103u:layer2packetSectionSize
104o:layer2packetSectionData 128u:bgpNextAdjacentAsNumber 129u:bgpPrevAdjacentAsNumber 130a:exporterIPv4Address
131b:exporterIPv6Address 132u:droppedOctetDeltaCount 133u:droppedPacketDeltaCount 134u:droppedOctetTotalCount
135u:droppedPacketTotalCount 136u:flowEndReason 137u:commonPropertiesId 138u:observationPointId
139u:icmpTypeCodeIPv6 140b:mplsTopLabelIPv6Address 141u:lineCardId 142u:portId 143u:meteringProcessId
144u:exportingProcessId 145u:templateId 146u:wlanChannelId 147s:wlanSSID 148u:flowId 149u:observationDomainId
150u:flowStartSeconds 151u:flowEndSeconds 152u:flowStartMilliseconds 153u:flowEndMilliseconds
154u:flowStartMicroseconds 155u:flowEndMicroseconds 156u:flowStartNanoseconds 157u:flowEndNanoseconds
158u:flowStartDeltaMicroseconds 159u:flowEndDeltaMicroseconds 160u:systemInitTimeMilliseconds
161u:flowDurationMilliseconds 162u:flowDurationMicroseconds 163u:observedFlowTotalCount
164u:ignoredPacketTotalCount 165u:ignoredOctetTotalCount 166u:notSentFlowTotalCount 167u:notSentPacketTotalCount
168u:notSentOctetTotalCount 169b:destinationIPv6Prefix 170b:sourceIPv6Prefix 171u:postOctetTotalCount
172u:postPacketTotalCount 173u:flowKeyIndicator 174u:postMCastPacketTotalCount 175u:postMCastOctetTotalCount
176u:icmpTypeIPv4 177u:icmpCodeIPv4 178u:icmpTypeIPv6 179u:icmpCodeIPv6 180u:udpSourcePort
181u:udpDestinationPort 182u:tcpSourcePort 183u:tcpDestinationPort 184u:tcpSequenceNumber
185u:tcpAcknowledgementNumber 186u:tcpWindowSize 187u:tcpUrgentPointer 188u:tcpHeaderLength 189u:ipHeaderLength
190u:totalLengthIPv4 191u:payloadLengthIPv6 192u:ipTTL 193u:nextHeaderIPv6 194u:mplsPayloadLength
195u:ipDiffServCodePoint 196u:ipPrecedence 197u:fragmentFlags 198u:octetDeltaSumOfSquares
199u:octetTotalSumOfSquares 200u:mplsTopLabelTTL 201u:mplsLabelStackLength 202u:mplsLabelStackDepth
203u:mplsTopLabelExp 204u:ipPayloadLength 205u:udpMessageLength 206u:isMulticast 207u:ipv4IHL 208u:ipv4Options
209u:tcpOptions 210p:paddingOctets 211a:collectorIPv4Address 212b:collectorIPv6Address 213u:exportInterface
214u:exportProtocolVersion 215u:exportTransportProtocol 216u:collectorTransportPort 217u:exporterTransportPort
218u:tcpSynTotalCount 219u:tcpFinTotalCount 220u:tcpRstTotalCount 221u:tcpPshTotalCount 222u:tcpAckTotalCount
223u:tcpUrgTotalCount 224u:ipTotalLength 225a:postNATSourceIPv4Address 226a:postNATDestinationIPv4Address
227u:postNAPTSourceTransportPort 228u:postNAPTDestinationTransportPort 229u:natOriginatingAddressRealm
230u:natEvent 231u:initiatorOctets 232u:responderOctets 233u:firewallEvent 234u:ingressVRFID 235u:egressVRFID
236s:VRFname 237u:postMplsTopLabelExp 238u:tcpWindowScale 239u:biflowDirection 240u:ethernetHeaderLength
241u:ethernetPayloadLength 242u:ethernetTotalLength 243u:dot1qVlanId 244u:dot1qPriority 245u:dot1qCustomerVlanId
246u:dot1qCustomerPriority 247s:metroEvcId 248u:metroEvcType 249u:pseudoWireId 250u:pseudoWireType
251u:pseudoWireControlWord 252u:ingressPhysicalInterface 253u:egressPhysicalInterface 254u:postDot1qVlanId
255u:postDot1qCustomerVlanId 256u:ethernetType 257u:postIpPrecedence 258u:collectionTimeMilliseconds
259u:exportSctpStreamId 260u:maxExportSeconds 261u:maxFlowEndSeconds 262o:messageMD5Checksum 263u:messageScope
264u:minExportSeconds 265u:minFlowStartSeconds 266o:opaqueOctets 267u:sessionScope 268u:maxFlowEndMicroseconds
269u:maxFlowEndMilliseconds 270u:maxFlowEndNanoseconds 271u:minFlowStartMicroseconds
272u:minFlowStartMilliseconds 273u:minFlowStartNanoseconds 274o:collectorCertificate 275o:exporterCertificate
276u:dataRecordsReliability 277u:observationPointType 278u:newConnectionDeltaCount
279u:connectionSumDurationSeconds 280u:connectionTransactionId 281b:postNATSourceIPv6Address
282b:postNATDestinationIPv6Address 283u:natPoolId 284s:natPoolName 285u:anonymizationFlags
286u:anonymizationTechnique 287u:informationElementIndex 288s:p2pTechnology 289s:tunnelTechnology
290s:encryptedTechnology 294u:bgpValidityState 295u:IPSecSPI 296u:greKey 297u:natType 298u:initiatorPackets
299u:responderPackets 300s:observationDomainName 301u:selectionSequenceId 302u:selectorId
303u:informationElementId 304u:selectorAlgorithm 305u:samplingPacketInterval 306u:samplingPacketSpace
307u:samplingTimeInterval 308u:samplingTimeSpace 309u:samplingSize 310u:samplingPopulation
311f:samplingProbability 312u:dataLinkFrameSize 313o:ipHeaderPacketSection 314o:ipPayloadPacketSection
315o:dataLinkFrameSection 316o:mplsLabelStackSection 317o:mplsPayloadPacketSection
318u:selectorIdTotalPktsObserved 319u:selectorIdTotalPktsSelected 320f:absoluteError 321f:relativeError
322u:observationTimeSeconds 323u:observationTimeMilliseconds 324u:observationTimeMicroseconds
325u:observationTimeNanoseconds 326u:digestHashValue 327u:hashIPPayloadOffset 328u:hashIPPayloadSize
329u:hashOutputRangeMin 330u:hashOutputRangeMax 331u:hashSelectedRangeMin 332u:hashSelectedRangeMax
333u:hashDigestOutput 334u:hashInitialiserValue 335s:selectorName 336f:upperCILimit 337f:lowerCILimit
338f:confidenceLevel 339u:informationElementDataType 340s:informationElementDescription
341s:informationElementName 342u:informationElementRangeBegin 343u:informationElementRangeEnd
344u:informationElementSemantics 345u:informationElementUnits 346u:privateEnterpriseNumber
347s:virtualStationInterfaceId 348s:virtualStationInterfaceName 349s:virtualStationUUID 350s:virtualStationName
351u:layer2SegmentId 352u:layer2OctetDeltaCount 353u:layer2OctetTotalCount 354u:ingressUnicastPacketTotalCount
355u:ingressMulticastPacketTotalCount 356u:ingressBroadcastPacketTotalCount 357u:egressUnicastPacketTotalCount
358u:egressBroadcastPacketTotalCount 359u:monitoringIntervalStartMilliSeconds
360u:monitoringIntervalEndMilliSeconds 361u:portRangeStart 362u:portRangeEnd 363u:portRangeStepSize
364u:portRangeNumPorts 365m:staMacAddress 366a:staIPv4Address 367m:wtpMacAddress 368u:ingressInterfaceType
369u:egressInterfaceType 370u:rtpSequenceNumber 371s:userName 372s:applicationCategoryName
373s:applicationSubCategoryName 374s:applicationGroupName 375u:originalFlowsPresent 376u:originalFlowsInitiated
377u:originalFlowsCompleted 378u:distinctCountOfSourceIPAddress 379u:distinctCountOfDestinationIPAddress
380u:distinctCountOfSourceIPv4Address 381u:distinctCountOfDestinationIPv4Address
382u:distinctCountOfSourceIPv6Address 383u:distinctCountOfDestinationIPv6Address 384u:valueDistributionMethod
385u:rfc3550JitterMilliseconds 386u:rfc3550JitterMicroseconds 387u:rfc3550JitterNanoseconds 388u:dot1qDEI
389u:dot1qCustomerDEI 390u:flowSelectorAlgorithm 391u:flowSelectedOctetDeltaCount
392u:flowSelectedPacketDeltaCount 393u:flowSelectedFlowDeltaCount 394u:selectorIDTotalFlowsObserved
395u:selectorIDTotalFlowsSelected 396u:samplingFlowInterval 397u:samplingFlowSpacing
398u:flowSamplingTimeInterval 399u:flowSamplingTimeSpacing 400u:hashFlowDomain 401u:transportOctetDeltaCount
402u:transportPacketDeltaCount 403a:originalExporterIPv4Address 404b:originalExporterIPv6Address
405u:originalObservationDomainId 406u:intermediateProcessId 407u:ignoredDataRecordTotalCount
408u:dataLinkFrameType 409u:sectionOffset 410u:sectionExportedOctets 411s:dot1qServiceInstanceTag
412u:dot1qServiceInstanceId 413u:dot1qServiceInstancePriority 414m:dot1qCustomerSourceMacAddress
415m:dot1qCustomerDestinationMacAddress 417u:postLayer2OctetDeltaCount 418u:postMCastLayer2OctetDeltaCount
420u:postLayer2OctetTotalCount 421u:postMCastLayer2OctetTotalCount 422u:minimumLayer2TotalLength
423u:maximumLayer2TotalLength 424u:droppedLayer2OctetDeltaCount 425u:droppedLayer2OctetTotalCount
426u:ignoredLayer2OctetTotalCount 427u:notSentLayer2OctetTotalCount 428u:layer2OctetDeltaSumOfSquares
429u:layer2OctetTotalSumOfSquares 430u:layer2FrameDeltaCount 431u:layer2FrameTotalCount
432a:pseudoWireDestinationIPv4Address 433u:ignoredLayer2FrameTotalCount
`);

/** Where their names are other ones than those of IPFIX. */
const NETFLOW = parseTable(`
0p:padding 1u:in_bytes 2u:in_pkts 3u:flows 4u:protocol 5u:src_tos 6u:tcp_flags 7u:l4_src_port 8a:ipv4_src_addr 9u:src_mask
10u:input_snmp 11u:l4_dst_port 12a:ipv4_dst_addr 13u:dst_mask 14u:output_snmp 15a:ipv4_next_hop 16u:src_as
17u:dst_as 18a:bgp_ipv4_next_hop 19u:mul_dst_pkts 20u:mul_dst_bytes 21u:last_switched 22u:first_switched
23u:out_bytes 24u:out_pkts 25u:min_pkt_length 26u:max_pkt_length 27b:ipv6_src_addr 28b:ipv6_dst_addr
29u:ipv6_src_mask 30u:ipv6_dst_mask 31u:ipv6_flow_label 32u:icmp_type 33u:mul_igmp_type 34u:sampling_interval
35u:sampling_algorithm 36u:flow_active_timeout 37u:flow_inactive_timeout 38u:engine_type 39u:engine_id
40u:total_bytes_exp 41u:total_pkts_exp 42u:total_flows_exp 44a:ipv4_src_prefix 45a:ipv4_dst_prefix
46u:mpls_top_label_type 47u:mpls_top_label_ip_addr 48u:flow_sampler_id 49u:flow_sampler_mode
50u:flow_sampler_random_interval 52u:min_ttl 53u:max_ttl 54u:ipv4_ident 55u:dst_tos 56m:in_src_mac
57m:out_dst_mac 58u:src_vlan 59u:dst_vlan 60u:ip_protocol_version 61u:direction 62b:ipv6_next_hop
63b:bgp_ipv6_next_hop 64u:ipv6_option_headers 80m:in_dst_mac 81m:out_src_mac 82s:if_name 83s:if_desc
84s:sampler_name 85u:in_permanent_bytes 86u:in_permanent_pkts 89w:forwarding_status 92u:src_traffic_index
93u:dst_traffic_index 94s:application_description 95c:application_id 96s:application_name 136u:flow_end_reason
148u:conn_id 152u:flow_start_msec 153u:flow_end_msec 176u:icmp_type 177u:icmp_code 178u:icmp_type_ipv6
179u:icmp_code_ipv6 180u:udp_src_port 181u:udp_dst_port 182u:tcp_src_port 194u:ip_tos 195u:ip_dscp
201u:mpls_label_stack_octets 225a:xlate_src_addr_ipv4 226a:xlate_dst_addr_ipv4 227u:xlate_src_port
228u:xlate_dst_port 231u:fwd_flow_delta_bytes 232u:rev_flow_delta_bytes 233u:fw_event 281b:xlate_src_addr_ipv6
282b:xlate_dst_addr_ipv6 323u:event_time_msec 361u:postNATPortBlockStart 362u:postNATPortBlockEnd
33000l:ingress_acl_id 33001l:egress_acl_id 33002u:fw_ext_event 40000s:username 40001a:xlate_src_addr_ipv4
40002a:xlate_dst_addr_ipv4 40003u:xlate_src_port 40004u:xlate_dst_port 40005u:fw_event 56701s:app_id
56702s:user_id 57590u:nprobe_proto 57591s:nprobe_proto_name
`);

/** Scopes of option records of NetFlow. */
const SCOPES = ["system", "interface", "line_card", "netflow_cache", "template"];

/** Each entry is number, kind, ":" and name. */
function parseTable(text: string): ReadonlyMap<number, FlowField> {
  const fields = new Map<number, FlowField>();
  for (const [, number, kind, name] of text.matchAll(/(\d+)(\w):(\w+)/g))
    fields.set(Number(number), { name: name!, kind: kind as FieldKind });
  return fields;
}

/** Returns a field of NetFlow version 9. */
export function netflowField(type: number): FlowField {
  return NETFLOW.get(type) ?? IPFIX.get(type) ?? { name: `field_${type}`, kind: "u" };
}

/** Returns what a record of options is about. */
export function netflowScope(type: number): FlowField {
  return { name: `scope_${SCOPES[type - 1] ?? type}`, kind: "u" };
}

/** Returns a field of IPFIX; one of an enterprise is named by its numbers. */
export function ipfixField(type: number, enterprise: number): FlowField {
  const known = enterprise === 0 || enterprise === REVERSE_ENTERPRISE ? IPFIX.get(type) : undefined;
  if (known === undefined) {
    return { name: enterprise === 0 ? `field_${type}` : `enterprise_${enterprise}_${type}`, kind: "u" };
  }
  if (enterprise === 0) return known;
  return { name: `reverse${known.name[0]!.toUpperCase()}${known.name.slice(1)}`, kind: known.kind };
}

/** Returns a field's value; a number that has more than 53 bits as text, what has no number's length in hexadecimal. */
export function fieldValue(kind: FieldKind, bytes: Buffer): unknown {
  const { length } = bytes;
  if (kind === "a" && length === 4) return bytes.join(".");
  if (kind === "b" && length === 16) return ipv6Text(bytes);
  if (kind === "m" && length === 6) return bytes.toString("hex").match(/../g)!.join(":");
  if (kind === "s") return bytes.toString().replace(/(?<!\0)\0+$/, "");
  if (kind === "o") return bytes.toString("hex");
  if (kind === "f" && length === 8) return finite(bytes.readDoubleBE());
  if (kind === "f" && length === 4) return finite(bytes.readFloatBE());
  if (kind === "c" && length > 1) return applicationText(bytes);
  // A status of forwarding is in the upper bits, its reason in the others (RFC 7270 §4.12).
  if (kind === "w" && length > 0) return { status: bytes.at(-1)! >> 6, reason: bytes.at(-1)! & 0x3f };
  if (kind === "l" && length === 12) return bytes.toString("hex").match(/.{8}/g)!.join("-");
  return unsigned(bytes);
}

/** An application of an enterprise has the enterprise's number between its class and its own. */
function applicationText(bytes: Buffer): string {
  const numbers =
    bytes[0] === ENTERPRISE_CLASS && bytes.length > 5
      ? [bytes.subarray(1, 5), bytes.subarray(5)]
      : [bytes.subarray(1)];
  return [bytes[0], ...numbers.map(unsigned)].join("..");
}

function unsigned(bytes: Buffer): string | number {
  const { length } = bytes;
  if (length > 0 && length <= 6) return bytes.readUIntBE(0, length);
  if (length !== 8) return bytes.toString("hex");
  const value = bytes.readBigUInt64BE();
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value.toString();
}

/** JSON has no NaN and no infinity. */
function finite(value: number): unknown {
  return Number.isFinite(value) ? decimal(value) : String(value);
}

/** Returns an IPv6 address as RFC 5952 writes it. */
function ipv6Text(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(2 * at).toString(16));
  let longest = { at: 0, count: 1 };
  for (let at = 0; at < groups.length; at++) {
    let end = at;
    while (groups[end] === "0") end++;
    if (end - at > longest.count) longest = { at, count: end - at };
    at = Math.max(at, end - 1);
  }
  const { at, count } = longest;
  if (count === 1) return groups.join(":");
  return `${groups.slice(0, at).join(":")}::${groups.slice(at + count).join(":")}`;
}
