import { aFile, FORM, form } from '@backoffice/testing/form.ts'
import { PIXEL } from '../files.ts'
import { aProduct } from '../products.ts'
import { type Neighbour, productsOf } from './neighbour.ts'

/** A call that a workspace makes every day. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly type?: string
}

export const CREATE = { method: 'POST', path: '/v1/products' }
const SESSION = '/console/session'
/** One of so many calls of the API is one of a page of the console. */
const BY_CONSOLE_EVERY = 5
/** The call that uploads an image. */
const UPLOAD_AT = 103
const UPLOAD: Call = {
  method: 'POST',
  path: '/v1/assets',
  body: new Uint8Array(form(aFile(Buffer.from(PIXEL), { fileName: 'photo.png' }))),
  type: FORM,
}

/** Of four calls, one creates a product, one reads one, one lists a collection, and one is of another kind. */
export function ordinaryCall({ products, collection, file }: Neighbour, index: number): Call {
  const product = `/v1/products/${products[index % products.length]}`
  switch (index % 4) {
    case 0:
      return { ...CREATE, body: JSON.stringify(aProduct()) }
    case 1:
      return { method: 'GET', path: product }
    case 2:
      return { method: 'GET', path: productsOf(collection) }
  }
  if (index === UPLOAD_AT) return UPLOAD
  const others: readonly [Call, ...Call[]] = [
    { method: 'GET', path: '/v1/products?limit=50' },
    { method: 'GET', path: '/v1/orders' },
    { method: 'GET', path: file },
    { method: 'PUT', path: product, body: JSON.stringify({ name: `Mug ${index}` }) },
    { method: 'GET', path: '/v1/customers' },
    { method: 'GET', path: '/v1/webhooks' },
    { method: 'GET', path: SESSION },
    { method: 'GET', path: '/v1/deliveries' },
  ]
  return others[Math.floor(index / 4) % others.length] ?? others[0]
}

/**
 * Sends a call with one of the keys in turn, or as a page of the console does. The status is 0 when there is no answer
 * within `withinMs`.
 */
export async function send(neighbour: Neighbour, index: number, call: Call, withinMs: number) {
  const { gateway, keys } = neighbour
  const { method, body, type = 'application/json' } = call
  const isByConsole = call.path === SESSION || (index % BY_CONSOLE_EVERY === 0 && call.path.startsWith('/v1'))
  const path = isByConsole && call.path !== SESSION ? `/console/api${call.path}` : call.path
  const headers = {
    ...(isByConsole ? neighbour.console : { authorization: `Bearer ${keys[index % keys.length]}` }),
    ...(body !== undefined && { 'content-type': type }),
  }
  try {
    const signal = AbortSignal.timeout(withinMs)
    const response = await fetch(new URL(path, gateway), { method, headers, signal, body: body ?? null })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    return { status: 0, text: String(error) }
  }
}
