import { randomUUID } from 'node:crypto'
import { json } from 'node:stream/consumers'
import type { AppSession, Installation } from '@backoffice/contracts/app.ts'
import { INTERNAL_TOKEN_HEADER } from '@backoffice/http/internal-token.ts'
import { testVerifier } from '@backoffice/testing/caller.ts'
import type { TestUpstream } from './test-upstream.ts'

/** A request that an upstream in the place of apps has answered. */
interface Asked {
  readonly method: string
  readonly path: string
  readonly body: unknown
  /** Whom the internal token names. */
  readonly actor: unknown
  readonly who: unknown
  readonly workspace: unknown
}

const verify = testVerifier('apps')

/** Lets an upstream answer as apps does for the installations added. It keeps what it was asked. */
export function testApps(upstream: TestUpstream) {
  const installations = new Map<string, Installation>()
  const asked: Asked[] = []
  const busy = new Set<string>()

  upstream.answer = async (request, response) => {
    const { method = '', url: path = '' } = request
    const token = request.headers[INTERNAL_TOKEN_HEADER]
    const { caller, isService } = await verify(String(token), new Date())
    if (!isService) throw new Error('apps needs the token of a service')
    const { keyId, who, workspaceId } = caller
    const body = request.headers['content-type'] === undefined ? undefined : await json(request)
    asked.push({ method, path, body, actor: keyId, who, workspace: workspaceId })
    const answer = (status: number, content: unknown, headers = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(content))
    }
    const refuse = (status: number, code: string, headers = {}) =>
      answer(status, { error: { code, message: 'no', request_id: '' } }, headers)

    const [, , , id = '', act] = path.split('/')
    if (method === 'POST' && id === '') {
      return answer(path === '/internal/provisions' ? 202 : 201, [...installations.values()].at(-1))
    }
    const installation = installations.get(id)
    if (installation === undefined) return refuse(404, 'not_found')
    const { requested_scopes: requested, state } = installation
    if (act === undefined) return answer(200, installation)
    if (act === 'session') return state === 'ACTIVE' ? answer(201, sessionOf(installation)) : refuse(409, 'conflict')
    const { scopes, webhooks } = (body ?? {}) as { scopes?: string[]; webhooks?: unknown }
    const isOther =
      String(scopes) !== String(requested) || JSON.stringify(webhooks ?? null) !== JSON.stringify(installation.webhooks)
    if (act === 'consent' && requested.length > 0 && isOther) return refuse(409, 'conflict')
    if (act === 'consent' && busy.has(id)) return refuse(409, 'conflict', { 'error-reason': 'not_acknowledged' })
    Object.assign(installation, { requested_scopes: [] }, act === 'decline' && { state: 'UNINSTALLED' })
    return answer(200, installation)
  }

  return {
    asked,
    /** Installations that have not acknowledged the consent before. */
    busy,
    /** Adds an installation; the changes say how it differs from one that waits for its first consent. */
    add(workspace: string, changes: Partial<Installation> = {}): Installation {
      const installation: Installation = {
        id: randomUUID(),
        provider: 'acme-pay',
        name: 'Acme Pay',
        origin: 'https://pay.acme.example',
        embed: '/embed',
        workspace,
        livemode: true,
        state: 'PENDING',
        scopes: [],
        requested_scopes: ['sale::read'],
        webhooks: null,
        checkout: null,
        last_error: null,
        created_at: new Date().toISOString(),
        consented_at: null,
        activated_at: null,
        uninstalled_at: null,
        ...changes,
      }
      installations.set(installation.id, installation)
      return installation
    },
  }
}

const sessionOf = ({ provider, origin, embed }: Installation): AppSession => ({
  token: 'token-for-the-app',
  expires_at: new Date(Math.ceil(Date.now() / 1000) * 1000 + 300_000).toISOString(),
  provider,
  origin,
  embed,
})
