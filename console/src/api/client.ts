import createClient, { type Middleware } from 'openapi-fetch'
import type { paths } from '../../../libs/app-sdk/src/api-types.ts'
import { supportReason } from '../session/reasons.ts'
import type { paths as AdminPaths } from './admin-types.ts'
import { failureOf } from './failure.ts'
import { answered, KEY, keyOf } from './write-keys.ts'

export type { components } from '../../../libs/app-sdk/src/api-types.ts'

/** Other sites cannot send it, and the gateway refuses requests of the console without it. */
export const OUR_HEADER = { 'x-requested-with': 'console' }
const BASE_URL = '/console/api'

let shown: string | undefined

/**
 * Says whose workspace the pages show. The tabs of a browser have one cookie: the gateway refuses what this tab sends
 * after another one has signed in elsewhere, such as to the live workspace instead of the sandbox.
 */
export function showWorkspace(id: string | undefined): void {
  shown = id
}

const ourHeaders = () => ({ ...OUR_HEADER, ...(shown !== undefined && { 'x-console-workspace': shown }) })

const WRITES = ['POST', 'PUT', 'DELETE']

/** Says whose workspace it is, and gives each write of support a reason. */
const ofWorkspace: Middleware = {
  async onRequest({ request }) {
    const { method, headers } = request
    if (shown !== undefined) headers.set('x-console-workspace', shown)
    const reason = WRITES.includes(method) ? await supportReason(request) : undefined
    if (reason !== undefined) headers.set('support-reason', encodeHeader(reason))
    return request
  },
}

/** Gives each POST a key. */
const withKeys: Middleware = {
  async onRequest({ request }) {
    if (request.method === 'POST') request.headers.set(KEY, await keyOf(request, Date.now()))
    return request
  },
  async onResponse({ request, response }) {
    const key = request.headers.get(KEY)
    if (key === null) return
    // One that breaks off is no answer.
    await response.clone().arrayBuffer()
    answered(key, response.status)
  },
}

/** Bytes of UTF-8, as the gateway reads them. */
const encodeHeader = (text: string) => String.fromCharCode(...new TextEncoder().encode(text))

/** `/v1` in the name of this browser's session, typed by docs/openapi.json. */
export const api = createClient<paths>({ baseUrl: BASE_URL, headers: OUR_HEADER })
api.use(ofWorkspace, withKeys)

/** `/admin/v1` in the name of this browser's operator. */
export const admin = createClient<AdminPaths>({ baseUrl: BASE_URL, headers: OUR_HEADER })
admin.use(withKeys)

export interface Answered<Data> {
  readonly data?: Data
  readonly error?: unknown
  readonly response: Response
}

/** The body of an answer. Throws `ApiFailure` for a refusal. */
export async function bodyOf<Data>(answered: Promise<Answered<Data>>): Promise<Data> {
  const { data, error, response } = await answered
  if (!response.ok) throw failureOf(response, error)
  return data as Data
}

/** A resource as it was read, with the tag that `If-Match` takes. */
export interface Tagged<Body> {
  readonly body: Body
  readonly tag: string
}

/** As `bodyOf`, with the tag of the resource. Throws `ApiFailure`. */
export async function taggedOf<Data>(answered: Promise<Answered<Data>>): Promise<Tagged<Data>> {
  const body = await bodyOf(answered)
  return { body, tag: (await answered).response.headers.get('etag') ?? '' }
}

/**
 * Reads what no document describes, such as what the console alone sees: `/collections` is `/console/api/collections`.
 * Throws `ApiFailure`.
 */
export async function taggedFrom<Body>(path: string, search: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${BASE_URL}${path}?${new URLSearchParams(search)}`, { headers: ourHeaders() })
  const answer = await response.json().catch(() => undefined)
  if (!response.ok) throw failureOf(response, answer)
  return { body: answer as Body, tag: response.headers.get('etag') ?? '' } satisfies Tagged<Body>
}

/** Saves a file of the API, such as the errors of an import, under a name. Throws `ApiFailure`. */
export async function download(path: string, name: string): Promise<void> {
  const response = await fetch(`${BASE_URL}${path}`, { headers: ourHeaders() })
  if (!response.ok) throw failureOf(response, await response.json().catch(() => undefined))
  saveFile(await response.blob(), name)
}

/** Lets the browser save a file. */
export function saveFile(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
