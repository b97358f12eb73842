import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'

const RULES = join(import.meta.dirname, '../prometheus/rules')

/** The rules of Prometheus in the form that its operator reads, by the path of their file. */
export function prometheusRule(): ReadonlyMap<string, string> {
  const groups = readdirSync(RULES)
    .toSorted()
    .flatMap((file) => (parse(readFileSync(join(RULES, file), 'utf8')) as { groups: object[] }).groups)
  const manifest = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'backoffice', labels: { 'app.kubernetes.io/part-of': 'backoffice' } },
    spec: { groups },
  }
  const head = '# Generated from infra/prometheus/rules: npm run generate:alerts\n'
  return new Map([['k8s/components/telemetry/prometheus-rule.yaml', head + stringify(manifest, { lineWidth: 0 })]])
}
