/** Names that Elasticsearch has for the handlers of its interface; `_nodes/usage` counts by them. */

import type { Method } from "#hub/api/http/request.ts";
import type { Route } from "#hub/api/http/route.ts";

/** Methods, the route's first path, and the name. */
const NAMES = `
GET HEAD / main_action
POST PUT /_bulk bulk_action
GET POST /_mget document_mget_action
POST /{index}/{type} document_index_action
PUT POST /{index}/{type}/{id} document_index_action
PUT POST /{index}/{type}/{id}/_create document_create_action
GET HEAD /{index}/{type}/{id} document_get_action
GET HEAD /{index}/{type}/{id}/_source document_get_source_action
DELETE /{index}/{type}/{id} document_delete_action
POST /{index}/{type}/{id}/_update document_update_action
GET POST /{index}/{type}/{id}/_termvectors document_term_vectors_action
GET POST /_mtermvectors document_multi_term_vectors_action
GET POST /_search search_action
GET POST /_msearch msearch_action
GET POST /_search/scroll search_scroll_action
DELETE /_search/scroll clear_scroll_action
GET POST /_search/template search_template_action
GET POST /_msearch/template multi_search_template_action
GET POST /_render/template render_search_template_action
GET POST /_search_shards cluster_search_shards_action
GET POST /_count count_action
GET POST /_field_caps field_capabilities_action
GET POST /_rank_eval rank_eval_action
GET POST /_validate/query validate_query_action
GET POST /{index}/{type}/{id}/_explain explain_action
POST /{index}/_pit open_point_in_time
DELETE /_pit close_point_in_time
POST /_async_search async_search_submit_action
GET /_async_search/{id} async_search_get_action
GET /_async_search/status/{id} async_search_status_action
DELETE /_async_search/{id} async_search_delete_action
GET POST /{index}/_terms_enum term_enum_action
PUT POST /_scripts/{id} put_stored_script_action
GET /_scripts/{id} get_stored_script_action
DELETE /_scripts/{id} delete_stored_script_action
GET /_script_context script_context_action
GET /_script_language script_language_action
GET POST /_scripts/painless/_execute _scripts_painless_execute
PUT /{index} create_index_action
GET HEAD /{index} get_indices_action
DELETE /{index} delete_index_action
POST /{index}/_open open_index_action
POST /{index}/_close close_index_action
PUT /{index}/_block/{block} add_index_block_action
POST /_aliases indices_aliases_action
PUT POST /{index}/_alias/{name} index_put_alias_action
PUT /{index}/_aliases index_put_alias_action
GET HEAD /_alias get_aliases_action
DELETE /{index}/_alias/{name} index_delete_aliases_action
GET POST /_analyze analyze_action
GET /_mapping get_mapping_action
HEAD /{index}/_mapping/{type} get_mapping_action
PUT POST /_mapping put_mapping_action
GET /_mapping/field/{fields} get_field_mapping_action
GET /_settings get_settings_action
PUT /_settings update_settings_action
GET /_template get_index_template_action
HEAD /_template/{name} get_index_template_action
PUT POST /_template/{name} put_index_template_action
DELETE /_template/{name} delete_index_template_action
GET /_index_template get_composable_index_template_action
HEAD /_index_template/{name} get_composable_index_template_action
PUT POST /_index_template/{name} put_composable_index_template_action
DELETE /_index_template/{name} delete_composable_index_template_action
POST /_index_template/_simulate_index/{name} simulate_index_template_action
POST /_index_template/_simulate simulate_template_action
GET /_component_template get_component_template_action
HEAD /_component_template/{name} get_component_template_action
PUT POST /_component_template/{name} put_component_template_action
DELETE /_component_template/{name} delete_component_template_action
GET /_data_stream get_data_streams_action
PUT /_data_stream/{name} create_data_stream_action
DELETE /_data_stream/{name} delete_data_stream_action
GET /_data_stream/_stats data_stream_stats_action
GET /_resolve/index/{name} resolve_index_action
POST /{alias}/_rollover rollover_index_action
PUT POST /{index}/_shrink/{target} shrink_index_action
PUT POST /{index}/_split/{target} split_index_action
PUT POST /{index}/_clone/{target} clone_index_action
GET /_stats indices_stats_action
GET /_segments indices_segments_action
GET /_recovery recovery_action
GET /_shard_stores indices_shard_stores_action
POST GET /_refresh refresh_action
POST GET /_flush flush_action
POST /_forcemerge force_merge_action
POST GET /_cache/clear clear_indices_cache_action
GET /_upgrade upgrade_status_action
POST /_upgrade upgrade_action
GET /_ilm/policy ilm_get_action
PUT /_ilm/policy/{name} ilm_put_action
DELETE /_ilm/policy/{name} ilm_delete_action
POST /_ilm/start ilm_start_action
POST /_ilm/stop ilm_stop_action
GET /_ilm/status ilm_get_operation_mode_action
GET /{index}/_ilm/explain ilm_explain_action
POST /{index}/_ilm/remove ilm_remove_policy_for_index_action
POST /{index}/_ilm/retry ilm_retry_action
GET /_ingest/pipeline ingest_get_pipeline_action
PUT /_ingest/pipeline/{id} ingest_put_pipeline_action
DELETE /_ingest/pipeline/{id} ingest_delete_pipeline_action
GET POST /_ingest/pipeline/_simulate ingest_simulate_pipeline_action
GET /_ingest/processor/grok ingest_processor_grok_get
POST /{index}/_update_by_query update_by_query_action
POST /{index}/_delete_by_query delete_by_query_action
POST /_reindex reindex_action
POST /_reindex/{task_id}/_rethrottle rethrottle_action
PUT POST /_snapshot/{repository} put_repository_action
GET /_snapshot get_repositories_action
DELETE /_snapshot/{repository} delete_repository_action
POST /_snapshot/{repository}/_verify verify_repository_action
POST /_snapshot/{repository}/_cleanup cleanup_repository_action
PUT POST /_snapshot/{repository}/{snapshot} create_snapshot_action
GET /_snapshot/{repository}/{snapshot} get_snapshots_action
GET /_snapshot/_status snapshot_status_action
DELETE /_snapshot/{repository}/{snapshot} delete_snapshot_action
PUT /_snapshot/{repository}/{snapshot}/_clone/{target_snapshot} clone_snapshot_action
POST /_snapshot/{repository}/{snapshot}/_restore restore_snapshot_action
GET /_cluster/health cluster_health_action
GET /_cluster/pending_tasks pending_cluster_tasks_action
GET /_cluster/settings cluster_get_settings_action
PUT /_cluster/settings cluster_update_settings_action
GET /_cluster/state cluster_state_action
GET /_cluster/stats cluster_stats_action
POST /_cluster/reroute cluster_reroute_action
GET POST /_cluster/allocation/explain cluster_allocation_explain_action
POST /_cluster/voting_config_exclusions add_voting_config_exclusions_action
DELETE /_cluster/voting_config_exclusions clear_voting_config_exclusions_action
GET /_nodes nodes_info_action
GET /_nodes/stats nodes_stats_action
GET /_nodes/usage nodes_usage_action
POST /_nodes/reload_secure_settings nodes_reload_action
GET /_tasks list_tasks_action
GET /_tasks/{task_id} get_task_action
POST /_tasks/{task_id}/_cancel cancel_tasks_action
GET /_remote/info remote_cluster_info_action
GET /_xpack xpack_info_action
GET /_xpack/usage xpack_usage_action
GET /_cat cat_action
GET /_cat/aliases cat_alias_action
GET /_cat/allocation cat_allocation_action
GET /_cat/count cat_count_action
GET /_cat/fielddata cat_fielddata_action
GET /_cat/health cat_health_action
GET /_cat/indices cat_indices_action
GET /_cat/master cat_master_action
GET /_cat/nodeattrs cat_nodeattrs_action
GET /_cat/nodes cat_nodes_action
GET /_cat/pending_tasks cat_pending_cluster_tasks_action
GET /_cat/plugins cat_plugins_action
GET /_cat/recovery cat_recovery_action
GET /_cat/repositories cat_repositories_action
GET /_cat/segments cat_segments_action
GET /_cat/shards cat_shards_action
GET /_cat/snapshots cat_snapshot_action
GET /_cat/tasks cat_tasks_action
GET /_cat/templates cat_templates_action
GET /_cat/thread_pool cat_threadpool_action
`;

const BY_ROUTE: ReadonlyMap<string, string> = new Map(
  NAMES.trim()
    .split("\n")
    .flatMap((line) => {
      const words = line.split(" ");
      const [path, name] = words.splice(-2) as [string, string];
      return words.map((method) => [`${method} ${path}`, name] as const);
    }),
);

/** Returns the name of what answers a method of a route; undefined for one that Elasticsearch doesn't have. */
export function restActionOf(
  method: Method,
  { paths: [path = ""] }: Pick<Route, "paths">,
): string | undefined {
  return BY_ROUTE.get(`${method} ${path}`);
}
