import { type Dashboard, panel, quantile, rate, SERVICE } from './panel.ts'

/** Waits for connections, and what waits to be published. */
export const postgresAndOutbox: Dashboard = {
  title: 'PostgreSQL and outbox',
  panels: [
    panel('Transactions that wait for a connection', 'short', [
      `sum by (pool) (postgres_transactions_waiting${SERVICE})`,
      '{{pool}}',
    ]),
    panel('Wait for a connection, p99', 's', [
      quantile(0.99, 'postgres_transaction_wait_seconds', 'pool', SERVICE),
      '{{pool}}',
    ]),
    panel('Connections in transactions, of those of the pool', 'percentunit', [
      `sum by (pool) (postgres_transactions_active${SERVICE}) / sum by (pool) (postgres_pool_connections${SERVICE})`,
      '{{pool}}',
    ]),
    panel('Transactions', 'ops', [
      `sum by (pool) (rate(postgres_transaction_wait_seconds_count${SERVICE}[$__rate_interval]))`,
      '{{pool}}',
    ]),
    panel('Outbox: oldest waiting row', 's', ['max by (schema) (outbox_oldest_waiting_seconds)', '{{schema}}']),
    panel('Outbox: waiting rows (up to 10,000)', 'short', ['max by (schema) (outbox_waiting_rows)', '{{schema}}']),
    panel(
      'Outbox: held and refused rows',
      'short',
      ['max by (schema) (outbox_held_rows)', 'held {{schema}}'],
      ['max by (schema) (outbox_refused_rows)', 'refused {{schema}}'],
    ),
    panel('Outbox: published records', 'ops', [rate('outbox_published_records_total', 'schema'), '{{schema}}']),
    panel('Catalog: products to publish again', 'short', ['max(catalog_refresh_requests)', 'products']),
    panel('Catalog: oldest product to publish again', 's', ['max(catalog_oldest_refresh_seconds)', 'oldest']),
    panel('Commit to Kafka, p99', 's', [quantile(0.99, 'outbox_publish_delay_seconds', 'schema'), '{{schema}}']),
  ],
}
