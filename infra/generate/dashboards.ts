/** A query of a panel, and the name of its series. */
type Query = readonly [expression: string, legend: string]

/** A panel of a dashboard. `unit` is Grafana's. */
export interface Panel {
  readonly title: string
  readonly unit: 'reqps' | 's' | 'percentunit' | 'short' | 'bytes' | 'ops' | 'none'
  readonly queries: readonly Query[]
}

const REQUESTS = 'http_server_requests_total'
const DURATION = 'http_server_request_duration_seconds'
const FIRST_ATTEMPT = 'webhook_first_attempt_delay_seconds'

/** The series of the API's requests, as clients see them. */
const API = '{service="gateway", route=~"/v1/.*"}'
/** The series of the services that the dashboard's reader has chosen. */
const SERVICE = '{service=~"$service"}'
const FAILED = '{service=~"$service", status="5xx"}'
const UPSTREAM = '{service="gateway", upstream!=""}'

const panel = (title: string, unit: Panel['unit'], ...queries: Query[]): Panel => ({ title, unit, queries })

/** Labels as the name of a series: `{{service}} {{route}}`. */
const legend = (by: string) => by.replaceAll(/\w+/g, '{{$&}}').replaceAll(',', '')

/** The same query with another name of its series. */
const named = (name: string, [expression]: Query): Query => [expression, name]

/** An expression, by labels. */
const by = (labels: string, aggregate: 'max' | 'sum', expression: string): Query => [
  `${aggregate} by (${labels}) (${expression})`,
  legend(labels),
]

/** A quantile of a histogram, by labels. */
const quantile = (share: number, histogram: string, labels: string, series = ''): Query => [
  `histogram_quantile(${share}, sum by (${labels}, le) (rate(${histogram}_bucket${series}[$__rate_interval])))`,
  legend(labels),
]
const p99 = (histogram: string, labels: string, series = '') => quantile(0.99, histogram, labels, series)
const p50AndP99 = (histogram: string, series = '') => [
  named('p50', quantile(0.5, histogram, 'service', series)),
  named('p99', p99(histogram, 'service', series)),
]

/** A counter's increase per second, by labels. */
const rate = (counter: string, labels: string, series = '') =>
  by(labels, 'sum', `rate(${counter}${series}[$__rate_interval])`)

const inAnHour = (counter: string, labels: string) => by(labels, 'sum', `increase(${counter}[1h])`)

const top10 = ([expression, name]: Query): Query => [`topk(10, ${expression})`, name]

/** What each replica has. */
const perReplica = (expression: string): Query => [expression, '{{service}} {{instance}}']

/**
 * The dashboards by the names of their files. Their first panels say whether there is a problem, the later ones where.
 */
