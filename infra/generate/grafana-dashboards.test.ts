import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { grafanaDashboards } from './grafana-dashboards.ts'

const folder = new URL('../grafana/dashboards/', import.meta.url)

it('the dashboards are those of the panels: else run `npm run generate:dashboards`', () => {
  const committed = readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')] as const)
  expect(new Map(committed)).toEqual(grafanaDashboards())
})
