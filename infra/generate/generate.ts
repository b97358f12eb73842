import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { configurationDocument } from './configuration-document.ts'
import { errorsDocument } from './errors-document.ts'
import { eventsDocument } from './events-document.ts'
import { grafanaDashboards } from './grafana-dashboards.ts'
import { operatorsDocument, wholeDocument } from './openapi-document.ts'
import { prometheusRule } from './prometheus-rule.ts'
import { topicsDocument } from './topics-document.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The generated files in git: their texts by path, by the script that writes them. None needs a running stack. */
export const GENERATED = {
  alerts: prometheusRule,
  api: () =>
    new Map([
      ['docs/openapi.json', `${JSON.stringify(wholeDocument(), null, 2)}\n`],
      ['docs/openapi-admin.json', `${JSON.stringify(operatorsDocument(), null, 2)}\n`],
      ['docs/errors.md', errorsDocument()],
      ['docs/events.md', eventsDocument()],
    ]),
  configuration: () => new Map([['docs/configuration.md', configurationDocument()]]),
  dashboards: grafanaDashboards,
  topics: () => new Map([['docs/topics.md', topicsDocument()]]),
} as const satisfies Readonly<Record<string, () => ReadonlyMap<string, string>>>

/** `npm run generate:<name>` */
if (import.meta.main) {
  const name = process.argv[2] as keyof typeof GENERATED
  for (const [path, text] of GENERATED[name]()) writeFileSync(join(ROOT, path), text)
}
