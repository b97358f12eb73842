import { type Dashboard, panel, quantile, rate, SERVICE } from './panel.ts'

/** Rate, errors and duration of requests by service, route and upstream. */
export const http: Dashboard = {
  title: 'HTTP',
  panels: [
    panel('Requests by service', 'reqps', [rate('http_server_requests_total', 'service', SERVICE), '{{service}}']),
    panel('5xx by service and route', 'reqps', [
      rate('http_server_requests_total', 'service, method, route', '{service=~"$service", status="5xx"}'),
      '{{service}} {{method}} {{route}}',
    ]),
    panel('Ten busiest operations', 'reqps', [
      `topk(10, ${rate('http_server_requests_total', 'service, method, route', SERVICE)})`,
      '{{service}} {{method}} {{route}}',
    ]),
    panel('Ten slowest operations, p99', 's', [
      `topk(10, ${quantile(0.99, 'http_server_request_duration_seconds', 'service, method, route', SERVICE)})`,
      '{{service}} {{method}} {{route}}',
    ]),
    panel('Refusals by code', 'reqps', [
      rate('http_server_refusals_total', 'service, code', SERVICE),
      '{{service}} {{code}}',
    ]),
    panel('Gateway: requests by upstream and status', 'reqps', [
      rate('http_server_requests_total', 'upstream, status', '{service="gateway", upstream!=""}'),
      '{{upstream}} {{status}}',
    ]),
    panel('Gateway: latency by upstream, p99', 's', [
      quantile(0.99, 'http_server_request_duration_seconds', 'upstream', '{service="gateway", upstream!=""}'),
      '{{upstream}}',
    ]),
    panel(
      'Gateway: requests under way and waiting',
      'short',
      ['sum by (upstream, kind) (upstream_requests_active)', '{{upstream}} {{kind}}'],
      ['sum by (upstream, kind) (upstream_requests_waiting)', 'waiting {{upstream}} {{kind}}'],
    ),
    panel('Rate limit decisions', 'reqps', [rate('rate_limit_decisions_total', 'decision'), '{{decision}}']),
    panel('API keys by what is in memory', 'reqps', [rate('api_keys_presented_total', 'memory'), '{{memory}}']),
  ],
}
