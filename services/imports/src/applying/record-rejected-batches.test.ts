import { TOPICS } from '@backoffice/contracts/events.ts'
import { connectKafka } from '@backoffice/messaging/kafka/kafka.ts'
import { silent } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { aCaller } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { importsService } from '../testing/imports-service.ts'

const { adminOf, applied, atRest, prefix, report, send, validated } = await importsService('catalog')
const brokers = backingServices().kafkaBrokers
const kafka = connectKafka({ brokers, clientId: 'test', prefix, logger: silent })
whenDone(() => kafka.stop())
const FILE = ['sku,name,stock', ...Array.from({ length: 1200 }, (_, n) => `SKU-${n},Mug ${n},1`)].join('\n')

const eventsOf = async (id: string) => {
  const events = await adminOf('imports')<{ status: string }[]>`
    select payload ->> 'status' as status from outbox where topic = 'imports.events' and key = ${id}`
  return events.map(({ status }) => status)
}

it('an import whose key its owner has parked is FAILED with the reason, once, and the next one works', async () => {
  const caller = aCaller()
  const { import_id: id } = await validated(caller, 'products', FILE)
  await kafka.produce([{ topic: TOPICS.importsBatches, key: id, value: Buffer.from('unreadable'), headers: {} }])
  await send(caller, 'POST', `/v1/imports/${id}/start`)
  expect(await atRest(caller, id)).toMatchObject({ status: 'FAILED', processed_rows: 0 })
  const { summary } = await report(caller, id)
  expect(summary.errors).toMatchObject([
    { row: 1, column: '', message: expect.stringContaining('only the first 0 valid rows') },
  ])
  expect(await applied(caller, 'products', FILE)).toMatchObject({ status: 'COMPLETED', summary: { created: 1200 } })
  expect(await eventsOf(id)).toEqual(['FAILED'])
})

it('an import of which the owner rejects a batch is FAILED with what was applied before', async () => {
  const caller = aCaller()
  const { import_id: id } = await validated(caller, 'products', FILE)
  // The owner cannot write this row of the second batch, however often it tries.
  await adminOf('catalog').unsafe(`
    create function refuse() returns trigger language plpgsql as $$ begin raise check_violation; end $$;
    create trigger refuse before insert on variant for each row when (new.sku = 'SKU-700') execute function refuse()`)
  await send(caller, 'POST', `/v1/imports/${id}/start`)
  const failed = await atRest(caller, id)
  await adminOf('catalog')`drop trigger refuse on variant`
  expect(failed).toMatchObject({ status: 'FAILED', processed_rows: 500 })
  const { summary } = await report(caller, id)
  expect(summary).toMatchObject({ created: 500, updated: 0, failed: 0 })
  expect(summary.errors).toMatchObject([{ row: 1, message: expect.stringContaining('only the first 500 valid rows') }])
  const { body } = await send<string>(caller, 'GET', `/v1/imports/${id}/errors.csv`)
  expect(body).toContain('only the first 500 valid rows could be processed')
  expect(await applied(caller, 'products', FILE)).toMatchObject({
    status: 'COMPLETED',
    summary: { created: 700, updated: 500 },
  })
  await eventually('all dead letters are read', async () => {
    const [{ waiting } = {}] = await adminOf('imports')`
      select count(*) filter (where published_at is null)::integer as waiting from outbox`
    return waiting === 0
  })
  expect(await eventsOf(id)).toEqual(['FAILED'])
})
