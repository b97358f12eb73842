import type { Customer } from '@backoffice/contracts/customer.ts'
import type { Page } from '@backoffice/contracts/pagination.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { serviceClient } from '@backoffice/testing/service-client.ts'
import type { z } from 'zod'
import { operations } from '../../operations.ts'

/** What only operations on orders use. */
const nothing = {} as never

export type CustomerPage = z.output<ReturnType<typeof Page<z.ZodType<Customer>>>>

/** The API of customers over a database of its own, without a catalog. */
export async function customersApi(clock?: () => Date) {
  const database = await testDatabase('orders')
  const { admin, db } = database
  const send = serviceClient(db, operations(db, nothing, nothing, nothing, nothing), clock)
  return {
    ...database,
    send,
    create: async (caller: Caller, members: Record<string, unknown> = {}): Promise<Customer> => {
      const { status, body } = await send<Customer>(caller, 'POST', '/v1/customers', { firstname: 'Ada', ...members })
      if (status !== 201) throw new Error(`creating a customer answered ${status} ${JSON.stringify(body)}`)
      return body
    },
    list: async (caller: Caller, query = ''): Promise<CustomerPage> => {
      const { status, body } = await send<CustomerPage>(caller, 'GET', `/v1/customers?${query}`)
      if (status !== 200) throw new Error(`the list ${query} answered ${status} ${JSON.stringify(body)}`)
      return body
    },
    /** The records of the outbox about one resource, in their order. */
    recordsOf: async (key: string) => [
      ...(await admin<{ type: string; topic: string; data: unknown }[]>`
        select type, topic, payload as data from outbox where key = ${key} order by id`),
    ],
    /**
     * Inserts `count` customers of the workspace, the last one the newest: `Kind<n % 10> Name<n % 100> <n>` at
     * `user.<n>@mail<n % 5>.example.com`. All were changed a second after each other, the last one first.
     */
    seed: ({ workspaceId }: Caller, count: number) => admin`
      insert into customer (workspace_id, id, firstname, lastname, email, created_at, updated_at)
      select
        ${workspaceId}, uuidv7(n * interval '1 ms' - interval '1 day'), 'Kind' || n % 10, format('Name%s %s', n % 100, n),
        format('user.%s@mail%s.example.com', n, n % 5), timestamptz '2026-01-01' + n * interval '1 s',
        timestamptz '2026-01-01' + (${count} - n) * interval '1 s'
      from generate_series(1, ${count}::int) as n`,
  }
}
