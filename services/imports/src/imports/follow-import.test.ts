import type { Import } from '@backoffice/contracts/import.ts'
import type { Caller } from '@backoffice/http/internal-token.ts'
import { aCaller, headersOf } from '@backoffice/testing/caller.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { importsService } from '../testing/imports-service.ts'

const { adminOf, send, validated, urlOf } = await importsService('catalog')
const FILE = ['sku,name,stock', ...Array.from({ length: 1200 }, (_, n) => `SKU-${n},Mug ${n},1`)].join('\n')

/** Follows an import, as an EventSource does. */
async function follow(caller: Caller, id: string) {
  const closing = new AbortController()
  const response = await fetch(`${urlOf('imports')}/v1/imports/${id}/progress`, {
    headers: await headersOf(caller, 'imports'),
    signal: closing.signal,
  })
  let text = ''
  const ended = (async () => {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString()
  })().catch(() => undefined)
  const close = () => closing.abort()
  whenDone(close)
  const events = () =>
    text.split('\n\n').flatMap((event) => {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(event) ?? []
      return name === undefined ? [] : [{ name, data: JSON.parse(data ?? '') as Import }]
    })
  return { response, close, ended, events, text: () => text }
}
const code = async ({ response, text, ended }: Awaited<ReturnType<typeof follow>>) => {
  await ended
  return [response.status, JSON.parse(text()).error.code]
}

it('sends the present state at once, each change, and `end` with the final state (OP-149)', async () => {
  const caller = aCaller()
  const { import_id: id } = await validated(caller, 'products', FILE)
  const stream = await follow(caller, id)
  expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
  await eventually('the first event', () => stream.events().length === 1)
  expect(stream.events()).toMatchObject([{ name: 'progress', data: { id, status: 'VALIDATED', processed_rows: 0 } }])
  await send(caller, 'POST', `/v1/imports/${id}/start`)
  await stream.ended
  const names = stream.events().map(({ name }) => name)
  expect(names).toEqual([...names.slice(1).map(() => 'progress'), 'end'])
  expect(stream.events().at(-1)?.data).toMatchObject({ status: 'COMPLETED', total_rows: 1200, processed_rows: 1200 })
  expect(stream.text()).toMatch(/^retry: \d+\n\n/)
  const again = await follow(caller, id)
  await again.ended
  expect(again.events()).toEqual(stream.events().slice(-1))
})

it('sends `end` when the last batch of a cancelled import is answered, not before', async () => {
  const caller = aCaller()
  const { import_id: id } = await validated(caller, 'products', FILE)
  const set = (ended_at: Date | null, created: number) => adminOf('imports')`
    update import set
      status = 'CANCELLED', started_at = now(), next_batch = 1, ends_at_batch = 1, ended_at = ${ended_at}, created = ${created}
    where id = ${id}`
  await set(null, 0)
  const stream = await follow(caller, id)
  await eventually('the first event', () => stream.events().length === 1)
  expect(stream.events()).toMatchObject([{ name: 'progress', data: { status: 'CANCELLED', processed_rows: 0 } }])
  await set(new Date(), 500)
  await stream.ended
  expect(stream.events()).toMatchObject([{}, { name: 'end', data: { status: 'CANCELLED', processed_rows: 500 } }])
})

it('is for the imports of the own workspace', async () => {
  const caller = aCaller()
  const { import_id: id } = await validated(caller, 'products', FILE)
  expect(await code(await follow(aCaller(), id))).toEqual([404, 'not_found'])
  expect(await code(await follow({ ...caller, scopes: ['product::read'] }, id))).toEqual([403, 'insufficient_scope'])
})

it('a workspace has ten streams, a closed one makes room, and others have their own', async () => {
  const [caller, other] = [aCaller(), aCaller()]
  const { import_id: id } = await validated(caller, 'products', FILE)
  const { import_id: ofOther } = await validated(other, 'products', FILE)
  const streams = await Promise.all(Array.from({ length: 10 }, () => follow(caller, id)))
  const refused = await follow(caller, id)
  expect(await code(refused)).toEqual([429, 'rate_limited'])
  const { headers } = refused.response
  expect([headers.get('retry-after'), headers.get('error-reason')]).toEqual(['5', 'too_many_at_once'])
  expect((await follow(other, ofOther)).response.status).toBe(200)
  streams[0]?.close()
  await eventually('there is room again', async () => (await follow(caller, id)).response.status === 200)
  expect((await follow(caller, id)).response.status).toBe(429)
})
