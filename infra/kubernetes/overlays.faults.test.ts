import { execFile, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { consumersOf, SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { readSchemas } from './schemas.ts'
import { K8S } from './settings.ts'
import { installedKubectl } from './tools.ts'

const run = promisify(execFile)
const hasGo = spawnSync('go', ['version']).status === 0
const OVERLAYS = readdirSync(join(K8S, 'overlays'))
/** The first run on a machine without kubectl compiles it. */
const TIMEOUT_MS = 20 * 60_000

type Branch = Readonly<Record<string, unknown>>
type Labels = Readonly<Record<string, string>>
interface Selector {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[]
}
interface Peer {
  readonly podSelector?: Selector
  readonly namespaceSelector?: Selector
}
/** Of an Ingress, or of an HTTPRoute. */
interface Rule {
  readonly http?: { readonly paths: readonly { readonly backend: { readonly service: ServiceReference } }[] }
  readonly backendRefs?: readonly { readonly name: string; readonly port: number }[]
}
interface ServiceReference {
  readonly name: string
  readonly port: { readonly name?: string; readonly number?: number }
}
/** What the tests read of a manifest, of any kind. */
interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Labels }
  readonly data?: Readonly<Record<string, string>>
  readonly spec: {
    readonly template: PodTemplate
    readonly jobTemplate: { readonly spec: { readonly template: PodTemplate } }
    readonly replicas?: number
    readonly strategy?: { readonly type: string }
    readonly type?: string
    readonly ports: readonly { readonly name?: string; readonly port: number }[]
    readonly startingDeadlineSeconds?: number
    readonly rules: readonly Rule[]
    readonly minReplicas?: number
    readonly minReplicaCount?: number
    readonly minAvailable?: unknown
    readonly maxUnavailable?: unknown
    readonly scaleTargetRef: { readonly name: string }
    readonly triggers: readonly { readonly metadata: { readonly consumerGroup?: string; readonly topic?: string } }[]
    readonly selector: Labels | Selector
    readonly podSelector: Selector
    readonly policyTypes: readonly string[]
    readonly ingress?: readonly { readonly from: readonly Peer[] }[]
    readonly egress?: readonly { readonly to: readonly Peer[] }[]
  }
}
interface PodTemplate {
  readonly metadata: { readonly labels: Labels }
  readonly spec: Pod
}
interface Pod {
  readonly serviceAccountName?: string
  readonly securityContext?: { readonly runAsUser?: number; readonly runAsGroup?: number }
  readonly restartPolicy?: string
  readonly topologySpreadConstraints?: readonly object[]
  readonly containers: readonly [Container, ...Container[]]
}
interface Container {
  readonly securityContext?: object
  readonly readinessProbe?: Probe
  readonly livenessProbe?: Probe
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[]
}
interface Probe {
  readonly httpGet?: object
  readonly tcpSocket?: object
  readonly exec?: object
}

