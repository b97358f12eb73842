import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { TOPICS } from '@backoffice/contracts/events.ts'
import { aTopic, testKafka } from '@backoffice/messaging/kafka/testing/kafka.ts'
import { backingServices } from '@backoffice/testing/backing-services.ts'
import { aCaller, type Caller } from '@backoffice/testing/caller.ts'
import { expect, it } from 'vitest'
import { catalog } from '../categories/testing/categories-api.ts'

const { admin, appUrl, newProduct, refresh, state } = await catalog()

/** The product's state as it was published at some time, or its tombstone. */
const published = ({ workspaceId, livemode }: Caller, id: string, isThere = true) => {
  const value = JSON.stringify({ workspace_id: workspaceId, livemode, data: { id } })
  const bytes = Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), Buffer.from(value)])
  return { topic: TOPICS.catalogProducts, key: id, value: isThere ? bytes : null, headers: {} }
}

it('has the state of every product published again, in its own workspace and mode, fires no event, and names what it cannot read', async () => {
  const { kafka, prefix } = await testKafka([aTopic(TOPICS.catalogProducts)])
  const callers = [aCaller(), aCaller({ livemode: false })]
  const products = await Promise.all(callers.map((caller) => newProduct(caller)))
  const gone = await newProduct(aCaller())
  await admin`delete from outbox`
  await kafka.produce([
    { topic: TOPICS.catalogProducts, key: products[0]?.id ?? '', value: Buffer.from('nonsense'), headers: {} },
    ...callers.flatMap((caller, index) => {
      const record = published(caller, products[index]?.id ?? '')
      return [record, record]
    }),
    published(aCaller(), gone.id, false),
  ])

  const env = {
    ...process.env,
    DATABASE_URL: appUrl,
    KAFKA_BROKERS: backingServices().kafkaBrokers.join(),
    KAFKA_PREFIX: prefix,
  }
  const script = fileURLToPath(new URL('republish-products.ts', import.meta.url))
  const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) => {
    execFile(process.execPath, [script], { env }, (error, output) => resolve({ code: error?.code ?? 0, output }))
  })
  const unreadable = `"offset":"0","key":"${products[0]?.id}","reason":"not in Confluent wire format"`
  expect([code, output]).toEqual([
    1,
    expect.stringMatching(RegExp(`^\\{.*${unreadable}\\}\\nstates requested: [2-4]\\n$`)),
  ])

  for (const [index, caller] of callers.entries()) {
    await refresh(caller)
    expect(await state(products[index]?.id ?? '')).toMatchObject({ id: products[index]?.id, version: 2 })
  }
  const records = await admin`select type, workspace_id, livemode from outbox order by livemode`
  expect(records).toEqual(
    callers
      .map(({ workspaceId, livemode }) => ({ type: 'product.state', workspace_id: workspaceId, livemode }))
      .reverse(),
  )
})
