import { type Dashboard, panel, quantile, rate } from './panel.ts'

/** Calls to apps, and the stock that orders reserve. */
export const appsAndOrders: Dashboard = {
  title: 'Apps and orders',
  panels: [
    panel('Oldest due call to an app', 's', ['max by (call) (app_calls_oldest_due_seconds)', '{{call}}']),
    panel('Due calls to apps (up to 10,000)', 'short', ['max by (call) (app_calls_due)', '{{call}}']),
    panel('Longest wait for the end of an access', 's', ['max(app_oldest_access_to_end_seconds)', 'longest']),
    panel('Calls to apps by outcome', 'ops', [rate('app_calls_total', 'call, outcome'), '{{call}} {{outcome}}']),
    panel('Requests to apps by outcome', 'ops', [
      rate('app_request_duration_seconds_count', 'call, outcome'),
      '{{call}} {{outcome}}',
    ]),
    panel('Duration of requests to apps, p99', 's', [
      quantile(0.99, 'app_request_duration_seconds', 'call'),
      '{{call}}',
    ]),
    panel('Oldest reservation under way', 's', ['max(orders_oldest_taking_seconds)', 'oldest']),
    panel('Reservations under way (up to 10,000)', 'short', ['max(orders_reservations_taking)', 'reservations']),
  ],
}
