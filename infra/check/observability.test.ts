import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { ROOT } from '@backoffice/docker/workspaces.ts'
import { expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { promtool } from '../../tests/testing/prometheus.ts'

const read = <Shape>(file: string): Shape => parse(readFileSync(join(ROOT, file), 'utf8'))

interface Collector extends Readonly<Record<'receivers' | 'processors' | 'exporters' | 'extensions', object>> {
  readonly receivers: { readonly otlp: { readonly protocols: { readonly http: { readonly endpoint: string } } } }
  readonly service: { readonly extensions: readonly string[]; readonly pipelines: Readonly<Record<string, Pipeline>> }
}
type Pipeline = Readonly<Record<'receivers' | 'processors' | 'exporters', readonly string[]>>

it('each part of the collector is declared and used, and it receives where services send', () => {
  const collector = read<Collector>('infra/otel/collector.yml')
  const { extensions, pipelines } = collector.service
  expect(extensions).toEqual(Object.keys(collector.extensions))
  for (const kind of ['receivers', 'processors', 'exporters'] as const) {
    const used = Object.values(pipelines).flatMap((pipeline) => pipeline[kind])
    expect(new Set(used), kind).toEqual(new Set(Object.keys(collector[kind])))
  }
  // What comes before it would have to hold the spans that it refuses.
  for (const { processors } of Object.values(pipelines)) expect(processors[0]).toBe('memory_limiter')
  const port = collector.receivers.otlp.protocols.http.endpoint.split(':').at(-1)
  for (const file of ['.env.example', 'k8s/components/telemetry/settings.env'])
    expect(readFileSync(join(ROOT, file), 'utf8'), file).toMatch(
      RegExp(`//otel-collector(\\.observability)?:${port}\\b`),
    )
})

interface Prometheus {
  readonly rule_files?: readonly string[]
  readonly scrape_configs: readonly [
    {
      readonly job_name: string
      readonly relabel_configs: readonly Relabeling[]
      readonly static_configs?: readonly { targets: string[] }[]
    },
  ]
}
interface Relabeling {
  readonly source_labels: readonly string[]
  readonly target_label?: string
}

it('Prometheus of docker-compose reads every service', () => {
  const { scrape_configs } = read<Prometheus>('infra/prometheus/prometheus.yml')
  const targets = scrape_configs[0].static_configs?.flatMap(({ targets }) => targets)
  expect(targets?.toSorted()).toEqual(SERVICE_NAMES.map((name) => `${name}:8081`).toSorted())
})

const META = '__meta_kubernetes_pod'
/** Pods as Kubernetes describes them to Prometheus: one target for each port of a container. */
const podPort = (name: string, port: string, partOf = 'backoffice') => ({
  targets: [`10.0.0.1:${port}`],
  labels: {
    [`${META}_name`]: `${name}-7d9f`,
    [`${META}_label_app_kubernetes_io_name`]: name,
    [`${META}_label_app_kubernetes_io_part_of`]: partOf,
    [`${META}_container_port_number`]: port,
  },
})

it('Prometheus in Kubernetes reads the operations port of our running pods alone, and names service and replica', async () => {
  const { rule_files: _, ...config } = read<Prometheus>('infra/prometheus/kubernetes.yml')
  // Debian's promtool knows no Kubernetes, so the pods are written out.
  const { kubernetes_sd_configs: found, ...job } = config.scrape_configs[0] as Record<string, unknown>
  expect(found).toEqual([{ role: 'pod', namespaces: { names: ['backoffice'] } }])
  const evicted = podPort('catalog', '8081')
  Object.assign(evicted.labels, { [`${META}_phase`]: 'Failed' })
  const others = [podPort('others', '8081', 'others'), evicted]
  const static_configs = [podPort('orders', '8080'), podPort('orders', '8081'), ...others]
  const directory = mkdtempSync(join(tmpdir(), 'prometheus-'))
  const file = join(directory, 'kubernetes.yml')
  writeFileSync(file, stringify({ ...config, scrape_configs: [{ ...job, static_configs }] }))
  try {
    await promtool('check', 'config', file)
    const { stdout } = await promtool('check', 'service-discovery', '--timeout=1s', file, 'backoffice')
    const targets = (JSON.parse(stdout) as { labels: Record<string, string> }[]).map(({ labels }) => labels)
    const kept = targets.filter((labels) => Object.keys(labels).length > 0)
    expect(kept).toMatchObject([{ __address__: '10.0.0.1:8081', service: 'orders', instance: 'orders-7d9f' }])
  } finally {
    rmSync(directory, { recursive: true })
  }
})

interface PodMonitor {
  readonly spec: {
    readonly jobLabel: string
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly podMetricsEndpoints: readonly [{ readonly relabelings: readonly Record<string, unknown>[] }]
  }
}

it('the operator of Prometheus gives targets the same labels', () => {
  const { spec } = read<PodMonitor>('k8s/components/telemetry/pod-monitor.yaml')
  const [{ relabelings }] = spec.podMetricsEndpoints
  const [{ job_name, relabel_configs }] = read<Prometheus>('infra/prometheus/kubernetes.yml').scrape_configs
  expect(spec.selector.matchLabels[spec.jobLabel]).toBe(job_name)
  expect(relabelings).toEqual(
    relabel_configs.flatMap(({ source_labels: sourceLabels, target_label: targetLabel }) =>
      targetLabel === undefined ? [] : [{ sourceLabels, targetLabel }],
    ),
  )
})

it('the rules ask for the job by that name, and speak of each service that has no replica', () => {
  const rules = readFileSync(join(ROOT, 'infra/prometheus/rules/alerts.yml'), 'utf8')
  const jobs = [...rules.matchAll(/job="([^"]*)"/g)].map(([, job]) => job)
  expect(new Set(jobs)).toEqual(new Set(['backoffice']))
  const absent = [...rules.matchAll(/absent\(up\{job="backoffice", service="([^"]+)"\}\)/g)].map(([, name]) => name)
  expect(absent.toSorted()).toEqual(SERVICE_NAMES.toSorted())
})

it('the component of Kubernetes brings every dashboard', () => {
  const folder = 'k8s/components/telemetry'
  const { configMapGenerator } = read<{ configMapGenerator: { name: string; files?: string[] }[] }>(
    `${folder}/kustomization.yaml`,
  )
  const { files } = configMapGenerator.find(({ name }) => name === 'dashboards') ?? {}
  expect(files).toEqual(readdirSync(join(ROOT, folder, 'dashboards')).map((name) => `dashboards/${name}`))
})
