import { type Dashboard, panel, quantile, rate } from './panel.ts'

/** Imports by state, and the rows of their stages. */
export const imports: Dashboard = {
  title: 'Imports',
  panels: [
    panel('Imports that changed in the last hour', 'short', [
      'max by (status) (imports_changed_last_hour)',
      '{{status}}',
    ]),
    panel('Longest time without a change', 's', ['max by (stage) (imports_longest_idle_seconds)', '{{stage}}']),
    panel('Rows validated', 'ops', ['sum(rate(imports_rows_validated_total[$__rate_interval]))', 'rows']),
    panel('Rows applied', 'ops', [rate('imports_rows_applied_total', 'outcome'), '{{outcome}}']),
    panel('Batches waiting for their service', 'short', [
      'max by (consumer) (consumer_lag_records{consumer=~".*\\\\.imports|imports\\\\.results"})',
      '{{consumer}}',
    ]),
    panel('Applying a batch, p99', 's', [
      quantile(0.99, 'consumer_batch_duration_seconds', 'consumer', '{consumer=~".*\\\\.imports"}'),
      '{{consumer}}',
    ]),
  ],
}
