import { API, type Dashboard, panel, quantile, rate } from './panel.ts'

/** Whether there is a problem: objectives, and what waits for an operator. */
export const overview: Dashboard = {
  title: 'Overview',
  panels: [
    panel('Error budget left (99.9 % in 30 days)', 'percentunit', ['1 - slo:api_errors:ratio_rate30d / 0.001', 'left']),
    panel('Failed API requests', 'percentunit', ['slo:api_errors:ratio_rate5m', '5xx'], ['vector(0.001)', 'objective']),
    panel(
      'API reads slower than 200 ms',
      'percentunit',
      ['slo:api_slow_reads:ratio_rate5m', 'slow'],
      ['vector(0.01)', 'objective'],
    ),
    panel('API requests', 'reqps', [rate('http_server_requests_total', 'status', API), '{{status}}']),
    panel(
      'API latency',
      's',
      [quantile(0.5, 'http_server_request_duration_seconds', 'service', API), 'p50'],
      [quantile(0.99, 'http_server_request_duration_seconds', 'service', API), 'p99'],
    ),
    panel('Commit to Kafka, p99', 's', [quantile(0.99, 'outbox_publish_delay_seconds', 'schema'), '{{schema}}']),
    panel('Event to first webhook attempt, p99', 's', [
      quantile(0.99, 'webhook_first_attempt_delay_seconds', 'service'),
      'p99',
    ]),
    panel('Product state to collections, p99', 's', [
      quantile(0.99, 'consumer_record_age_seconds', 'consumer', '{consumer="collections.products"}'),
      'p99',
    ]),
    panel(
      'Set aside: outbox rows and dead letters of an hour',
      'short',
      ['max by (schema) (outbox_refused_rows)', 'outbox {{schema}}'],
      ['sum by (consumer) (increase(consumer_dead_letters_total[1h]))', '{{consumer}}'],
    ),
    panel('Replicas up', 'short', ['sum by (service) (up{job="backoffice"})', '{{service}}']),
  ],
}
