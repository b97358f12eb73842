import { writeFileSync } from 'node:fs'
import { grafanaDashboards } from './grafana-dashboards.ts'

/* `npm run generate:dashboards`: writes the dashboards of infra/grafana. Needs no running stack. */

for (const [name, json] of grafanaDashboards())
  writeFileSync(new URL(`../grafana/dashboards/${name}`, import.meta.url), json)
