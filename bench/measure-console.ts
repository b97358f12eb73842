import { execFileSync } from 'node:child_process'
import { type Replica, startReplica } from '@backoffice/local/replica.ts'
import { logIn } from '@backoffice/tests/attacks/log-in.ts'
import { CHROMIUM, launchBrowser } from '@backoffice/tests/chromium.ts'
import { type Api, apiClient } from './api.ts'
import { secondsOf } from './cpu-time.ts'
import { closedLoop, percentile } from './load.ts'
import { seedProductList } from './measure-product-list.ts'
import { aProduct } from './products.ts'
import { addEndpoints, seedDeliveries } from './seed-deliveries.ts'
import { ORDERS, seedOrders } from './seed-orders.ts'
import type { BenchStack } from './stack.ts'
import type { Row } from './table.ts'

const PAGES = { Overview: '/', Deliveries: '/deliveries', Products: '/products', Orders: '/orders' }
const OPENED = 10
/** As many as the connections of a client. */
const CONCURRENCY = 64
const READS = 3000
const ROUNDS = 6

interface Place {
  readonly api: Api
  readonly workspaceId: string
  readonly key: string
  /** Connects as a superuser. */
  readonly postgresUrl: string
}

/** The console of a workspace with a million products, five million deliveries and two million orders. */
export async function measureConsole(stack: BenchStack, { api, key, ...place }: Place): Promise<Row[]> {
  if (CHROMIUM === undefined) throw new Error('Chromium is not installed here')
  const endpoints = await addEndpoints(api)
  await Promise.all([
    seedProductList(place),
    seedDeliveries(place.postgresUrl, place.workspaceId, endpoints),
    seedOrders({ ...place, orders: ORDERS }),
  ])
  const { gateway } = stack.description
  const { cookie = '' } = await logIn(gateway, key)
  const browser = await launchBrowser()
  const open: Open = (origin, path) => openPage(browser, cookie, `${origin}/console${path}`)
  const rows: Row[] = []
  for (const [title, path] of Object.entries(PAGES)) {
    const opened = await inTurn(OPENED, () => open(gateway, path))
    const times = opened.map(({ shown }) => shown)
    const slowest = opened.flatMap(({ requests }) => requests).toSorted((a, b) => b.ms - a.ms)[0]
    rows.push({
      name: `console: ${title}, nothing cached, from navigation until all is shown`,
      measured: `p50 ${percentile(times, 0.5).toFixed(0)} ms, ${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)} ms`,
      floor: `${opened[0]?.requests.length} requests, slowest ${slowest?.ms.toFixed(0)} ms: ${slowest?.path}`,
      bound: '≤ 1000 ms',
    })
  }
  rows.push(...(await measureGateways(stack, api, key, open)))
  await browser.close()
  for (const id of endpoints) await api.delete(`/v1/webhooks/${id}`)
  return rows
}

async function inTurn<Result>(count: number, work: () => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  while (results.length < count) results.push(await work())
  return results
}

type Browser = Awaited<ReturnType<typeof launchBrowser>>

interface Opened {
  /** Milliseconds from the navigation on. */
  readonly shown: number
  readonly requests: readonly { readonly path: string; readonly ms: number }[]
}

/** Opens a page of the console at an origin. */
type Open = (origin: string, path: string) => Promise<Opened>

/** The page has its title, nothing loads any more, and rows are there. */
const IS_SHOWN = `
  document.querySelector('h1') !== null && !/Loading…/.test(document.body.innerText) && document.querySelector('tbody tr, .chart') !== null`
const REQUESTS = `performance.getEntriesByType('resource').map(({ name, duration }) => ({
  path: new URL(name).pathname + new URL(name).search, ms: duration
}))`

/** Opens a page with a session's cookie, in a browser that has nothing of it. */
async function openPage(browser: Browser, cookie: string, url: string): Promise<Opened> {
  const context = await browser.createBrowserContext()
  const page = await context.newPage()
  await page.setViewport({ width: 1280, height: 900 })
  const [name = '', value = ''] = cookie.split('=')
  await page.setCookie({ name, value, url })
  await page.goto(url)
  const shown = await page.waitForFunction(`${IS_SHOWN} && performance.now()`, { polling: 'raf' })
  const opened = {
    shown: Number(await shown.jsonValue()),
    requests: (await page.evaluate(REQUESTS)) as Opened['requests'],
  }
  await context.close()
  return opened
}

/** Small reads through a gateway that nobody asked for the console, and one whose pages were read before each round. */
async function measureGateways(stack: BenchStack, api: Api, key: string, open: Open): Promise<Row[]> {
  const { id } = await api.post<{ id: string }>('/v1/products', aProduct(3))
  const start = async (isConsole: boolean) => {
    const replica = await startReplica('gateway', stack.directory, stack.now())
    return { replica, api: apiClient(replica.url, { authorization: `Bearer ${key}` }), isConsole, seen: [] as Seen[] }
  }
  const without = await start(false)
  const withPages = await start(true)
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { replica, api, isConsole, seen } of [without, withPages]) {
      if (isConsole) for (const path of Object.values(PAGES)) await open(replica.url, path)
      const read = await readOften(replica, () => api.get(`/v1/products/${id}`))
      if (round > 0) seen.push(read)
    }
  }
  for (const { api, replica } of [without, withPages]) {
    await api.close()
    await replica.process.stop()
  }
  const median = (seen: readonly Seen[], what: keyof Seen) =>
    percentile(
      seen.map((one) => one[what]),
      0.5,
    )
  const row = (name: string, what: keyof Seen, digits: number, unit: string, bound: string): Row => {
    const [measured, floor] = [median(withPages.seen, what), median(without.seen, what)]
    return {
      name,
      measured: `${measured.toFixed(digits)} ${unit}`,
      floor: `${floor.toFixed(digits)} ${unit}`,
      ratio: measured / floor,
      bound,
    }
  }
  return [
    row(`small reads beside the console, ${CONCURRENCY} at a time`, 'perSecond', 0, '/s', '≥ 0.95 × without'),
    row('CPU of the gateway for each', 'cpuMs', 3, 'ms', '≤ 1.05 × without'),
    row('memory of the gateway beside the console', 'megabytes', 0, 'MB', '≤ 1.05 × without'),
  ]
}

interface Seen {
  readonly perSecond: number
  readonly cpuMs: number
  readonly megabytes: number
}

async function readOften({ process: { pid = 0 } }: Replica, read: () => Promise<unknown>): Promise<Seen> {
  const before = secondsOf(pid)
  const { perSecond } = await closedLoop(READS, CONCURRENCY, read)
  const cpuMs = ((secondsOf(pid) - before) * 1000) / READS
  const kib = Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
  return { perSecond, cpuMs, megabytes: (kib * 1024) / 1e6 }
}
