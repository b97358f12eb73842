import { execFile, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { consumersOf, SERVICE_NAMES } from '@backoffice/contracts/services.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { K8S } from './settings.ts'
import { installed } from './tools.ts'

const run = promisify(execFile)
const hasGo = spawnSync('go', ['version']).status === 0
const OVERLAYS = readdirSync(join(K8S, 'overlays'))
/** The first run on a machine compiles the programs. */
const TIMEOUT_MS = 20 * 60_000

type Labels = Readonly<Record<string, string>>
interface Selector {
  readonly matchLabels?: Labels
  readonly matchExpressions?: readonly { readonly key: string; readonly values: readonly string[] }[]
}
interface Peer {
  readonly podSelector?: Selector
  readonly namespaceSelector?: Selector
}
/** What the tests read of a manifest, of any kind. */
interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels?: Labels }
  readonly data?: Readonly<Record<string, string>>
  readonly spec: {
    readonly template: PodTemplate
    readonly jobTemplate: { readonly spec: { readonly template: PodTemplate } }
    readonly scaleTargetRef: { readonly name: string }
    readonly triggers: readonly { readonly metadata: { readonly consumerGroup?: string; readonly topic?: string } }[]
    readonly selector: Labels | Selector
    readonly podSelector: Selector
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
  readonly securityContext?: object
  readonly containers: readonly {
    readonly securityContext?: object
    readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[]
  }[]
}

describe.skipIf(!hasGo)('built by Kustomize', () => {
  const manifests = new Map<string, readonly Manifest[]>()
  const ofKind = (overlay: string, ...kinds: string[]) =>
    (manifests.get(overlay) ?? []).filter(({ kind }) => kinds.includes(kind))
  const names = (overlay: string, kind: string) => ofKind(overlay, kind).map(({ metadata }) => metadata.name)
  const pods = (overlay: string) => [
    ...ofKind(overlay, 'Deployment', 'Job').map(({ spec }) => spec.template),
    ...ofKind(overlay, 'CronJob').map(({ spec }) => spec.jobTemplate.spec.template),
  ]

  beforeAll(async () => {
    const kubectl = await installed('kubectl')
    for (const overlay of OVERLAYS) {
      const { stdout } = await run(kubectl, ['kustomize', join(K8S, 'overlays', overlay)], { maxBuffer: 2 ** 24 })
      manifests.set(
        overlay,
        parseAllDocuments(stdout).map((document) => document.toJS() as Manifest),
      )
    }
  }, TIMEOUT_MS)

  test('the validators accept every overlay', { timeout: TIMEOUT_MS }, async () => {
    const { stdout } = await run(process.execPath, [join(import.meta.dirname, 'check.ts')])
    for (const overlay of OVERLAYS) expect(stdout).toContain(`${overlay}: kubectl-validate passed`)
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
    const { stdout } = await run(await installed('kubectl'), ['kustomize', join(K8S, 'base', service)])
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
