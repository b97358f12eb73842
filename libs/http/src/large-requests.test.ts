import { request as openRequest } from 'node:http'
import { aCaller, headersOf } from '@backoffice/testing/caller.ts'
import { testDatabase } from '@backoffice/testing/database.ts'
import { eventually } from '@backoffice/testing/eventually.ts'
import { whenDone } from '@backoffice/testing/when-done.ts'
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { Caller } from './internal-token.ts'
import { operation } from './operation.ts'
import { ok } from './reply.ts'
import { thingsApi } from './testing/things-api.ts'

const { db } = await testDatabase('catalog')

it('answers that nobody takes hold up no large request of another workspace (OP-161)', async () => {
  let answered = 0
  const repeat = operation({
    operationId: 'repeatText',
    method: 'POST',
    path: '/v1/repeated',
    summary: 'Repeat a text',
    scope: 'product::create',
    body: z.strictObject({ text: z.string() }),
    responses: { 200: z.strictObject({ text: z.string() }) },
    async handle({ body: { text } }) {
      answered++
      return ok({ text: text.repeat(500) })
    },
  })
  const { send, port } = await thingsApi(db, { operations: [repeat] })
  const body = JSON.stringify({ text: 'a'.repeat(70_000) })
  for (const caller of Array.from({ length: 4 }, () => aCaller())) {
    const headers = { ...(await headersOf(caller)), 'content-type': 'application/json' }
    const request = openRequest({ port, method: 'POST', path: '/v1/repeated', headers, agent: false })
    whenDone(() => void request.destroy())
    request.on('response', (response) => response.on('error', () => undefined)).on('error', () => undefined)
    request.end(body)
  }
  await eventually('all answer', () => answered === 4)
  expect((await send('POST', '/v1/repeated', { caller: aCaller(), body: JSON.parse(body) })).status).toBe(200)
})

/** Operations, for clients and for services, each of whose requests runs until its gate opens. */
async function gatedTexts() {
  const running: string[] = []
  const gates = new Map<string, () => void>()
  const text = { body: z.strictObject({ name: z.string(), text: z.string() }), responses: { 200: z.strictObject({}) } }
  const handle = async ({ body: { name } }: { body: { name: string } }) => {
    running.push(name)
    await new Promise<void>((resolve) => gates.set(name, resolve))
    return ok({})
  }
  const take = operation({
    operationId: 'takeText',
    method: 'POST',
    path: '/v1/texts',
    summary: 'Take a text',
    scope: 'product::create',
    ...text,
    handle,
  })
  const check = operation({ method: 'POST', path: '/internal/texts/check', scope: 'internal', ...text, handle })
  const { send } = await thingsApi(db, { operations: [take, check] })
  return {
    gates,
    post: (caller: Caller, name: string, length: number, path = '/v1/texts') =>
      send('POST', path, { caller, body: { name, text: 'a'.repeat(length) } }),
    started: (...names: string[]) =>
      eventually(`${names} run`, () => JSON.stringify(running.toSorted()) === JSON.stringify(names)),
  }
}

it('of one workspace, two requests with large bodies run at a time; small ones and those of others go on (OP-161)', async () => {
  const { gates, post, started } = await gatedTexts()
  const [one, other] = [aCaller(), aCaller()]
  const answers = [post(one, 'a1', 70_000), post(one, 'a2', 70_000)]
  await started('a1', 'a2')
  answers.push(post(one, 'a3', 70_000), post(one, 'small', 10), post(other, 'b1', 70_000))
  await started('a1', 'a2', 'b1', 'small')
  gates.get('a1')?.()
  await started('a1', 'a2', 'a3', 'b1', 'small')
  for (const end of gates.values()) end()
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200)
})

it('large requests of other services hold up none of clients', async () => {
  const { gates, post, started } = await gatedTexts()
  const caller = aCaller()
  const answers = ['check1', 'check2', 'check3'].map((name) => post(caller, name, 70_000, '/internal/texts/check'))
  await started('check1', 'check2', 'check3')
  answers.push(post(caller, 'own', 70_000))
  await started('check1', 'check2', 'check3', 'own')
  for (const end of gates.values()) end()
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200)
})
