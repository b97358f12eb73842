import { join } from 'node:path'
import { StackError } from '@backoffice/testing/processes/stack-error.ts'
import { readJson, replaceJson } from './json-file.ts'

/** A workspace of the demo and a key with full access to it. */
export interface DemoWorkspace {
  readonly id: string
  readonly name: string
  readonly livemode: boolean
  readonly key: string
}

interface Demo {
  readonly workspaces: readonly DemoWorkspace[]
  /** The id of a product for the examples. */
  readonly product: string
}

/** What a start prints of the demo. */
export interface StartedDemo extends Demo {
  /** Opens the console of the live workspace, once. */
  readonly consoleUrl: string
}

/** The members of the API's answers that are used here. */
interface Created {
  readonly id: string
  readonly key: string
  readonly url: string
  readonly sandbox: { readonly id: string }
}

const NAME = 'Demo'
const PRODUCTS = [
  { name: 'Enamel mug', sku: 'MUG-1', price: { NGN: 450_000, USD: 1_200 }, cost: { USD: 400 }, stock: 40 },
  { name: 'Canvas tote bag', sku: 'TOTE-1', price: { NGN: 780_000, USD: 2_100 }, cost: { USD: 800 }, stock: 25 },
  { name: 'Beeswax candle', sku: 'CANDLE-1', price: { NGN: 320_000, USD: 900 }, cost: { USD: 250 }, stock: 60 },
].map((product) => ({ ...product, type: 'SIMPLE_PRODUCT', status: 'ACTIVE', requires_shipping: true }))

/**
 * Creates a live workspace, its sandbox, a key for each and three products through the API. Stores them in the stack's
 * folder and reads them from there at the next start, unless the database has lost them. Each start makes a new link to
 * the console.
 */
export async function demoWorkspaces(gateway: string, adminToken: string, directory: string): Promise<StartedDemo> {
  const file = join(directory, 'demo.json')
  const known = readJson<Demo>(file)
  const isThere = known !== undefined && (await isKnown(gateway, known))
  const demo = isThere ? known : await createDemo(gateway, adminToken)
  if (!isThere) replaceJson(file, demo)
  const link = { page: 'console', expires_in: 86_400 }
  const { url } = await post(`${gateway}/admin/v1/workspaces/${demo.workspaces[0]?.id}/links`, adminToken, link)
  return { ...demo, consoleUrl: url }
}

async function isKnown(gateway: string, { workspaces, product }: Demo): Promise<boolean> {
  const url = `${gateway}/v1/products/${product}`
  const response = await fetch(url, { headers: { authorization: `Bearer ${workspaces[0]?.key}` } })
  return response.ok
}

async function createDemo(gateway: string, adminToken: string): Promise<Demo> {
  const admin = (path: string, body: object) => post(`${gateway}/admin/v1${path}`, adminToken, body)
  const { id, sandbox } = await admin('/workspaces', { name: NAME, sandbox: true })
  const withKey = async (workspace: string, livemode: boolean): Promise<DemoWorkspace> => {
    const { key } = await admin(`/workspaces/${workspace}/keys`, { name: 'full access', scopes: ['*'] })
    return { id: workspace, name: NAME, livemode, key }
  }
  const workspaces = [await withKey(id, true), await withKey(sandbox.id, false)] as const
  const [product] = await Promise.all(PRODUCTS.map((input) => post(`${gateway}/v1/products`, workspaces[0].key, input)))
  return { workspaces, product: product?.id ?? '' }
}

async function post(url: string, token: string, body: object): Promise<Created> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new StackError(`POST ${url} answered ${response.status}: ${await response.text()}`)
  return response.json() as Promise<Created>
}
