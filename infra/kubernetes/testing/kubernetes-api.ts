import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { whenDone } from '@backoffice/testing/when-done.ts'

/** An object of Kubernetes, as far as it matters here. */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: { readonly replicas?: number }
  readonly status?: object
}

/** The kinds that it knows, by group and version. */
const KINDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  v1: { pods: 'Pod', 'pods/exec': 'PodExecOptions', 'pods/log': 'Pod' },
  'apps/v1': { deployments: 'Deployment', 'deployments/scale': 'Scale' },
  'batch/v1': { jobs: 'Job', cronjobs: 'CronJob' },
  'keda.sh/v1alpha1': { scaledobjects: 'ScaledObject' },
}
const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'watch']

/**
 * Starts an HTTP server that answers kubectl as the API of Kubernetes would for these objects, until the calling file
 * is done. Nothing runs in it: it creates nothing, and ends commands in pods at once.
 */
export async function startKubernetesApi(objects: readonly KubernetesObject[]) {
  const kept = [...objects]
  const commands: { readonly pod: string; readonly command: readonly string[] }[] = []

  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://api')
    const body = (await request.toArray()).join('')
    const discovered = discovery(pathname)
    if (discovered !== undefined) return answer(response, 200, discovered)
    const [, version = '', plural = '', name, subresource] =
      /^\/apis?\/(.+?)\/namespaces\/backoffice\/(\w+)(?:\/([^/]+)(?:\/(\w+))?)?$/.exec(pathname) ?? []
    const kind = KINDS[version]?.[plural]
    const found = kept.filter((each) => each.kind === kind && (name === undefined || each.metadata.name === name))
    if (kind === undefined) return answer(response, 404, failure(`no such path: ${pathname}`))
    if (searchParams.has('watch')) return response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
    if (name === undefined) {
      const items = found.filter((each) => isSelected(each, searchParams))
      return answer(response, 200, { apiVersion: version, kind: `${kind}List`, metadata: {}, items })
    }
    const [object] = found
    if (object === undefined) return answer(response, 404, failure(`${plural} "${name}" not found`))
    if (subresource === 'log') return response.writeHead(200, { 'content-type': 'text/plain' }).end('a line\n')
    if (request.method === 'DELETE') kept.splice(kept.indexOf(object), 1)
    const changed = request.method === 'PATCH' ? patched(object, JSON.parse(body)) : object
    if (request.method === 'PATCH') kept[kept.indexOf(object)] = changed
    answer(response, 200, subresource === 'scale' ? scaleOf(changed) : changed)
  })
  server.on('upgrade', ({ url = '' }, socket) => {
    const { pathname, searchParams } = new URL(url, 'http://api')
    commands.push({ pod: pathname.split('/').at(-2) ?? '', command: searchParams.getAll('command') })
    socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  whenDone(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The objects that it has now. */
    objects: kept as readonly KubernetesObject[],
    /** What it was asked to run in pods. */
    commands: commands as readonly (typeof commands)[number][],
  }
}

const answer = (response: ServerResponse, status: number, body: object) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

const failure = (message: string) => ({
  apiVersion: 'v1',
  kind: 'Status',
  status: 'Failure',
  reason: 'NotFound',
  message,
})

function discovery(path: string): object | undefined {
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'] }
  if (path === '/apis') {
    const groups = Object.keys(KINDS).filter((groupVersion) => groupVersion.includes('/'))
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(group) }
  }
  const groupVersion = path.replace(/^\/apis?\//, '')
  const kinds = KINDS[groupVersion]
  if (kinds === undefined) return undefined
  const resources = Object.entries(kinds).map(([name, kind]) => ({
    name,
    kind,
    namespaced: true,
    verbs: VERBS,
    singularName: kind.toLowerCase(),
    ...(kind === 'Scale' && { group: 'autoscaling', version: 'v1' }),
  }))
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources }
}

function group(groupVersion: string): object {
  const [name, version] = groupVersion.split('/')
  return { name, versions: [{ groupVersion, version }], preferredVersion: { groupVersion, version } }
}

/** Selectors of the forms that commands here have: `a=b` of labels, and a name. */
function isSelected({ metadata }: KubernetesObject, query: URLSearchParams): boolean {
  const [label = '', value] = query.get('labelSelector')?.split('=') ?? []
  const name = query.get('fieldSelector')?.replace('metadata.name=', '')
  return (label === '' || metadata.labels?.[label] === value) && (name === undefined || name === metadata.name)
}

/** A merge patch of annotations and of the number of replicas; null removes an annotation. */
function patched(object: KubernetesObject, { metadata, spec }: Partial<KubernetesObject>): KubernetesObject {
  const annotations = { ...object.metadata.annotations, ...metadata?.annotations }
  return {
    ...object,
    metadata: {
      ...object.metadata,
      annotations: Object.fromEntries(Object.entries(annotations).filter(([, value]) => value !== null)),
    },
    spec: { ...object.spec, ...spec },
  }
}

const scaleOf = ({ metadata, spec }: KubernetesObject) => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata,
  spec: { replicas: spec?.replicas },
})