describe.skipIf(!hasGo)('built by Kustomize', () => {
  const manifests = new Map<string, readonly Manifest[]>()
  const ofKind = (overlay: string, ...kinds: string[]) =>
    (manifests.get(overlay) ?? []).filter(({ kind }) => kinds.includes(kind))
  let refusalsOf: Awaited<ReturnType<typeof readSchemas>>
  const names = (overlay: string, kind: string) => ofKind(overlay, kind).map(({ metadata }) => metadata.name)
  const pods = (overlay: string) => [
    ...ofKind(overlay, 'Deployment', 'Job').map(({ spec }) => spec.template),
    ...ofKind(overlay, 'CronJob').map(({ spec }) => spec.jobTemplate.spec.template),
  ]

  beforeAll(async () => {
    refusalsOf = await readSchemas()
    const kubectl = await installedKubectl()
    for (const overlay of OVERLAYS) {
      const { stdout } = await run(kubectl, ['kustomize', join(K8S, 'overlays', overlay)], { maxBuffer: 2 ** 24 })
      manifests.set(
        overlay,
        parseAllDocuments(stdout).map((document) => document.toJS() as Manifest),
      )
    }
  }, TIMEOUT_MS)

  test.each([
    ['Deployment', 'spec.template.spec.containers.0.imagePullPolice', 'Always', 'must NOT have additional properties'],
    ['Deployment', 'spec.template.spec.containers.0.ports.0.containerPort', '8080', 'must be integer'],
    ['Deployment', 'spec.template.spec.containers.0.resources.limits.memory', '1Gx', 'must match pattern'],
    ['Deployment', 'spec.template.spec.containers.0.env', [{ name: 'A' }, { name: 'A' }], 'x-kubernetes-list-map-keys'],
    ['Deployment', 'spec.selector', undefined, "must have required property 'selector'"],
    ['Deployment', 'metadata.name', 'a_b', 'must match pattern'],
    ['Deployment', 'metadata.labels.a', '-', 'must match pattern'],
    ['PodDisruptionBudget', 'apiVersion', 'policy/v1beta1', 'no server has the kind'],
    ['ScaledObject', 'metadata.lables', {}, 'must NOT have additional properties'],
    ['ScaledObject', 'spec.maxReplicas', 3, 'must NOT have additional properties'],
    ['ScaledObject', 'spec.minReplicaCount', '2', 'must be integer'],
    ['PodMonitor', 'spec.selector', undefined, "must have required property 'selector'"],
    ['PrometheusRule', 'spec.groups.0.rules.0.for', 'soon', 'must match pattern'],
    ['Gateway', 'spec.listeners.0.tls.certificateRefs', [], 'certificateRefs or options must be specified'],
    ['HTTPRoute', 'spec.rules.0.backendRefs.0.port', undefined, 'Must have port for Service reference'],
  ])('a server refuses a %s with %s: %j', (kind, path, value, reason) => {
    const [manifest] = ofKind('production', kind) as [Manifest]
    expect(refusalsOf(manifest)).toEqual([])
    const broken = structuredClone(manifest)
    const keys = path.split('.')
    const place = keys.slice(0, -1).reduce((at, key) => at[key] as Branch, broken as unknown as Branch)
    Object.assign(place, { [keys.at(-1) ?? '']: value })
    expect(refusalsOf(broken).join('\n')).toContain(reason)
  })

  test.each(OVERLAYS)('every pod of %s keeps to the restricted profile that the namespace enforces', (overlay) => {
    for (const { metadata, spec } of pods(overlay)) {
      const name = metadata.labels['app.kubernetes.io/name']
      expect(spec.securityContext, name).toMatchObject({
        runAsNonRoot: true,
        runAsUser: expect.any(Number),
        seccompProfile: { type: 'RuntimeDefault' },
      })
      for (const { securityContext } of spec.containers)
        expect(securityContext, name).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
    }
  })

  test.each(OVERLAYS)(
    'every container of %s has an image that stays, and requests and limits of all but cores',
    (overlay) => {
      const size = expect.stringMatching(/^\d/)
      for (const { metadata, spec } of pods(overlay))
        for (const container of spec.containers)
          expect(container, metadata.labels['app.kubernetes.io/name']).toMatchObject({
            image: expect.stringMatching(/:(?!latest$)[\w.-]+$/),
            resources: {
              requests: { cpu: size, memory: size, 'ephemeral-storage': size },
              // Limits of cores throttle: requests are answered late while cores are idle.
              limits: { memory: size, 'ephemeral-storage': size },
            },
          })
    },
  )

  test.each(OVERLAYS)('every pod of %s has rules for what comes in and what goes out', (overlay) => {
    for (const { metadata } of pods(overlay)) {
      const policies = ofKind(overlay, 'NetworkPolicy').filter(({ spec }) => matches(metadata.labels, spec.podSelector))
      expect(policies.flatMap(({ spec }) => spec.policyTypes)).toEqual(expect.arrayContaining(['Ingress', 'Egress']))
    }
  })

  test.each(OVERLAYS)(
    'every Deployment of %s is asked whether it is ready, and not the same as whether it lives',
    (overlay) => {
      for (const { metadata, spec } of ofKind(overlay, 'Deployment')) {
        const [{ readinessProbe, livenessProbe }] = spec.template.spec.containers
        expect(readinessProbe, metadata.name).toBeDefined()
        expect(asked(readinessProbe), metadata.name).not.toEqual(asked(livenessProbe))
      }
    },
  )

  test.each(OVERLAYS)(
    'in %s the pods of a service are spread, replaced one by one, and as many as its autoscaler says',
    (overlay) => {
      const services = ofKind(overlay, 'Deployment').filter(
        ({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === 'service',
      )
      expect(services.map(({ metadata }) => metadata.name).toSorted()).toEqual(SERVICE_NAMES.toSorted())
      for (const { metadata, spec } of services) {
        expect(spec.replicas, metadata.name).toBeUndefined()
        expect(spec.strategy, metadata.name).toMatchObject({ type: 'RollingUpdate' })
        for (const constraint of spec.template.spec.topologySpreadConstraints ?? [{}])
          expect(constraint, metadata.name).toMatchObject({ labelSelector: { matchLabels: expect.any(Object) } })
      }
    },
  )

  test.each(OVERLAYS)('pods of %s have no user or group of the machine, but those of backing services', (overlay) => {
    for (const { metadata, spec } of pods(overlay)) {
      if (metadata.labels['app.kubernetes.io/component'] === 'backing-service') continue
      const { runAsUser, runAsGroup } = spec.securityContext ?? {}
      for (const id of [runAsUser, runAsGroup])
        expect(id, metadata.labels['app.kubernetes.io/name']).toBeGreaterThan(9999)
    }
  })

  test('in production two replicas of every service are kept, and one may be away', () => {
    const scalers = ofKind('production', 'HorizontalPodAutoscaler', 'ScaledObject')
    for (const { metadata, spec } of scalers)
      expect(spec.minReplicas ?? spec.minReplicaCount, metadata.name).toBeGreaterThanOrEqual(2)
    for (const { metadata, spec } of ofKind('production', 'PodDisruptionBudget'))
      expect(spec.minAvailable ?? spec.maxUnavailable, metadata.name).toBe(1)
  })

  test.each(OVERLAYS)('a job of %s that cannot start in time is left out, and its pod ends', (overlay) => {
    for (const { metadata, spec } of ofKind(overlay, 'CronJob')) {
      expect(spec.startingDeadlineSeconds, metadata.name).toBeGreaterThan(0)
      expect(spec.jobTemplate.spec.template.spec.restartPolicy, metadata.name).toMatch(/^(Never|OnFailure)$/)
    }
  })

  test.each(OVERLAYS)('in %s what leads to a Service names one that is there, with its port', (overlay) => {
    const services = ofKind(overlay, 'Service')
    for (const { metadata, spec } of services) expect(spec.type ?? 'ClusterIP', metadata.name).not.toBe('NodePort')
    const ports = services.flatMap(({ metadata, spec }) =>
      spec.ports.flatMap(({ name, port }) => [`${metadata.name} ${name}`, `${metadata.name} ${port}`]),
    )
    const ofIngresses = ofKind(overlay, 'Ingress').flatMap(({ spec }) =>
      spec.rules
        .flatMap(({ http }) => http?.paths ?? [])
        .map(({ backend: { service } }) => [service.name, service.port.name ?? service.port.number].join(' ')),
    )
    const ofRoutes = ofKind(overlay, 'HTTPRoute').flatMap(({ spec }) =>
      spec.rules.flatMap(({ backendRefs = [] }) => backendRefs).map(({ name, port }) => `${name} ${port}`),
    )
    const led = [...ofIngresses, ...ofRoutes]
    expect(led).not.toEqual([])
    expect(ports).toEqual(expect.arrayContaining(led))
  })

  test.each(OVERLAYS)('%s has every ConfigMap, ServiceAccount and Deployment that it names', (overlay) => {
    const specs = pods(overlay).map(({ spec }) => spec)
    const configMaps = specs.flatMap(({ containers }) => containers.flatMap(({ envFrom = [] }) => envFrom))
    const accounts = specs.flatMap(({ serviceAccountName = [] }) => serviceAccountName)
    const targets = ofKind(overlay, 'HorizontalPodAutoscaler', 'ScaledObject').map(({ spec }) => spec.scaleTargetRef)
    expect(names(overlay, 'ConfigMap')).toEqual(
      expect.arrayContaining(configMaps.map(({ configMapRef }) => configMapRef.name)),
    )
    expect(names(overlay, 'ServiceAccount')).toEqual(expect.arrayContaining(accounts))
    expect(names(overlay, 'Deployment')).toEqual(expect.arrayContaining(targets.map(({ name }) => name)))
  })

  test.each(OVERLAYS.flatMap((overlay) => SERVICE_NAMES.map((name) => [overlay, name] as const)))(
    'in %s the labels of %s select all that it needs, and nothing of another service',
    (overlay, service) => {
      const names = [service, `migrate-${service}`, 'shared']
      const selected = (manifests.get(overlay) ?? []).filter(({ metadata: { labels = {} } }) =>
        names.includes(labels['app.kubernetes.io/name'] ?? ''),
      )
      const ofKind = (...kinds: string[]) => selected.filter(({ kind }) => kinds.includes(kind))
      const named = (kind: string) => ofKind(kind).map(({ metadata }) => metadata.name)
      expect(named('Deployment')).toEqual([service])
      expect(named('Job')).toEqual([`migrate-${service}`])
      expect(named('PodDisruptionBudget')).toEqual([service])
      expect(named('NetworkPolicy')).toEqual(expect.arrayContaining([service, 'default-deny', 'postgresql']))
      const scalers = ofKind('HorizontalPodAutoscaler', 'ScaledObject')
      expect(scalers.map(({ spec }) => spec.scaleTargetRef.name)).toEqual([service])
      for (const { spec } of ofKind('Deployment', 'Job')) {
        const { serviceAccountName, containers } = spec.template.spec
        const configMaps = containers.flatMap(({ envFrom = [] }) =>
          envFrom.map(({ configMapRef }) => configMapRef.name),
        )
        expect(named('ConfigMap')).toEqual(expect.arrayContaining(configMaps))
        expect(named('ServiceAccount')).toContain(serviceAccountName)
      }
    },
  )

  test.each(OVERLAYS)(
    '%s without its jobs, as it is applied to go back, has all that the other pods name',
    (overlay) => {
      const kept = (manifests.get(overlay) ?? []).filter(
        ({ metadata: { labels = {} } }) => labels['app.kubernetes.io/component'] !== 'job',
      )
      const named = (kind: string) => kept.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name)
      expect(named('Job')).toEqual([])
      expect(named('Deployment')).toEqual(names(overlay, 'Deployment'))
      const specs = kept.flatMap(({ kind, spec }) => (kind === 'Deployment' ? [spec.template.spec] : []))
      for (const { serviceAccountName, containers } of specs) {
        if (serviceAccountName !== undefined) expect(named('ServiceAccount')).toContain(serviceAccountName)
        for (const { configMapRef } of containers.flatMap(({ envFrom = [] }) => envFrom))
          expect(named('ConfigMap')).toContain(configMapRef.name)
      }
    },
  )

  test.each(OVERLAYS)('in %s KEDA asks Kafka for the groups and topics of its prefix', (overlay) => {
    const { KAFKA_PREFIX: prefix = '' } = Object.assign({}, ...ofKind(overlay, 'ConfigMap').map(({ data }) => data))
    const triggers = ofKind(overlay, 'ScaledObject').flatMap(({ spec }) => spec.triggers)
    const asked = triggers.flatMap(({ metadata: { consumerGroup, topic } }) =>
      consumerGroup === undefined ? [] : [[consumerGroup, topic]],
    )
    const known = SERVICE_NAMES.flatMap(consumersOf).flatMap(({ name, topics }) =>
      topics.map((topic) => [prefix + name, prefix + topic]),
    )
    expect(known).toEqual(expect.arrayContaining(asked))
  })

  test.each(SERVICE_NAMES)('the folder of %s alone has a disruption budget for its pods', async (service) => {
    const { stdout } = await run(await installedKubectl(), ['kustomize', join(K8S, 'base', service)])
    const found = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest)
    const [deployment] = found.filter(({ kind }) => kind === 'Deployment')
    const [budget] = found.filter(({ kind }) => kind === 'PodDisruptionBudget')
    expect(matches(deployment?.spec.template.metadata.labels ?? {}, budget?.spec.selector as Selector)).toBe(true)
  })

  test.each(OVERLAYS)('in %s each selector finds pods, and those of one service only where it names one', (overlay) => {
    const found = (selector: Selector) => pods(overlay).filter(({ metadata }) => matches(metadata.labels, selector))
    for (const { spec, metadata } of ofKind(overlay, 'Service'))
      expect(found({ matchLabels: spec.selector as Labels }), metadata.name).toHaveLength(1)
    for (const { spec, metadata } of ofKind(overlay, 'Deployment', 'PodDisruptionBudget'))
      expect(found(spec.selector as Selector), metadata.name).toHaveLength(1)
    for (const { spec, metadata } of ofKind(overlay, 'NetworkPolicy')) {
      // cert-manager makes the pods.
      if (metadata.name === 'certificate-challenges') continue
      const { podSelector, ingress = [], egress = [] } = spec
      const peers = [...ingress.flatMap(({ from }) => from), ...egress.flatMap(({ to }) => to)]
      const here = peers.flatMap((peer) => (peer.namespaceSelector ? [] : (peer.podSelector ?? [])))
      for (const selector of [podSelector, ...here]) expect(found(selector), metadata.name).not.toEqual([])
    }
  })
})

function matches(labels: Labels, { matchLabels = {}, matchExpressions = [] }: Selector): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ''))
  )
}

/** What a probe asks, without how often. */
const asked = ({ httpGet, tcpSocket, exec }: Probe = {}) => ({ httpGet, tcpSocket, exec })