export const DASHBOARDS: Readonly<Record<string, { title: string; panels: readonly Panel[] }>> = {
  // Whether there is a problem: objectives, and what waits for an operator.
  overview: {
    title: 'Overview',
    panels: [
      panel('Error budget left (99.9 % in 30 days)', 'percentunit', [
        '1 - slo:api_errors:ratio_rate30d / 0.001',
        'left',
      ]),
      panel(
        'Failed API requests',
        'percentunit',
        ['slo:api_errors:ratio_rate5m', '5xx'],
        ['vector(0.001)', 'objective'],
      ),
      panel(
        'API reads slower than 200 ms',
        'percentunit',
        ['slo:api_slow_reads:ratio_rate5m', 'slow'],
        ['vector(0.01)', 'objective'],
      ),
      panel('API requests', 'reqps', rate(REQUESTS, 'status', API)),
      panel('API latency', 's', ...p50AndP99(DURATION, API)),
      panel('Commit to Kafka, p99', 's', p99('outbox_publish_delay_seconds', 'schema')),
      panel('Event to first webhook attempt, p99', 's', named('p99', p99(FIRST_ATTEMPT, 'service'))),
      panel(
        'Product state to collections, p99',
        's',
        named('p99', p99('consumer_record_age_seconds', 'consumer', '{consumer="collections.products"}')),
      ),
      panel(
        'Set aside: outbox rows and dead letters of an hour',
        'short',
        named('outbox {{schema}}', by('schema', 'max', 'outbox_refused_rows')),
        inAnHour('consumer_dead_letters_total', 'consumer'),
      ),
      panel('Replicas up', 'short', by('service', 'sum', 'up{job="backoffice"}')),
    ],
  },
  // Rate, errors and duration of requests by service, route and upstream.
  http: {
    title: 'HTTP',
    panels: [
      panel('Requests by service', 'reqps', rate(REQUESTS, 'service', SERVICE)),
      panel('5xx by service and route', 'reqps', rate(REQUESTS, 'service, method, route', FAILED)),
      panel('Ten busiest operations', 'reqps', top10(rate(REQUESTS, 'service, method, route', SERVICE))),
      panel('Ten slowest operations, p99', 's', top10(p99(DURATION, 'service, method, route', SERVICE))),
      panel('Refusals by code', 'reqps', rate('http_server_refusals_total', 'service, code', SERVICE)),
      panel('Gateway: requests by upstream and status', 'reqps', rate(REQUESTS, 'upstream, status', UPSTREAM)),
      panel('Gateway: latency by upstream, p99', 's', p99(DURATION, 'upstream', UPSTREAM)),
      panel(
        'Gateway: requests under way and waiting',
        'short',
        by('upstream, kind', 'sum', 'upstream_requests_active'),
        named('waiting {{upstream}} {{kind}}', by('upstream, kind', 'sum', 'upstream_requests_waiting')),
      ),
      panel('Calls of services by outcome', 'reqps', rate('service_calls_total', 'service, upstream, outcome')),
      panel('Rate limit decisions', 'reqps', rate('rate_limit_decisions_total', 'decision')),
      panel('Rate limit server: answers (1) or not (0)', 'short', perReplica('rate_limit_server_up')),
      panel('Rate limit server: calls by outcome', 'ops', rate('rate_limit_server_calls_total', 'outcome')),
      panel('API keys by what is in memory', 'reqps', rate('api_keys_presented_total', 'memory')),
      panel('Requests that the request log lacks, of an hour', 'short', inAnHour('request_log_lost_total', 'why')),
    ],
  },
  // Waits for connections, and what waits to be published.
  'postgres-and-outbox': {
    title: 'PostgreSQL and outbox',
    panels: [
      panel(
        'Transactions that wait for a connection',
        'short',
        by('pool', 'sum', `postgres_transactions_waiting${SERVICE}`),
      ),
      panel('Wait for a connection, p99', 's', p99('postgres_transaction_wait_seconds', 'pool', SERVICE)),
      panel('Connections in transactions, of those of the pool', 'percentunit', [
        `sum by (pool) (postgres_transactions_active${SERVICE}) / sum by (pool) (postgres_pool_connections${SERVICE})`,
        '{{pool}}',
      ]),
      panel('Transactions', 'ops', rate('postgres_transaction_wait_seconds_count', 'pool', SERVICE)),
      panel('Outbox: oldest waiting row', 's', by('schema', 'max', 'outbox_oldest_waiting_seconds')),
      panel('Outbox: waiting rows (up to 10,000)', 'short', by('schema', 'max', 'outbox_waiting_rows')),
      panel(
        'Outbox: held and refused rows',
        'short',
        named('held {{schema}}', by('schema', 'max', 'outbox_held_rows')),
        named('refused {{schema}}', by('schema', 'max', 'outbox_refused_rows')),
      ),
      panel('Outbox: rows refused in an hour', 'short', inAnHour('outbox_refused_records_total', 'schema, topic')),
      panel('Outbox: published records', 'ops', rate('outbox_published_records_total', 'schema')),
      panel(
        'Outbox: without a topic, or a schema',
        'ops',
        named('no topic {{topic}}', rate('outbox_topic_failures_total', 'schema, topic')),
        named('no schema {{topic}}', rate('outbox_schema_failures_total', 'schema, topic')),
      ),
      panel('Catalog: products to publish again', 'short', ['max(catalog_refresh_requests)', 'products']),
      panel('Catalog: oldest product to publish again', 's', ['max(catalog_oldest_refresh_seconds)', 'oldest']),
      panel('Commit to Kafka, p99', 's', p99('outbox_publish_delay_seconds', 'schema')),
    ],
  },
  // What consumers have before them, and how fast they are.
  'kafka-consumers': {
    title: 'Kafka consumers',
    panels: [
      panel('Lag', 'short', by('consumer', 'max', 'consumer_lag_records')),
      panel('Records', 'ops', rate('consumer_records_total', 'consumer')),
      panel('Age of records when processed, p99', 's', p99('consumer_record_age_seconds', 'consumer')),
      panel('Processing of a batch, p99', 's', p99('consumer_batch_duration_seconds', 'consumer')),
      panel('Records that wait for an error to pass', 's', by('consumer', 'max', 'consumer_waiting_seconds')),
      panel('Dead letters of an hour', 'short', inAnHour('consumer_dead_letters_total', 'consumer')),
      panel(
        'Dead letters without their value, of an hour',
        'short',
        inAnHour('consumer_dead_letter_placeholders_total', 'consumer'),
      ),
      panel(
        'Statements that took too long, of an hour',
        'short',
        inAnHour('consumer_statement_timeouts_total', 'consumer'),
      ),
      panel('Catalog: oldest queued record of stock', 's', ['max(catalog_oldest_queued_stock_seconds)', 'oldest']),
      panel('Collections: queued products (up to 10,000)', 'short', by('state', 'max', 'collections_queued_products')),
      panel('Collections: oldest queued product', 's', ['max(collections_oldest_queued_seconds)', 'oldest']),
    ],
  },
  // Deliveries, attempts and what waits for them.
  webhooks: {
    title: 'Webhooks',
    panels: [
      panel('Event to first attempt', 's', ...p50AndP99(FIRST_ATTEMPT)),
      panel('Attempts by outcome', 'ops', rate('webhook_attempts_total', 'outcome')),
      panel('Duration of attempts, p99', 's', p99('webhook_attempt_duration_seconds', 'outcome')),
      panel('Deliveries that ended', 'ops', rate('webhook_deliveries_settled_total', 'status')),
      panel('Oldest due delivery', 's', ['max(webhook_oldest_due_seconds)', 'oldest']),
      panel('Events whose deliveries are to be inserted', 'short', ['max(webhook_fan_out_backlog_events)', 'events']),
      panel('Shards of endpoints by owner', 'short', by('instance', 'max', 'webhook_shards_owned')),
      panel('Endpoints with waiting deliveries', 'short', ['max(webhook_endpoints_waiting)', 'endpoints']),
      panel(
        'Daily partitions',
        'short',
        ['min(webhook_partitions_ahead_days)', 'days ahead'],
        ['max(webhook_oldest_partition_days)', 'oldest, in days'],
      ),
    ],
  },
  // Imports by state, and the rows of their stages.
  imports: {
    title: 'Imports',
    panels: [
      panel('Imports that changed in the last hour', 'short', by('status', 'max', 'imports_changed_last_hour')),
      panel('Longest time without a change', 's', by('stage', 'max', 'imports_longest_idle_seconds')),
      panel('Rows validated', 'ops', ['sum(rate(imports_rows_validated_total[$__rate_interval]))', 'rows']),
      panel('Rows applied', 'ops', rate('imports_rows_applied_total', 'outcome')),
      panel(
        'Batches waiting for their service',
        'short',
        by('consumer', 'max', 'consumer_lag_records{consumer=~".*\\\\.imports|imports\\\\.results"}'),
      ),
      panel(
        'Applying a batch, p99',
        's',
        p99('consumer_batch_duration_seconds', 'consumer', '{consumer=~".*\\\\.imports"}'),
      ),
    ],
  },
  // Calls to apps, and the stock that orders reserve.
  'apps-and-orders': {
    title: 'Apps and orders',
    panels: [
      panel('Oldest due call to an app', 's', by('call', 'max', 'app_calls_oldest_due_seconds')),
      panel('Due calls to apps (up to 10,000)', 'short', by('call', 'max', 'app_calls_due')),
      panel('Longest wait for the end of an access', 's', ['max(app_oldest_access_to_end_seconds)', 'longest']),
      panel('Calls to apps by outcome', 'ops', rate('app_calls_total', 'call, outcome')),
      panel('Requests to apps by outcome', 'ops', rate('app_request_duration_seconds_count', 'call, outcome')),
      panel('Duration of requests to apps, p99', 's', p99('app_request_duration_seconds', 'call')),
      panel('Oldest paid order that is not placed', 's', ['max(orders_oldest_placement_seconds)', 'oldest']),
      panel('Paid orders that are not placed', 'short', by('state', 'max', 'orders_placements')),
      panel('Attempts to place paid orders', 'ops', rate('orders_placement_attempts_total', 'outcome')),
      panel('Oldest reservation under way', 's', ['max(orders_oldest_taking_seconds)', 'oldest']),
      panel('Releases of reservations that failed at once', 'ops', rate('orders_release_failures_total', 'step')),
      panel('Reservations under way (up to 10,000)', 'short', ['max(orders_reservations_taking)', 'reservations']),
    ],
  },
  // What each replica uses of its processor, memory and file descriptors.
  process: {
    title: 'Process',
    panels: [
      panel('What runs', 'none', [`build_info${SERVICE}`, '{{service}} {{version}} {{node}}']),
      panel('Processor time', 'percentunit', rate('process_cpu_seconds_total', 'service, instance', SERVICE)),
      panel('Memory', 'bytes', perReplica(`process_resident_memory_bytes${SERVICE}`)),
      panel('Heap', 'bytes', perReplica('nodejs_heap_bytes{service=~"$service", state="used"}')),
      panel(
        'Event loop delay, p99',
        's',
        perReplica('nodejs_eventloop_delay_seconds{service=~"$service", quantile="0.99"}'),
      ),
      panel('Event loop utilization', 'percentunit', perReplica(`nodejs_eventloop_utilization_ratio${SERVICE}`)),
      panel(
        'Time in garbage collection',
        'percentunit',
        rate('nodejs_gc_duration_seconds_sum', 'service, instance', SERVICE),
      ),
      panel('File descriptors', 'percentunit', perReplica(`process_open_fds${SERVICE} / process_max_fds${SERVICE}`)),
      panel('Failures of work in the background', 'ops', rate('worker_failures_total', 'service, worker', SERVICE)),
      panel('Starts in an hour', 'short', perReplica(`changes(process_start_time_seconds${SERVICE}[1h])`)),
    ],
  },
}
