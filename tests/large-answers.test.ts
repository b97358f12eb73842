import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { schemaOf } from '@backoffice/contracts/services.ts'
import type postgres from 'postgres'
import { expect, test } from 'vitest'
import { startStack } from './testing/stack.ts'
import { newWorkspace } from './testing/workspaces.ts'

/** More than the services answer at once for one workspace. */
const AT_ONCE = 8

const stack = await startStack({ LOG_LEVEL: 'error' })
const description = stack.description()

type Workspace = Awaited<ReturnType<typeof newWorkspace>>

/** The memory that the manifest gives a service, in bytes. */
function memoryLimit(service: string): number {
  const limitIn = (folder: string) =>
    /limits:\n +memory: (\d+)Mi/.exec(
      readFileSync(join(import.meta.dirname, '../k8s/base', folder, 'deployment.yaml'), 'utf8'),
    )?.[1]
  return Number(limitIn(service) ?? limitIn('every-service')) * 1024 * 1024
}

const pidOf = (service: string) => description.services[service]?.pid ?? 0
/** The peak of a process's resident memory since `forgetPeak`, in bytes. */
const peakOf = (service: string) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pidOf(service)}/status`, 'utf8'))?.[1]) * 1024
const forgetPeak = (service: string) => writeFileSync(`/proc/${pidOf(service)}/clear_refs`, '5')

/** Asks until the answer is no refusal that says when to come back. Resolves with the answer's bytes. */
async function largeAnswer({ key }: Workspace, path: string): Promise<Buffer> {
  for (;;) {
    const answer = await fetch(new URL(path, description.gateway), { headers: { authorization: `Bearer ${key}` } })
    const body = Buffer.from(await answer.arrayBuffer())
    if (answer.status === 200) return body
    if (answer.headers.get('retry-after') === null) throw new Error(`${answer.status} ${body}`)
    await pause(1000)
  }
}

interface LargestAnswers {
  readonly service: string
  /** Makes the rows, and resolves with the path of the largest answer and the bytes that it has at least. */
  prepare(tx: postgres.TransactionSql, workspaceId: string): Promise<{ path: string; bytes: number; items?: number }>
  /** A small request. */
  readonly small: string
}

const LARGEST: readonly LargestAnswers[] = [
  {
    service: 'orders',
    small: '/v1/orders?limit=1',
    async prepare(tx, workspaceId) {
      await tx`
        with new_order as materialized (
          insert into sales_order (
            workspace_id, id, order_number, status, payment_status, fulfillment_status, currency, subtotal_price,
            total_shipping, total_tax, total_discount, total_price, total_items, order_datetime, created_at, updated_at
          )
          select ${workspaceId}::uuid, uuidv7(), 'N' || n, 'CART', 'UNPAID', 'UNFULFILLED', 'EUR', 100, 0, 0, 0, 100, 1000,
            now(), now(), now()
          from generate_series(1, 100) as n
          returning id
        )
        insert into order_item (
          workspace_id, order_id, position, id, variant_id, title, sku, quantity, unit_price, total_price
        )
        select ${workspaceId}::uuid, new_order.id, n, uuidv7(), uuidv7(), repeat('x', 150), 'SKU-' || n, 1, 100, 100
        from new_order, generate_series(1, 1000) as n`
      return { path: '/v1/orders?limit=100', bytes: 30_000_000, items: 100 }
    },
  },
]

test.each(LARGEST)(
  '$service answers the largest requests at once within its memory, and others meanwhile',
  async ({ service, prepare, small }) => {
    const [one, other] = [await newWorkspace(description), await newWorkspace(description)]
    const { path, bytes, items } = await stack.sql.begin(async (tx) => {
      await tx`select set_config('search_path', ${schemaOf(service)}, true)`
      return prepare(tx, one.id)
    })
    for (const name of [service, 'gateway']) forgetPeak(name)
    let isOver = false
    const answers = Promise.all(Array.from({ length: AT_ONCE }, () => largeAnswer(one, path))).finally(() => {
      isOver = true
    })
    let slowest = 0
    do {
      const askedAt = performance.now()
      expect((await other.api('GET', small)).status).toBe(200)
      slowest = Math.max(slowest, performance.now() - askedAt)
      await pause(50)
    } while (!isOver)
    for (const answer of await answers) expect(answer.length).toBeGreaterThan(bytes)
    if (items !== undefined) {
      expect(JSON.parse((await largeAnswer(one, path)).toString()).items).toHaveLength(items)
    }
    for (const name of [service, 'gateway']) {
      const peak = peakOf(name)
      console.log(
        `${name}: ${Math.round(peak / 1e6)} MB at the peak, ${memoryLimit(name) / 1e6} MB are the limit; slowest ${Math.round(slowest)} ms`,
      )
      expect(peak).toBeLessThan(memoryLimit(name))
    }
  },
)
