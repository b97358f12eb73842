import { type Dashboard, panel, quantile, rate } from './panel.ts'

/** Deliveries, attempts and what waits for them. */
export const webhooks: Dashboard = {
  title: 'Webhooks',
  panels: [
    panel(
      'Event to first attempt',
      's',
      [quantile(0.5, 'webhook_first_attempt_delay_seconds', 'service'), 'p50'],
      [quantile(0.99, 'webhook_first_attempt_delay_seconds', 'service'), 'p99'],
    ),
    panel('Attempts by outcome', 'ops', [rate('webhook_attempts_total', 'outcome'), '{{outcome}}']),
    panel('Duration of attempts, p99', 's', [
      quantile(0.99, 'webhook_attempt_duration_seconds', 'outcome'),
      '{{outcome}}',
    ]),
    panel('Deliveries that ended', 'ops', [rate('webhook_deliveries_settled_total', 'status'), '{{status}}']),
    panel('Deliveries that wait in the table (up to 10,000 each)', 'short', [
      'max by (state, attempt) (webhook_deliveries_pending)',
      '{{state}} {{attempt}}',
    ]),
    panel('Oldest due delivery', 's', ['max(webhook_oldest_due_seconds)', 'oldest']),
    panel('Events whose deliveries are to be inserted', 'short', ['max(webhook_fan_out_backlog_events)', 'events']),
    panel('Endpoints with waiting deliveries', 'short', ['max(webhook_endpoints_waiting)', 'endpoints']),
    panel(
      'Daily partitions',
      'short',
      ['min(webhook_partitions_ahead_days)', 'days ahead'],
      ['max(webhook_oldest_partition_days)', 'oldest, in days'],
    ),
  ],
}
