import { randomUUID } from 'node:crypto'
import type { Product } from '@backoffice/contracts/product.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import { operations } from '../../operations.ts'

/** The product operations over a database of their own, and what tests look up behind them. */
export async function productApi() {
  const { admin, db, takeStatements } = await testDatabase('catalog')
  const clock = { now: new Date('2026-03-01T10:00:00.000Z') }
  // Only uploads use what is left out.
  const send = serviceClient(db, operations({} as never), () => clock.now)
  return {
    admin,
    db,
    clock,
    send,
    takeStatements,
    create: async (caller: Caller, body: unknown) => (await send<Product>(caller, 'POST', '/v1/products', body)).body,
    read: async (caller: Caller, id: string) => (await send<Product>(caller, 'GET', `/v1/products/${id}`)).body,
    update: (caller: Caller, id: string, body: unknown) => send<Product>(caller, 'PUT', `/v1/products/${id}`, body),
    remove: (caller: Caller, id: string) => send(caller, 'DELETE', `/v1/products/${id}`),

    /** Sends an update that is to be refused: status, code and message of the answer. */
    async refuse(caller: Caller, id: string, body: unknown) {
      const { status, body: answer } = await send(caller, 'PUT', `/v1/products/${id}`, body)
      return [status, answer.error.code, answer.error.message] as const
    },

    rowOf: async (id: string) => (await admin`select * from product where id = ${id}`)[0],

    /** What the outbox holds about a product, oldest first. */
    recordsOf: async (id: string) => [
      ...(await admin`select topic, type, payload, occurred_at from outbox where key = ${id} order by id`),
    ],

    async tagsOf(id: string): Promise<string[]> {
      const rows = await admin<{ slug: string }[]>`
        select slug from product_tag join tag on tag.id = tag_id where product_id = ${id} order by product_tag.position`
      return rows.map(({ slug }) => slug)
    },

    async anAsset({ workspaceId }: Caller): Promise<string> {
      const id = randomUUID()
      await admin`
        insert into asset (workspace_id, id, path, thumbnail_path, type, size, created_at)
        values (${workspaceId}, ${id}, ${`${id}.png`}, ${`${id}-500.png`}, 'image/png', 10, now())`
      return id
    },
  }
}
