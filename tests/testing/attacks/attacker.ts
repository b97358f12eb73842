import { setTimeout as pause } from 'node:timers/promises'
import type { StackDescription } from '@backoffice/local/stack-file.ts'
import { apiWith } from '../api.ts'
import { type Answer, httpClient } from './http-client.ts'

/** The keys of an attacker. Each has the rate limit of any workspace (OP-06). */
const KEYS = 8
/** The answers to too many requests, and the pause that their `Retry-After` asks for. */
const TOO_MANY = [429, 503]
const REFUSED_MS = 1000
/** The answers to requests that are wrong: an attack of such requests would prove nothing. */
const WRONG = [400, 401, 403, 404, 405, 413, 415]

/** A workspace that sends legal requests only, and many of them. */
export interface Attacker {
  readonly id: string
  readonly keys: readonly [string, ...string[]]
  /** Sends a request with one key after the other. A refused client waits a second. Throws for a wrong request. */
  call(method: string, path: string, body?: unknown): Promise<Answer>
  /** As `call`, with the JSON of the answer, which must be a success. */
  change<Body>(method: string, path: string, body?: unknown): Promise<Body>
}

/** Creates a workspace with the rate limit of any workspace. */
export async function newAttacker({ gateway, admin_token }: StackDescription): Promise<Attacker> {
  const admin = apiWith(gateway, admin_token)
  const { id } = (await admin<{ id: string }>('POST', '/admin/v1/workspaces', { name: 'Attacker' })).body
  const issueKey = async () => {
    const issued = await admin<{ key: string }>('POST', `/admin/v1/workspaces/${id}/keys`, { name: 'a', scopes: ['*'] })
    return issued.body.key
  }
  const keys: [string, ...string[]] = [await issueKey()]
  while (keys.length < KEYS) keys.push(await issueKey())
  const send = httpClient(gateway)
  let calls = 0

  const call: Attacker['call'] = async (method, path, body) => {
    const key = keys[calls++ % KEYS]
    const content = Buffer.isBuffer(body) ? body : JSON.stringify(body)
    const answer = await send(method, path, { authorization: `Bearer ${key}` }, content)
    if (WRONG.includes(answer.status)) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
    if (TOO_MANY.includes(answer.status)) await pause(REFUSED_MS)
    return answer
  }
  return {
    id,
    keys,
    call,
    async change(method, path, body) {
      const { status, text } = await call(method, path, body)
      if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
      return text === '' ? undefined : JSON.parse(text)
    },
  }
}
