import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { guideCommands } from '../../tests/testing/operations-guide.ts'
import { K8S } from './settings.ts'
import { type KubernetesObject, startKubernetesApi } from './testing/kubernetes-api.ts'
import { installedKubectl } from './tools.ts'

const hasGo = spawnSync('go', ['version']).status === 0
/** The first run on a machine without kubectl compiles it. */
const TIMEOUT_MS = 20 * 60_000

/** With something in the place of `<service>`; without mentions such as `kubectl exec`. */
const commands = guideCommands
  .filter(([tool, , , verb]) => tool === 'kubectl' && verb !== undefined)
  .map((words) => words.slice(1).map((word) => word.replace(/<service>/, 'catalog')))
const unique = [...new Map(commands.map((words) => [words.join(' '), words])).entries()]

interface Template {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> }
  readonly spec: { readonly containers: readonly object[] }
}
type Manifest = KubernetesObject & {
  readonly spec: {
    readonly template: Template
    readonly ports?: readonly { readonly port: number }[]
    readonly jobTemplate: { readonly metadata: object; readonly spec: { readonly template: Template } }
  }
}

/** A running pod of a Deployment or a job. */
const podOf = ({ metadata, spec }: Manifest): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `${metadata.name}-1`,
    namespace: 'backoffice',
    labels: { ...spec.template.metadata.labels, 'job-name': metadata.name },
  },
  spec: spec.template.spec as object,
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
})

/** A job as `kubectl create job --from` makes it, with a result. */
const jobOf = ({ metadata, spec: { jobTemplate } }: Manifest) =>
  ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { ...jobTemplate.metadata, name: metadata.name, namespace: 'backoffice' },
    spec: { ...jobTemplate.spec, selector: { matchLabels: { 'job-name': metadata.name } } },
    status: { ready: 1, conditions: [{ type: 'Complete', status: 'True' }] },
  }) as unknown as Manifest

describe.skipIf(!hasGo)('kubectl takes the commands of docs/operations.md', () => {
  const cache = mkdtempSync(join(tmpdir(), 'kubectl-'))
  whenDone(() => rmSync(cache, { recursive: true }))
  let [kubectl, manifests]: [string, readonly Manifest[]] = ['', []]
  const ofKind = (kind: string) => manifests.filter((manifest) => manifest.kind === kind)

  beforeAll(async () => {
    kubectl = await installedKubectl()
    const built = execFileSync(kubectl, ['kustomize', join(K8S, 'overlays/production')], { encoding: 'utf8' })
    manifests = parseAllDocuments(built).map((document) => document.toJS() as Manifest)
  }, TIMEOUT_MS)

  test.each(unique)('kubectl %s', async (_, words) => {
    const [, , verb = '', ...args] = words
    if (verb === 'port-forward') {
      // It would run on.
      const [, name] = args[0]?.split('/') ?? []
      const [service] = ofKind('Service').filter(({ metadata }) => metadata.name === name)
      expect(service?.spec.ports?.map(({ port }) => String(port))).toContain(args[1])
      return
    }
    const jobs = verb === 'create' ? [] : ofKind('CronJob').map(jobOf)
    // Those that are waited for have ended.
    const pods = args.includes('--for=delete') ? [] : [...ofKind('Deployment'), ...jobs].map(podOf)
    const before = [...manifests, ...jobs, ...pods]
    const api = await startKubernetesApi(before)
    const dry = verb === 'create' ? ['--dry-run=client', '--output=json'] : []
    const run = promisify(execFile)(kubectl, [`--server=${api.url}`, `--cache-dir=${cache}`, ...words, ...dry], {
      timeout: 30_000,
    })
    if (verb === 'exec') {
      // The pod refuses, once it knows what to run.
      await run.catch(() => undefined)
      const [, name] = /(?:job|deployment)\/(\S+)/.exec(words.join(' ')) ?? []
      expect(api.commands[0]).toEqual({ pod: `${name}-1`, command: words.slice(words.indexOf('--') + 1) })
      return
    }
    const { stdout } = await run
    const changed = api.objects.filter((object) => !before.includes(object as Manifest))
    if (verb === 'create') {
      const [, name, from = ''] = args
      const [cronJob] = ofKind('CronJob').filter(({ metadata }) => from === `--from=cronjob/${metadata.name}`)
      const { metadata, spec } = JSON.parse(stdout)
      expect([metadata.name, spec.template.spec.containers]).toMatchObject([
        name,
        cronJob?.spec.jobTemplate.spec.template.spec.containers,
      ])
    }
    const names = args.filter((word) => /^[a-z][a-z-]*$/.test(word)).slice(1)
    if (verb === 'delete') expect(before.length - api.objects.length).toBe(names.length)
    if (verb === 'annotate' || verb === 'scale' || args[0] === 'restart') expect(changed).not.toEqual([])
    if (args[0] === 'status') expect(stdout).toContain('successfully rolled out')
    if (verb === 'get' || verb === 'logs') expect(stdout).not.toBe('')
  })
})
