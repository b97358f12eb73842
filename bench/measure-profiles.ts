import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Api } from './api.ts'
import { closedLoop } from './load.ts'
import { aProduct } from './products.ts'
import { startStack } from './stack.ts'
import type { Row } from './table.ts'

const PROFILES = 'bench/results/profiles'
const CONCURRENCY = 16
const COUNT = 1000
const DEAREST = 10

/** A file of `node --cpu-prof`: samples of the running function, and the microseconds between them. */
interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** Reads and changes on a stack of its own whose services write CPU profiles, and the dearest functions of each. */
export async function measureProfiles(
  newWorkspace: (description: Awaited<ReturnType<typeof startStack>>['description']) => Promise<{ readonly api: Api }>,
): Promise<Row[]> {
  const folder = resolve(PROFILES)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const stack = await startStack({ NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` })
  const { api } = await newWorkspace(stack.description)
  await load(api)
  await api.close()
  const services = Object.entries(stack.description.services)
  await stack.stop()
  const files = readdirSync(folder)
  return services.flatMap(([name, { pid }]) => {
    const file = files.find((one) => one.split('.')[3] === String(pid))
    return file === undefined ? [] : dearestOf(name, join(folder, file))
  })
}

async function load(api: Api): Promise<void> {
  const ids: string[] = []
  const variants: string[] = []
  await closedLoop(COUNT, CONCURRENCY, async () => {
    const body = { ...aProduct(0), status: 'ACTIVE', stock: COUNT }
    const product = await api.post<{ id: string; variants: { id: string }[] }>('/v1/products', body)
    ids.push(product.id)
    variants.push(product.variants[0]?.id ?? '')
  })
  await closedLoop(COUNT, CONCURRENCY, () => api.post('/v1/products', aProduct(3)))
  await closedLoop(COUNT, CONCURRENCY, (index) => api.put(`/v1/products/${ids[index]}`, { name: `Renamed ${index}` }))
  await closedLoop(5 * COUNT, CONCURRENCY, (index) => api.get(`/v1/products/${ids[index % COUNT]}`))
  await closedLoop(COUNT / 2, CONCURRENCY, () => api.get('/v1/products?limit=100'))
  await closedLoop(COUNT / 2, CONCURRENCY, (index) =>
    api.post('/v1/orders', {
      ...{ currency: 'NGN', status: 'PLACED', sales_channel: 'web' },
      items: Array.from({ length: 5 }, (_, line) => ({ variant: variants[(index + line) % COUNT], quantity: 1 })),
      customer: { firstname: 'Ada', email: `ada-${index}@example.com` },
    }),
  )
}

/** The functions with the most time of their own, without that of the functions they call. */
function dearestOf(service: string, file: string): Row[] {
  const { nodes, samples, timeDeltas }: Profile = JSON.parse(readFileSync(file, 'utf8'))
  const nameOf = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [
      id,
      url === '' ? functionName : `${functionName || 'anonymous'} ${shortened(url)}:${lineNumber + 1}`,
    ]),
  )
  const own = new Map<string, number>()
  for (const [index, id] of samples.entries()) {
    const name = nameOf.get(id) ?? ''
    if (name !== '(idle)') own.set(name, (own.get(name) ?? 0) + (timeDeltas[index] ?? 0))
  }
  const all = [...own.values()].reduce((sum, time) => sum + time, 0)
  return [...own]
    .sort(([, a], [, b]) => b - a)
    .slice(0, DEAREST)
    .map(([name, time]) => ({
      name: `${service}: ${name}`,
      measured: `${((time * 100) / all).toFixed(1)} %`,
      bound: 'no bound',
    }))
}

/** The end of a file's URL, from the package or the folder of the project. */
const shortened = (url: string): string =>
  url.replace(/^.*\/node_modules\//, '').replace(`file://${process.cwd()}/`, '')
