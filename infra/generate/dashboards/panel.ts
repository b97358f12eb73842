/** A query of a panel, and the name of its series. */
type Query = readonly [expression: string, legend: string]

/** A panel of a dashboard. `unit` is Grafana's. */
export interface Panel {
  readonly title: string
  readonly unit: 'reqps' | 's' | 'percentunit' | 'short' | 'bytes' | 'ops' | 'none'
  readonly queries: readonly Query[]
}

/** A dashboard: its first panels say whether there is a problem, the later ones where. */
export interface Dashboard {
  readonly title: string
  readonly panels: readonly Panel[]
}

/** The series of the API's requests, as clients see them. */
export const API = '{service="gateway", route=~"/v1/.*"}'
/** The series of the services that the dashboard's reader has chosen. */
export const SERVICE = '{service=~"$service"}'

/** Makes a panel. */
export const panel = (title: string, unit: Panel['unit'], ...queries: Query[]): Panel => ({ title, unit, queries })

/** A quantile of a histogram, by labels. */
export const quantile = (share: number, histogram: string, by: string, labels = '') =>
  `histogram_quantile(${share}, sum by (${by}, le) (rate(${histogram}_bucket${labels}[$__rate_interval])))`

/** A counter's increase per second, by labels. */
export const rate = (counter: string, by: string, labels = '') =>
  `sum by (${by}) (rate(${counter}${labels}[$__rate_interval]))`
