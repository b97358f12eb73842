import { notFound } from '@backoffice/contracts/errors.ts'
import type { AnySql } from '@backoffice/postgres/database.ts'
import { createLogger } from '@backoffice/runtime/logger.ts'
import { failuresOf } from '@backoffice/runtime/worker-failures.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { expect, test } from 'vitest'
import { filesOfRow } from './files-of-row.ts'

const logger = createLogger('test', 'silent')
const { db } = await testDatabase('catalog')

test.each([
  ['a statement that PostgreSQL refuses', (tx: AnySql) => tx`select 1 / 0`, 'division by zero', true],
  [
    'a commit that PostgreSQL refuses',
    async (tx: AnySql) => {
      await tx`create temporary table once (id integer unique deferrable initially deferred)`
      await tx`insert into once values (1), (1)`
    },
    'duplicate key',
    true,
  ],
  [
    'no connection in time',
    () => Promise.reject(Object.assign(new Error('no transaction'), { code: 'CONNECT_TIMEOUT' })),
    'no transaction',
    true,
  ],
  ['a refusal', () => Promise.reject(notFound(['id'], 'is no product')), 'is no product', true],
  [
    'a lost connection, which may have been lost behind the commit',
    (tx: AnySql) => tx`select pg_terminate_backend(pg_backend_pid())`,
    /CONNECTION_CLOSED|terminating connection/,
    false,
  ],
  ['another error', () => Promise.reject(new Error('not ended in time')), 'not ended in time', false],
])('%s: whether the files are removed', async (_, work, message, isRemoved) => {
  const removed: string[] = []
  const storage = { remove: async (paths: readonly string[]) => void removed.push(...paths) }
  const insert = () => db.inWorkspace({ ...aCaller(), traceparent: '' }, async (tx) => void (await work(tx)))
  await expect(filesOfRow({ storage, logger }, ['file'], insert, () => true)).rejects.toThrow(message)
  expect(removed).toEqual(isRemoved ? ['file'] : [])
})

test('files that cannot be removed are noted and tried again, and the refusal is that of the row', async () => {
  let attempts = 0
  const remove = async () => {
    if (attempts++ === 0) throw new Error('away')
  }
  const before = failuresOf('files without a row')
  const insert = () => Promise.reject(notFound(['id'], 'is no product'))
  await expect(filesOfRow({ storage: { remove }, logger }, ['file'], insert, () => true)).rejects.toThrow('no product')
  expect(failuresOf('files without a row')).toBe(before + 1)
  await eventually('they are removed', () => attempts === 2)
})
