import { type Dashboard, panel, SERVICE } from './panel.ts'

/** What each replica uses of its processor, memory and file descriptors. */
export const processes: Dashboard = {
  title: 'Process',
  panels: [
    panel('What runs', 'none', [`build_info${SERVICE}`, '{{service}} {{version}} {{node}}']),
    panel('Processor time', 'percentunit', [
      `sum by (service, instance) (rate(process_cpu_seconds_total${SERVICE}[$__rate_interval]))`,
      '{{service}} {{instance}}',
    ]),
    panel('Memory', 'bytes', [`process_resident_memory_bytes${SERVICE}`, '{{service}} {{instance}}']),
    panel('Heap', 'bytes', [`nodejs_heap_bytes{service=~"$service", state="used"}`, '{{service}} {{instance}}']),
    panel('Event loop delay, p99', 's', [
      `nodejs_eventloop_delay_seconds{service=~"$service", quantile="0.99"}`,
      '{{service}} {{instance}}',
    ]),
    panel('Event loop utilization', 'percentunit', [
      `nodejs_eventloop_utilization_ratio${SERVICE}`,
      '{{service}} {{instance}}',
    ]),
    panel('Time in garbage collection', 'percentunit', [
      `sum by (service, instance) (rate(nodejs_gc_duration_seconds_sum${SERVICE}[$__rate_interval]))`,
      '{{service}} {{instance}}',
    ]),
    panel('File descriptors', 'percentunit', [
      `process_open_fds${SERVICE} / process_max_fds${SERVICE}`,
      '{{service}} {{instance}}',
    ]),
    panel('Starts in an hour', 'short', [
      `changes(process_start_time_seconds${SERVICE}[1h])`,
      '{{service}} {{instance}}',
    ]),
  ],
}
