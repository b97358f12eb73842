import { type Dashboard, panel, quantile, rate } from './panel.ts'

/** What consumers have before them, and how fast they are. */
export const kafkaConsumers: Dashboard = {
  title: 'Kafka consumers',
  panels: [
    panel('Lag', 'short', ['max by (consumer) (consumer_lag_records)', '{{consumer}}']),
    panel('Records', 'ops', [rate('consumer_records_total', 'consumer'), '{{consumer}}']),
    panel('Age of records when processed, p99', 's', [
      quantile(0.99, 'consumer_record_age_seconds', 'consumer'),
      '{{consumer}}',
    ]),
    panel('Processing of a batch, p99', 's', [
      quantile(0.99, 'consumer_batch_duration_seconds', 'consumer'),
      '{{consumer}}',
    ]),
    panel('Dead letters of an hour', 'short', [
      'sum by (consumer) (increase(consumer_dead_letters_total[1h]))',
      '{{consumer}}',
    ]),
    panel('Statements that took too long, of an hour', 'short', [
      'sum by (consumer) (increase(consumer_statement_timeouts_total[1h]))',
      '{{consumer}}',
    ]),
    panel('Collections: queued products (up to 10,000)', 'short', [
      'max by (state) (collections_queued_products)',
      '{{state}}',
    ]),
    panel('Collections: oldest queued product', 's', ['max(collections_oldest_queued_seconds)', 'oldest']),
  ],
}
