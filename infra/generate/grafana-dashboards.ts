import { DASHBOARDS, type Panel } from './dashboards.ts'

/** Grafana's grid has 24 columns: three panels in a row. */
const [WIDTH, HEIGHT, IN_A_ROW] = [8, 8, 3]
const DATASOURCE = { type: 'prometheus', uid: 'prometheus' }

/** The dashboards as JSON for Grafana, by the path of their file. */
export function grafanaDashboards(): ReadonlyMap<string, string> {
  const files = Object.entries(DASHBOARDS).map(([name, { title, panels }]) => {
    const dashboard = {
      uid: `backoffice-${name}`,
      title: `Back-office: ${title}`,
      tags: ['backoffice'],
      schemaVersion: 39,
      refresh: '30s',
      time: { from: 'now-3h', to: 'now' },
      links: [{ type: 'dashboards', title: 'Back-office', tags: ['backoffice'], asDropdown: true, keepTime: true }],
      templating: { list: usesService(panels) ? [SERVICE_VARIABLE] : [] },
      panels: panels.map(grafanaPanel),
    }
    return [`k8s/components/telemetry/dashboards/${name}.json`, `${JSON.stringify(dashboard, null, 1)}\n`] as const
  })
  return new Map(files)
}

const usesService = (panels: readonly Panel[]) =>
  panels.some(({ queries }) => queries.some(([expression]) => expression.includes('$service')))

const SERVICE_VARIABLE = {
  name: 'service',
  label: 'Service',
  type: 'query',
  datasource: DATASOURCE,
  query: { query: 'label_values(build_info, service)', refId: 'service' },
  includeAll: true,
  allValue: '.*',
  multi: true,
  refresh: 2,
  current: { text: 'All', value: '$__all' },
}

function grafanaPanel({ title, unit, queries }: Panel, index: number) {
  return {
    id: index + 1,
    title,
    type: 'timeseries',
    datasource: DATASOURCE,
    gridPos: {
      x: (index % IN_A_ROW) * WIDTH,
      y: Math.floor(index / IN_A_ROW) * HEIGHT,
      w: WIDTH,
      h: HEIGHT,
    },
    fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 8, showPoints: 'never' } }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: queries.map(([expr, legendFormat], number) => ({
      refId: String.fromCharCode(65 + number),
      datasource: DATASOURCE,
      expr,
      legendFormat,
    })),
  }
}
