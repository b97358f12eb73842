import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { ROOT } from '@backoffice/docker/workspaces.ts'
import { expect, it } from 'vitest'
import { parse } from 'yaml'

const read = <Shape>(file: string): Shape => parse(readFileSync(join(ROOT, file), 'utf8'))

interface Collector extends Readonly<Record<'receivers' | 'processors' | 'exporters', object>> {
  readonly receivers: { readonly otlp: { readonly protocols: { readonly http: { readonly endpoint: string } } } }
  readonly service: { readonly pipelines: Readonly<Record<string, Pipeline>> }
}
type Pipeline = Readonly<Record<'receivers' | 'processors' | 'exporters', readonly string[]>>

it('each part of the collector is declared and used, and it receives where services send', () => {
  const collector = read<Collector>('infra/otel/collector.yml')
  const { pipelines } = collector.service
  expect(Object.keys(collector.receivers.otlp.protocols)).toEqual(['http'])
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
  readonly scrape_configs: readonly [
    {
      readonly static_configs?: readonly { targets: string[] }[]
    },
  ]
}

it('Prometheus of docker-compose reads every service', () => {
  const { scrape_configs } = read<Prometheus>('infra/prometheus/prometheus.yml')
  const targets = scrape_configs[0].static_configs?.flatMap(({ targets }) => targets)
  expect(targets?.toSorted()).toEqual(SERVICE_NAMES.map((name) => `${name}:8081`).toSorted())
})

interface PodMonitor {
  readonly spec: {
    readonly jobLabel: string
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
    readonly podMetricsEndpoints: readonly object[]
  }
}

it('the operator of Prometheus reads every service, with the labels that rules and dashboards ask for', () => {
  const { spec } = read<PodMonitor>('k8s/components/telemetry/pod-monitor.yaml')
  expect(spec.selector.matchLabels[spec.jobLabel]).toBe('backoffice')
  expect(spec.selector).toEqual({
    matchLabels: { 'app.kubernetes.io/part-of': 'backoffice', 'app.kubernetes.io/component': 'service' },
  })
  expect(spec.podMetricsEndpoints).toEqual([
    {
      port: 'operations',
      path: '/metrics',
      interval: '15s',
      relabelings: [
        { sourceLabels: ['__meta_kubernetes_pod_label_app_kubernetes_io_name'], targetLabel: 'service' },
        { sourceLabels: ['__meta_kubernetes_pod_name'], targetLabel: 'instance' },
      ],
    },
  ])
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
