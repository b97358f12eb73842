import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { storedImports } from '../testing/stored-imports.ts'
import { readBatches } from './stored-rows.ts'

const { add, storage } = await storedImports()

it('rows that come byte by byte are given up after a while', async () => {
  async function* trickle() {
    for (;;) {
      yield Buffer.from('[')
      await pause(20)
    }
  }
  const slow = { ...storage, read: async () => Readable.from(trickle(), { objectMode: false }) }
  const place = { workspaceId: '', id: '', claim: '' }
  const reading = readBatches(slow, place, [{ first_byte: 0, bytes: 100 }], 100)
  await expect(reading).rejects.toMatchObject({ code: 'service_unavailable' })
})

it('an error has nothing of rows that are damaged', async () => {
  const place = await add({ batches: 1 })
  const reading = readBatches(storage, place, [{ first_byte: 3, bytes: 10 }])
  await expect(reading).rejects.toThrow(/^a line of the file of rows is cut or damaged$/)
})
